//! The binary, signed in to a real PDS.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    fmt::Write as _,
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
};

use jiff::{SignedDuration, Timestamp};
use onrecord_testkit::Account;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A person's machine: a home, a data folder, and the network as this binary is to see it.
pub struct Machine {
    folder: TempDir,
    plc: String,
    resolver: String,
}

impl Machine {
    /// `url` stands for the PLC directory, the resolver and the PDS: a [`onrecord_testkit::FaultProxy`]'s.
    pub fn new(url: &str) -> Self {
        Self::on(url, url)
    }

    pub fn on(plc: &str, resolver: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder, plc: plc.to_owned(), resolver: resolver.to_owned() }
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(onrecord_testkit::program(env!("CARGO_BIN_EXE_onrecord")));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("ONRECORD_HOME", self.folder.path().join("data"))
            .env("ONRECORD_PLC_URL", &self.plc)
            .env("ONRECORD_RESOLVER_URL", &self.resolver)
            .env("ONRECORD_ALLOW_LOCAL", "1")
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must do what it should; its standard output.
    pub fn ok(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(self.ok(args).lines().last().unwrap()).unwrap()
    }

    pub fn sign_in(&self, account: &Account, password: &str) -> Output {
        let mut command = self.command(&["login", account.handle.as_str(), "--app-password"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{password}").unwrap();
        child.wait_with_output().unwrap()
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

/// A pi session of so many turns, prompts and answers by turns, each with some text and the answers with two steps.
pub fn transcript(id: &str, turns: usize) -> String {
    let start: Timestamp = "2026-03-04T05:06:07.089Z".parse().unwrap();
    let header = json!({"type": "session", "version": 3, "id": id, "timestamp": start.to_string(), "cwd": "/srv/app"});
    let mut rows = format!("{header}\n");
    let mut parent = Value::Null;
    let mut row = |id: String, at: Timestamp, mut message: Value| {
        message["timestamp"] = at.as_millisecond().into();
        let row =
            json!({"type": "message", "id": id, "parentId": parent, "timestamp": at.to_string(), "message": message});
        writeln!(rows, "{row}").unwrap();
        parent = id.into();
    };
    for n in 0..turns {
        let at = start + SignedDuration::from_secs(20 * i64::try_from(n).unwrap());
        if n % 2 == 0 {
            let text = format!("Question {n}: why is the answer 4{n}? 🧭 ").repeat(1 + n % 5);
            row(format!("u{n:05}"), at, json!({"role": "user", "content": [{"type": "text", "text": text}]}));
            continue;
        }
        let text = format!("Answer {n}. It is in the second part of the table. ").repeat(1 + n % 40);
        let call = |k: usize| json!({"type": "toolCall", "id": format!("c{n}-{k}"), "name": "bash", "arguments": {"command": "cargo test"}});
        row(
            format!("a{n:05}"),
            at,
            json!({"role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "stopReason": "toolUse",
                   "content": [{"type": "text", "text": text}, call(0), call(1)]}),
        );
        for k in 0..2 {
            row(
                format!("r{n:05}{k}"),
                at,
                json!({"role": "toolResult", "toolCallId": format!("c{n}-{k}"), "toolName": "bash", "isError": k == 1,
                       "content": [{"type": "text", "text": "not published"}]}),
            );
        }
    }
    rows
}

/// A pi session in which these texts are said, by the person and the agent by turns.
pub fn said(id: &str, texts: &[&str]) -> String {
    let start: Timestamp = "2026-03-04T05:06:07.089Z".parse().unwrap();
    let header = json!({"type": "session", "version": 3, "id": id, "timestamp": start.to_string(), "cwd": "/srv/app"});
    let mut rows = format!("{header}\n");
    let mut parent = Value::Null;
    for (n, text) in texts.iter().enumerate() {
        let at = start + SignedDuration::from_secs(20 * i64::try_from(n).unwrap());
        let content = json!([{"type": "text", "text": text}]);
        let message = match n % 2 {
            0 => json!({"role": "user", "timestamp": at.as_millisecond(), "content": content}),
            _ => json!({"role": "assistant", "provider": "anthropic", "model": "claude-opus-4-5", "stopReason": "stop",
                        "timestamp": at.as_millisecond(), "content": content}),
        };
        let id = format!("e{n:05}");
        let row =
            json!({"type": "message", "id": id, "parentId": parent, "timestamp": at.to_string(), "message": message});
        writeln!(rows, "{row}").unwrap();
        parent = id.into();
    }
    rows
}
