use onrecord_redact::Decisions;
use onrecord_transcript::{Conversation, Harness, Source};
use tempfile::TempDir;

use crate::{ConversationId, Error, History, Workspace};

fn store() -> (TempDir, Workspace, ConversationId) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::open(&folder.path().join("data")).unwrap();
    let conversation = Conversation {
        source: Source { harness: Harness::Pi, id: "s1".into(), path: None, version: None, cwd: None, parent: None },
        title: None,
        title_is_prompt: false,
        created_at: "2026-03-04T05:06:07Z".parse().unwrap(),
        turns: Vec::new(),
        warnings: Vec::new(),
    };
    let id = workspace.remember(&conversation).unwrap();
    (folder, workspace, id)
}

/// Holds a turn back.
fn withhold(workspace: &mut Workspace, id: ConversationId, turn: &str) -> Decisions {
    let read = workspace.decisions(id).unwrap();
    let mut decisions = read.clone();
    decisions.withhold(turn);
    workspace.decide(id, &read, &decisions, &format!("hold back {turn}")).unwrap();
    decisions
}

fn history(undo: &[&str], redo: &[&str]) -> History {
    let last = |words: &[&str]| words.first().map(|w| (*w).to_owned());
    History { undo: last(undo), redo: last(redo) }
}

#[test]
fn decisions_are_undone_and_redone_one_by_one_also_after_a_restart() {
    let (folder, mut workspace, id) = store();
    assert_eq!(workspace.history(id).unwrap(), history(&[], &[]));
    let one = withhold(&mut workspace, id, "a");
    let two = withhold(&mut workspace, id, "b");
    drop(workspace);
    let mut workspace = Workspace::open(&folder.path().join("data")).unwrap();
    assert_eq!(workspace.history(id).unwrap(), history(&["hold back b"], &[]));
    assert_eq!(workspace.undo(id, &two).unwrap(), Some(one.clone()));
    assert_eq!(workspace.decisions(id).unwrap(), one);
    assert_eq!(workspace.history(id).unwrap(), history(&["hold back a"], &["hold back b"]));
    assert_eq!(workspace.undo(id, &one).unwrap(), Some(Decisions::default()));
    assert_eq!(workspace.undo(id, &Decisions::default()).unwrap(), None);
    assert_eq!(workspace.redo(id, &Decisions::default()).unwrap(), Some(one.clone()));
    assert_eq!(workspace.redo(id, &one).unwrap(), Some(two.clone()));
    assert_eq!(workspace.redo(id, &two).unwrap(), None);
}

#[test]
fn a_new_decision_forgets_what_was_undone() {
    let (_folder, mut workspace, id) = store();
    let one = withhold(&mut workspace, id, "a");
    workspace.undo(id, &one).unwrap();
    withhold(&mut workspace, id, "c");
    assert_eq!(workspace.history(id).unwrap(), history(&["hold back c"], &[]));
}

#[test]
fn nothing_is_undone_on_the_grounds_of_decisions_that_were_others_meanwhile() {
    let (_folder, mut workspace, id) = store();
    let one = withhold(&mut workspace, id, "a");
    withhold(&mut workspace, id, "b");
    assert!(matches!(workspace.undo(id, &one), Err(Error::DecidedMeanwhile)));
}

#[test]
fn a_decision_that_changes_nothing_is_none() {
    let (_folder, mut workspace, id) = store();
    let one = withhold(&mut workspace, id, "a");
    workspace.decide(id, &one, &one, "nothing").unwrap();
    assert_eq!(workspace.history(id).unwrap(), history(&["hold back a"], &[]));
}

#[test]
fn a_hundred_decisions_can_be_undone_and_no_more_are_kept() {
    let (_folder, mut workspace, id) = store();
    let mut now = Decisions::default();
    for n in 0..130 {
        now = withhold(&mut workspace, id, &format!("t{n}"));
    }
    let mut undone = 0;
    while let Some(before) = workspace.undo(id, &now).unwrap() {
        now = before;
        undone += 1;
    }
    assert_eq!(undone, 100);
}

// Invariant 15.
#[test]
fn a_word_that_is_covered_is_in_no_title_that_could_come_back() {
    let (folder, mut workspace, id) = store();
    let key = workspace.fingerprint_key().unwrap();
    let mut titled = Decisions::default();
    titled.set_title(Some("Why Wintergreen failed".to_owned()));
    workspace.decide(id, &Decisions::default(), &titled, "change the title").unwrap();
    let mut covered = titled.clone();
    covered.cover_word(&key, "Wintergreen").unwrap();
    covered.set_title(Some("Why ███ failed".to_owned()));
    workspace.decide(id, &titled, &covered, "cover a word").unwrap();
    let undone = workspace.undo(id, &covered).unwrap().unwrap();
    assert_eq!(undone.title(), Some("Why ███ failed"));
    assert_eq!(undone.covered_words().count(), 0);
    workspace.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(workspace);
    for entry in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(11).any(|w| w == b"Wintergreen"));
    }
}
