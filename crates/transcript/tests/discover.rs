//! Discovery over folders as the harnesses leave them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use onrecord_transcript::{
    Harness,
    discover::{Found, Roots, discover},
};

const CODEX_ID: &str = "019ccd3a-5b2e-7000-8000-0000000000aa";
const OTHER_CODEX_ID: &str = "019ccd3a-5b2e-7000-8000-0000000000bb";

fn put(root: &Path, path: &str, content: impl AsRef<[u8]>, age_s: u64) -> PathBuf {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    let when = SystemTime::now() - Duration::from_secs(age_s);
    File::options().write(true).open(&path).unwrap().set_modified(when).unwrap();
    path
}

fn claude(cwd: &str) -> String {
    format!(
        "{{\"type\":\"file-history-snapshot\",\"snapshot\":{{}}}}\n{{\"type\":\"user\",\"cwd\":\"{cwd}\",\"uuid\":\"u\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n"
    )
}

fn codex(id: &str, cwd: &str, source: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-03-02T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"{cwd}\",\"source\":{source},\"base_instructions\":{{\"text\":\"{}\"}}}}}}\n",
        "long ".repeat(20_000)
    )
}

fn pi(cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"timestamp\":\"2026-03-02T10:00:00Z\",\"cwd\":\"{cwd}\"}}\n"
    )
}

fn found(home: &Path) -> Vec<Found> {
    let discovery = discover(&Roots { home: Some(home.to_path_buf()), ..Roots::default() });
    assert_eq!(discovery.unreadable, []);
    discovery.sessions
}

#[test]
fn sessions_of_every_harness_are_listed_newest_first() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    put(
        home,
        ".claude/projects/-home-dana-src-harbour-alerts/aaaa.jsonl",
        claude("/home/dana/src/harbour-alerts"),
        300,
    );
    put(
        home,
        &format!(".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{CODEX_ID}.jsonl"),
        codex(CODEX_ID, "/home/dana/work/ledger", "{\"custom\":\"atlas\"}"),
        100,
    );
    put(home, ".pi/agent/sessions/--home-dana-docs--/2026-03-02T10-00-00-000Z_bbbb.jsonl", pi("/home/dana/docs"), 200);
    put(home, ".omp/agent/sessions/--x--/2026_cccc.jsonl", pi("C:\\\\Users\\\\dana\\\\notes"), 400);
    put(home, ".openclaw/agents/main/sessions/dddd.jsonl", pi("/w/claw"), 500);
    let told: Vec<_> =
        found(home).into_iter().map(|found| (found.harness, found.id, found.project.unwrap_or_default())).collect();
    let expected = [
        (Harness::Codex, CODEX_ID, "ledger"),
        (Harness::Pi, "bbbb", "docs"),
        (Harness::ClaudeCode, "aaaa", "harbour-alerts"),
        (Harness::Pi, "cccc", "notes"),
        (Harness::Pi, "dddd", "claw"),
    ];
    assert_eq!(told, expected.map(|(harness, id, project)| (harness, id.to_owned(), project.to_owned())));
}

#[test]
fn sidecars_checkpoints_and_what_is_no_session_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let session = claude("/x/app");
    put(home, ".claude/projects/-x-app/real.jsonl", &session, 1);
    put(home, ".claude/projects/-x-app/agent-1234.jsonl", &session, 1);
    put(home, ".claude/projects/-x-app/real/subagents/agent-5678.jsonl", &session, 1);
    put(home, ".claude/projects/-x-app/ghost.jsonl", "", 1);
    put(home, ".claude/projects/-x-app/notes.txt", "x", 1);
    put(home, ".claude/history.jsonl", "{}", 1);
    put(home, ".codex/history.jsonl", "{\"session_id\":\"x\",\"ts\":1,\"text\":\"x\"}", 1);
    put(home, ".codex/session_index.jsonl", "{}", 1);
    let child = "{\"subagent\":{\"thread_spawn\":{\"parent_thread_id\":\"x\"}}}";
    put(
        home,
        &format!(".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{OTHER_CODEX_ID}.jsonl"),
        codex(OTHER_CODEX_ID, "/x", child),
        1,
    );
    put(home, ".openclaw/agents/main/sessions/a.checkpoint.b.jsonl", pi("/x"), 1);
    put(home, ".pi/agent/sessions/--x--/other.jsonl", "{\"a\":1}\n", 1);
    let ids: Vec<String> = found(home).into_iter().map(|found| found.id).collect();
    assert_eq!(ids, ["real"]);
}

#[test]
fn a_compressed_rollout_is_listed_and_its_plain_twin_goes_first() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let packed = |id: &str| zstd::encode_all(codex(id, "/w/ledger", "\"vscode\"").as_bytes(), 3).unwrap();
    let day = ".codex/sessions/2026/02/01";
    put(home, &format!("{day}/rollout-2026-02-01T10-00-00-{CODEX_ID}.jsonl.zst"), packed(CODEX_ID), 5);
    put(home, &format!("{day}/rollout-2026-02-01T10-00-00-{OTHER_CODEX_ID}.jsonl.zst"), packed(OTHER_CODEX_ID), 9);
    let plain = put(
        home,
        &format!("{day}/rollout-2026-02-01T10-00-00-{CODEX_ID}.jsonl"),
        codex(CODEX_ID, "/w/ledger", "\"cli\""),
        6,
    );
    put(
        home,
        &format!(".codex/archived_sessions/rollout-2026-02-01T10-00-00-{CODEX_ID}.jsonl"),
        codex(CODEX_ID, "/w/ledger", "\"cli\""),
        90,
    );
    let found = found(home);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].path, plain);
    assert_eq!((found[1].id.as_str(), found[1].project.as_deref()), (OTHER_CODEX_ID, Some("ledger")));
}

#[test]
fn given_folders_stand_in_for_those_in_the_home_folder() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    put(home, ".claude/projects/-a/at-home.jsonl", claude("/a"), 1);
    put(home, "elsewhere/projects/-b/moved.jsonl", claude("/b"), 1);
    put(home, "pi/sessions/--c--/1_c.jsonl", pi("/c"), 2);
    let roots = Roots {
        home: Some(home.to_path_buf()),
        claude_config_dir: Some(home.join("elsewhere")),
        codex_home: Some(home.join("no such folder")),
        pi_dir: Some(home.join("pi")),
        ..Roots::default()
    };
    let ids: Vec<String> = discover(&roots).sessions.into_iter().map(|found| found.id).collect();
    assert_eq!(ids, ["moved", "c"]);
    assert_eq!(discover(&Roots::default()).sessions, []);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_told_and_stops_nothing() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    put(home, ".claude/projects/-a/good.jsonl", claude("/a"), 1);
    // A link into nothing can be listed but not read, by anyone; and a link to a folder above would loop.
    symlink(home.join("nowhere"), home.join(".claude/projects/-a/broken.jsonl")).unwrap();
    symlink(home.join(".claude/projects"), home.join(".claude/projects/-a/loop")).unwrap();
    fs::write(home.join(".codex"), "a file where a folder belongs").unwrap();
    let discovery = discover(&Roots { home: Some(home.to_path_buf()), ..Roots::default() });
    assert_eq!(discovery.sessions.len(), 1);
    let broken: Vec<_> = discovery.unreadable.iter().map(|unreadable| unreadable.path.clone()).collect();
    assert!(broken.contains(&home.join(".claude/projects/-a/broken.jsonl")), "{broken:?}");
}

/// A root of whatever user: where permissions bind, a closed folder costs itself only.
#[cfg(unix)]
#[test]
fn a_closed_folder_costs_itself_only() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    put(home, ".claude/projects/-a/good.jsonl", claude("/a"), 1);
    put(home, ".claude/projects/-b/hidden.jsonl", claude("/b"), 1);
    let closed = home.join(".claude/projects/-b");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let is_closed = fs::read_dir(&closed).is_err();
    let discovery = discover(&Roots { home: Some(home.to_path_buf()), ..Roots::default() });
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let expected = if is_closed { (1, 1) } else { (2, 0) };
    assert_eq!((discovery.sessions.len(), discovery.unreadable.len()), expected);
}
