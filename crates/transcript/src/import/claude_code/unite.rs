//! Rows into messages: the blocks of one message, spread over rows, come together; each call gets its result.

use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, DefaultHasher},
};

use jiff::Timestamp;

use super::content::{Block, ToolResult};
use crate::{Message, Part, Role};

/// A part, and the images that came back with it.
#[derive(Debug)]
struct Placed {
    part: Part,
    images: Vec<Part>,
}

/// One message of the agent.
#[derive(Debug)]
struct Group {
    id: Option<String>,
    created_at: Timestamp,
    model: Option<String>,
    parts: Vec<Placed>,
    /// Where texts stand, by their hash: a file may repeat a message a thousand times.
    texts: HashMap<u64, Vec<usize>>,
}

#[derive(Debug)]
enum Slot {
    Prompt(Message),
    Agent(Group),
}

/// Puts messages together in reading order.
#[derive(Debug, Default)]
pub(super) struct Messages {
    slots: Vec<Slot>,
    groups: HashMap<String, usize>,
    /// Where each call stands: slot and part.
    calls: HashMap<String, (usize, usize)>,
    prompts: HashMap<u64, Vec<usize>>,
}

impl Messages {
    /// Adds a prompt, unless the same words were said at the same time: then history was replayed.
    pub(super) fn prompt(&mut self, id: Option<String>, created_at: Timestamp, has_time: bool, parts: Vec<Part>) {
        let message = Message { id, role: Role::User, created_at, model: None, parts };
        if has_time {
            let key = hash(&(created_at.as_nanosecond(), message.parts.first().map(content_hash)));
            let seen = self.prompts.entry(key).or_default();
            let replayed = seen.iter().any(|at| match self.slots.get(*at) {
                Some(Slot::Prompt(earlier)) => earlier.created_at == created_at && earlier.parts == message.parts,
                _ => false,
            });
            if replayed {
                return;
            }
            seen.push(self.slots.len());
        }
        self.slots.push(Slot::Prompt(message));
    }

    /// Adds blocks of an agent's message: to the message of that id where it has begun already,
    /// wherever that was, else as a new one.
    pub(super) fn agent(
        &mut self,
        message_id: Option<String>,
        uuid: Option<String>,
        created_at: Timestamp,
        model: Option<String>,
        blocks: Vec<Block>,
    ) {
        let next = self.slots.len();
        let slot = match &message_id {
            Some(id) => *self.groups.entry(id.clone()).or_insert(next),
            None => next,
        };
        if slot == next {
            self.slots.push(Slot::Agent(Group {
                id: message_id.or(uuid),
                created_at,
                model: None,
                parts: Vec::new(),
                texts: HashMap::new(),
            }));
        }
        let Some(Slot::Agent(group)) = self.slots.get_mut(slot) else { return };
        if model.is_some() {
            group.model = model;
        }
        group.add(slot, blocks, &mut self.calls);
    }

    /// Gives a call its result; the first one stands. Says whether there is such a call.
    pub(super) fn result(&mut self, result: ToolResult) -> bool {
        let Some((slot, part)) = self.calls.get(&result.call_id) else { return false };
        let Some(Slot::Agent(group)) = self.slots.get_mut(*slot) else { return false };
        let Some(placed) = group.parts.get_mut(*part) else { return false };
        if let Part::ToolCall { output, failed, .. } = &mut placed.part
            && output.is_none()
        {
            *output = Some(result.output);
            *failed = result.failed;
            placed.images = result.images;
        }
        true
    }

    pub(super) fn finish(self) -> Vec<Message> {
        self.slots
            .into_iter()
            .map(|slot| match slot {
                Slot::Prompt(message) => message,
                Slot::Agent(group) => Message {
                    id: group.id,
                    role: Role::Assistant,
                    created_at: group.created_at,
                    model: group.model,
                    parts: group
                        .parts
                        .into_iter()
                        .flat_map(|placed| std::iter::once(placed.part).chain(placed.images))
                        .collect(),
                },
            })
            .collect()
    }
}

impl Group {
    /// The union of what is there and `blocks`. Usually a row holds one more block; older builds write the
    /// whole message again each time it has grown, its last text perhaps longer than before.
    fn add(&mut self, slot: usize, blocks: Vec<Block>, calls: &mut HashMap<String, (usize, usize)>) {
        let is_snapshot = blocks.len() >= self.parts.len();
        let mut aligned = true;
        // The same text twice in one row is twice said; in two rows it is said once.
        let mut matched: HashMap<u64, usize> = HashMap::new();
        for (place, block) in blocks.into_iter().enumerate() {
            let found = match block {
                Block::Call { id, name, input } => self.call(slot, id, name, input, calls),
                Block::Text(text) => self.said(Part::Text { text }, is_snapshot && aligned, place, &mut matched),
                Block::Reasoning(text) => {
                    self.said(Part::Reasoning { text }, is_snapshot && aligned, place, &mut matched)
                }
                Block::Image(part) => self.said(part, false, place, &mut matched),
            };
            aligned &= found == place;
        }
    }

    /// Where the call stands now, or a place that is none if another message has it.
    fn call(
        &mut self,
        slot: usize,
        id: String,
        name: String,
        input: serde_json::Value,
        calls: &mut HashMap<String, (usize, usize)>,
    ) -> usize {
        let next = self.parts.len();
        if !id.is_empty() {
            match calls.get(&id) {
                Some((owner, place)) if *owner == slot => {
                    // A later snapshot knows the arguments better.
                    if let Some(Placed { part: Part::ToolCall { input: known, .. }, .. }) = self.parts.get_mut(*place)
                        && !input.is_null()
                    {
                        *known = input;
                    }
                    return *place;
                }
                Some(_) => return usize::MAX,
                None => {
                    calls.insert(id.clone(), (slot, next));
                }
            }
        }
        let part = Part::ToolCall { id, name, input, output: None, failed: false };
        self.parts.push(Placed { part, images: Vec::new() });
        next
    }

    fn said(&mut self, part: Part, may_grow: bool, place: usize, matched: &mut HashMap<u64, usize>) -> usize {
        let key = content_hash(&part);
        let standing = self.texts.entry(key).or_default();
        let count = matched.entry(key).or_insert(0);
        if let Some(&at) = standing.get(*count) {
            *count += 1;
            return at;
        }
        if may_grow
            && let Some(placed) = self.parts.get_mut(place)
            && let Some(longer) = longer_of(&placed.part, &part)
        {
            if longer {
                placed.part = part;
                standing.push(place);
            }
            return place;
        }
        *count += 1;
        standing.push(self.parts.len());
        self.parts.push(Placed { part, images: Vec::new() });
        self.parts.len() - 1
    }
}

/// Whether `new` is `old` with more at its end (`true`) or less (`false`); `None` if they differ otherwise.
fn longer_of(old: &Part, new: &Part) -> Option<bool> {
    let ((Part::Text { text: old }, Part::Text { text: new })
    | (Part::Reasoning { text: old }, Part::Reasoning { text: new })) = (old, new)
    else {
        return None;
    };
    if new.starts_with(old.as_str()) { Some(true) } else { old.starts_with(new.as_str()).then_some(false) }
}

/// Texts by their kind and words; equality is told by this alone, so it is 64 bits of SipHash.
fn content_hash(part: &Part) -> u64 {
    match part {
        Part::Text { text } => hash(&(0u8, text)),
        Part::Reasoning { text } => hash(&(1u8, text)),
        Part::Image { mime_type, bytes } => hash(&(2u8, mime_type, bytes)),
        Part::ToolCall { id, .. } => hash(&(3u8, id)),
    }
}

fn hash<T: std::hash::Hash>(value: &T) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}
