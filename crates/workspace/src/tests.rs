use std::fs;

use jiff::Timestamp;
use onrecord_atproto::{Client, Config, Pin, Secret, Tokens};
use onrecord_lexicon::{AtUri, Did, Handle};
use onrecord_redact::{Decisions, Engine, seal};
use onrecord_transcript::{Conversation, Grain, Harness, Message, Part, Role, Source, assemble};
use tempfile::TempDir;

use crate::{
    Error, SHELF, SecretPlace, Workspace,
    publish::{self, Fate, Lookup, Pointers, Standing, TakeBack, Target},
    shelf_did,
};

fn workspace() -> (TempDir, Workspace) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::open(&folder.path().join("data")).unwrap();
    (folder, workspace)
}

fn conversation(turns: usize) -> Conversation {
    let start: Timestamp = "2026-03-04T05:06:07Z".parse().unwrap();
    let messages = (0..turns).map(|n| Message {
        id: Some(format!("m{n}")),
        role: if n % 2 == 0 { Role::User } else { Role::Assistant },
        created_at: start,
        model: (n % 2 == 1).then(|| "anthropic/claude-opus-4-5".to_owned()),
        parts: vec![Part::Text { text: format!("Turn number {n}") }],
    });
    Conversation {
        source: Source { harness: Harness::Pi, id: "s1".into(), path: None, version: None, cwd: None, parent: None },
        title: Some("A title".into()),
        title_is_prompt: false,
        created_at: start,
        turns: assemble(messages, Grain::Turn, |_, _| String::new()),
        warnings: Vec::new(),
    }
}

fn tokens(access: &str) -> Tokens {
    Tokens {
        did: Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
        handle: Some(Handle::parse("dana.example.com").unwrap()),
        pds: "https://pds.example.com/".parse().unwrap(),
        access_jwt: Secret::new(access),
        refresh_jwt: Secret::new("refresh"),
        oauth: None,
    }
}

async fn shelve(workspace: &mut Workspace, conversation: &Conversation, decisions: &Decisions) -> publish::Outcome {
    let plan = plan(workspace, conversation, decisions).await;
    publish::execute(workspace, &Target::Shelf, &plan, &mut |_| {}).await.unwrap()
}

async fn plan(workspace: &Workspace, conversation: &Conversation, decisions: &Decisions) -> publish::Plan {
    let id = workspace.remember(conversation).unwrap();
    let (draft, _) = onrecord_record::project(conversation);
    let key = workspace.fingerprint_key().unwrap();
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), decisions, &key).unwrap();
    publish::prepare(workspace, &Target::Shelf, id, "s1", reviewed, &Pointers::default(), Timestamp::now())
        .await
        .unwrap()
}

#[test]
fn opening_twice_finds_what_was_kept() {
    let (folder, mut workspace) = workspace();
    let id = workspace.remember(&conversation(2)).unwrap();
    let mut decisions = Decisions::default();
    decisions.withhold("m1");
    workspace.set_decisions(id, &Decisions::default(), &decisions).unwrap();
    let again = Workspace::open(&folder.path().join("data")).unwrap();
    assert_eq!(again.remember(&conversation(2)).unwrap(), id);
    assert!(again.decisions(id).unwrap().is_withheld("m1"));
    let key = |w: &Workspace| w.fingerprint_key().unwrap().fingerprint(b"value");
    assert_eq!(key(&again), key(&workspace));
}

// Invariant 15.
#[cfg(unix)]
#[test]
fn the_files_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, workspace) = workspace();
    workspace.sign_in(&tokens("access")).unwrap();
    for entry in fs::read_dir(folder.path().join("data")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_there_already_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    Workspace::open(folder.path()).unwrap();
    assert_eq!(folder.path().metadata().unwrap().permissions().mode() & 0o777, 0o755);
    Workspace::open(&folder.path().join("made")).unwrap();
    assert_eq!(folder.path().join("made").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn decisions_made_at_the_same_moment_do_not_undo_each_other() {
    let (_folder, mut workspace) = workspace();
    let mut other = Workspace::open(&workspace.folder).unwrap();
    let id = workspace.remember(&conversation(2)).unwrap();
    let read = other.decisions(id).unwrap();
    let (mut first, mut second) = (read.clone(), read.clone());
    first.withhold("m0");
    second.withhold("m1");
    workspace.set_decisions(id, &read, &first).unwrap();
    assert!(matches!(other.set_decisions(id, &read, &second), Err(Error::DecidedMeanwhile)));
    assert!(other.decisions(id).unwrap().is_withheld("m0"));
}

#[test]
fn damaged_decisions_stop_everything() {
    let (_folder, workspace) = workspace();
    let id = workspace.remember(&conversation(2)).unwrap();
    workspace.db.execute("UPDATE conversation SET decisions = '{\"version\":'", []).unwrap();
    assert!(matches!(workspace.decisions(id), Err(Error::Corrupt { .. })));
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let (folder, workspace) = workspace();
    workspace.db.pragma_update(None, "user_version", 99).unwrap();
    let refused = Workspace::open(&folder.path().join("data"));
    assert!(matches!(refused, Err(Error::NewerFile { version: 99, .. })));
}

#[test]
fn a_locked_file_is_said_to_be_locked() {
    let (_folder, workspace) = workspace();
    let other = Workspace::open(&workspace.folder).unwrap();
    other.db.busy_timeout(std::time::Duration::from_millis(10)).unwrap();
    workspace.db.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(other.remember(&conversation(1)), Err(Error::Locked)));
}

#[test]
fn only_one_process_at_a_time_changes_what_is_on_record() {
    let (_folder, workspace) = workspace();
    let other = Workspace::open(&workspace.folder).unwrap();
    let turn = workspace.begin_publishing().unwrap();
    assert!(matches!(other.begin_publishing(), Err(Error::Busy)));
    drop(turn);
    assert!(other.begin_publishing().is_ok());
}

#[test]
fn a_full_disk_is_said_to_be_full_and_loses_nothing() {
    let (_folder, mut workspace) = workspace();
    let id = workspace.remember(&conversation(2)).unwrap();
    // SQLite answers to its own limit as to the disk's.
    let pages: i64 = workspace.db.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    workspace.db.pragma_update(None, "max_page_count", pages).unwrap();
    let mut decisions = Decisions::default();
    (0..10_000).for_each(|n| decisions.withhold(&format!("turn-{n}")));
    assert!(matches!(workspace.set_decisions(id, &Decisions::default(), &decisions), Err(Error::DiskFull)));
    assert_eq!(workspace.decisions(id).unwrap().withheld().count(), 0);
}

#[test]
fn without_an_account_the_error_names_the_one_asked_for() {
    let (_folder, workspace) = workspace();
    assert!(matches!(workspace.account(None), Err(Error::NotSignedIn { handle: None })));
    let error = workspace.account(Some("dana.example.com")).unwrap_err();
    assert_eq!(error.to_string(), "dana.example.com is not signed in");
}

#[test]
fn tokens_come_back_and_go_for_good() {
    let (_folder, workspace) = workspace();
    let place = workspace.sign_in(&tokens("access")).unwrap();
    if let SecretPlace::File(path) = &place {
        assert!(fs::read_to_string(path).unwrap().contains("refresh"));
    }
    let account = workspace.account(Some("@Dana.Example.com")).unwrap();
    let client = Client::new(Config::default()).unwrap();
    let session = workspace.session(&client, &account).unwrap();
    assert_eq!(session.tokens().access_jwt.expose(), "access");
    workspace.sign_in(&tokens("newer")).unwrap();
    assert_eq!(workspace.session(&client, &account).unwrap().tokens().access_jwt.expose(), "newer");
    workspace.sign_out(&account).unwrap();
    assert!(matches!(workspace.session(&client, &account), Err(Error::NotSignedIn { .. })));
    assert_eq!(workspace.accounts().unwrap(), []);
}

#[test]
fn tokens_kept_at_the_same_moment_are_all_kept() {
    let (_folder, workspace) = workspace();
    let folder = workspace.folder.clone();
    let did = |n: usize| Did::parse(&format!("did:web:a{n}.example.com")).unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let folder = &folder;
            scope.spawn(move || (0..5).for_each(|_| drop(crate::secrets::store(folder, &did(n), "secret").unwrap())));
        }
    });
    for n in 0..8 {
        assert!(crate::secrets::load(&folder, &did(n)).unwrap().is_some(), "{n}");
        crate::secrets::forget(&folder, &did(n)).unwrap();
    }
}

#[test]
fn damaged_tokens_are_reported_without_being_quoted() {
    let (_folder, workspace) = workspace();
    if let SecretPlace::File(path) = workspace.sign_in(&tokens("access")).unwrap() {
        fs::write(&path, "{\"did:plc:x\": sekret").unwrap();
        let account = workspace.account(None).unwrap();
        let error = workspace.session(&Client::new(Config::default()).unwrap(), &account).unwrap_err();
        assert!(!error.to_string().contains("sekret") && error.to_string().contains("sign in again"), "{error}");
    }
}

#[tokio::test]
async fn the_shelf_holds_the_records_as_they_would_be_and_gives_them_back() {
    let (_folder, mut workspace) = workspace();
    let outcome = shelve(&mut workspace, &conversation(6), &Decisions::default()).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (7, 0, 0));
    let [publication] = workspace.publications().unwrap().try_into().unwrap();
    assert_eq!((publication.repo.as_str(), publication.records), (SHELF, 7));
    assert_eq!(publication.title.as_deref(), Some("A title"));
    let published = workspace.published(&publication).unwrap().unwrap();
    assert_eq!(published.messages.len(), 6);
    assert_eq!(published.messages[3].record.text, "Turn number 3");

    // Again: nothing. One turn held back: one update. Two more turns: two creations.
    let outcome = shelve(&mut workspace, &conversation(6), &Decisions::default()).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 0, 0));
    let mut decisions = Decisions::default();
    decisions.withhold("m3");
    let outcome = shelve(&mut workspace, &conversation(6), &decisions).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 1, 0));
    let outcome = shelve(&mut workspace, &conversation(8), &decisions).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (2, 0, 0));
    // A turn that is gone from the transcript is gone from the shelf.
    let outcome = shelve(&mut workspace, &conversation(7), &decisions).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (0, 0, 1));
    let after = workspace.published(&publication).unwrap().unwrap();
    assert_eq!(after.messages[2].rkey, published.messages[2].rkey);
    assert_eq!(after.messages.len(), 7);
}

// Invariant 11.
#[tokio::test]
async fn what_was_taken_back_is_in_no_file_any_more() {
    let (folder, mut workspace) = workspace();
    shelve(&mut workspace, &conversation(6), &Decisions::default()).await;
    let [publication] = workspace.publications().unwrap().try_into().unwrap();
    let (repo, rkey) = (publication.repo.clone(), publication.rkey.clone());
    assert!(!workspace.is_gone(&repo, &rkey).unwrap());
    let take_back = TakeBack::prepare(&workspace, &Target::Shelf, &rkey).await.unwrap();
    assert_eq!(take_back.execute(&mut workspace, &Target::Shelf, &mut |_| {}).await.unwrap(), 7);
    assert!(workspace.is_gone(&repo, &rkey).unwrap());
    assert_eq!(workspace.publications().unwrap(), []);
    for entry in fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        let words = b"Turn number 3";
        assert!(!bytes.windows(words.len()).any(|w| w == words));
    }
    let again = TakeBack::prepare(&workspace, &Target::Shelf, &rkey).await;
    assert!(matches!(again, Err(Error::NotOnRecord { .. })));

    // A run that is stopped before anything is there again leaves it gone.
    let mut refused = conversation(6);
    refused.title = Some(format!("{}Mandalay and more", "a".repeat(119)));
    let mut decisions = Decisions::default();
    decisions.cover_word(&workspace.fingerprint_key().unwrap(), "Mandalay…").unwrap();
    let plan = plan(&workspace, &refused, &decisions).await;
    publish::execute(&mut workspace, &Target::Shelf, &plan, &mut |_| {}).await.unwrap_err();
    assert!(workspace.is_gone(&repo, &rkey).unwrap());

    // Published again it is there again.
    shelve(&mut workspace, &conversation(6), &Decisions::default()).await;
    assert!(!workspace.is_gone(&repo, &rkey).unwrap());
}

#[tokio::test]
async fn the_last_gate_guards_the_shelf_too() {
    let (_folder, mut workspace) = workspace();
    let mut conversation = conversation(2);
    conversation.title = Some(format!("{}Mandalay and more", "a".repeat(119)));
    let id = workspace.remember(&conversation).unwrap();
    let key = workspace.fingerprint_key().unwrap();
    let mut decisions = Decisions::default();
    // What stands there only when the encoder has shortened the title.
    decisions.cover_word(&key, "Mandalay…").unwrap();
    let (draft, _) = onrecord_record::project(&conversation);
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key).unwrap();
    let plan = publish::prepare(&workspace, &Target::Shelf, id, "s1", reviewed, &Pointers::default(), Timestamp::now())
        .await
        .unwrap();
    assert!(matches!(plan.gate(), Err(Error::Gate(_))));
    let refused = publish::execute(&mut workspace, &Target::Shelf, &plan, &mut |_| {}).await;
    assert!(matches!(refused, Err(Error::Gate(_))));
    let [publication] = workspace.publications().unwrap().try_into().unwrap();
    assert_eq!(publication.records, 0);
}

#[tokio::test]
async fn a_conversation_held_back_whole_has_no_records() {
    let (_folder, workspace) = workspace();
    let conversation = conversation(2);
    let id = workspace.remember(&conversation).unwrap();
    let mut decisions = Decisions::default();
    decisions.withhold("m0");
    decisions.withhold("m1");
    let (draft, _) = onrecord_record::project(&conversation);
    let key = workspace.fingerprint_key().unwrap();
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key).unwrap();
    let plan =
        publish::prepare(&workspace, &Target::Shelf, id, "s1", reviewed, &Pointers::default(), Timestamp::now()).await;
    assert!(matches!(plan, Err(Error::NothingToPublish)));
    assert_eq!(workspace.publications().unwrap(), []);
}

#[tokio::test]
async fn two_conversations_of_the_same_moment_have_keys_of_their_own() {
    let (_folder, mut workspace) = workspace();
    shelve(&mut workspace, &conversation(4), &Decisions::default()).await;
    let mut other = conversation(4);
    // The same clock id too: only the listing tells their keys apart.
    other.source.id = "s1-copy".into();
    let mut start = other.created_at;
    start += jiff::SignedDuration::from_micros(1);
    other.created_at = start;
    let outcome = shelve(&mut workspace, &other, &Decisions::default()).await;
    assert_eq!((outcome.created, outcome.updated), (5, 0));
    let publications = workspace.publications().unwrap();
    let mut keys: Vec<_> =
        (publications.iter()).flat_map(|p| workspace.published(p).unwrap().unwrap().messages).map(|m| m.rkey).collect();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 8);
}

#[tokio::test]
async fn two_conversations_of_one_instant_and_clock_id_have_sessions_of_their_own() {
    let (_folder, mut workspace) = workspace();
    shelve(&mut workspace, &conversation(4), &Decisions::default()).await;
    let mut fork = conversation(6);
    fork.source.id = "s1-fork".into();
    // `shelve` gives both the same clock id.
    let outcome = shelve(&mut workspace, &fork, &Decisions::default()).await;
    assert_eq!((outcome.created, outcome.updated, outcome.deleted), (7, 0, 0));
    let again = shelve(&mut workspace, &fork, &Decisions::default()).await;
    assert_eq!((again.uri, again.created), (outcome.uri, 0));
    let again = shelve(&mut workspace, &conversation(4), &Decisions::default()).await;
    assert_eq!((again.created, again.updated, again.deleted), (0, 0, 0));
    assert_eq!(workspace.publications().unwrap().len(), 2);
}

#[tokio::test]
async fn a_key_that_passed_to_another_turn_is_remembered_as_that_ones() {
    let (_folder, mut workspace) = workspace();
    let mut talk = conversation(4);
    shelve(&mut workspace, &talk, &Decisions::default()).await;
    // Rewound: another turn stands in its place, of the same moment.
    talk.turns[3].id = "other".into();
    shelve(&mut workspace, &talk, &Decisions::default()).await;
    let id = workspace.remember(&talk).unwrap();
    let keys = |w: &Workspace| w.known_keys(id, &shelf_did().unwrap()).unwrap().turns;
    let before = keys(&workspace);
    assert!(before.contains_key(&("other".to_owned(), 0)));
    // The first one is back beside it: the key stays where it is.
    let mut both = conversation(4);
    both.turns.push(talk.turns[3].clone());
    both.turns.swap(3, 4);
    shelve(&mut workspace, &both, &Decisions::default()).await;
    assert_eq!(keys(&workspace).get(&("other".to_owned(), 0)), before.get(&("other".to_owned(), 0)));
}

// Invariant 15.
#[tokio::test]
async fn what_was_looked_up_is_forgotten_with_the_next_decision_and_pins_with_the_conversation() {
    let (folder, mut workspace) = workspace();
    let uri = |text: &str| AtUri::parse(text).unwrap();
    let (name, place) =
        (uri("at://sunflower.example.com/com.example.note/one"), uri("at://did:web:sunflower.example.com"));
    let found =
        [(name.clone(), Pin::Absent("nothing is there".into())), (place.clone(), Pin::Account(shelf_did().unwrap()))];
    workspace.note_looked_up(&found).unwrap();
    assert_eq!(workspace.looked_up(&name).unwrap().as_ref(), Some(&found[0].1));
    assert_eq!(workspace.looked_up(&place).unwrap().as_ref(), Some(&found[1].1));
    let id = workspace.remember(&conversation(2)).unwrap();
    let mut decisions = Decisions::default();
    decisions.withhold("m1");
    workspace.set_decisions(id, &Decisions::default(), &decisions).unwrap();
    assert_eq!(workspace.looked_up(&name).unwrap(), None);

    shelve(&mut workspace, &conversation(2), &Decisions::default()).await;
    let publication = workspace.publications().unwrap().remove(0);
    workspace.keep_pins(&publication, &found).unwrap();
    assert_eq!(workspace.pinned(&publication).unwrap().by_name.get(&place), Some(&found[1].1));
    let take_back = TakeBack::prepare(&workspace, &Target::Shelf, &publication.rkey).await.unwrap();
    take_back.execute(&mut workspace, &Target::Shelf, &mut |_| {}).await.unwrap();
    drop(workspace);
    for entry in fs::read_dir(folder.path().join("data")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("sunflower"));
    }
}

// Invariant 18.
#[tokio::test]
async fn what_a_name_leads_to_is_not_said_where_it_is_covered_and_nobody_is_asked_before_it_is_time() {
    let (_folder, mut workspace) = workspace();
    let uri = |text: &str| AtUri::parse(text).unwrap();
    let did = |text: &str| Did::parse(text).unwrap();
    let (secret, other) = (did("did:plc:ewvi7nxzyoun6zhxrhs64oiz"), did("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"));
    let found = [
        (uri("at://dana.example.com"), Pin::Account(secret)),
        (uri("at://erin.example.com"), Pin::Account(other.clone())),
    ];
    workspace.note_looked_up(&found).unwrap();
    let mut talk = conversation(2);
    talk.turns[0].text = "Ask @dana.example.com, @erin.example.com or @frank.example.com.".to_owned();
    let id = workspace.remember(&talk).unwrap();
    let key = workspace.fingerprint_key().unwrap();
    let mut decisions = Decisions::default();
    decisions.cover_word(&key, "ewvi7nxzyoun6zhxrhs64oiz").unwrap();
    let (draft, _) = onrecord_record::project(&talk);
    let reviewed = seal(&draft, &Engine::builtin().unwrap(), &decisions, &key).unwrap();
    let repo = shelf_did().unwrap();
    let place = Standing { conversation: id, source: "s1", repo: &repo };
    let lookup = Lookup { client: None, afresh: false };
    let pointers = Pointers::find(&workspace, &reviewed, &decisions, &key, place, lookup).await.unwrap();
    let fates: Vec<_> = pointers.all.iter().map(|p| p.fate.clone()).collect();
    assert_eq!(fates, [Fate::Covered, Fate::Mention(other.clone()), Fate::Unasked]);
    let plan = publish::prepare(&workspace, &Target::Shelf, id, "s1", reviewed, &pointers, Timestamp::now()).await;
    let plan = plan.unwrap();
    plan.gate().unwrap();
    assert!(plan.records[1].json.get().contains(other.as_str()));
    publish::execute(&mut workspace, &Target::Shelf, &plan, &mut |_| {}).await.unwrap();
}
