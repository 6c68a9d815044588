//! Walks the tree of a repository, or as much of it as a proof holds, and checks everything on the way.

use onrecord_lexicon::{
    Did, data,
    syntax::{is_valid_nsid, is_valid_record_key},
};

use crate::{
    Car, Commit, Error, Faults, Link, PublicKey, Rule, SignatureError,
    car::Block,
    node::{Node, common_prefix, layer},
};

/// Longest record path, in bytes: an NSID, a slash and a record key.
const MAX_PATH: usize = 317 + 1 + 512;

/// What the repository must be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expected<'a> {
    /// Whose it must be, where that is known.
    pub did: Option<&'a Did>,
    /// Who must have signed it. Without one, everything but the signature is checked.
    pub key: Option<&'a PublicKey>,
    /// The file is a proof: it holds only some of the tree and of the records, and what it leaves out is no fault.
    pub partial: bool,
}

/// A record that the signed tree names.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Its collection, a well-formed NSID.
    pub collection: &'a str,
    /// Its key, well-formed.
    pub rkey: &'a str,
    /// Its CID.
    pub link: Link,
    /// Its bytes, which have that CID and are canonical DAG-CBOR; none where the file does not hold them, or they are not.
    pub block: Option<&'a [u8]>,
}

impl Record<'_> {
    /// Collection and key, e.g. `app.example.note/3k2a…`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.collection, self.rkey)
    }
}

/// A part of the tree that a proof does not hold. Records whose paths lie strictly between may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// The path before; none at the tree's beginning.
    pub after: Option<String>,
    /// The path behind; none at the tree's end.
    pub before: Option<String>,
}

impl Gap {
    /// Whether a record at `path` may be in it.
    #[must_use]
    pub fn may_hold(&self, path: &str) -> bool {
        self.after.as_deref().is_none_or(|after| after < path) && self.before.as_deref().is_none_or(|b| path < b)
    }

    /// Whether a record of `collection` may be in it.
    #[must_use]
    pub fn may_hold_of(&self, collection: &str) -> bool {
        let (first, end) = (format!("{collection}/"), format!("{collection}0"));
        self.after.as_deref().is_none_or(|after| after < end.as_str())
            && self.before.as_deref().is_none_or(|before| before > first.as_str())
    }
}

/// How many of each there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Bytes of the file.
    pub bytes: u64,
    /// Blocks in the file.
    pub blocks: u64,
    /// Nodes of the tree.
    pub nodes: u64,
    /// Records that the tree names.
    pub records: u64,
    /// Blocks that the tree does not lead to.
    pub unreachable: u64,
}

/// What was found out about a repository.
#[derive(Debug)]
pub struct Checked {
    /// The commit, if there is one that can be understood.
    pub commit: Option<Commit>,
    /// The commit's CID.
    pub root: Option<Link>,
    /// The expected key signed it.
    pub is_signed: bool,
    /// The whole tree was walked.
    pub is_whole: bool,
    /// The parts that were not, in a proof.
    pub gaps: Vec<Gap>,
    /// How many of each.
    pub counts: Counts,
    /// Everything that is wrong.
    pub faults: Faults,
    /// Things worth a word that are no faults.
    pub notices: Faults,
}

/// Checks a repository, and shows `on_record` each record that its tree names, in the order of the paths.
///
/// Memory: see [`Car`]; besides that, as many nodes as the tree is deep.
///
/// # Errors
/// The file cannot be read, or [`Error::TooManyBlocks`]. All that is wrong with the repository is in [`Checked::faults`].
pub fn check(car: &mut Car<'_>, expected: &Expected<'_>, on_record: impl FnMut(&Record<'_>)) -> Result<Checked, Error> {
    car.rewind();
    let mut walk = Walk {
        partial: expected.partial,
        car,
        on_record,
        faults: Faults::default(),
        counts: Counts::default(),
        path: Vec::new(),
        collection: String::new(),
        spare: Vec::new(),
        gaps: Vec::new(),
        is_whole: true,
    };
    let (root, commit, is_signed) = walk.commit(expected)?;
    match &commit {
        Some(commit) => walk.node(&commit.data, None, true)?,
        None => walk.is_whole = false,
    }
    let Walk { faults, mut counts, gaps, is_whole, .. } = walk;
    counts.unreachable = car.finish(is_whole)?;
    counts.bytes = car.len();
    counts.blocks = car.blocks();
    let (mut all, notices) = car.take_faults();
    all.append(faults);
    Ok(Checked { commit, root, is_signed, is_whole: is_whole && gaps.is_empty(), gaps, counts, faults: all, notices })
}

struct Walk<'w, 'c, F> {
    partial: bool,
    car: &'w mut Car<'c>,
    on_record: F,
    faults: Faults,
    counts: Counts,
    /// The last record's path.
    path: Vec<u8>,
    /// The last record's collection, which most often is the next one's as well.
    collection: String,
    /// Nodes to be used again.
    spare: Vec<(Node, Vec<u8>)>,
    gaps: Vec<Gap>,
    is_whole: bool,
}

impl<F: FnMut(&Record<'_>)> Walk<'_, '_, F> {
    fn commit(&mut self, expected: &Expected<'_>) -> Result<(Option<Link>, Option<Commit>, bool), Error> {
        let root = match self.car.roots() {
            [root] => *root,
            roots => {
                let (why, first) = (format!("the header names {} roots, not one", roots.len()), roots.first().copied());
                // Of a file without a header that is known already.
                if self.car.has_header() {
                    self.faults.add(Rule::Root, "header", why);
                }
                let Some(root) = first else { return Ok((None, None, false)) };
                root
            }
        };
        let decoded = match self.car.block(&root)? {
            Block::Found { bytes, .. } => Commit::decode(bytes),
            Block::Missing => {
                self.faults.add(Rule::Root, root, "the commit that the header names is not in the file");
                return Ok((Some(root), None, false));
            }
            Block::Damaged => {
                self.faults.add(Rule::BlockHash, root, "the commit's bytes have another hash");
                return Ok((Some(root), None, false));
            }
        };
        let commit = match decoded {
            Ok(commit) => commit,
            Err(why) => {
                self.faults.add(Rule::CommitForm, root, why);
                return Ok((Some(root), None, false));
            }
        };
        if let Some(did) = expected.did
            && commit.did != *did
        {
            self.faults.add(Rule::CommitDid, root, format!("it is of {}, not of {did}", commit.did));
        }
        let is_signed = match expected.key.map(|key| commit.verify(key)) {
            None => false,
            Some(Ok(())) => true,
            Some(Err(why)) => {
                let rule = match why {
                    SignatureError::Form => Rule::SignatureForm,
                    SignatureError::HighS => Rule::SignatureHighS,
                    SignatureError::Wrong => Rule::Signature,
                };
                self.faults.add(rule, root, why.to_string());
                false
            }
        };
        Ok((Some(root), Some(commit), is_signed))
    }

    /// Walks the subtree at `link`, whose keys belong in `layer`; the root says itself which that is.
    fn node(&mut self, link: &Link, layer: Option<u32>, is_root: bool) -> Result<(), Error> {
        let (mut node, mut key) = self.spare.pop().unwrap_or_default();
        let read = match self.car.block(link)? {
            Block::Found { again: true, .. } => {
                Err((Rule::NodeTwice, "the tree leads to it for the second time".into()))
            }
            Block::Found { bytes, .. } => node.read(bytes).map_err(|why| (Rule::NodeForm, why)),
            Block::Damaged => Err((Rule::BlockHash, "the node's bytes have another hash".into())),
            Block::Missing if self.partial => {
                self.gap();
                self.spare.push((node, key));
                return Ok(());
            }
            Block::Missing => Err((Rule::NodeMissing, self.where_it_was("a node of the tree"))),
        };
        match read {
            Ok(()) => self.entries(link, &node, &mut key, layer, is_root)?,
            Err((rule, why)) => {
                self.is_whole = false;
                self.faults.add(rule, link, why);
            }
        }
        self.spare.push((node, key));
        Ok(())
    }

    fn entries(
        &mut self,
        link: &Link,
        node: &Node,
        key: &mut Vec<u8>,
        expected: Option<u32>,
        is_root: bool,
    ) -> Result<(), Error> {
        self.counts.nodes += 1;
        key.clear();
        let Some(first) = node.entries.first() else {
            match (&node.left, is_root) {
                // A repository without a record.
                (None, true) => {}
                (None, false) => self.faults.add(Rule::NodeEmpty, link, "it holds no key and leads nowhere"),
                (Some(_), true) => {
                    // Its layer is not known, so nothing below can be told to be right.
                    self.is_whole = false;
                    self.faults.add(Rule::TreeRoot, link, "it holds no key, only a node below");
                }
                (Some(left), false) => return self.below(link, left, expected),
            }
            return Ok(());
        };
        let own = expected.unwrap_or_else(|| layer(node.suffix(first)));
        if let Some(left) = &node.left {
            self.below(link, left, Some(own))?;
        }
        for (n, entry) in node.entries.iter().enumerate() {
            let suffix = node.suffix(entry);
            if entry.prefix > key.len() || entry.prefix + suffix.len() > MAX_PATH {
                self.is_whole = false;
                let why = match entry.prefix > key.len() {
                    true => format!("key {n} takes {} bytes of one that has {}", entry.prefix, key.len()),
                    false => format!("key {n} is {} bytes long", entry.prefix + suffix.len()),
                };
                self.faults.add(Rule::NodePrefix, link, why);
                return Ok(());
            }
            let shared = entry.prefix + common_prefix(key.get(entry.prefix..).unwrap_or_default(), suffix);
            if shared != entry.prefix {
                let why = format!("key {n} shares {shared} bytes with the one before, and says {}", entry.prefix);
                self.faults.add(Rule::NodePrefix, link, why);
            }
            key.truncate(entry.prefix);
            key.extend_from_slice(suffix);
            self.entry(link, key, own, &entry.value)?;
            if let Some(right) = &entry.right {
                self.below(link, right, Some(own))?;
            }
        }
        Ok(())
    }

    /// A subtree of a node in layer `above`.
    fn below(&mut self, parent: &Link, link: &Link, above: Option<u32>) -> Result<(), Error> {
        match above.and_then(|above| above.checked_sub(1)) {
            Some(layer) => self.node(link, Some(layer), false),
            None => {
                self.is_whole = false;
                self.faults.add(Rule::TreeLayer, parent, "a node in the lowest layer leads to one below it");
                Ok(())
            }
        }
    }

    fn entry(&mut self, node: &Link, key: &[u8], expected: u32, link: &Link) -> Result<(), Error> {
        self.counts.records += 1;
        let order = self.path.as_slice().cmp(key);
        let is_first = self.counts.records == 1;
        if order != std::cmp::Ordering::Less && !is_first {
            let (rule, why) = if order == std::cmp::Ordering::Equal {
                (Rule::KeyDuplicate, "it stands in the tree twice".into())
            } else {
                (Rule::KeyOrder, format!("it stands behind {}", shown(&self.path)))
            };
            self.faults.add(rule, shown(key), why);
        }
        let found = layer(key);
        if found != expected {
            let why = format!("it stands in layer {expected} (node {node}), and belongs in layer {found}");
            self.faults.add(Rule::TreeLayer, shown(key), why);
        }
        self.path.clear();
        self.path.extend_from_slice(key);
        self.close_gaps();
        let Some((collection, rkey)) = self.split(key) else {
            self.faults.add(Rule::KeyForm, shown(key), "it is no collection and record key");
            // The block is looked at all the same.
            let _ = self.car.block(link)?;
            return Ok(());
        };
        let block = match self.car.block(link)? {
            Block::Found { bytes, .. } => match data::check_dag_cbor_object(bytes) {
                Ok(()) => Some(bytes),
                Err(why) => {
                    self.faults.add(Rule::RecordForm, shown(key), why.to_string());
                    None
                }
            },
            Block::Missing if self.partial => None,
            Block::Missing => {
                self.faults.add(Rule::RecordMissing, shown(key), format!("its block {link} is not in the file"));
                None
            }
            Block::Damaged => {
                self.faults.add(Rule::BlockHash, shown(key), format!("its bytes have another hash than {link}"));
                None
            }
        };
        (self.on_record)(&Record { collection, rkey, link: *link, block });
        Ok(())
    }

    /// The collection and the key of a path, if it is well-formed.
    fn split<'k>(&mut self, path: &'k [u8]) -> Option<(&'k str, &'k str)> {
        let (collection, rkey) = std::str::from_utf8(path).ok()?.split_once('/')?;
        if collection != self.collection {
            if !is_valid_nsid(collection) {
                return None;
            }
            collection.clone_into(&mut self.collection);
        }
        is_valid_record_key(rkey).then_some((collection, rkey))
    }

    /// The tree goes on where the file does not.
    fn gap(&mut self) {
        let after = (self.counts.records > 0).then(|| shown(&self.path));
        self.gaps.push(Gap { after, before: None });
    }

    fn close_gaps(&mut self) {
        for gap in self.gaps.iter_mut().rev().take_while(|gap| gap.before.is_none()) {
            gap.before = Some(shown(&self.path));
        }
    }

    fn where_it_was(&self, what: &str) -> String {
        match self.counts.records {
            0 => format!("{what}, at its beginning, is not in the file"),
            _ => format!("{what}, behind {}, is not in the file", shown(&self.path)),
        }
    }
}

fn shown(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}
