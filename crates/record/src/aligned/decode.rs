//! Records back to conversations.

use std::collections::BTreeMap;

use jiff::Timestamp;
use onrecord_lexicon::{Cid, Datetime, Did, Handle, Rkey};
use onrecord_transcript::{Conversation, Harness, Part, Role, Source, Step, Turn, Warning};
use serde_json::Value;

use crate::Family;

use super::{MessageRecord, Published, PublishedMessage, SessionRecord};

/// A record that is not what its collection promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record {rkey} cannot be understood: {why}")]
pub struct Unreadable {
    /// Its key.
    pub rkey: Rkey,
    /// What is wrong with it.
    pub why: String,
}

/// Puts a session record and its messages together, in key order; a message that cannot be understood is reported and left out.
///
/// # Errors
/// The session record itself cannot be understood.
pub fn published(
    repo: &Did,
    handle: Option<Handle>,
    session: (Rkey, Cid, &Value),
    messages: impl IntoIterator<Item = (Rkey, Cid, Value)>,
) -> Result<(Published, Vec<Unreadable>), Unreadable> {
    let (rkey, cid, value) = session;
    let session: SessionRecord =
        serde_json::from_value(value.clone()).map_err(|e| Unreadable { rkey: rkey.clone(), why: e.to_string() })?;
    let mut unreadable = Vec::new();
    let mut ordered = BTreeMap::new();
    for (rkey, cid, value) in messages {
        match serde_json::from_value::<MessageRecord>(value) {
            Ok(record) => {
                ordered.insert(rkey.clone(), PublishedMessage { rkey, cid, record });
            }
            Err(e) => unreadable.push(Unreadable { rkey, why: e.to_string() }),
        }
    }
    let messages = ordered.into_values().collect();
    Ok((
        Published { repo: repo.clone(), handle, family: Family::ClickAligned, rkey, cid, session, messages },
        unreadable,
    ))
}

/// The conversation that a published one is, as far as its records carry it: withheld turns are holes with a warning, and
/// consecutive records of one turn are one turn again.
#[must_use]
pub fn conversation(published: &Published) -> Conversation {
    let mut turns: Vec<Turn> = Vec::new();
    let mut warnings = Vec::new();
    let start = time(&published.session.created_at);
    let mut previous: Option<&MessageRecord> = None;
    for message in &published.messages {
        let record = &message.record;
        let steps = record.steps.iter().map(|s| Step {
            tool: s.tool.clone(),
            summary: s.summary.clone().unwrap_or_default(),
            failed: s.failed,
        });
        // Records of one turn share its time; two turns of one role never follow each other otherwise.
        let continues = previous.is_some_and(|p| {
            p.role == record.role && p.created_at == record.created_at && !p.withheld && !record.withheld
        });
        if let (true, Some(turn)) = (continues, turns.last_mut()) {
            turn.text.push_str(&record.text);
            turn.steps.get_or_insert_default().extend(steps);
        } else {
            let role = if record.role == "user" { Role::User } else { Role::Assistant };
            let index = turns.len() + 1;
            if record.withheld {
                warnings.push(Warning {
                    line: None,
                    code: "withheld",
                    message: format!("turn {index} was held back by the author"),
                });
            }
            turns.push(Turn {
                index,
                id: message.rkey.to_string(),
                group: message.rkey.to_string(),
                role,
                created_at: time(&record.created_at),
                model: record.model.clone(),
                text: record.text.clone(),
                steps: (role == Role::Assistant || !record.steps.is_empty()).then(|| steps.collect()),
                parts: Vec::new(),
            });
        }
        previous = Some(record);
    }
    for turn in turns.iter_mut().filter(|t| t.role == Role::Assistant || !t.steps().is_empty()) {
        if !turn.text.is_empty() {
            turn.parts.push(Part::Text { text: turn.text.clone() });
        }
        turn.parts.extend(turn.steps.iter().flatten().map(|step| Part::ToolCall {
            id: String::new(),
            name: step.tool.clone(),
            input: Value::Null,
            output: None,
            failed: step.failed,
        }));
    }
    Conversation {
        source: Source {
            harness: Harness::Atproto,
            id: published.rkey.to_string(),
            path: None,
            version: None,
            cwd: None,
            parent: None,
        },
        title: published.session.title.clone(),
        title_is_prompt: false,
        created_at: start,
        turns,
        warnings,
    }
}

fn time(datetime: &Datetime) -> Timestamp {
    datetime.timestamp()
}
