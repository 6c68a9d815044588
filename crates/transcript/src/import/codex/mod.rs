//! Codex rollouts, command line and IDE: `docs/formats/codex.md` says what is in them and why it is read so.
//!
//! A rollout says most things twice, once as an item sent to or by the model (`response_item`) and
//! once as an event for the screen (`event_msg`), in an order that has changed between versions.
//! Both are read; [`state::State`] puts what belongs together into one entry.

mod calls;
mod events;
mod fork;
mod items;
pub(crate) mod json;
mod person;
mod reader;
mod state;

use std::{
    io::{BufRead, BufReader},
    ops::ControlFlow,
};

use crate::{
    Conversation, Harness, Parent, Source, assemble,
    import::{Error, ParseOptions, Parsed, title_of},
    rows::{self, Row, Warnings, read_rows},
    steps,
};

pub(crate) use calls::decoded_length;
pub(crate) use reader::ZSTD_MAGIC;

use fork::Gate;
use json::Object;
use reader::{SkipCompacted, Tolerant};
use state::State;

/// Row types that carry nothing a reader of the conversation could see.
const SILENT_ROWS: [&str; 6] = [
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "session_state",
    "ghost_snapshot",
];

/// What is looked at of a row without an envelope.
const BARE_MEMBERS: [&str; 21] = [
    "type",
    "id",
    "session_id",
    "timestamp",
    "role",
    "content",
    "call_id",
    "name",
    "arguments",
    "input",
    "output",
    "summary",
    "encrypted_content",
    "action",
    "status",
    "success",
    "session",
    "items",
    "record_type",
    "cwd",
    "internal_chat_message_metadata_passthrough",
];

/// Reads one rollout, plain or zstd-compressed.
///
/// # Errors
/// [`Error::NotThisFormat`] if no row is Codex's, [`Error::Empty`] if nobody says anything in it,
/// [`Error::Io`] if the reader fails.
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    if !reader.fill_buf()?.starts_with(&ZSTD_MAGIC) {
        return parse_rows(reader, options, Warnings::default());
    }
    let decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
    let mut plain = Tolerant::new(BufReader::with_capacity(128 * 1024, decoder));
    // What was cut off is known only at the end, and belongs among the warnings all the same.
    let mut parsed = parse_rows(&mut plain, options, Warnings::default())?;
    if plain.is_damaged() {
        let warning = crate::Warning {
            line: None,
            code: "damaged-compression",
            message: "the compressed file is cut off or damaged; what came before was read".to_owned(),
        };
        for conversation in &mut parsed.conversations {
            conversation.warnings.push(warning.clone());
        }
        parsed.warnings.push(warning);
    }
    Ok(parsed)
}

fn parse_rows(reader: &mut dyn BufRead, options: &ParseOptions, mut warnings: Warnings) -> Result<Parsed, Error> {
    let mut rollout = Rollout::new(options);
    let mut lines = SkipCompacted::new(reader);
    let tally = read_rows(&mut lines, &mut warnings, |row, _| {
        rollout.row(&row);
        ControlFlow::Continue(())
    })?;
    if tally.bytes == 0 {
        return Err(Error::Empty);
    }
    let skipped = lines.skipped();
    rollout.recognised += skipped;
    rollout.finish(options, warnings)
}

/// Rows of types that are not known: counted, and told once with the first one's line.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    /// The line being read.
    pub(crate) line: u64,
    first: Option<u64>,
    count: u64,
}

impl Unknown {
    pub(crate) fn count(&mut self) {
        self.first.get_or_insert(self.line);
        self.count += 1;
    }

    pub(crate) fn warn(&self, warnings: &mut Warnings) {
        let plural = if self.count == 1 { "" } else { "s" };
        if self.count > 0 {
            warnings.push(
                self.first,
                "unknown-row-type",
                format!("{} row{plural} of unknown type skipped", self.count),
            );
        }
    }
}

/// One rollout being read.
struct Rollout {
    id: Option<String>,
    version: Option<String>,
    cwd: Option<String>,
    title: Option<String>,
    is_subagent: bool,
    parent: Option<Parent>,
    /// The single JSON document of the first Codex, which is legitimately spread over lines.
    is_document: bool,
    gate: Gate,
    state: State,
    recognised: u64,
    unknown: Unknown,
    replayed: u64,
    rolled_back: u64,
}

impl Rollout {
    fn new(options: &ParseOptions) -> Self {
        Self {
            id: None,
            version: None,
            cwd: None,
            title: None,
            is_subagent: false,
            parent: None,
            is_document: false,
            gate: Gate::default(),
            state: State::new(options.fallback_time),
            recognised: 0,
            unknown: Unknown::default(),
            replayed: 0,
            rolled_back: 0,
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        let object = &row.object;
        self.unknown.line = row.line;
        if let Some(time) = object.time("timestamp") {
            self.state.set_time(time);
        }
        let kind = object.str("type");
        let Some(payload) = object.get("payload").and_then(|raw| Object::of(raw.get())) else {
            self.bare_row(object, kind.as_deref());
            return;
        };
        match kind.as_deref() {
            Some("session_meta") => {
                self.recognised += 1;
                self.session_meta(&payload);
            }
            Some("turn_context") => {
                self.recognised += 1;
                if self.is_replay(&payload) {
                    return;
                }
                if let Some(model) = payload.str("model") {
                    self.state.set_model(&model);
                }
                if self.cwd.is_none() {
                    self.cwd = payload.str("cwd").map(Into::into);
                }
            }
            Some("response_item") => {
                self.recognised += 1;
                if self.is_replay(&payload) {
                    return;
                }
                if !items::apply(&mut self.state, &payload) {
                    self.unknown.count();
                }
            }
            Some("event_msg") => {
                self.recognised += 1;
                if self.is_replay(&payload) {
                    return;
                }
                self.event(&payload);
            }
            Some(kind) if SILENT_ROWS.contains(&kind) => self.recognised += 1,
            _ => self.unknown.count(),
        }
    }

    fn event(&mut self, payload: &Object<'_>) {
        match payload.str("type").as_deref() {
            Some("thread_rolled_back") => {
                let turns = payload.i64("num_turns").and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
                self.rolled_back += self.state.roll_back(turns);
            }
            Some("thread_name_updated") => {
                if let Some(name) = payload.str("thread_name") {
                    self.title = title_of(&name);
                }
            }
            Some(kind) => {
                if !events::apply(&mut self.state, kind, payload) {
                    self.unknown.count();
                }
            }
            None => self.unknown.count(),
        }
    }

    /// A row without an envelope: what the first builds wrote.
    fn bare_row(&mut self, row: &rows::Object<'_>, kind: Option<&str>) {
        let object = &Object::picked(row, &BARE_MEMBERS);
        match kind {
            Some(_) if items::is_bare_item(object) => {
                self.recognised += 1;
                if !items::apply(&mut self.state, object) {
                    self.unknown.count();
                }
            }
            Some(kind) if SILENT_ROWS.contains(&kind) => self.recognised += 1,
            None if object.has("session") && object.has("items") => {
                self.recognised += 1;
                self.is_document = true;
                if let Some(session) = object.object("session") {
                    self.header(&session);
                    if let Some(time) = session.time("timestamp") {
                        self.state.set_time(time);
                    }
                }
                for raw in object.array("items").unwrap_or_default() {
                    if let Some(item) = Object::of(raw) {
                        if let Some(time) = item.time("timestamp") {
                            self.state.set_time(time);
                        }
                        if !items::apply(&mut self.state, &item) {
                            self.unknown.count();
                        }
                    }
                }
            }
            None if object.has("id") && object.has("timestamp") => {
                self.recognised += 1;
                self.header(object);
            }
            None if object.has("record_type") => self.recognised += 1,
            _ => self.unknown.count(),
        }
    }

    fn session_meta(&mut self, payload: &Object<'_>) {
        let own = payload.str("id").or_else(|| payload.str("session_id"));
        let is_first = self.id.is_none();
        if is_first {
            let subagent = payload.object("source").is_some_and(|source| source.has("subagent"))
                || payload.str("thread_source").is_some_and(|source| source == "subagent");
            self.is_subagent = subagent;
            let spawned = payload.object("source").and_then(|source| source.object("subagent")?.object("thread_spawn"));
            let parent = spawned.and_then(|spawned| Some(spawned.str("parent_thread_id")?.into_owned()));
            self.parent = parent.map(|id| Parent { id, call: None });
            self.header(payload);
            let started = payload.time("timestamp").unwrap_or_else(|| self.state.time());
            self.gate.begin(own.as_deref().unwrap_or_default(), started, payload.has("forked_from_id"));
        } else if own.as_deref() != self.id.as_deref() && self.state.is_empty() {
            // The parent's own header, copied in front of its history.
            self.gate.close();
        }
    }

    fn header(&mut self, object: &Object<'_>) {
        self.id = object.str("id").or_else(|| object.str("session_id")).map(Into::into);
        self.version = object.str("cli_version").map(Into::into);
        self.cwd = object.str("cwd").map(Into::into);
        if let Some(provider) = object.str("model_provider") {
            self.state.set_provider(&provider);
        }
    }

    fn is_replay(&mut self, payload: &Object<'_>) -> bool {
        let replayed = self.gate.is_replay(payload, self.state.time());
        self.replayed += u64::from(replayed);
        replayed
    }

    fn finish(self, options: &ParseOptions, mut warnings: Warnings) -> Result<Parsed, Error> {
        if self.recognised == 0 {
            return Err(Error::NotThisFormat { harness: Harness::Codex });
        }
        // A rollout is a line: what was taken back or forked away has no id to be asked for by.
        if let Some(branch) = &options.branch {
            return Err(Error::UnknownBranch(branch.clone()));
        }
        let outcome = self.state.finish();
        self.unknown.warn(&mut warnings);
        let counted = [
            (self.replayed, "replayed-history", "row", "left out: a copy of the conversation this one was forked from"),
            (self.rolled_back, "rolled-back", "prompt", "left out with what followed: the person took it back"),
            (
                outcome.unconfirmed,
                "unconfirmed-prompt",
                "message",
                "left out: in a person's name, but no person typed it",
            ),
            (outcome.orphans, "orphan-tool-result", "tool result", "left out: its call is not in the transcript"),
        ];
        for (count, code, noun, what) in counted {
            if count > 0 {
                let plural = if count == 1 { "" } else { "s" };
                warnings.push(None, code, format!("{count} {noun}{plural} {what}"));
            }
        }
        if self.is_subagent {
            warnings.push(
                None,
                "subagent-session",
                "the prompts here were written by another agent, not by a person".to_owned(),
            );
        }
        let mut warnings = warnings.finish();
        if self.is_document {
            warnings.retain(|warning| warning.code != "raw-newline");
        }
        let turns = assemble(outcome.messages, options.grain, |tool, input| {
            steps::summarise(tool, input, self.cwd.as_deref(), options.home.as_deref())
        });
        let Some(first) = turns.first() else {
            return Err(Error::Empty);
        };
        let title_is_prompt = self.title.is_none();
        let title = self.title.or_else(|| {
            turns.iter().filter(|turn| turn.role == crate::Role::User).find_map(|turn| title_of(&turn.text))
        });
        let conversation = Conversation {
            source: Source {
                harness: Harness::Codex,
                id: self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| options.fallback_id.clone()),
                path: options.path.clone(),
                version: self.version,
                cwd: self.cwd,
                parent: self.parent,
            },
            title,
            title_is_prompt,
            created_at: first.created_at,
            turns,
            warnings: warnings.clone(),
        };
        Ok(Parsed { conversations: vec![conversation], warnings })
    }
}
