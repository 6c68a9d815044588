//! The older form: `{session_id, name, contents: [{role, content} or {user, assistant}], created_at, models_used}`. It is read
//! and not written; no lexicon of it was published.

use jiff::Timestamp;
use onrecord_transcript::{Part, Role, import::pi};
use serde_json::Value;

use super::decode::{Piece, list, moment, text};
use crate::tiles::join_model;

/// Its name, when it started, and its messages.
pub(super) fn read(value: &Value) -> (Option<&str>, Option<Timestamp>, Vec<Piece>) {
    let started = value.get("created_at").and_then(|time| match time {
        Value::String(text) => text.parse().ok(),
        number => moment(number),
    });
    // It says which models were used, not by whom: with several, none can be named.
    let model = match list(value, "models_used") {
        [only] => join_model(Some("tiles"), only.as_str()),
        _ => None,
    };
    let time = started.unwrap_or(Timestamp::UNIX_EPOCH);
    let mut pieces = Vec::new();
    for (place, content) in list(value, "contents").iter().enumerate() {
        let mut said = |place, role, words: &str| {
            let (model, parts) = match role {
                Role::User => (None, vec![Part::Text { text: pi::words(words) }]),
                Role::Assistant => (model.clone(), answer(words)),
            };
            pieces.push(Piece::new(place, role, time, model, parts));
        };
        match (text(content, "role"), text(content, "content")) {
            (Some("user"), Some(words)) => said((place, 0), Role::User, words),
            (Some("assistant"), Some(words)) => said((place, 0), Role::Assistant, words),
            _ => {
                if let Some(words) = text(content, "user") {
                    said((place, 0), Role::User, words);
                }
                if let Some(words) = text(content, "assistant") {
                    said((place, 1), Role::Assistant, words);
                }
            }
        }
    }
    (text(value, "name"), started, pieces)
}

/// An answer, which may have the model's reasoning before it, between marks.
fn answer(words: &str) -> Vec<Part> {
    const REASONING: &str = "**[Reasoning]**";
    const ANSWER: &str = "**[Answer]**";
    let parts = |reasoning: &str, answer: &str| {
        let mut parts = Vec::new();
        let reasoning = reasoning.trim().trim_end_matches("---").trim();
        if !reasoning.is_empty() {
            parts.push(Part::Reasoning { text: reasoning.to_owned() });
        }
        parts.push(Part::Text { text: answer.trim().to_owned() });
        parts
    };
    match words.trim_start().strip_prefix(REASONING) {
        Some(rest) => match rest.split_once(ANSWER) {
            Some((reasoning, answer)) => parts(reasoning, answer),
            // Broken off while it was thinking: nothing was answered.
            None => parts(rest, ""),
        },
        None => vec![Part::Text { text: words.strip_prefix(ANSWER).unwrap_or(words).trim().to_owned() }],
    }
}
