//! The whole way of every sample of Claude Code, Codex and pi: seen, decided, previewed, put on the shelf, taken back.
//! The samples are not part of this repository; where they are absent the tests say so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use common::{Machine, Run, contains, files, shared, text};
use onrecord_lexicon::Catalog;
use serde_json::Value;

const MESSAGE: &str = "click.aligned.chat.message";
const SESSION: &str = "click.aligned.chat.session";

/// Records of one conversation that are validated by the command itself; the library checks every one.
const VALIDATED_BY_COMMAND: usize = 6;

/// A sample and the options that it takes to read it.
struct Sample {
    path: String,
    harness: Option<&'static str>,
}

impl Sample {
    /// Opens a sample as a person would: as it is, and with `--harness` where its content does not tell.
    fn open(machine: &Machine, harness: &'static str, path: &Path) -> Result<Self, Run> {
        let path = text(path);
        if machine.run(&["show", &path]).code == 0 {
            return Ok(Self { path, harness: None });
        }
        let named = machine.run(&["show", &path, "--harness", harness]);
        if named.code == 0 { Ok(Self { path, harness: Some(harness) }) } else { Err(named) }
    }

    fn run(&self, machine: &Machine, command: &[&str]) -> Run {
        let (name, rest) = command.split_first().unwrap();
        let mut args = vec![*name, self.path.as_str()];
        args.extend(rest);
        if let Some(harness) = self.harness {
            args.extend(["--harness", harness]);
        }
        machine.run(&args)
    }
}

/// No conversation, whatever the file's name says: what an importer is expected to make of one, and the list of prompts
/// that Codex keeps beside its sessions.
fn is_no_transcript(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.contains("expected") || name.ends_with("history.jsonl")
}

fn samples(folders: &[&'static str]) -> Vec<(&'static str, PathBuf)> {
    let Some(shared) = shared() else { return Vec::new() };
    let mut samples = Vec::new();
    for folder in folders {
        let found = files(&shared.join("samples").join(folder));
        assert!(!found.is_empty(), "there are samples of {folder}");
        samples.extend(found.into_iter().map(|(path, _)| (*folder, path)));
    }
    samples
}

#[test]
fn every_claude_code_sample_goes_the_whole_way() {
    whole_way("claude-code");
}

#[test]
fn every_codex_sample_goes_the_whole_way() {
    whole_way("codex");
}

#[test]
fn every_pi_sample_goes_the_whole_way() {
    whole_way("pi");
}

fn whole_way(folder: &'static str) {
    for (harness, path) in samples(&[folder]) {
        // One person's machine for each: nothing of the others can hide a fault.
        let machine = Machine::new();
        match Sample::open(&machine, harness, &path) {
            Ok(sample) => {
                assert!(!is_no_transcript(&path), "{} holds no conversation", path.display());
                Journey::of(&machine, &sample).go();
            }
            Err(refused) => {
                assert!(is_no_transcript(&path), "{}: {}", path.display(), refused.err);
            }
        }
    }
}

#[test]
fn samples_without_a_conversation_are_refused_clearly() {
    let machine = Machine::new();
    for (harness, path) in samples(&["claude-code", "codex", "pi"]).into_iter().filter(|(_, p)| is_no_transcript(p)) {
        let path = text(&path);
        for command in ["show", "scan", "decide", "preview", "publish"] {
            let run = machine.run(&[command, &path]).ends_with(1);
            assert!(run.out.is_empty(), "{}", run.out);
            assert!(run.err.contains("is not a transcript that onrecord knows"), "{}", run.err);
            assert!(run.err.contains("--harness"), "what to do next: {}", run.err);
            let run = machine.run(&[command, &path, "--harness", harness]).ends_with(1);
            assert!(run.err.starts_with("error: "), "{}", run.err);
        }
    }
}

#[test]
fn hostile_samples_do_no_harm() {
    for (_, path) in samples(&["hostile"]) {
        let machine = Machine::new();
        let path = text(&path);
        for command in [&["show"][..], &["scan"], &["decide", "--cover-findings"], &["publish", "--local", "--yes"]] {
            let run = machine.run(&[&command[..1], &[&path], &command[1..]].concat());
            assert!(matches!(run.code, 0 | 1 | 3), "{path}: {} {}", run.code, run.err);
            assert!(!run.err.contains("a fault in the program itself"), "{path}: {}", run.err);
            no_control_characters(&run.out);
        }
    }
}

fn no_control_characters(out: &str) {
    let control = out.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
    assert_eq!(control, None, "a control character reached standard output");
}

struct Journey<'a> {
    machine: &'a Machine,
    sample: &'a Sample,
    shown: Value,
    /// What was found and covered.
    values: BTreeSet<String>,
}

impl<'a> Journey<'a> {
    fn of(machine: &'a Machine, sample: &'a Sample) -> Self {
        let shown = sample.run(machine, &["show", "--json"]).ends_with(0).json();
        Self { machine, sample, shown, values: BTreeSet::new() }
    }

    fn go(mut self) {
        self.show();
        self.scan();
        let held = self.decide();
        let plan = self.plan(held);
        self.preview(&plan);
        self.publish(&plan);
        self.take_back();
        for (path, bytes) in self.machine.stored() {
            // The store may know the title of a transcript on this machine; everything else is covered.
            let title = self.shown["title"].as_str().unwrap_or_default();
            for value in self.values.iter().filter(|v| !title.contains(v.as_str())) {
                assert!(!contains(&bytes, value), "{}: {} holds a covered value", self.sample.path, path.display());
            }
        }
    }

    fn run(&self, command: &[&str]) -> Run {
        self.sample.run(self.machine, command)
    }

    fn turns(&self) -> &Vec<Value> {
        self.shown["turns"].as_array().unwrap()
    }

    fn show(&self) {
        for format in ["text", "markdown"] {
            let shown = self.run(&["show", "--format", format]).ends_with(0);
            no_control_characters(&shown.out);
        }
        let html = self.run(&["show", "--format", "html"]).ends_with(0);
        assert!(html.out.starts_with("<!") && html.out.trim_end().ends_with("</html>"), "{}", self.sample.path);
        let roles: Vec<_> = self.turns().iter().map(|t| t["role"].as_str().unwrap()).collect();
        assert!(!roles.is_empty(), "{}", self.sample.path);
        let last = roles.len().to_string();
        let one = self.run(&["show", "--turn", &last, "--json"]).ends_with(0).json();
        assert_eq!(one["turns"][0], self.turns()[roles.len() - 1]);
    }

    /// The text that a finding stands in, as `show` gives it.
    fn field(&self, finding: &Value) -> &str {
        let field = finding["field"].as_str().unwrap();
        let Some(turn) = finding["turn"].as_u64() else { return self.shown[field].as_str().unwrap() };
        let turn = &self.turns()[usize::try_from(turn).unwrap() - 1];
        match field.strip_prefix("steps[").and_then(|rest| rest.split_once("].")) {
            Some((n, name)) => turn["steps"][n.parse::<usize>().unwrap()][name].as_str().unwrap(),
            None => turn[field].as_str().unwrap(),
        }
    }

    fn scan(&mut self) {
        let run = self.run(&["scan", "--json"]);
        let scan = serde_json::from_str::<Value>(&run.out).unwrap();
        let undecided = scan["undecided"].as_u64().unwrap();
        let run = run.ends_with(if undecided > 0 { 3 } else { 0 });
        for finding in scan["findings"].as_array().unwrap().iter().filter(|f| f["blocking"] == true) {
            let at = |name: &str| usize::try_from(finding[name].as_u64().unwrap()).unwrap();
            let value = &self.field(finding)[at("start")..at("end")];
            // Of a very short one nothing could be said: its letters stand everywhere.
            if value.len() >= 6 {
                self.values.insert(value.to_owned());
            }
        }
        assert_eq!(undecided == 0, self.values.is_empty(), "{}", self.sample.path);
        self.covered(&run.out);
        let text = self.run(&["scan"]).ends_with(if undecided > 0 { 3 } else { 0 });
        no_control_characters(&text.out);
        self.covered(&text.out);

        if undecided > 0 {
            let out = self.machine.path("refused");
            self.covered(&self.run(&["preview", "--out", out.to_str().unwrap()]).ends_with(3).err);
            assert!(!out.exists(), "nothing is written while something is undecided");
            self.covered(&self.run(&["publish", "--local", "--yes"]).ends_with(3).out);
            let published = self.machine.ok(&["published", "--json"]).json();
            assert_eq!(published["published"].as_array().unwrap().len(), 0);
        }
    }

    #[track_caller]
    fn covered(&self, text: &str) {
        for value in &self.values {
            assert!(!text.contains(value.as_str()), "{}: a found value came out", self.sample.path);
            let escaped = serde_json::to_string(value).unwrap();
            assert!(!text.contains(escaped.trim_matches('"')), "{}: an escaped value came out", self.sample.path);
        }
    }

    /// Covers what was found and holds back the last turn where there are others; says which.
    fn decide(&self) -> Option<usize> {
        let covered = self.run(&["decide", "--cover-findings"]).ends_with(0);
        self.covered(&covered.out);
        let held = (self.turns().len() > 1).then_some(self.turns().len());
        if let Some(turn) = held {
            let decided = self.run(&["decide", "--withhold", &turn.to_string(), "--json"]).ends_with(0);
            self.covered(&decided.out);
            assert_eq!(decided.json()["withheld"], serde_json::json!([turn]));
            assert_eq!(decided.json()["undecided"], 0);
        }
        self.run(&["scan"]).ends_with(0);
        held
    }

    /// The plan, after checking every record of it.
    fn plan(&self, held: Option<usize>) -> Value {
        let run = self.run(&["publish", "--dry-run", "--json"]).ends_with(0);
        self.covered(&run.out);
        let plan = run.json();
        let writes = plan["writes"].as_array().unwrap();
        let (session, messages) = writes.split_first().unwrap();
        assert_eq!(session["collection"], SESSION);
        assert!(messages.len() >= self.turns().len(), "every turn has a record");
        let uri = format!("at://did:web:localhost/{SESSION}/{}", session["rkey"].as_str().unwrap());
        let mut before = "";
        for message in messages {
            assert_eq!(message["collection"], MESSAGE);
            assert_eq!(message["record"]["session"], uri);
            let key = message["rkey"].as_str().unwrap();
            assert!(key > before, "{}: keys must increase", self.sample.path);
            before = key;
        }
        let bare = ["$type", "createdAt", "role", "session", "text", "withheld"];
        let withheld: Vec<_> = messages.iter().filter(|m| m["record"]["withheld"] == true).collect();
        assert_eq!(withheld.len(), usize::from(held.is_some()), "{}", self.sample.path);
        for message in withheld {
            let names: Vec<_> = message["record"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(names, bare, "{}: a turn held back is bare", self.sample.path);
            assert_eq!(message["record"]["text"], "");
            assert_eq!(message["record"]["role"], self.turns().last().unwrap()["role"]);
        }
        for write in writes {
            let record = write["record"].to_string();
            let checked = Catalog::bundled().validate_json(record.as_bytes(), None).unwrap();
            assert!(checked.violations.is_empty(), "{}: {:?}", self.sample.path, checked.violations);
        }
        // The text of every turn that is not held back comes out whole, but for what is covered.
        if self.values.is_empty() {
            let said = |turns: &mut dyn Iterator<Item = &str>| {
                turns.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect::<String>()
            };
            let published = said(&mut messages.iter().map(|m| m["record"]["text"].as_str().unwrap()));
            let kept = self.turns().len() - usize::from(held.is_some());
            let meant = said(&mut self.turns().iter().take(kept).map(|t| t["text"].as_str().unwrap()));
            assert_eq!(published, meant, "{}", self.sample.path);
        }
        plan
    }

    fn preview(&self, plan: &Value) {
        let out = self.machine.path("preview");
        let run = self.run(&["preview", "--out", out.to_str().unwrap()]).ends_with(0);
        self.covered(&run.out);
        let files = files(&out);
        let writes = plan["writes"].as_array().unwrap();
        let records: Vec<_> = files.iter().filter(|(path, _)| path.starts_with(out.join("records"))).collect();
        assert_eq!(records.len(), writes.len());
        for (_, bytes) in &files {
            self.covered(&String::from_utf8_lossy(bytes));
        }
        for (path, _) in records.iter().take(VALIDATED_BY_COMMAND) {
            let valid = self.machine.ok(&["lexicon", "validate", path.to_str().unwrap()]);
            assert!(valid.out.starts_with("valid click.aligned.chat."), "{}", valid.out);
        }
    }

    fn publish(&self, plan: &Value) {
        let writes = plan["writes"].as_array().unwrap();
        let run = self.run(&["publish", "--local", "--yes"]).ends_with(0);
        self.covered(&run.out);
        no_control_characters(&run.out);
        let again = self.run(&["publish", "--local", "--yes", "--json"]).ends_with(0);
        let done = again.stream().pop().unwrap();
        assert_eq!((&done["created"], &done["updated"], &done["deleted"]), (&0.into(), &0.into(), &0.into()));
        let run = self.machine.ok(&["published", "--check", "--json"]);
        self.covered(&run.out);
        let published = run.json();
        let entry = &published["published"][0];
        assert_eq!(entry["records"], writes.len());
        assert_eq!(entry["state"], "same");
        no_control_characters(&self.machine.ok(&["published"]).out);
        let uri = entry["uri"].as_str().unwrap();

        // What is on record reads back as it was published.
        let read_back = self.machine.ok(&["show", uri, "--json"]);
        self.covered(&read_back.out);
        let read_back = read_back.json();
        let texts = |turns: &Value, field: &str| -> String {
            turns
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|t| t[field].as_str())
                .flat_map(str::chars)
                .filter(|c| !c.is_whitespace())
                .collect()
        };
        let records = Value::Array(writes.iter().map(|w| w["record"].clone()).collect());
        assert_eq!(texts(&read_back["turns"], "text"), texts(&records, "text"), "{}", self.sample.path);
    }

    fn take_back(&self) {
        let run = self.run(&["unpublish", "--yes"]).ends_with(0);
        self.covered(&run.out);
        let published = self.machine.ok(&["published", "--json"]).json();
        assert_eq!(published["published"].as_array().unwrap().len(), 0, "{}", self.sample.path);
        // Nothing of it is on record any more.
        let nothing = self.run(&["unpublish", "--yes"]).ends_with(1);
        assert!(nothing.err.contains("is on record"), "{}", nothing.err);
    }
}
