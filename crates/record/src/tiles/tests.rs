mod foreign;
mod laws;
mod private;
mod public;

use jiff::{Timestamp, ToSpan};
use onrecord_lexicon::{AtUri, Did};
use onrecord_redact::{Decisions, Draft, DraftStep, DraftTurn, Engine, FingerprintKey, Reviewed, Role, seal};
use serde_json::{Value, json};

use super::*;
use crate::{Family, Reasoning, project_with};

const SOURCE: &str = "0196c0de-session";

fn start() -> Timestamp {
    "2026-03-04T05:06:07.089Z".parse().unwrap()
}

fn now() -> Timestamp {
    "2026-03-05T00:00:00Z".parse().unwrap()
}

fn repo() -> Did {
    Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap()
}

fn turn(index: usize, role: Role, text: &str) -> DraftTurn {
    DraftTurn {
        id: format!("turn-{index}"),
        index,
        role,
        created_at: start().checked_add(i64::try_from(index - 1).unwrap().minutes()).unwrap(),
        model: (role == Role::Assistant).then(|| "anthropic/claude-opus-4-5".to_owned()),
        text: text.to_owned(),
        steps: Vec::new(),
        reasoning: Vec::new(),
    }
}

fn step(tool: &str, summary: &str, failed: bool) -> DraftStep {
    DraftStep { tool: tool.to_owned(), summary: summary.to_owned(), failed }
}

fn draft(turns: Vec<DraftTurn>) -> Draft {
    Draft { title: Some("Why the parser drops a field".to_owned()), description: None, created_at: start(), turns }
}

fn sealed(draft: &Draft, decisions: &Decisions) -> Reviewed {
    let key = FingerprintKey::from_bytes([7; 32]);
    seal(draft, &Engine::builtin().unwrap(), decisions, &key).unwrap()
}

fn uri(family: Family) -> AtUri {
    record_uri(&repo(), family, SOURCE, start(), None, now(), |_| false).unwrap()
}

fn open(value: Value) -> (Snapshot, Reading) {
    let snapshot = Snapshot::open(SNAPSHOT, value, None).unwrap();
    let reading = read(&snapshot, "at://did:web:example.com/run.tiles.chat.sessionSnapshot/3k");
    (snapshot, reading)
}

fn review(reading: &Reading, decisions: &Decisions) -> Reviewed {
    sealed(&project_with(&reading.conversation, Reasoning::Kept).0, decisions)
}

fn value(encoded: &Encoded) -> Value {
    serde_json::from_str(encoded.record.json.get()).unwrap()
}

fn item(kind: &str, field: &str, text: &str) -> Value {
    json!({ "type": kind, field: text })
}
