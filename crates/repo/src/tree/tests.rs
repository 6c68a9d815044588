//! Against the whole trees that the test kit writes, and the protocol's own vectors.

use std::collections::{BTreeMap, HashMap};

use onrecord_lexicon::Cid;
use onrecord_testkit::repo;
use proptest::prelude::*;

use super::*;

fn value(n: u8) -> Cid {
    onrecord_lexicon::data::cid_of(&[n])
}

/// A whole tree: its root and blocks.
fn whole(records: &BTreeMap<String, Cid>) -> (Link, HashMap<Link, Vec<u8>>) {
    let tree = repo::tree(records);
    let blocks = tree.nodes.iter().map(|block| (Link::from(&block.cid), block.bytes.clone())).collect();
    (Link::from(&tree.root), blocks)
}

fn open<'b>(root: &Link, blocks: &'b Blocks<'b>) -> Tree<'b> {
    Tree::open(root, blocks).unwrap()
}

fn records(entries: &[(String, u8)]) -> BTreeMap<String, Cid> {
    entries.iter().map(|(path, n)| (path.clone(), value(*n))).collect()
}

fn paths() -> impl Strategy<Value = Vec<(String, u8)>> {
    proptest::collection::vec(("[a-c]\\.[a-e]/[a-p]{1,3}", any::<u8>()), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_tree_is_the_tree_of_the_changed_records(before in paths(), changes in paths(), drop in any::<u64>()) {
        let before = records(&before);
        let (root, blocks) = whole(&before);
        let find = |link: &Link| blocks.get(link).cloned();
        let mut tree = open(&root, &find);
        prop_assert_eq!(tree.root(), root);
        let mut after = before.clone();
        for (path, n) in &changes {
            match after.insert(path.clone(), value(*n)) {
                Some(was) => prop_assert_eq!(tree.replace(path, Link::from(&value(*n))).unwrap(), Link::from(&was)),
                None => tree.insert(path, Link::from(&value(*n))).unwrap(),
            }
        }
        let gone: Vec<String> = after.keys().enumerate().filter(|(n, _)| drop >> (n % 64) & 1 == 1).map(|(_, p)| p.clone()).collect();
        for path in gone {
            let was = after.remove(&path).unwrap();
            prop_assert_eq!(tree.remove(&path).unwrap(), Link::from(&was));
            prop_assert_eq!(tree.get(&path).unwrap(), None);
        }
        prop_assert_eq!(tree.root(), whole(&after).0);
        for (path, was) in &after {
            prop_assert_eq!(tree.get(path).unwrap(), Some(Link::from(was)));
        }
    }

    #[test]
    fn undoing_every_change_gives_the_tree_before(before in paths(), changes in paths()) {
        let before = records(&before);
        let (root, blocks) = whole(&before);
        let find = |link: &Link| blocks.get(link).cloned();
        let mut tree = open(&root, &find);
        let mut undo = Vec::new();
        for (path, n) in &changes {
            match tree.get(path).unwrap() {
                Some(was) => {
                    tree.replace(path, Link::from(&value(*n))).unwrap();
                    undo.push((path, Some(was)));
                }
                None => {
                    tree.insert(path, Link::from(&value(*n))).unwrap();
                    undo.push((path, None));
                }
            }
        }
        for (path, was) in undo.into_iter().rev() {
            match was {
                Some(was) => drop(tree.replace(path, was).unwrap()),
                None => drop(tree.remove(path).unwrap()),
            }
        }
        prop_assert_eq!(tree.root(), root);
    }
}

#[test]
fn a_tree_without_records_has_the_one_root_of_all_such_trees() {
    let (root, blocks) = whole(&BTreeMap::new());
    let find = |link: &Link| blocks.get(link).cloned();
    let mut tree = open(&root, &find);
    tree.insert("a.b/c", Link::from(&value(1))).unwrap();
    assert_ne!(tree.root(), root);
    tree.remove("a.b/c").unwrap();
    assert_eq!(tree.root(), root);
}

#[test]
fn what_is_not_known_is_asked_for_by_name_and_what_does_not_fit_is_refused() {
    let all: Vec<(String, u8)> = (0..200).map(|n| (format!("a.b/{n:03}"), 1)).collect();
    let (root, blocks) = whole(&records(&all));
    let only_root = |link: &Link| blocks.get(link).cloned().filter(|_| *link == root);
    let outcomes: Vec<_> = (0..200).map(|n| open(&root, &only_root).remove(&format!("a.b/{n:03}"))).collect();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(_) | Err(TreeError::Missing(_)))), "{outcomes:?}");
    assert!(outcomes.iter().filter(|outcome| outcome.is_err()).count() > 190);
    let find = |link: &Link| blocks.get(link).cloned();
    let mut tree = open(&root, &find);
    assert!(matches!(tree.insert("a.b/007", root), Err(TreeError::Mismatch { .. })));
    assert!(matches!(tree.remove("a.b/777"), Err(TreeError::Mismatch { .. })));
    assert!(matches!(tree.replace("a.b/777", root), Err(TreeError::Mismatch { .. })));
}

/// The protocol's vectors: trees before and after, and the blocks that are enough to go back.
#[test]
fn the_vectors_of_commit_proofs_hold() {
    #[expect(clippy::disallowed_methods, reason = "where the shared data is, for tests alone")]
    let shared = std::env::var_os("ONRECORD_SHARED").map_or_else(
        || std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
        std::path::PathBuf::from,
    );
    let Ok(bytes) = std::fs::read(shared.join("interop/firehose/commit-proof-fixtures.json")) else {
        eprintln!("skipped: shared data not present");
        return;
    };
    let vectors: Vec<serde_json::Value> = serde_json::from_slice(&bytes).unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let list = |field: &str| -> Vec<String> {
            vector[field].as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
        };
        let cid = |field: &str| Cid::parse(vector[field].as_str().unwrap()).unwrap();
        let leaf = cid("leafValue");
        let before: BTreeMap<String, Cid> = list("keys").into_iter().map(|key| (key, leaf.clone())).collect();
        let mut after = before.clone();
        after.extend(list("adds").into_iter().map(|key| (key, leaf.clone())));
        for key in list("dels") {
            after.remove(&key);
        }
        let (root, blocks) = whole(&after);
        assert_eq!(root, Link::from(&cid("rootAfterCommit")), "{}", vector["comment"]);
        let proof: Vec<Link> = list("blocksInProof").iter().map(|c| Link::from(&Cid::parse(c).unwrap())).collect();
        let find = |link: &Link| blocks.get(link).cloned().filter(|_| proof.contains(link));
        let mut tree = open(&root, &find);
        for key in list("adds") {
            tree.remove(&key).unwrap();
        }
        for key in list("dels") {
            tree.insert(&key, Link::from(&leaf)).unwrap();
        }
        assert_eq!(tree.root(), Link::from(&cid("rootBeforeCommit")), "{}", vector["comment"]);
    }
}
