//! What of a conversation could be published at all.

use onrecord_redact::{Draft, DraftStep, DraftTurn, Role};
use onrecord_transcript::{Conversation, Part, model};

use crate::Loss;

/// Projects a conversation to its visible text and steps, and says what is left behind.
#[must_use]
pub fn project(conversation: &Conversation) -> (Draft, Vec<Loss>) {
    project_with(conversation, Reasoning::Left)
}

/// Whether what a model thought to itself is to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reasoning {
    /// It is left behind, and counted.
    #[default]
    Left,
    /// It goes along, scanned and covered like everything else, into the families that carry it.
    Kept,
}

/// The same, with the models' reasoning where that is asked for.
#[must_use]
pub fn project_with(conversation: &Conversation, keep: Reasoning) -> (Draft, Vec<Loss>) {
    let (mut reasoning, mut outputs, mut images) = (0, 0, 0);
    let mut turns = Vec::with_capacity(conversation.turns.len());
    for turn in &conversation.turns {
        let mut thoughts = Vec::new();
        for part in &turn.parts {
            match part {
                Part::Reasoning { text } if keep == Reasoning::Kept => thoughts.push(text.clone()),
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
            reasoning: thoughts,
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
