//! A tree of which only the nodes around some keys are known, and what it was before those keys were written.
//! Source: the protocol's synchronisation specification, "operation inversion".

use crate::{
    Link,
    node::{Node, layer},
};

/// More layers than a tree of two to the sixty-fourth records has: what is deeper is made to be deep.
const MAX_LAYERS: u32 = 64;

/// Why a tree cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// A node that would have to change is not among the blocks.
    #[error("the node {0} is needed and not among the blocks")]
    Missing(Link),
    /// A block is not a node, or does not stand where it may.
    #[error("the node {at}: {why}")]
    Form {
        /// The node.
        at: Link,
        /// What is wrong with it.
        why: String,
    },
    /// An operation does not fit what the tree holds.
    #[error("{path}: {why}")]
    Mismatch {
        /// The record's path.
        path: String,
        /// What does not fit.
        why: &'static str,
    },
    /// The layers do not end.
    #[error("the tree is deeper than any honest one")]
    TooDeep,
}

/// Gives the bytes of a block, which have its hash; none where it is not known.
pub(crate) type Blocks<'b> = dyn Fn(&Link) -> Option<Vec<u8>> + 'b;

/// A subtree.
#[derive(Debug, Clone, Default)]
enum Child {
    #[default]
    None,
    /// Known by its CID only.
    Link(Link),
    Node(Box<Branch>),
}

/// A node that is known. `children` has one more than `entries`: what lies before, between and behind them.
#[derive(Debug, Clone, Default)]
struct Branch {
    layer: u32,
    entries: Vec<(Vec<u8>, Link)>,
    children: Vec<Child>,
}

/// A tree that can be changed where it is known.
pub(crate) struct Tree<'b> {
    root: Branch,
    blocks: &'b Blocks<'b>,
}

impl<'b> Tree<'b> {
    /// The tree at `root`.
    pub(crate) fn open(root: &Link, blocks: &'b Blocks<'b>) -> Result<Self, TreeError> {
        let (mut branch, keys) = read(root, blocks)?;
        // Only a tree without a record has a root without a key.
        branch.layer = keys.first().map_or(0, |key| layer(key));
        if keys.is_empty() && branch.children.iter().any(|child| !matches!(child, Child::None)) {
            return Err(TreeError::Form { at: *root, why: "a root without a key leads somewhere".into() });
        }
        check_layers(root, &branch)?;
        Ok(Self { root: branch, blocks })
    }

    /// The CID of its root.
    pub(crate) fn root(&self) -> Link {
        Link::of(&encode(&self.root))
    }

    /// What the record at `path` is; none where there is none.
    pub(crate) fn get(&mut self, path: &str) -> Result<Option<Link>, TreeError> {
        let (key, wanted, blocks) = (path.as_bytes(), layer(path.as_bytes()), self.blocks);
        let mut branch = &mut self.root;
        loop {
            let at = match branch.entries.binary_search_by(|(k, _)| k.as_slice().cmp(key)) {
                Ok(at) => return Ok(branch.entries.get(at).map(|(_, value)| *value)),
                Err(at) => at,
            };
            if branch.layer <= wanted {
                return Ok(None);
            }
            let below = branch.layer - 1;
            let Some(child) = branch.children.get_mut(at) else { return Ok(None) };
            match known(child, below, blocks)? {
                Some(next) => branch = next,
                None => return Ok(None),
            }
        }
    }

    /// Gives the record at `path`, which is there, another value, and returns the one it had.
    pub(crate) fn replace(&mut self, path: &str, value: Link) -> Result<Link, TreeError> {
        let missing = || TreeError::Mismatch { path: path.to_owned(), why: "the tree does not hold it" };
        let before = self.get(path)?.ok_or_else(missing)?;
        self.remove(path)?;
        self.insert(path, value)?;
        Ok(before)
    }

    /// Adds a record at `path`, where none is.
    pub(crate) fn insert(&mut self, path: &str, value: Link) -> Result<(), TreeError> {
        let (key, wanted) = (path.as_bytes(), layer(path.as_bytes()));
        if wanted > MAX_LAYERS {
            return Err(TreeError::TooDeep);
        }
        let is_empty = self.root.entries.is_empty() && matches!(self.root.children.first(), None | Some(Child::None));
        if is_empty {
            self.root = Branch { layer: wanted, entries: Vec::new(), children: vec![Child::None] };
        }
        // A key above the root gets nodes between, which hold nothing but the way down.
        while self.root.layer < wanted {
            let below = std::mem::take(&mut self.root);
            let layer = below.layer + 1;
            self.root = Branch { layer, entries: Vec::new(), children: vec![Child::Node(Box::new(below))] };
        }
        let blocks = self.blocks;
        let mut branch = &mut self.root;
        loop {
            let found = branch.entries.binary_search_by(|(k, _)| k.as_slice().cmp(key));
            let Err(at) = found else {
                return Err(TreeError::Mismatch { path: path.to_owned(), why: "the tree holds it already" });
            };
            let below = branch.layer.saturating_sub(1);
            if branch.layer == wanted {
                let child = branch.children.get_mut(at).map(std::mem::take).unwrap_or_default();
                let (left, right) = split(child, key, below, blocks)?;
                branch.entries.insert(at, (key.to_vec(), value));
                if let Some(place) = branch.children.get_mut(at) {
                    *place = left;
                }
                branch.children.insert(at + 1, right);
                return Ok(());
            }
            let Some(child) = branch.children.get_mut(at) else { return Err(TreeError::TooDeep) };
            if matches!(child, Child::None) {
                *child =
                    Child::Node(Box::new(Branch { layer: below, entries: Vec::new(), children: vec![Child::None] }));
            }
            match known(child, below, blocks)? {
                Some(next) => branch = next,
                None => return Err(TreeError::TooDeep),
            }
        }
    }

    /// Takes the record at `path` away, which is there, and returns it.
    pub(crate) fn remove(&mut self, path: &str) -> Result<Link, TreeError> {
        let removed = remove(&mut self.root, path.as_bytes(), self.blocks)?
            .ok_or_else(|| TreeError::Mismatch { path: path.to_owned(), why: "the tree does not hold it" })?;
        // A root that only leads down is none.
        while self.root.entries.is_empty() {
            match self.root.children.pop() {
                Some(Child::Node(below)) => self.root = *below,
                Some(Child::Link(link)) => {
                    let (mut below, _) = read(&link, self.blocks)?;
                    below.layer = self.root.layer.saturating_sub(1);
                    check_layers(&link, &below)?;
                    self.root = below;
                }
                Some(Child::None) | None => {
                    self.root = Branch { layer: 0, entries: Vec::new(), children: vec![Child::None] };
                    break;
                }
            }
        }
        Ok(removed)
    }
}

/// The node behind `child`, read if need be; none where nothing is.
fn known<'c>(child: &'c mut Child, layer: u32, blocks: &Blocks<'_>) -> Result<Option<&'c mut Branch>, TreeError> {
    if let Child::Link(link) = child {
        let link = *link;
        let (mut branch, _) = read(&link, blocks)?;
        branch.layer = layer;
        check_layers(&link, &branch)?;
        *child = Child::Node(Box::new(branch));
    }
    Ok(match child {
        Child::Node(branch) => Some(branch),
        Child::None | Child::Link(_) => None,
    })
}

/// A node of a block, and its keys; its layer is not set.
fn read(link: &Link, blocks: &Blocks<'_>) -> Result<(Branch, Vec<Vec<u8>>), TreeError> {
    let block = blocks(link).ok_or(TreeError::Missing(*link))?;
    let mut node = Node::default();
    node.read(&block).map_err(|why| TreeError::Form { at: *link, why })?;
    let form = |why: &str| TreeError::Form { at: *link, why: why.into() };
    let child = |link: Option<Link>| link.map_or(Child::None, Child::Link);
    let mut branch = Branch { layer: 0, entries: Vec::new(), children: vec![child(node.left)] };
    let mut key: Vec<u8> = Vec::new();
    let mut keys = Vec::new();
    for entry in &node.entries {
        let suffix = node.suffix(entry);
        let mut next =
            key.get(..entry.prefix).ok_or_else(|| form("a key takes more of the one before than it has"))?.to_vec();
        next.extend_from_slice(suffix);
        if !keys.is_empty() && next <= key {
            return Err(form("its keys are out of order"));
        }
        branch.entries.push((next.clone(), entry.value));
        branch.children.push(child(entry.right));
        keys.push(next.clone());
        key = next;
    }
    Ok((branch, keys))
}

/// Whether the keys of a node belong in its layer; below the lowest nothing lies.
fn check_layers(link: &Link, branch: &Branch) -> Result<(), TreeError> {
    let form = |why: &str| TreeError::Form { at: *link, why: why.into() };
    if branch.entries.iter().any(|(key, _)| layer(key) != branch.layer) {
        return Err(form("a key does not belong in its layer"));
    }
    let leads_down = branch.children.iter().any(|child| !matches!(child, Child::None));
    if branch.layer == 0 && leads_down {
        return Err(form("a node in the lowest layer leads to one below it"));
    }
    Ok(())
}

/// The parts of a subtree before and behind a key that it does not hold.
fn split(child: Child, key: &[u8], layer: u32, blocks: &Blocks<'_>) -> Result<(Child, Child), TreeError> {
    let mut child = child;
    let Some(branch) = known(&mut child, layer, blocks)? else { return Ok((Child::None, Child::None)) };
    let at = branch.entries.partition_point(|(k, _)| k.as_slice() < key);
    let mut right = Branch {
        layer: branch.layer,
        entries: branch.entries.split_off(at),
        children: branch.children.split_off((at + 1).min(branch.children.len())),
    };
    let middle = branch.children.pop().unwrap_or_default();
    let (before, behind) = split(middle, key, layer.saturating_sub(1), blocks)?;
    branch.children.push(before);
    right.children.insert(0, behind);
    let left = std::mem::take(branch);
    Ok((some(left), some(right)))
}

/// Two neighbouring subtrees as one.
fn merge(left: Child, right: Child, layer: u32, blocks: &Blocks<'_>) -> Result<Child, TreeError> {
    let (mut left, mut right) = match (left, right) {
        (Child::None, other) | (other, Child::None) => return Ok(other),
        both => both,
    };
    let (Some(first), Some(second)) = (known(&mut left, layer, blocks)?, known(&mut right, layer, blocks)?) else {
        return Err(TreeError::TooDeep);
    };
    let last = first.children.pop().unwrap_or_default();
    let mut rest = std::mem::take(&mut second.children).into_iter();
    let next = rest.next().unwrap_or_default();
    first.children.push(merge(last, next, layer.saturating_sub(1), blocks)?);
    first.children.extend(rest);
    first.entries.append(&mut second.entries);
    Ok(left)
}

fn remove(branch: &mut Branch, key: &[u8], blocks: &Blocks<'_>) -> Result<Option<Link>, TreeError> {
    let below = branch.layer.saturating_sub(1);
    match branch.entries.binary_search_by(|(k, _)| k.as_slice().cmp(key)) {
        Ok(at) => {
            let (_, value) = branch.entries.remove(at);
            let behind = if at + 1 < branch.children.len() { branch.children.remove(at + 1) } else { Child::None };
            if let Some(place) = branch.children.get_mut(at) {
                *place = merge(std::mem::take(place), behind, below, blocks)?;
            }
            Ok(Some(value))
        }
        Err(at) => {
            let Some(child) = branch.children.get_mut(at) else { return Ok(None) };
            let Some(next) = known(child, below, blocks)? else { return Ok(None) };
            let removed = remove(next, key, blocks)?;
            if removed.is_some() && is_nothing(next) {
                *child = Child::None;
            }
            Ok(removed)
        }
    }
}

fn is_nothing(branch: &Branch) -> bool {
    branch.entries.is_empty() && branch.children.iter().all(|child| matches!(child, Child::None))
}

fn some(branch: Branch) -> Child {
    if is_nothing(&branch) { Child::None } else { Child::Node(Box::new(branch)) }
}

/// The block of a node, canonical.
fn encode(branch: &Branch) -> Vec<u8> {
    let mut out = Vec::with_capacity(64 + branch.entries.len() * 100);
    out.extend_from_slice(&[0xa2, 0x61, b'e']);
    head(&mut out, 4, branch.entries.len());
    let mut before: &[u8] = &[];
    let children = branch.children.iter().skip(1).map(Some).chain(std::iter::repeat(None));
    for ((key, value), right) in branch.entries.iter().zip(children) {
        let prefix = crate::common_prefix(before, key);
        let suffix = key.get(prefix..).unwrap_or_default();
        out.extend_from_slice(&[0xa4, 0x61, b'k']);
        head(&mut out, 2, suffix.len());
        out.extend_from_slice(suffix);
        out.extend_from_slice(&[0x61, b'p']);
        head(&mut out, 0, prefix);
        out.extend_from_slice(&[0x61, b't']);
        child(&mut out, right);
        out.extend_from_slice(&[0x61, b'v']);
        link(&mut out, value);
        before = key;
    }
    out.extend_from_slice(&[0x61, b'l']);
    child(&mut out, branch.children.first());
    out
}

fn child(out: &mut Vec<u8>, child: Option<&Child>) {
    match child {
        Some(Child::Link(to)) => link(out, to),
        Some(Child::Node(branch)) => link(out, &Link::of(&encode(branch))),
        Some(Child::None) | None => out.push(0xf6),
    }
}

fn link(out: &mut Vec<u8>, link: &Link) {
    out.extend_from_slice(&[0xd8, 0x2a, 0x58, 0x25, 0x00]);
    out.extend_from_slice(link.as_bytes());
}

/// The head of a CBOR item, in its shortest form.
fn head(out: &mut Vec<u8>, major: u8, n: usize) {
    let major = major << 5;
    match (u8::try_from(n), u16::try_from(n), u32::try_from(n)) {
        (Ok(n @ 0..24), ..) => out.push(major | n),
        (Ok(n), ..) => out.extend_from_slice(&[major | 24, n]),
        (_, Ok(n), _) => {
            out.push(major | 25);
            out.extend_from_slice(&n.to_be_bytes());
        }
        (_, _, Ok(n)) => {
            out.push(major | 26);
            out.extend_from_slice(&n.to_be_bytes());
        }
        // No key and no node is that long; the hash would not be that of any node.
        _ => out.push(major | 31),
    }
}

#[cfg(test)]
mod tests;
