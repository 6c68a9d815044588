//! Discovery of every agent whose transcripts lie in places of their own.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod support;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use onrecord_transcript::{
    ParseOptions,
    discover::{Roots, discover},
};
use support::options;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Puts a fixture's file, folder or database at a place in the home folder.
fn put(home: &Path, fixture: &str, place: &str) {
    let from = fixtures().join(fixture);
    let to = home.join(place);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    if from.extension().is_some_and(|extension| extension == "sql") {
        let scratch = tempfile::tempdir().unwrap();
        fs::copy(support::database(&from, scratch.path()), to).unwrap();
    } else if from.is_dir() {
        copy(&from, &to);
    } else {
        fs::copy(from, to).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            let _ = fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let at = home.path();
    put(at, "opencode/second-generation/input.sql", ".local/share/opencode/opencode.db");
    put(at, "opencode/storage-files/input/storage", ".local/share/opencode/storage");
    put(at, "gemini-cli/rows-that-change/input.jsonl", ".gemini/tmp/ab12/chats/session-2026-01-01.jsonl");
    put(at, "gemini-cli/document/input.json", ".gemini/tmp/ab12/chats/session-2026-01-02.json");
    put(at, "copilot-cli/tools/input.jsonl", ".copilot/session-state/cp-1/events.jsonl");
    put(at, "vscode-chat/document/input.json", ".config/Code/User/workspaceStorage/h/chatSessions/v-1.json");
    put(
        at,
        "vscode-chat/log-of-changes/input.jsonl",
        "Library/Application Support/Code/User/globalStorage/emptyWindowChatSessions/v-2.jsonl",
    );
    put(at, "cursor/database/input.sql", ".config/Cursor/User/globalStorage/state.vscdb");
    put(at, "cursor/command-line/input.jsonl", ".cursor/projects/p/agent-transcripts/x1/x1.jsonl");
    put(at, "goose/database/input.sql", ".local/share/goose/sessions/sessions.db");
    put(at, "goose/rows/input.jsonl", ".local/share/goose/sessions/20250101_1.jsonl");
    put(at, "roo/task-folder/input", ".config/Code/User/globalStorage");
    put(at, "kilo/task-folder/input", "AppData/Roaming/Code/User/globalStorage");
    put(at, "cline/session-folder/input", ".cline/data/sessions");
    put(at, "zed/database/input.sql", ".local/share/zed/threads/threads.db");
    put(at, "crush/database/input.sql", "work/lantern/.crush/crush.db");
    let project = at.join("work/lantern").to_string_lossy().into_owned();
    fs::create_dir_all(at.join(".local/share/crush")).unwrap();
    fs::write(
        at.join(".local/share/crush/projects.json"),
        serde_json::json!({"projects": [{"path": project}]}).to_string(),
    )
    .unwrap();
    put(at, "amp/thread/input.json", ".local/share/amp/threads/T-0001.json");
    put(at, "qwen/tools-and-branches/input.jsonl", ".qwen/projects/-x/chats/q-1.jsonl");
    put(at, "kimi/wire/input.jsonl", ".kimi/sessions/md5/k-1/wire.jsonl");
    put(at, "kimi/code/input.jsonl", ".kimi-code/sessions/wd_x/k-2/agents/main/wire.jsonl");
    put(at, "droid/session/input", ".factory/sessions/-x");
    put(at, "openhands/folder/input", ".openhands/conversations/oh-1");
    put(at, "continue/session/input.json", ".continue/sessions/co-1.json");
    fs::write(at.join(".continue/sessions/sessions.json"), "[{\"sessionId\":\"co-1\",\"title\":\"x\",\"history\":[]}]")
        .unwrap();
    home
}

#[test]
fn every_agent_is_found_in_its_place_and_what_is_found_can_be_read() {
    let home = home();
    let discovery = discover(&Roots { home: Some(home.path().to_path_buf()), ..Roots::default() });
    assert_eq!(discovery.unreadable, []);
    let mut found: BTreeSet<(&str, &str)> = BTreeSet::new();
    for session in &discovery.sessions {
        found.insert((session.harness.as_str(), session.id.as_str()));
        let options = ParseOptions { conversation: Some(session.id.clone()), ..options(Some(&session.path)) };
        let read = support::read(session.harness, &session.path, &options);
        assert!(read.is_ok(), "{session:?}: {:?}", read.err());
        // Where the file says the id, it is the one that is listed.
        let id = &read.unwrap().conversations[0].source.id;
        assert!(
            *id == session.id
                || !["opencode", "cursor", "goose", "zed", "crush"].contains(&session.harness.as_str())
                || id == "fallback",
            "{session:?} is {id}"
        );
    }
    let expected = [
        ("amp", "T-0001"),
        ("cline", "s1"),
        ("continue", "co-1"),
        ("copilot-cli", "cp-1"),
        ("crush", "s-1"),
        ("cursor", "c-0"),
        ("cursor", "c-1"),
        ("cursor", "x1"),
        ("droid", "d-1"),
        ("gemini-cli", "g-1"),
        ("gemini-cli", "g-2"),
        ("goose", "20250101_1"),
        ("goose", "20260101_1"),
        ("kilo", "1767225600000"),
        ("kimi", "k-1"),
        ("kimi", "k-2"),
        ("opencode", "ses_2"),
        ("opencode", "ses_k"),
        ("openhands", "oh-1"),
        ("qwen", "q-1"),
        ("roo", "1767225600000"),
        ("vscode-chat", "v-1"),
        ("vscode-chat", "v-2"),
        ("zed", "t-new"),
        ("zed", "t-old"),
    ];
    assert_eq!(found, BTreeSet::from(expected));
    let projects: BTreeSet<&str> = discovery.sessions.iter().filter_map(|session| session.project.as_deref()).collect();
    for project in ["bees", "kiln", "gate", "seeds", "lantern", "ink", "door", "jam", "wind"] {
        assert!(projects.contains(project), "{project} of {projects:?}");
    }
}

#[test]
fn folders_that_the_environment_moves_are_looked_into() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    put(elsewhere.path(), "amp/thread/input.json", "data/amp/threads/T-0001.json");
    put(
        elsewhere.path(),
        "vscode-chat/document/input.json",
        "settings/VSCodium/User/workspaceStorage/h/chatSessions/v-1.json",
    );
    let roots = Roots {
        home: Some(home.path().to_path_buf()),
        data_home: Some(elsewhere.path().join("data")),
        config_home: Some(elsewhere.path().join("settings")),
        ..Roots::default()
    };
    let ids: BTreeSet<String> = discover(&roots).sessions.into_iter().map(|found| found.id).collect();
    assert_eq!(ids, BTreeSet::from(["T-0001".to_owned(), "v-1".to_owned()]));
}

#[test]
fn a_folder_that_is_named_is_looked_through_by_content() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "aider/history/input.md", "repo/.aider.chat.history.md");
    put(root.path(), "chatgpt/several/input.json", "exports/conversations.json");
    put(root.path(), "openhands/folder/input", "oh/oh-1");
    put(root.path(), "pi/names-and-models/input.jsonl", "s.jsonl");
    fs::write(root.path().join("package.json"), "{\"name\":\"x\"}").unwrap();
    fs::write(root.path().join("README.md"), "# Nothing").unwrap();
    fs::write(root.path().join("broken.db"), b"SQLite format 3\0 and nothing else").unwrap();
    let discovery = discover(&Roots { extra: vec![root.path().to_path_buf()], ..Roots::default() });
    let found: BTreeSet<(&str, &str)> =
        discovery.sessions.iter().map(|found| (found.harness.as_str(), found.id.as_str())).collect();
    let expected = [
        ("aider", "2026-01-01T08:00:00"),
        ("aider", "2026-01-02T09:30:00"),
        ("chatgpt", "cg-1"),
        ("chatgpt", "cg-old"),
        ("openhands", "oh-1"),
        ("pi", "s"),
    ];
    assert_eq!(found, BTreeSet::from(expected));
    assert_eq!(discovery.unreadable.len(), 1, "{:?}", discovery.unreadable);
}
