//! Messages that name their parents, in any order: one branch of them.

use std::collections::{HashMap, HashSet};

use super::Error;

/// Messages by their ids.
#[derive(Debug)]
pub(crate) struct Nodes<T> {
    nodes: Vec<Node<T>>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug)]
struct Node<T> {
    id: String,
    parent: Option<String>,
    content: T,
}

impl<T> Default for Nodes<T> {
    fn default() -> Self {
        Self { nodes: Vec::new(), by_id: HashMap::new() }
    }
}

impl<T> Nodes<T> {
    /// Adds one. Of two with the same id the first stands.
    pub(crate) fn push(&mut self, id: String, parent: Option<String>, content: T) {
        if self.by_id.contains_key(&id) {
            return;
        }
        self.by_id.insert(id.clone(), self.nodes.len());
        self.nodes.push(Node { id, parent: parent.filter(|parent| !parent.is_empty()), content });
    }

    /// Whether any names a parent that is there.
    pub(crate) fn is_linked(&self) -> bool {
        self.nodes.iter().any(|node| self.parent(node).is_some())
    }

    fn parent(&self, node: &Node<T>) -> Option<usize> {
        self.by_id.get(node.parent.as_deref()?).copied()
    }

    /// The branch that ends at `current`, or in the last message if there is none of that id; or the one through the message
    /// `through`. Says how many other branches there are. Where nothing is linked, everything is the branch.
    pub(crate) fn branch(self, current: Option<&str>, through: Option<&str>) -> Result<(Vec<(String, T)>, u64), Error> {
        if !self.is_linked() && through.is_none() {
            return Ok((self.nodes.into_iter().map(|node| (node.id, node.content)).collect(), 0));
        }
        let parents: Vec<Option<usize>> = self.nodes.iter().map(|node| self.parent(node)).collect();
        let way = |leaf: usize| {
            let mut way = Vec::new();
            let mut seen = HashSet::new();
            let mut next = Some(leaf);
            // Parents that lead in a circle lead nowhere.
            while let Some(index) = next.filter(|index| seen.insert(*index)) {
                way.push(index);
                next = parents.get(index).copied().flatten();
            }
            way
        };
        let has_children: HashSet<usize> = parents.iter().flatten().copied().collect();
        let leaves: Vec<usize> = (0..self.nodes.len()).filter(|index| !has_children.contains(index)).collect();
        let leaf = match through {
            Some(id) => {
                let through = self.by_id.get(id).copied().ok_or_else(|| Error::UnknownBranch(id.to_owned()))?;
                leaves.iter().rev().copied().find(|leaf| way(*leaf).contains(&through)).unwrap_or(through)
            }
            None => match current.and_then(|id| self.by_id.get(id)) {
                Some(index) => *index,
                None => leaves.last().copied().unwrap_or_else(|| self.nodes.len().saturating_sub(1)),
            },
        };
        let chosen = way(leaf);
        let others = leaves.iter().filter(|other| !chosen.contains(other)).count();
        let mut contents: HashMap<usize, (String, T)> =
            self.nodes.into_iter().enumerate().map(|(index, node)| (index, (node.id, node.content))).collect();
        let branch = chosen.iter().rev().filter_map(|index| contents.remove(index)).collect();
        Ok((branch, u64::try_from(others).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(links: &[(&str, Option<&str>)]) -> Nodes<()> {
        let mut nodes = Nodes::default();
        for (id, parent) in links {
            nodes.push((*id).to_owned(), parent.map(str::to_owned), ());
        }
        nodes
    }

    fn ids(links: &[(&str, Option<&str>)], current: Option<&str>, through: Option<&str>) -> (Vec<String>, u64) {
        let (branch, others) = nodes(links).branch(current, through).unwrap();
        (branch.into_iter().map(|(id, ())| id).collect(), others)
    }

    #[test]
    fn the_branch_ends_where_the_reader_was_and_not_at_the_first_or_newest_child() {
        let links = [("d", Some("a")), ("c", Some("b")), ("b", Some("a")), ("a", None), ("e", Some("b"))];
        assert_eq!(ids(&links, Some("c"), None), (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], 2));
        assert_eq!(ids(&links, None, None).0, ["a", "b", "e"]);
        assert_eq!(ids(&links, Some("gone"), None).0, ["a", "b", "e"]);
        assert_eq!(ids(&links, Some("c"), Some("d")).0, ["a", "d"]);
        assert!(nodes(&links).branch(None, Some("x")).is_err());
    }

    #[test]
    fn what_is_not_linked_is_a_line_and_a_circle_ends() {
        assert_eq!(ids(&[("a", None), ("b", Some("gone"))], None, None).0, ["a", "b"]);
        assert_eq!(ids(&[("a", Some("b")), ("b", Some("a"))], Some("a"), None).0, ["b", "a"]);
    }
}
