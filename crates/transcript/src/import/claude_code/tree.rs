//! The tree of rows, and which of its branches is the conversation.
//!
//! Rows name their parent, but a chain from the last row to the root is not the conversation: parallel
//! tool calls, their results, hooks and progress all hang beside it. A person leaves a branch in one way
//! only, by going back to an earlier prompt and writing another in its place. So everything belongs to
//! the conversation, except what hangs below a prompt that a later sibling replaced.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

/// A row in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NodeId(u32);

/// What a row is to the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bookkeeping: looked through when prompts are compared.
    Other,
    /// Said or returned by the agent or a tool; also where a compaction begins anew.
    Message,
    /// A person's prompt.
    Prompt,
}

/// A row's parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parent {
    /// The row says that it has none.
    Root,
    /// The row does not say.
    Unsaid,
    /// This row, which may not be in the file.
    Row(NodeId),
}

#[derive(Debug, Clone, Copy)]
struct Node {
    present: bool,
    has_child: bool,
    kind: Kind,
    parent: Parent,
}

/// Every row of a file that has an id.
#[derive(Debug, Default)]
pub(super) struct Tree {
    ids: HashMap<u128, NodeId>,
    nodes: Vec<Node>,
}

impl Tree {
    /// Adds a row; says whether its id was there already, in which case it stays as it was.
    pub(super) fn add(&mut self, uuid: &str, parent: Parent, kind: Kind) -> (NodeId, bool) {
        let id = self.intern(uuid);
        if let Parent::Row(parent) = parent
            && let Some(node) = self.node_mut(parent)
        {
            node.has_child = true;
        }
        let Some(node) = self.node_mut(id) else { return (id, false) };
        let known = node.present;
        if !known {
            node.present = true;
            node.parent = parent;
            node.kind = kind;
        }
        (id, known)
    }

    /// The id that a row of this name has or will have.
    pub(super) fn intern(&mut self, uuid: &str) -> NodeId {
        let next = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let id = *self.ids.entry(key(uuid)).or_insert(next);
        if id == next {
            self.nodes.push(Node { present: false, has_child: false, kind: Kind::Other, parent: Parent::Unsaid });
        }
        id
    }

    /// The row of this name.
    pub(super) fn find(&self, uuid: &str) -> Option<NodeId> {
        let id = *self.ids.get(&key(uuid))?;
        self.node(id).filter(|node| node.present).map(|_| id)
    }

    fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(usize::try_from(id.0).ok()?)
    }

    fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(usize::try_from(id.0).ok()?)
    }

    fn parent(&self, id: NodeId) -> Option<NodeId> {
        match self.node(id)?.parent {
            Parent::Row(parent) if self.node(parent)?.present => Some(parent),
            _ => None,
        }
    }

    /// `leaf` and everything above it.
    fn ancestry(&self, leaf: Option<NodeId>) -> HashSet<NodeId> {
        let mut seen = HashSet::new();
        let mut at = leaf;
        while let Some(id) = at {
            if !seen.insert(id) {
                break;
            }
            at = self.parent(id);
        }
        seen
    }

    /// The prompts among `prompts` (one session's, in file order) that were replaced, given the row that
    /// the wanted branch leads to.
    pub(super) fn replaced(&self, prompts: &[NodeId], leaf: Option<NodeId>) -> Vec<NodeId> {
        let mut above = Above::new(self);
        let mut siblings: HashMap<Place, Vec<NodeId>> = HashMap::new();
        for &prompt in prompts {
            let place = above.place(prompt);
            // In builds that do not link rows at all every prompt is a root: none replaced another.
            let linked = self.node(prompt).is_some_and(|node| node.has_child);
            if place == Place::Unknown || (place == Place::Root && !linked && Some(&prompt) != prompts.last()) {
                continue;
            }
            siblings.entry(place).or_default().push(prompt);
        }
        let active = self.ancestry(leaf);
        let mut replaced = Vec::new();
        for group in siblings.into_values().filter(|group| group.len() > 1) {
            let kept = group.iter().rev().find(|prompt| active.contains(prompt)).or(group.last()).copied();
            replaced.extend(group.into_iter().filter(|prompt| Some(*prompt) != kept));
        }
        replaced.sort_unstable();
        replaced
    }

    /// Which rows hang below one of `roots`, those included.
    pub(super) fn below(&self, roots: &[NodeId]) -> Below {
        let mut states = vec![State::Unknown; self.nodes.len()];
        if roots.is_empty() {
            return Below { states };
        }
        let state_of = |states: &[State], id: NodeId| {
            usize::try_from(id.0).ok().and_then(|at| states.get(at)).copied().unwrap_or(State::Outside)
        };
        let set = |states: &mut [State], id: NodeId, state: State| {
            if let Some(slot) = usize::try_from(id.0).ok().and_then(|at| states.get_mut(at)) {
                *slot = state;
            }
        };
        for &root in roots {
            set(&mut states, root, State::Inside);
        }
        let mut path = Vec::new();
        for start in 0..self.nodes.len() {
            let mut at = NodeId(u32::try_from(start).unwrap_or(u32::MAX));
            let state = loop {
                match state_of(&states, at) {
                    State::Unknown => {}
                    // A loop of parents leads nowhere.
                    State::Visiting => break State::Outside,
                    known => break known,
                }
                set(&mut states, at, State::Visiting);
                path.push(at);
                match self.parent(at) {
                    Some(parent) => at = parent,
                    None => break State::Outside,
                }
            };
            for id in path.drain(..) {
                set(&mut states, id, state);
            }
        }
        Below { states }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Visiting,
    Outside,
    Inside,
}

/// The answer of [`Tree::below`].
#[derive(Debug)]
pub(super) struct Below {
    states: Vec<State>,
}

impl Below {
    pub(super) fn contains(&self, id: NodeId) -> bool {
        usize::try_from(id.0).ok().and_then(|at| self.states.get(at)) == Some(&State::Inside)
    }
}

/// Where a prompt hangs, bookkeeping looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    /// At the very beginning.
    Root,
    /// Below a message or another prompt.
    Below(NodeId),
    /// Its parent, or that of the bookkeeping above it, is not in the file.
    Unknown,
}

/// Places, each found once.
struct Above<'t> {
    tree: &'t Tree,
    places: HashMap<NodeId, Place>,
}

impl<'t> Above<'t> {
    fn new(tree: &'t Tree) -> Self {
        Self { tree, places: HashMap::new() }
    }

    fn place(&mut self, id: NodeId) -> Place {
        let mut path = Vec::new();
        let mut at = id;
        let place = loop {
            if let Some(place) = self.places.get(&at) {
                break *place;
            }
            // Set first, so that a loop of parents ends here.
            self.places.insert(at, Place::Unknown);
            path.push(at);
            let parent = match self.tree.node(at).map(|node| node.parent) {
                Some(Parent::Row(parent)) => parent,
                Some(Parent::Root) => break Place::Root,
                Some(Parent::Unsaid) | None => break Place::Unknown,
            };
            match self.tree.node(parent) {
                Some(node) if !node.present => break Place::Unknown,
                Some(node) if node.kind == Kind::Other => at = parent,
                Some(_) => break Place::Below(parent),
                None => break Place::Unknown,
            }
        };
        for id in path {
            self.places.insert(id, place);
        }
        place
    }
}

/// A row's id as a number: UUIDs as they are, other names hashed.
fn key(uuid: &str) -> u128 {
    if uuid.len() == 36 {
        let mut key = 0u128;
        let mut digits = 0;
        for character in uuid.chars() {
            if let Some(digit) = character.to_digit(16) {
                key = (key << 4) | u128::from(digit);
                digits += 1;
            } else if character != '-' {
                break;
            }
        }
        if digits == 32 {
            return key;
        }
    }
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    (u128::from(hasher.hash_one((0u8, uuid))) << 64) | u128::from(hasher.hash_one((1u8, uuid)))
}
