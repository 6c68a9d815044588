//! What of a conversation could be published at all.

use onrecord_redact::{Draft, DraftStep, DraftTurn, Role};
use onrecord_transcript::{Conversation, Part, model};

use crate::Loss;

/// Projects a conversation to its visible text and steps, and says what is left behind.
#[must_use]
pub fn project(conversation: &Conversation) -> (Draft, Vec<Loss>) {
    let (mut reasoning, mut outputs, mut images) = (0, 0, 0);
    let mut turns = Vec::with_capacity(conversation.turns.len());
    for turn in &conversation.turns {
        for part in &turn.parts {
            match part {
                Part::Reasoning { .. } => reasoning += 1,
                Part::ToolCall { output: Some(_), .. } => outputs += 1,
                Part::Image { .. } => images += 1,
                Part::ToolCall { .. } | Part::Text { .. } => {}
            }
        }
        turns.push(DraftTurn {
            id: turn.id.clone(),
            index: turn.index,
            role: match turn.role {
                model::Role::User => Role::User,
                model::Role::Assistant => Role::Assistant,
            },
            created_at: turn.created_at,
            model: turn.model.clone(),
            text: turn.text.clone(),
            steps: turn
                .steps()
                .iter()
                .map(|s| DraftStep { tool: s.tool.clone(), summary: s.summary.clone(), failed: s.failed })
                .collect(),
        });
    }
    // A prompt's first words would outlive a decision to hold that prompt back, or to cover a word they cut in two.
    let title = conversation.title.clone().filter(|_| !conversation.title_is_prompt);
    let draft = Draft { title, description: None, created_at: conversation.created_at, turns };
    let lost = [("reasoning", reasoning), ("tool output", outputs), ("image", images)]
        .into_iter()
        .filter(|&(_, count)| count > 0)
        .map(|(what, count)| Loss { what, count })
        .collect();
    (draft, lost)
}

#[cfg(test)]
mod tests;
