//! Messages into turns.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::model::{Part, Role, Step, Turn};

/// How much one turn holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grain {
    /// Everything the agent did between two human prompts is one turn.
    #[default]
    Turn,
    /// Every agent message is a turn of its own.
    Message,
}

/// One message of a transcript, in reading order, before it becomes (part of) a turn.
///
/// Importers yield these; a tool's result has already been put into its call.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The harness's own id of the message, if it has one.
    pub id: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// When it happened.
    pub created_at: Timestamp,
    /// `provider/model`, on agent messages.
    pub model: Option<String>,
    /// What it holds. A message without parts becomes nothing.
    pub parts: Vec<Part>,
}

/// Turns of `messages`, numbered from 1. `summarise` gives a tool call's one line.
pub fn assemble(
    messages: impl IntoIterator<Item = Message>,
    grain: Grain,
    mut summarise: impl FnMut(&str, &serde_json::Value) -> String,
) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut ids: HashMap<String, u32> = HashMap::new();
    for message in messages {
        if message.parts.is_empty() {
            continue;
        }
        let joins = grain == Grain::Turn && message.role == Role::Assistant;
        let turn = match turns.last_mut() {
            Some(last) if joins && last.role == Role::Assistant => last,
            _ => {
                let id = message
                    .id
                    .unwrap_or_else(|| format!("{}-{}", message.created_at.as_millisecond(), message.role.letter()));
                let seen = ids.entry(id.clone()).or_insert(0);
                *seen += 1;
                let id = if *seen == 1 { id } else { format!("{id}#{seen}") };
                let group = match turns.last() {
                    Some(last) if message.role == Role::Assistant && last.role == Role::Assistant => last.group.clone(),
                    _ => id.clone(),
                };
                turns.push(Turn {
                    index: turns.len() + 1,
                    id,
                    group,
                    role: message.role,
                    created_at: message.created_at,
                    model: None,
                    text: String::new(),
                    steps: (message.role == Role::Assistant).then(Vec::new),
                    parts: Vec::new(),
                });
                match turns.last_mut() {
                    Some(turn) => turn,
                    None => continue,
                }
            }
        };
        if message.model.is_some() {
            turn.model = message.model;
        }
        for part in message.parts {
            match &part {
                Part::Text { text } => {
                    if !turn.text.is_empty() && !text.is_empty() {
                        turn.text.push_str("\n\n");
                    }
                    turn.text.push_str(text);
                }
                Part::ToolCall { name, input, failed, .. } => {
                    turn.steps.get_or_insert_default().push(Step {
                        tool: name.clone(),
                        summary: summarise(name, input),
                        failed: *failed,
                    });
                }
                Part::Reasoning { .. } | Part::Image { .. } => {}
            }
            turn.parts.push(part);
        }
    }
    for turn in &mut turns {
        if turn.role == Role::User && matches!(turn.parts.as_slice(), [Part::Text { .. }]) {
            turn.parts = Vec::new();
        }
    }
    turns
}

impl Role {
    const fn letter(self) -> char {
        match self {
            Self::User => 'u',
            Self::Assistant => 'a',
        }
    }
}
