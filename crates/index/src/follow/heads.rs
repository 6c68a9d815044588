//! The chain of each account's commits: each says what it follows on, and whoever knows that has missed nothing.

use std::{collections::HashMap, sync::Arc};

use onrecord_lexicon::{Did, Tid};
use onrecord_repo::Link;

use crate::{Index, Note, RepoHead, Result};

/// Accounts of which the head is remembered; of all others the index knows it.
const REMEMBERED: usize = 20_000;

/// How a commit stands to what is known of its repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing of the account is in the index.
    Stranger,
    /// It is no news.
    Old,
    /// It follows, or it is the first that is seen of the account.
    Next,
    /// Something between is missing.
    Gap,
}

/// What a commit says of the one before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Follows<'a> {
    pub(super) rev: &'a Tid,
    /// The revision before.
    pub(super) since: Option<&'a Tid>,
    /// The root of the tree before.
    pub(super) prev_data: Option<Link>,
}

/// Heads of repositories, as far as they were seen.
pub(super) struct Heads {
    index: Arc<dyn Index>,
    seen: HashMap<Did, RepoHead>,
    /// Those that are not in the index yet.
    unwritten: Vec<Note>,
}

impl Heads {
    pub(super) fn new(index: Arc<dyn Index>) -> Self {
        Self { index, seen: HashMap::new(), unwritten: Vec::new() }
    }

    /// Whether something of the account is in the index.
    pub(super) async fn knows(&self, did: &Did) -> Result<bool> {
        Ok(self.index.head(did).await?.is_some())
    }

    /// How a commit stands to what is known.
    pub(super) async fn step(&mut self, did: &Did, follows: Follows<'_>) -> Result<Step> {
        if let Some(head) = self.seen.get(did) {
            let step = step(head, follows);
            // Somebody else may have fetched it since.
            if step != Step::Gap {
                return Ok(step);
            }
        }
        let Some(head) = self.index.head(did).await? else { return Ok(Step::Stranger) };
        let step = step(&head, follows);
        self.seen.insert(did.clone(), head);
        Ok(step)
    }

    /// Notes that a repository is at this revision now.
    pub(super) fn at(&mut self, did: &Did, rev: &Tid, data: Option<Link>) {
        self.seen.insert(did.clone(), RepoHead { rev: Some(rev.clone()), data });
        // Of many commits of an account in one batch, the last.
        self.unwritten.retain(|note| !matches!(note, Note::Head { did: of, .. } if of == did));
        self.unwritten.push(Note::Head { did: did.clone(), rev: rev.clone(), data });
    }

    /// What is to be written.
    pub(super) fn unwritten(&mut self) -> Vec<Note> {
        // What is forgotten now is read from the index, where it soon is.
        std::mem::take(&mut self.unwritten)
    }

    /// Notes that all of it was written.
    pub(super) fn written(&mut self) {
        if self.seen.len() > REMEMBERED {
            self.seen.clear();
        }
    }
}

fn step(head: &RepoHead, follows: Follows<'_>) -> Step {
    let Some(rev) = &head.rev else { return Step::Next };
    if follows.rev <= rev {
        return Step::Old;
    }
    // The same tree before it: nothing that a reader could see was missed.
    let is_next = match (head.data, follows.prev_data) {
        (Some(known), Some(before)) => known == before,
        _ => follows.since.is_some_and(|since| since <= rev),
    };
    if is_next { Step::Next } else { Step::Gap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_follows_on_the_tree_that_is_known() {
        let rev = |n| Tid::from_micros(1_767_225_600_000_000 + n, 1).unwrap();
        let tree = |name: &[u8]| Some(Link::of(name));
        let at = |data| RepoHead { rev: Some(rev(5)), data };
        let of = |head: &RepoHead, n, since: Option<u64>, prev_data| {
            step(head, Follows { rev: &rev(n), since: since.map(rev).as_ref(), prev_data })
        };
        let known = at(tree(b"five"));
        assert_eq!(of(&known, 5, Some(4), tree(b"four")), Step::Old);
        assert_eq!(of(&known, 6, Some(5), tree(b"five")), Step::Next);
        assert_eq!(of(&known, 7, Some(6), tree(b"five")), Step::Next, "nothing in it changed in between");
        assert_eq!(of(&known, 7, Some(6), tree(b"six")), Step::Gap);
        assert_eq!(of(&known, 6, Some(5), tree(b"other")), Step::Gap);
        assert_eq!(of(&known, 7, Some(6), None), Step::Gap);
        let unproven = at(None);
        assert_eq!(of(&unproven, 6, Some(5), tree(b"five")), Step::Next);
        assert_eq!(of(&unproven, 7, Some(6), tree(b"six")), Step::Gap);
        assert_eq!(of(&unproven, 7, None, tree(b"six")), Step::Gap);
        assert_eq!(of(&RepoHead { rev: None, data: None }, 7, None, None), Step::Next);
    }
}
