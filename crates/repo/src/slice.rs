//! A commit as a firehose tells it: a CAR file of the commit, the nodes around what was written, and the records. Everything
//! it says is checked, and the writes are undone to see that they lead from the tree before to the tree after.
//! Source: the protocol's synchronisation specification, `com.atproto.sync.subscribeRepos#commit`.

use std::{collections::HashMap, ops::Range};

use onrecord_lexicon::{Did, Tid, data};

use crate::{
    Car, Commit, Link, PublicKey, SignatureError,
    tree::{Tree, TreeError},
};

/// The blocks of a commit are no larger, by the protocol's limits.
pub const MAX_SLICE: usize = 2_000_000;

/// A write of the commit, as the firehose says.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// Collection and key.
    pub path: &'a str,
    /// The record now; none where it was deleted.
    pub cid: Option<Link>,
    /// The record before.
    pub before: Before,
}

/// What stood where a write went to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing: the record was made.
    Nothing,
    /// Another record.
    Record(Link),
    /// Something, and the server does not say what.
    Unsaid,
}

/// What the firehose says of a commit.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// Whose repository.
    pub did: &'a Did,
    /// The revision.
    pub rev: &'a Tid,
    /// CID of the commit.
    pub commit: Link,
    /// The root of the tree before.
    pub prev_data: Option<Link>,
    /// The writes, in order.
    pub writes: &'a [Written<'a>],
}

/// Why a commit is not believed.
#[derive(Debug, thiserror::Error)]
pub enum SliceError {
    /// Larger than the protocol allows.
    #[error("its blocks are {0} bytes; at most {MAX_SLICE} are allowed")]
    TooLarge(usize),
    /// The CAR file or a block in it is damaged.
    #[error("its blocks: {0}")]
    Blocks(String),
    /// The commit is not what the event says.
    #[error("its commit {0}")]
    Commit(String),
    /// The commit is not signed by the account's key. That may have changed: resolve it again before giving up.
    #[error("its signature: {0}")]
    Signature(SignatureError),
    /// A record's block is missing or no record.
    #[error("the record {path} {why}")]
    Record {
        /// Collection and key.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// It does not say what was before, as commits of older servers do not: what it leads from cannot be told.
    #[error("it does not say what was there before")]
    NoPast,
    /// The writes do not lead from the tree before to the tree after.
    #[error("its writes do not lead to its tree: {0}")]
    Tree(#[from] TreeError),
    /// The same, told from the root.
    #[error("its writes do not lead to its tree from the one before")]
    OtherPast,
}

/// A commit that was checked.
#[derive(Debug)]
pub struct Slice {
    bytes: Vec<u8>,
    records: HashMap<Link, Range<usize>>,
    /// The root of the tree after it.
    pub data: Link,
}

impl Slice {
    /// The block of a record that was written.
    #[must_use]
    pub fn record(&self, cid: &Link) -> Option<&[u8]> {
        self.bytes.get(self.records.get(cid)?.clone())
    }
}

/// Checks all that a commit says: its signature, every block, every record, and that its writes, undone one after the other
/// from its own tree, lead back to the tree before.
///
/// # Errors
/// [`SliceError`]. Of [`SliceError::NoPast`] nothing else is wrong but what could not be checked.
pub fn check_slice(bytes: Vec<u8>, claim: &Claim<'_>, key: &PublicKey) -> Result<Slice, SliceError> {
    if bytes.len() > MAX_SLICE {
        return Err(SliceError::TooLarge(bytes.len()));
    }
    let mut car = Car::from_bytes(bytes.as_slice());
    let blocks = car.all_blocks().map_err(SliceError::Blocks)?;
    let roots = car.roots().to_vec();
    let block = |link: &Link| blocks.get(link).and_then(|range| bytes.get(range.clone()));
    let commit = block(&claim.commit).ok_or_else(|| SliceError::Commit("is not among its blocks".into()))?;
    if roots != [claim.commit] {
        return Err(SliceError::Blocks("the header names another root than the commit".into()));
    }
    let commit = Commit::decode(commit).map_err(|why| SliceError::Commit(format!("cannot be understood: {why}")))?;
    if commit.did != *claim.did {
        return Err(SliceError::Commit(format!("is of {}, not of {}", commit.did, claim.did)));
    }
    if commit.rev != *claim.rev {
        return Err(SliceError::Commit(format!("is of revision {}, not {}", commit.rev, claim.rev)));
    }
    commit.verify(key).map_err(SliceError::Signature)?;

    let mut records = HashMap::new();
    for write in claim.writes {
        let Some(cid) = write.cid else { continue };
        let fault = |why: String| SliceError::Record { path: write.path.to_owned(), why };
        let range = blocks.get(&cid).ok_or_else(|| fault("is not among its blocks".into()))?;
        let record = bytes.get(range.clone()).unwrap_or_default();
        data::check_dag_cbor_object(record).map_err(|error| fault(format!("is no record: {error}")))?;
        records.insert(cid, range.clone());
    }

    let find = |link: &Link| block(link).map(<[u8]>::to_vec);
    let mut tree = Tree::open(&commit.data, &find)?;
    let mut has_past = true;
    for write in claim.writes.iter().rev() {
        let other = |why| TreeError::Mismatch { path: write.path.to_owned(), why };
        // What the write left there, and what was there before it.
        let left = match (write.cid, write.before) {
            (Some(_), Before::Record(before)) => Some(tree.replace(write.path, before)?),
            (Some(_), Before::Nothing | Before::Unsaid) => Some(tree.remove(write.path)?),
            (None, Before::Record(before)) => {
                tree.insert(write.path, before)?;
                None
            }
            (None, Before::Nothing | Before::Unsaid) => tree.get(write.path)?,
        };
        if left != write.cid {
            return Err(other("the tree holds another record").into());
        }
        has_past &= write.before != Before::Unsaid;
    }
    match claim.prev_data {
        Some(before) if has_past && tree.root() != before => return Err(SliceError::OtherPast),
        Some(_) if has_past => {}
        _ => return Err(SliceError::NoPast),
    }
    let data = commit.data;
    Ok(Slice { bytes, records, data })
}

#[cfg(test)]
mod tests;
