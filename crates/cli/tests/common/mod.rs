//! The real binary on a machine of its own: a home, a data folder, nothing of the environment.
#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests fail loudly, and ask the environment where the shared data is"
)]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

pub const EXAMPLES: [&str; 3] = ["claude-code", "codex", "pi"];

/// What a run of the binary did.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
    what: String,
}

impl Run {
    /// Fails the test unless the run ended with `code`.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\nstdout: {}\nstderr: {}", self.what, start(&self.out), start(&self.err));
        assert!(!self.err.contains("a fault in the program itself"), "{}: {}", self.what, self.err);
        self
    }

    /// The one JSON document on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{}: {e}: {}", self.what, start(&self.out)))
    }

    /// The JSON objects on standard output, one a line.
    #[track_caller]
    pub fn stream(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{}: {e}: {line}", self.what));
        self.out.lines().map(parse).collect()
    }
}

fn start(text: &str) -> String {
    text.chars().take(2000).collect()
}

/// A person's machine.
pub struct Machine {
    folder: TempDir,
}

impl Machine {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    /// Writes a file and gives its path as an argument.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        text(&path)
    }

    /// The binary in the repository's root, where nobody types.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(onrecord_testkit::program(env!("CARGO_BIN_EXE_onrecord")));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("ONRECORD_HOME", self.data())
            .env("TZ", "UTC")
            .current_dir(root())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        finished(&mut self.command(args))
    }

    pub fn run_with_input(&self, args: &[&str], input: &[u8]) -> Run {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that does not read its input is free to go.
        let _ = child.stdin.take().unwrap().write_all(input);
        run_of(format!("{command:?}"), child.wait_with_output().unwrap())
    }

    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> Run {
        self.run(args).ends_with(0)
    }

    /// Everything the data folder holds.
    pub fn stored(&self) -> Vec<(PathBuf, Vec<u8>)> {
        files(&self.data())
    }
}

pub fn finished(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    run_of(format!("{command:?}"), output)
}

fn run_of(what: String, output: std::process::Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
        what,
    }
}

/// The run failed with this code, said why on standard error, and gave no data.
#[track_caller]
pub fn refused(run: Run, code: i32, why: &str) -> String {
    let run = run.ends_with(code);
    assert!(run.out.is_empty(), "a refusal is no data: {}", run.out);
    assert!(run.err.starts_with("error: "), "{}", run.err);
    assert!(run.err.contains(why), "{why:?} is not said: {}", run.err);
    run.err
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub fn example(name: &str) -> String {
    format!("examples/{name}.jsonl")
}

/// All files below a folder, in the order of their names.
pub fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.push((path, bytes));
        }
    }
    all
}

pub fn contains(bytes: &[u8], part: &str) -> bool {
    String::from_utf8_lossy(bytes).contains(part)
}

/// The folder of shared sample data; says so where it is absent.
pub fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("ONRECORD_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    if shared.is_dir() {
        return Some(shared);
    }
    eprintln!("skipped: shared data not present");
    None
}

/// Compares with a file of the repository; with `UPDATE_EXPECTED=1` writes it.
#[track_caller]
pub fn expect_file(path: &Path, actual: &str) {
    if std::env::var_os("UPDATE_EXPECTED").is_some_and(|v| v == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected != actual {
        let differs = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
        let line = differs.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
        panic!(
            "{} is not what comes out now (UPDATE_EXPECTED=1 writes it anew); line {}:\n- {}\n+ {}",
            path.display(),
            line + 1,
            expected.lines().nth(line).unwrap_or("(the end)"),
            actual.lines().nth(line).unwrap_or("(the end)"),
        );
    }
}

/// A made-up secret of the shape of a real one.
pub fn github_token() -> String {
    // Put together here, so that no scanner takes this file for a leak.
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

/// A Claude Code session of these turns: `user` or `assistant`, and the text.
pub fn claude_code(id: &str, turns: &[(&str, &str)]) -> String {
    let mut rows = String::new();
    let mut parent = Value::Null;
    for (n, (role, text)) in turns.iter().enumerate() {
        let uuid = format!("00000000-0000-4000-8000-{n:012}");
        let message = match *role {
            "user" => json!({"role": "user", "content": text}),
            _ => json!({
                "role": "assistant",
                "id": format!("msg_{n}"),
                "type": "message",
                "model": "claude-opus-4-5",
                "content": [{"type": "text", "text": text}],
            }),
        };
        let row = json!({
            "type": role,
            "uuid": uuid,
            "parentUuid": parent,
            "sessionId": id,
            "version": "2.1.42",
            "cwd": "/srv/harbour",
            "timestamp": format!("2026-01-02T03:{:02}:{:02}.678Z", n / 60, n % 60),
            "message": message,
        });
        parent = Value::from(uuid);
        rows.push_str(&row.to_string());
        rows.push('\n');
    }
    rows
}

pub const SESSION: &str = "7f6f2f0e-0000-4000-8000-000000000001";

/// A small session in which a secret stands in a prompt and in an answer.
pub fn with_secret() -> String {
    let token = github_token();
    claude_code(
        SESSION,
        &[
            ("user", "Push the branch, please."),
            ("assistant", "I need a token for that."),
            ("user", &format!("Take {token} for it.")),
            ("assistant", &format!("Pushed. Revoke {token} now.")),
        ],
    )
}

/// A small session in which there is nothing to find.
pub fn harmless() -> String {
    claude_code(
        SESSION,
        &[
            ("user", "Which of the two is older?"),
            ("assistant", "The **first**."),
            ("user", "Thanks."),
            ("assistant", "Gladly."),
        ],
    )
}

/// Where [`an_export`] has a conversation.
pub const PUBLIC_DID: &str = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
pub const PUBLIC_RKEY: &str = "3lb2kpm6sws2k";

/// An index's export: an account with a conversation of two turns and an encrypted one, written by hand.
pub fn an_export() -> String {
    let record = |collection: &str, rkey: &str, record: &Value| {
        let (_, cid) = onrecord_lexicon::data::record_cid(record).unwrap();
        let line = json!({"record": {
            "did": PUBLIC_DID, "collection": collection, "rkey": rkey, "cid": cid, "rev": "3lb2kpm7aaa2k", "record": record
        }});
        format!("{line}\n")
    };
    let session = format!("at://{PUBLIC_DID}/click.aligned.chat.session/{PUBLIC_RKEY}");
    let time = "2024-11-17T10:00:00.000Z";
    let message = |role: &str, text: &str| json!({"$type": "click.aligned.chat.message", "session": session, "role": role, "text": text, "createdAt": time});
    [
        format!("{}\n", json!({"account": {"did": PUBLIC_DID, "handle": "potter.example", "displayName": "Ada"}})),
        record(
            "click.aligned.chat.session",
            PUBLIC_RKEY,
            &json!({"$type": "click.aligned.chat.session", "title": "How to fire a kiln", "createdAt": time}),
        ),
        record("click.aligned.chat.message", "3lb2kpm6swt2k", &message("user", "Why does the glaze crack?")),
        record("click.aligned.chat.message", "3lb2kpm6swu2k", &message("assistant", "It cooled too fast.")),
        record("run.tiles.chat.sessionSnapshot", "3lb2kpm6swv2k", &json!({"enc_content": "c2VhbGVk"})),
        format!("{}\n", json!({"cursor": {"source": "jetstream:wss://jet.example", "cursor": "17"}})),
    ]
    .concat()
}
