//! A file of entries as a tree, and one branch of it.

use std::{borrow::Cow, collections::HashMap};

/// What an entry says of the one before it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parent<'a> {
    /// Nothing: the first version's files are a line, and some programs append without ids.
    Previous,
    /// It is the first.
    Root,
    /// This one's id.
    Id(Cow<'a, str>),
}

/// Entries in the order of the file. An entry's parent is always an earlier one, so no walk can loop.
#[derive(Debug)]
pub(crate) struct Tree<T> {
    nodes: Vec<Node<T>>,
    by_id: HashMap<String, usize>,
    orphans: u64,
}

#[derive(Debug)]
struct Node<T> {
    id: Option<String>,
    parent: Option<usize>,
    content: T,
}

impl<T> Default for Tree<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), by_id: HashMap::new(), orphans: 0 }
    }
}

impl<T> Tree<T> {
    /// Adds the next entry. One whose parent is not in the file comes after the entry before it: the
    /// parent's line was most likely damaged, and that must not cost the conversation up to there.
    pub(crate) fn push(&mut self, id: Option<String>, parent: &Parent<'_>, content: T) {
        let previous = self.nodes.len().checked_sub(1);
        let parent = match parent {
            Parent::Root => None,
            Parent::Previous => previous,
            Parent::Id(parent) => self.by_id.get(parent.as_ref()).copied().or_else(|| {
                self.orphans += 1;
                previous
            }),
        };
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), self.nodes.len());
        }
        self.nodes.push(Node { id, parent, content });
    }

    /// Entries whose parent is not in the file.
    pub(crate) const fn orphans(&self) -> u64 {
        self.orphans
    }

    /// A branch from the root: to the last entry of the file or, if an id is given, to the last one
    /// that has the entry of this id among its ancestors or is it. `None` if there is no such entry.
    pub(crate) fn branch(self, through: Option<&str>) -> Option<impl Iterator<Item = (Option<String>, T)>> {
        let leaf = match through {
            Some(id) => Some(self.last_below(*self.by_id.get(id)?)),
            None => self.nodes.len().checked_sub(1),
        };
        Some(self.branch_to(leaf))
    }

    /// The last entry that is below this one, or this one.
    fn last_below(&self, through: usize) -> usize {
        let mut follows = vec![false; self.nodes.len()];
        let mut leaf = through;
        for (index, node) in self.nodes.iter().enumerate().skip(through) {
            let is_below =
                index == through || node.parent.and_then(|parent| follows.get(parent).copied()).unwrap_or(false);
            if let Some(slot) = follows.get_mut(index).filter(|_| is_below) {
                *slot = true;
                leaf = index;
            }
        }
        leaf
    }

    fn branch_to(self, leaf: Option<usize>) -> impl Iterator<Item = (Option<String>, T)> {
        let mut on_branch = vec![false; self.nodes.len()];
        let mut next = leaf;
        while let Some(index) = next {
            if let Some(slot) = on_branch.get_mut(index) {
                *slot = true;
            }
            next = self.nodes.get(index).and_then(|node| node.parent);
        }
        // What was appended without an id can be nobody's parent; it belongs to what it follows.
        let mut previous_is_on = false;
        self.nodes.into_iter().zip(on_branch).filter_map(move |(node, is_on)| {
            let belongs = is_on || (node.id.is_none() && previous_is_on);
            previous_is_on = belongs;
            belongs.then_some((node.id, node.content))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(entries: &[(Option<&str>, Parent<'_>)]) -> Tree<usize> {
        let mut tree = Tree::default();
        for (index, (id, parent)) in entries.iter().enumerate() {
            tree.push(id.map(str::to_owned), parent, index);
        }
        tree
    }

    fn id(id: &str) -> Parent<'_> {
        Parent::Id(Cow::Borrowed(id))
    }

    fn contents(branch: impl Iterator<Item = (Option<String>, usize)>) -> Vec<usize> {
        branch.map(|(_, content)| content).collect()
    }

    #[test]
    fn a_file_without_ids_is_a_line() {
        let tree = tree(&[(None, Parent::Previous), (None, Parent::Previous), (None, Parent::Previous)]);
        assert_eq!(contents(tree.branch(None).unwrap()), [0, 1, 2]);
    }

    #[test]
    fn the_last_entry_tells_the_branch() {
        let entries = [(Some("a"), Parent::Root), (Some("b"), id("a")), (Some("c"), id("a")), (Some("d"), id("c"))];
        assert_eq!(contents(tree(&entries).branch(None).unwrap()), [0, 2, 3]);
        assert_eq!(contents(tree(&entries).branch(Some("b")).unwrap()), [0, 1]);
        assert_eq!(contents(tree(&entries).branch(Some("a")).unwrap()), [0, 2, 3]);
        assert!(tree(&entries).branch(Some("x")).is_none());
    }

    #[test]
    fn a_lost_parent_does_not_cost_what_came_before() {
        let tree = tree(&[(Some("a"), Parent::Root), (Some("c"), id("b")), (Some("d"), id("c"))]);
        assert_eq!(tree.orphans(), 1);
        assert_eq!(contents(tree.branch(None).unwrap()), [0, 1, 2]);
    }

    #[test]
    fn an_entry_without_id_goes_with_the_one_before_it() {
        let tree = tree(&[(Some("a"), Parent::Root), (None, Parent::Previous), (Some("b"), id("a"))]);
        assert_eq!(contents(tree.branch(None).unwrap()), [0, 1, 2]);
    }

    #[test]
    fn an_entry_that_names_itself_or_a_later_one_does_not_loop() {
        let tree = tree(&[(Some("a"), id("b")), (Some("b"), id("a")), (Some("c"), id("c"))]);
        assert_eq!(contents(tree.branch(None).unwrap()), [0, 1, 2]);
    }
}
