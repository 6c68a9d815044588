//! What has been said so far, each thing once.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    calls::Outcome,
    person::{self, Said},
};
use crate::{Message, Part, Role};

/// Which of Codex's ways of writing a thing down have been seen for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A `response_item`: what was sent to or by the model.
    Item = 1,
    /// An `event_msg`: what was shown.
    Event = 2,
    /// An `item_completed` event.
    Completed = 4,
}

impl Way {
    const fn place(self) -> usize {
        match self {
            Self::Item => 0,
            Self::Event => 1,
            Self::Completed => 2,
        }
    }
}

/// Entries that have the same name or words, in order, and for each way how many of the first have been written in
/// it: a file may repeat one thing a hundred thousand times.
#[derive(Debug, Default)]
struct Run {
    indexes: Vec<usize>,
    done: [usize; 3],
}

impl Run {
    /// The first entry for which this way is not done yet.
    fn next(&mut self, way: Way, is_done: impl Fn(usize) -> bool) -> Option<usize> {
        let done = self.done.get_mut(way.place())?;
        while let Some(index) = self.indexes.get(*done).copied() {
            if !is_done(index) {
                return Some(index);
            }
            *done += 1;
        }
        None
    }

    /// Forgets the entries from `cut` on.
    fn truncate(&mut self, cut: usize) {
        self.indexes.truncate(self.indexes.partition_point(|index| *index < cut));
        for done in &mut self.done {
            *done = (*done).min(self.indexes.len());
        }
    }
}

/// How far apart the two writings of one prompt may lie where something stands between them.
const DOUBLE_MS: i64 = 10;

/// How many entries are looked at for it: in a file without times everything is close together.
const LOOK_BACK: usize = 64;

#[derive(Debug)]
struct Entry {
    id: Option<String>,
    time: Timestamp,
    model: Option<String>,
    ways: u8,
    what: What,
}

#[derive(Debug)]
enum What {
    Prompt {
        text: String,
        fingerprint: String,
        images: Vec<Part>,
        /// Whether an item says by itself that a person typed it.
        is_certain: bool,
    },
    /// A command the person ran.
    Command(Part),
    Text(String),
    Reasoning(String),
    Image(Part),
    Call(Call),
}

#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    input: Value,
    output: Option<String>,
    failed: bool,
    /// The ways by which a result has come.
    results: u8,
}

/// The conversation so far.
#[derive(Debug)]
pub(super) struct State {
    time: Timestamp,
    provider: Option<String>,
    model: Option<String>,
    entries: Vec<Entry>,
    /// Calls by their id, in order.
    calls: HashMap<String, Run>,
    /// Results that came before their call.
    early: HashMap<String, Vec<(Outcome, Way)>>,
    /// Texts of the agent's since the last prompt, by their hash: they may yet be written a second time.
    recent: HashMap<u64, Run>,
    saw_prompt_event: bool,
    hasher: RandomState,
}

/// What [`State::finish`] gives.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) messages: Vec<Message>,
    /// User-role items that no event confirmed, in a file that has such events.
    pub(super) unconfirmed: u64,
    /// Results of no call.
    pub(super) orphans: u64,
}

impl State {
    pub(super) fn new(time: Timestamp) -> Self {
        Self {
            time,
            provider: None,
            model: None,
            entries: Vec::new(),
            calls: HashMap::new(),
            early: HashMap::new(),
            recent: HashMap::new(),
            saw_prompt_event: false,
            hasher: RandomState::new(),
        }
    }

    pub(super) const fn set_time(&mut self, time: Timestamp) {
        self.time = time;
    }

    pub(super) const fn time(&self) -> Timestamp {
        self.time
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn set_provider(&mut self, provider: &str) {
        self.provider = Some(provider.to_owned()).filter(|provider| !provider.is_empty());
    }

    pub(super) fn set_model(&mut self, model: &str) {
        if !model.is_empty() {
            let provider = self.provider.as_deref().unwrap_or("openai");
            self.model = Some(format!("{provider}/{model}"));
        }
    }

    fn push(&mut self, id: Option<String>, way: Way, what: What) -> usize {
        let model = match what {
            What::Prompt { .. } | What::Command(_) => None,
            _ => self.model.clone(),
        };
        self.entries.push(Entry { id, time: self.time, model, ways: way as u8, what });
        self.entries.len() - 1
    }

    /// A user-role text. `is_certain` if the item itself says that a person typed it.
    pub(super) fn prompt(
        &mut self,
        id: Option<String>,
        way: Way,
        texts: &[String],
        images: Vec<Part>,
        is_certain: bool,
    ) {
        if way != Way::Item {
            self.saw_prompt_event = true;
        }
        let mut words: Vec<String> = Vec::new();
        for text in texts {
            match person::said(text) {
                Said::Words(said) => words.push(said),
                Said::Nothing => {}
                Said::Command { command, output, failed } => self.command(way, &command, output, failed),
            }
        }
        if words.is_empty() && images.is_empty() {
            return;
        }
        let text = words.join("\n\n");
        let fingerprint = person::fingerprint(&text);
        if let Some(double) = self.double_of_prompt(&fingerprint, way) {
            self.merge_prompt(double, way, text, images, is_certain);
            return;
        }
        self.recent.clear();
        self.push(id, way, What::Prompt { text, fingerprint, images, is_certain });
    }

    fn double_of_prompt(&self, sought: &str, way: Way) -> Option<usize> {
        for (index, entry) in self.entries.iter().enumerate().rev().take(LOOK_BACK) {
            match &entry.what {
                What::Prompt { fingerprint, .. } => {
                    if fingerprint == sought && entry.ways & way as u8 == 0 {
                        return Some(index);
                    }
                }
                What::Command(_) => {}
                _ => {
                    let apart = self.time.as_millisecond() - entry.time.as_millisecond();
                    if apart.abs() > DOUBLE_MS {
                        return None;
                    }
                }
            }
        }
        None
    }

    fn merge_prompt(&mut self, index: usize, way: Way, new_text: String, new_images: Vec<Part>, certain: bool) {
        let Some(entry) = self.entries.get_mut(index) else { return };
        entry.ways |= way as u8;
        if let What::Prompt { text, images, is_certain, .. } = &mut entry.what {
            *is_certain |= certain;
            // The event has the text as it was typed, the item has the images' bytes.
            if way != Way::Item && !new_text.is_empty() {
                *text = new_text;
            }
            let size = |images: &[Part]| -> u64 {
                images.iter().map(|part| if let Part::Image { bytes, .. } = part { bytes + 1 } else { 0 }).sum()
            };
            if size(&new_images) > size(images) {
                *images = new_images;
            }
        }
    }

    fn command(&mut self, way: Way, command: &str, output: String, failed: bool) {
        let part = Part::ToolCall {
            id: String::new(),
            name: "shell".to_owned(),
            input: json!({ "command": command }),
            output: Some(output),
            failed,
        };
        if let Some(last) = self.entries.last_mut()
            && last.ways & way as u8 == 0
            && matches!(&last.what, What::Command(known) if *known == part)
        {
            last.ways |= way as u8;
            return;
        }
        self.push(None, way, What::Command(part));
    }

    /// A text of the agent's.
    pub(super) fn text(&mut self, id: Option<String>, way: Way, text: &str) {
        self.once(id, way, text, What::Text);
    }

    /// The agent's reasoning.
    pub(super) fn reasoning(&mut self, id: Option<String>, way: Way, text: &str) {
        self.once(id, way, text, What::Reasoning);
    }

    fn once(&mut self, id: Option<String>, way: Way, text: &str, make: fn(String) -> What) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let new = make(text.to_owned());
        let key = self.hasher.hash_one((matches!(new, What::Reasoning(_)), text));
        let entries = &mut self.entries;
        let is_done = |index: usize| entries.get(index).is_none_or(|entry| entry.ways & way as u8 != 0);
        let known = self.recent.get_mut(&key).and_then(|run| run.next(way, is_done));
        if let Some(entry) = known.and_then(|index| entries.get_mut(index)) {
            let is_same = match (&entry.what, &new) {
                (What::Text(known), What::Text(new)) | (What::Reasoning(known), What::Reasoning(new)) => known == new,
                _ => false,
            };
            if is_same {
                entry.ways |= way as u8;
                return;
            }
        }
        let index = self.push(id, way, new);
        self.recent.entry(key).or_default().indexes.push(index);
    }

    /// A plan shown to the person, unless an answer since the last prompt holds it already.
    pub(super) fn plan(&mut self, id: Option<String>, text: &str) {
        let since = self.entries.iter().rev().take_while(|entry| !matches!(entry.what, What::Prompt { .. }));
        let is_shown =
            since.take(LOOK_BACK).any(|entry| matches!(&entry.what, What::Text(shown) if shown.contains(text.trim())));
        if !is_shown {
            self.text(id, Way::Completed, text);
        }
    }

    /// An image that the agent made, or that a tool gave.
    pub(super) fn image(&mut self, way: Way, image: Part) {
        self.push(None, way, What::Image(image));
    }

    /// A tool call. An event's call may have an unknown name or input; the item's stand.
    pub(super) fn call(&mut self, entry_id: Option<String>, way: Way, id: &str, name: &str, input: Value) {
        // The two writings of a call lie near each other.
        let known = self.calls.get(id).map(|run| run.indexes.as_slice()).unwrap_or_default();
        for index in known.iter().skip(known.len().saturating_sub(LOOK_BACK)) {
            let Some(entry) = self.entries.get_mut(*index) else { continue };
            let What::Call(known) = &mut entry.what else { continue };
            if entry.ways & way as u8 == 0 {
                let is_same = !id.is_empty() || (known.name == name && known.input == input);
                if is_same {
                    entry.ways |= way as u8;
                    if way == Way::Item {
                        name.clone_into(&mut known.name);
                        known.input = input;
                    }
                    return;
                }
            } else if !id.is_empty() && known.output.is_none() && known.name == name && known.input == input {
                return;
            }
        }
        let call = Call { id: id.to_owned(), name: name.to_owned(), input, output: None, failed: false, results: 0 };
        let index = self.push(entry_id, way, What::Call(call));
        self.calls.entry(id.to_owned()).or_default().indexes.push(index);
        for (outcome, way) in self.early.remove(id).unwrap_or_default() {
            self.result(id, way, outcome);
        }
    }

    /// What came back from the first call of this id that has no result by this way yet.
    pub(super) fn result(&mut self, id: &str, way: Way, outcome: Outcome) {
        let Some(run) = self.calls.get_mut(id) else {
            self.early.entry(id.to_owned()).or_default().push((outcome, way));
            return;
        };
        let entries = &mut self.entries;
        let is_done = |index: usize| match entries.get(index).map(|entry| &entry.what) {
            Some(What::Call(call)) => call.results & way as u8 != 0,
            _ => true,
        };
        let next = run.next(way, is_done);
        let mut images = Vec::new();
        if let Some(Entry { what: What::Call(call), .. }) = next.and_then(|index| entries.get_mut(index)) {
            call.results |= way as u8;
            call.failed |= outcome.failed;
            if outcome.output.is_some() && (call.output.is_none() || way == Way::Item) {
                call.output = outcome.output;
            }
            images = outcome.images;
        }
        for image in images {
            self.image(way, image);
        }
    }

    /// The last call of this id failed; what came back is told elsewhere.
    pub(super) fn fail(&mut self, id: &str) {
        let last = self.calls.get(id).and_then(|run| run.indexes.last());
        if let Some(Entry { what: What::Call(call), .. }) = last.and_then(|index| self.entries.get_mut(*index)) {
            call.failed = true;
        }
    }

    /// Whether a call of this id is known.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// Forgets the last `turns` prompts and what followed; says how many there were to forget.
    pub(super) fn roll_back(&mut self, turns: usize) -> u64 {
        let mut cut = self.entries.len();
        let mut taken = 0_u64;
        for (index, entry) in self.entries.iter().enumerate().rev() {
            if taken == u64::try_from(turns).unwrap_or(u64::MAX) {
                break;
            }
            if self.is_prompt(entry) {
                cut = index;
                taken += 1;
            }
        }
        for entry in self.entries.drain(cut..) {
            let What::Call(call) = entry.what else { continue };
            if let Some(run) = self.calls.get_mut(&call.id) {
                run.truncate(cut);
                if run.indexes.is_empty() {
                    self.calls.remove(&call.id);
                }
            }
        }
        self.recent.clear();
        taken
    }

    /// Where a file has events for its prompts, an item alone is no prompt unless it says so itself.
    const fn is_prompt(&self, entry: &Entry) -> bool {
        match &entry.what {
            What::Prompt { is_certain, .. } => *is_certain || !self.saw_prompt_event || entry.ways != Way::Item as u8,
            _ => false,
        }
    }

    /// The messages, in order.
    pub(super) fn finish(mut self) -> Finished {
        let orphans = self.early.values().map(|results| u64::try_from(results.len()).unwrap_or(0)).sum();
        let mut unconfirmed = 0;
        let mut messages: Vec<Message> = Vec::new();
        let mut after_call = true;
        for entry in std::mem::take(&mut self.entries) {
            if matches!(entry.what, What::Prompt { .. }) && !self.is_prompt(&entry) {
                unconfirmed += 1;
                continue;
            }
            let Entry { id, time, model, what, .. } = entry;
            let (role, parts, begins) = match what {
                What::Prompt { text, images, .. } => {
                    let mut parts = Vec::with_capacity(1 + images.len());
                    if !text.is_empty() {
                        parts.push(Part::Text { text });
                    }
                    parts.extend(images);
                    (Role::User, parts, true)
                }
                What::Command(part) => (Role::User, vec![part], true),
                What::Text(text) => (Role::Assistant, vec![Part::Text { text }], false),
                What::Reasoning(text) => (Role::Assistant, vec![Part::Reasoning { text }], false),
                What::Image(part) => (Role::Assistant, vec![part], false),
                What::Call(Call { id, name, input, output, failed, .. }) => {
                    (Role::Assistant, vec![Part::ToolCall { id, name, input, output, failed }], false)
                }
            };
            // One message of the agent's is what it says and then calls.
            let says = parts.iter().all(|part| matches!(part, Part::Text { .. } | Part::Reasoning { .. }));
            match messages.last_mut() {
                Some(last) if !begins && last.role == role && !(says && after_call) => {
                    last.parts.extend(parts);
                    last.model = model.or_else(|| last.model.take());
                }
                _ => messages.push(Message { id, role, created_at: time, model, parts }),
            }
            after_call = !says;
        }
        Finished { messages, unconfirmed, orphans }
    }
}
