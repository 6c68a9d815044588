//! The Tiles families on the shelf and in the ledger.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail loudly"
)]

mod support;

use std::{fs, path::Path};

use jiff::Timestamp;
use onrecord_lexicon::Rkey;
use onrecord_record::{Family, tiles::Snapshot};
use onrecord_redact::{Decisions, Engine, RulesFile, seal};
use onrecord_transcript::Conversation;
use onrecord_workspace::{
    Error, Workspace,
    publish::{self, Outcome, Plan, Pointers, TakeBack, Target},
};
use rusqlite::Connection;
use support::conversation;
use tempfile::TempDir;

const TILES: &str = "run.tiles.chat.sessionSnapshot";

async fn plan(
    workspace: &Workspace,
    family: Family,
    talk: &Conversation,
    decisions: &Decisions,
) -> Result<Plan, Error> {
    plan_with(&Engine::builtin()?, workspace, family, talk, decisions).await
}

async fn plan_with(
    engine: &Engine,
    workspace: &Workspace,
    family: Family,
    talk: &Conversation,
    decisions: &Decisions,
) -> Result<Plan, Error> {
    let id = workspace.remember(talk)?;
    let (draft, _) = onrecord_record::project(talk);
    let reviewed = seal(&draft, engine, decisions, &workspace.fingerprint_key()?)?;
    let (target, now, none) = (Target::Shelf, Timestamp::now(), Pointers::default());
    publish::prepare_as(family, workspace, &target, (id, &talk.source.id), reviewed, &none, now).await
}

async fn shelve(workspace: &mut Workspace, family: Family, talk: &Conversation, decisions: &Decisions) -> Outcome {
    let plan = plan(workspace, family, talk, decisions).await.unwrap();
    publish::execute(workspace, &Target::Shelf, &plan, &mut |_| {}).await.unwrap()
}

async fn take_back(workspace: &mut Workspace, family: Family, uri: &str) -> usize {
    let rkey = Rkey::parse(uri.rsplit('/').next().unwrap()).unwrap();
    let take_back = TakeBack::prepare_in(workspace, &Target::Shelf, family, &rkey).await.unwrap();
    take_back.execute(workspace, &Target::Shelf, &mut |_| {}).await.unwrap()
}

fn counts(outcome: &Outcome) -> (usize, usize, usize) {
    (outcome.created, outcome.updated, outcome.deleted)
}

fn stands_in_a_file(folder: &Path, words: &str) -> bool {
    let holds = |bytes: Vec<u8>| bytes.windows(words.len()).any(|w| w == words.as_bytes());
    fs::read_dir(folder).unwrap().any(|entry| holds(fs::read(entry.unwrap().path()).unwrap()))
}

#[tokio::test]
async fn a_conversation_is_on_record_in_several_families_each_for_itself() {
    let folder = TempDir::new().unwrap();
    let mut workspace = Workspace::open(folder.path()).unwrap();
    let (talk, none) = (conversation("talk", 6), Decisions::default());
    let aligned = shelve(&mut workspace, Family::ClickAligned, &talk, &none).await;
    let tiles = shelve(&mut workspace, Family::Tiles, &talk, &none).await;
    let private = shelve(&mut workspace, Family::TilesPrivate, &talk, &none).await;
    assert_eq!((counts(&aligned), counts(&tiles), counts(&private)), ((7, 0, 0), (1, 0, 0), (1, 0, 0)));
    assert!(tiles.uri.contains(TILES) && private.uri.contains(TILES) && tiles.uri != private.uri);
    assert_eq!((aligned.link, tiles.link.as_ref().unwrap().secret.as_ref()), (None, None));
    let listed: Vec<_> =
        workspace.publications().unwrap().into_iter().map(|p| (p.family, p.records, p.title)).collect();
    assert_eq!(listed.len(), 3);
    assert!(listed.contains(&(Family::Tiles, 1, Some("Conversation talk".to_owned()))));
    assert!(listed.contains(&(Family::TilesPrivate, 1, None)));

    // The page of it says what the page of the other says.
    let id = workspace.remember(&talk).unwrap();
    let repo = Target::Shelf.repo().unwrap();
    let of = |family| workspace.publication_in(id, &repo, family).unwrap().unwrap();
    let shown = workspace.published(&of(Family::Tiles)).unwrap().unwrap();
    let other = workspace.published(&of(Family::ClickAligned)).unwrap().unwrap();
    assert_eq!(shown.session.title, other.session.title);
    assert_eq!(shown.uri(), tiles.uri);
    assert_eq!(shown.messages.len(), 6);
    for (a, b) in shown.messages.iter().zip(&other.messages) {
        assert_eq!(
            (&a.record.text, &a.record.model, &a.record.steps),
            (&b.record.text, &b.record.model, &b.record.steps)
        );
        assert_eq!(
            (&a.record.role, a.record.created_at.timestamp()),
            (&b.record.role, b.record.created_at.timestamp())
        );
    }
    assert_eq!(workspace.published(&of(Family::TilesPrivate)).unwrap().unwrap().messages, []);

    // In place: one update under its key, and none where nothing changed.
    assert_eq!(counts(&shelve(&mut workspace, Family::Tiles, &talk, &none).await), (0, 0, 0));
    let mut decisions = Decisions::default();
    decisions.withhold("m3");
    let again = shelve(&mut workspace, Family::Tiles, &talk, &decisions).await;
    assert_eq!((counts(&again), &again.uri), ((0, 1, 0), &tiles.uri));
    let publication = workspace.publication_in(id, &repo, Family::Tiles).unwrap().unwrap();
    let shown = workspace.published(&publication).unwrap().unwrap();
    assert!(shown.messages[3].record.withheld && shown.messages[3].record.text.is_empty());

    // One taken back leaves the others, and is gone.
    assert_eq!(take_back(&mut workspace, Family::Tiles, &tiles.uri).await, 1);
    assert_eq!(workspace.publications().unwrap().len(), 2);
    assert!(workspace.is_gone(&repo, &publication.rkey).unwrap());
    assert_eq!(take_back(&mut workspace, Family::ClickAligned, &aligned.uri).await, 7);
    assert!(!stands_in_a_file(folder.path(), "Question 2"));
}

// Invariant 15.
#[tokio::test]
async fn of_a_private_conversation_nothing_stands_in_clear() {
    let folder = TempDir::new().unwrap();
    let mut workspace = Workspace::open(folder.path()).unwrap();
    let (talk, none) = (conversation("talk", 6), Decisions::default());
    let first = shelve(&mut workspace, Family::TilesPrivate, &talk, &none).await;
    let link = first.link.clone().unwrap();
    assert!(first.link_is_new);
    let secret = link.secret.clone().unwrap();
    for words in ["Question 2", "Conversation talk", "Answer 1"] {
        assert!(!stands_in_a_file(folder.path(), words), "{words}");
    }
    // The key is with the tokens, and not in the database.
    let key = secret.fragment();
    assert!(fs::read_to_string(folder.path().join("tokens.json")).unwrap().contains(key.as_str()));
    for half in key.split('.') {
        let database = fs::read(folder.path().join("onrecord.db")).unwrap();
        let log = fs::read(folder.path().join("onrecord.db-wal")).unwrap_or_default();
        assert!(![database, log].iter().any(|file| file.windows(half.len()).any(|w| w == half.as_bytes())));
    }

    // Its link opens what the ledger holds.
    let id = workspace.remember(&talk).unwrap();
    let repo = Target::Shelf.repo().unwrap();
    let record = || -> serde_json::Value {
        let db = Connection::open(folder.path().join("onrecord.db")).unwrap();
        let json: String = db.query_row("SELECT json FROM record", [], |row| row.get(0)).unwrap();
        serde_json::from_str(&json).unwrap()
    };
    let opened = Snapshot::open(TILES, record(), Some(&secret)).unwrap();
    assert_eq!(opened.value["turns"].as_array().unwrap().len(), 3);

    // The same content again: nothing to write, and the link it had.
    let again = shelve(&mut workspace, Family::TilesPrivate, &talk, &none).await;
    assert_eq!((counts(&again), again.link_is_new, &again.link), ((0, 0, 0), false, &first.link));
    assert_eq!(workspace.known_link(&first.uri).unwrap(), Some(secret.clone()));

    // Other content: the same key and another nonce, under the same address; the old link opens nothing any more.
    let mut decisions = Decisions::default();
    decisions.withhold("m3");
    let changed = shelve(&mut workspace, Family::TilesPrivate, &talk, &decisions).await;
    assert_eq!((counts(&changed), changed.link_is_new, &changed.uri), ((0, 1, 0), true, &first.uri));
    let fresh = changed.link.unwrap().secret.unwrap();
    let halves = |fragment: &str| fragment.split_once('.').map(|(n, k)| (n.to_owned(), k.to_owned())).unwrap();
    let ((old_nonce, old_key), (nonce, same_key)) = (halves(&key), halves(&fresh.fragment()));
    assert!(old_key == same_key && old_nonce != nonce);
    assert!(matches!(Snapshot::open(TILES, record(), Some(&secret)), Err(onrecord_record::Error::WrongKey)));
    assert!(Snapshot::open(TILES, record(), Some(&fresh)).is_ok());

    // Taken back, the key is forgotten.
    assert_eq!(take_back(&mut workspace, Family::TilesPrivate, &first.uri).await, 1);
    assert_eq!(workspace.known_link(&first.uri).unwrap(), None);
    assert!(workspace.publication_in(id, &repo, Family::TilesPrivate).unwrap().is_none());
}

// Invariant 4.
#[tokio::test]
async fn the_last_gate_looks_into_what_is_encrypted() {
    let folder = TempDir::new().unwrap();
    let mut workspace = Workspace::open(folder.path()).unwrap();
    let talk = conversation("talk", 2);
    // What stands nowhere but in the record that the encoder makes, and of a private one in clear only.
    let rule = "[[rule]]\nid = 'call'\nname = 'A call'\ntier = 'B'\npattern = 'toolCall'\nkeywords = ['toolCall']\n";
    let engine = Engine::builder().rules(RulesFile::parse(rule).unwrap()).build().unwrap();
    for family in [Family::Tiles, Family::TilesPrivate] {
        let plan = plan_with(&engine, &workspace, family, &talk, &Decisions::default()).await.unwrap();
        assert!(matches!(plan.gate(), Err(Error::Gate(_))), "{family}");
        let refused = publish::execute(&mut workspace, &Target::Shelf, &plan, &mut |_| {}).await;
        assert!(matches!(refused, Err(Error::Gate(_))), "{family}: {refused:?}");
        assert_eq!(workspace.known_link(&plan.uri).unwrap(), None);
        assert!(workspace.publications().unwrap().iter().all(|p| p.records == 0));
    }
}
