//! Rows into sessions: what each row says, before anything is put together.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
};

use super::{
    content::{Block, Content, MessageView},
    injected,
    session::{Entry, Said, Session},
    tree::{Kind, NodeId, Parent, Tree},
};
use crate::{
    Part,
    import::model_name::provider_and_model,
    rows::{Object, Warnings, array_of, string_of},
};

/// Row types that carry nothing of the conversation.
const BOOKKEEPING: [&str; 26] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "agent_metadata",
    "atis-latch",
    "bridge-session",
    "content-replacement",
    "context-collapse",
    "continued-in",
    "cost-state",
    "file-history-snapshot",
    "last-prompt",
    "marble-origami-commit",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "saved_hook_context",
    "session-id",
    "speculation-accept",
    "started",
    "tag",
    "task-summary",
    "tombstone",
    "worktree-state",
    "x-error",
];

/// Unknown row types that are named in a warning of their own.
const NAMED_TYPES: usize = 32;

/// What has been read of a file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) tree: Tree,
    pub(super) sessions: Vec<Session>,
    /// Whether any row is one of Claude Code's.
    pub(super) recognised: bool,
    by_id: HashMap<String, usize>,
    current: Option<usize>,
    last_node: Option<NodeId>,
    /// The model of the agent's row before, as it stands there and as we name it.
    last_model: (String, Option<String>),
    /// By type: how many rows, and the line of the first.
    unknown: BTreeMap<String, (u64, u64)>,
}

impl File {
    pub(super) fn row(&mut self, line: u64, row: &Object<'_>, warnings: &mut Warnings) {
        if let Some(rows) = row.array("loglines") {
            // The form that the web version exports: all rows in one object.
            for row in rows.into_iter().filter_map(Object::from_raw) {
                self.one(line, &row, warnings);
            }
        } else {
            self.one(line, row, warnings);
        }
    }

    fn one(&mut self, line: u64, row: &Object<'_>, warnings: &mut Warnings) {
        let kind = row.str("type").or_else(|| row.str("role")).unwrap_or_default();
        match kind.as_ref() {
            "user" | "assistant" => {
                let Some(message) = row.get("message").and_then(MessageView::from_raw) else {
                    warnings.push(
                        Some(line),
                        "malformed-line",
                        "a message row without a message was skipped".to_owned(),
                    );
                    return;
                };
                self.recognised = true;
                self.message(line, row, message, kind == "assistant");
            }
            "attachment" => {
                self.recognised |= row.has("attachment");
                self.attachment(line, row);
            }
            "queue-operation" => {
                self.recognised = true;
                self.queue_operation(line, row);
            }
            "summary" | "custom-title" | "ai-title" => {
                self.recognised |= row.has("leafUuid") || row.has("sessionId");
                self.title(&kind, row);
            }
            "system" => {
                self.recognised |= row.has("uuid");
                self.facts(row);
                // What follows a compaction hangs below its boundary, so it replaces nothing before it.
                let kind =
                    if row.str("subtype").as_deref() == Some("compact_boundary") { Kind::Message } else { Kind::Other };
                self.node(row, kind);
            }
            known if BOOKKEEPING.contains(&known) => {
                self.recognised = true;
                self.node(row, Kind::Other);
            }
            unknown => {
                self.node(row, Kind::Other);
                self.count_unknown(unknown, line);
            }
        }
    }

    fn count_unknown(&mut self, name: &str, line: u64) {
        let is_plain = !name.is_empty()
            && name.len() <= 40
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        let room = self.unknown.len() < NAMED_TYPES || self.unknown.contains_key(name);
        let name = if is_plain && room { name } else { "" };
        self.unknown.entry(name.to_owned()).or_insert((0, line)).0 += 1;
    }

    /// One warning a type, with a count.
    pub(super) fn warn_of_unknown_types(&mut self, warnings: &mut Warnings) {
        for (name, (count, line)) in std::mem::take(&mut self.unknown) {
            let rows = if count == 1 { "1 row".to_owned() } else { format!("{count} rows") };
            let what =
                if name.is_empty() { "without a known type".to_owned() } else { format!("of the unknown type {name}") };
            warnings.push(Some(line), "unknown-row-type", format!("{rows} {what} skipped"));
        }
    }

    /// The session a row belongs to: the one it names, else the one of the row before.
    fn session(&mut self, row: &Object<'_>) -> Option<&mut Session> {
        let at = match (row.str("sessionId").filter(|id| !id.is_empty()), self.current) {
            (Some(id), current) => match self.by_id.get(id.as_ref()) {
                Some(&at) => at,
                None => {
                    // Rows before the first that names the session belong to it.
                    let unnamed = current.filter(|at| self.sessions.get(*at).is_some_and(|s| s.id.is_none()));
                    let at = unnamed.unwrap_or(self.sessions.len());
                    if unnamed.is_none() {
                        self.sessions.push(Session::default());
                    }
                    if let Some(session) = self.sessions.get_mut(at) {
                        session.id = Some(id.to_string());
                    }
                    self.by_id.insert(id.into_owned(), at);
                    at
                }
            },
            (None, Some(current)) => current,
            (None, None) => {
                self.sessions.push(Session::default());
                self.sessions.len() - 1
            }
        };
        self.current = Some(at);
        self.sessions.get_mut(at)
    }

    /// Notes the folder and the version that a row names, where its session is known already.
    fn facts(&mut self, row: &Object<'_>) {
        let at = row.str("sessionId").and_then(|id| self.by_id.get(id.as_ref()).copied());
        if let Some(session) = at.and_then(|at| self.sessions.get_mut(at)) {
            session.note_facts(row);
        }
    }

    /// Puts a row into the tree; says whether it was there already.
    fn node(&mut self, row: &Object<'_>, kind: Kind) -> (Option<NodeId>, bool) {
        let Some(uuid) = row.str("uuid").filter(|uuid| !uuid.is_empty()) else { return (None, false) };
        let named = |key: &str| row.str(key).filter(|uuid| !uuid.is_empty());
        let parent = match (named("parentUuid").or_else(|| named("logicalParentUuid")), row.get("parentUuid")) {
            (Some(parent), _) => Parent::Row(self.tree.intern(&parent)),
            (None, Some(_)) => Parent::Root,
            (None, None) => Parent::Unsaid,
        };
        let (id, known) = self.tree.add(&uuid, parent, kind);
        self.last_node = Some(id);
        (Some(id), known)
    }

    fn message(&mut self, line: u64, row: &Object<'_>, message: MessageView<'_>, is_agent: bool) {
        let Some(session) = self.session(row) else { return };
        session.note_facts(row);
        let is_sidechain = row.is_true("isSidechain") || (row.has("agentId") && row.bool("isSidechain") != Some(false));
        if is_sidechain {
            session.sidechain_rows += 1;
            if session.has_main {
                self.node(row, Kind::Other);
                return;
            }
            if session.agent_id.is_none() {
                session.agent_id = row.str("agentId").map(Cow::into_owned);
            }
        } else {
            session.begin_main();
        }
        let at = self.current;
        let uuid = row.str("uuid").filter(|uuid| !uuid.is_empty()).map(Cow::into_owned);
        if !is_agent && uuid.as_deref().is_some_and(|uuid| self.tree.find(uuid).is_some()) {
            return;
        }
        let row_error = row.get("toolUseResult").is_some_and(|result| result.get().starts_with("\"Error:"));
        let time = row.time("timestamp");
        let MessageView { id, model, content } = message;
        let Content { blocks, results, unknown } = Content::of(content, row_error);

        let mut harness_errors = 0;
        let mut slash_commands = 0;
        let has_results = !results.is_empty();
        let mut said = Vec::with_capacity(2);
        if has_results {
            said.push(Said::Results(results));
        }
        let mut kind = if is_agent || has_results { Kind::Message } else { Kind::Other };
        if is_agent {
            if model.as_deref() == Some("<synthetic>") || row.is_true("isApiErrorMessage") {
                harness_errors = 1;
            } else if !blocks.is_empty() {
                said.push(Said::Agent {
                    message_id: id.filter(|id| !id.is_empty()).map(Cow::into_owned),
                    uuid,
                    model: self.model(model.as_deref().unwrap_or_default()),
                    blocks,
                });
            }
        } else {
            let is_injected =
                ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"].iter().any(|mark| row.is_true(mark))
                    || row.str("promptSource").as_deref() == Some("system");
            slash_commands = u64::from(!is_injected && is_command_row(&blocks));
            if !is_injected
                && !is_sidechain
                && let Some((parts, words)) = prompt(blocks)
            {
                kind = if has_results { Kind::Message } else { Kind::Prompt };
                said.push(Said::Prompt { uuid, parts, words });
            }
        }
        let (node, _) = self.node(row, kind);
        if let Some(session) = at.and_then(|at| self.sessions.get_mut(at)) {
            session.harness_errors += harness_errors;
            session.slash_commands += slash_commands;
            session.unknown_blocks += unknown;
            session.entries.extend(said.into_iter().map(|said| Entry { line, time, node, said }));
        }
    }

    fn model(&mut self, name: &str) -> Option<String> {
        if self.last_model.0 != name {
            self.last_model = (name.to_owned(), provider_and_model(name));
        }
        self.last_model.1.clone()
    }

    /// A prompt that was typed while the agent worked, and given to it between two of its steps.
    fn attachment(&mut self, line: u64, row: &Object<'_>) {
        let Some(attachment) = row.object("attachment") else {
            self.node(row, Kind::Other);
            return;
        };
        let is_prompt = attachment.str("type").as_deref() == Some("queued_command")
            && attachment.str("commandMode").is_none_or(|mode| mode == "prompt")
            && !attachment.is_true("isMeta")
            && !row.is_true("isMeta")
            && !row.is_true("isSidechain");
        let content = attachment.get("prompt").filter(|_| is_prompt).map(Content::read);
        let blocks = content.unwrap_or_default().blocks;
        let is_command = matches!(blocks.as_slice(), [Block::Text(text)] if injected::is_slash_command(text));
        let (node, known) = self.node(row, Kind::Other);
        if known || blocks.is_empty() {
            return;
        }
        let Some(session) = self.session(row) else { return };
        if is_command {
            session.slash_commands += 1;
        } else if let Some((parts, words)) = prompt(blocks) {
            session.begin_main();
            let uuid = row.str("uuid").map(Cow::into_owned);
            let time = row.time("timestamp").or_else(|| attachment.time("timestamp"));
            session.entries.push(Entry { line, time, node, said: Said::Prompt { uuid, parts, words } });
        }
    }

    /// A prompt that was typed while the agent worked, as it went into the queue.
    fn queue_operation(&mut self, line: u64, row: &Object<'_>) {
        let node = self.last_node;
        let time = row.time("timestamp");
        let operation = row.str("operation").unwrap_or_default();
        let Some(session) = self.session(row) else { return };
        let said = match operation.as_ref() {
            "enqueue" => {
                let text = queue_text(row).unwrap_or_default();
                let is_command = injected::is_slash_command(&text);
                session.slash_commands += u64::from(is_command);
                match injected::human_text(&text).filter(|_| !is_command) {
                    Some(words) => Said::Queued(words.into_owned()),
                    None => Said::QueuedOther(text),
                }
            }
            "dequeue" | "remove" => Said::Dequeued(queue_text(row)),
            // The person took everything back into the input line to go on writing.
            "popAll" => Said::QueueTakenBack(queue_text(row)),
            _ => return,
        };
        session.entries.push(Entry { line, time, node, said });
    }

    fn title(&mut self, kind: &str, row: &Object<'_>) {
        let keys: &[&str] = match kind {
            "summary" => &["summary"],
            "custom-title" => &["customTitle", "title"],
            _ => &["aiTitle", "title"],
        };
        let Some(title) = keys.iter().find_map(|key| row.str(key)).filter(|title| !title.trim().is_empty()) else {
            return;
        };
        let title = title.into_owned();
        let leaf = row.str("leafUuid").map(|uuid| self.tree.intern(&uuid));
        let Some(session) = self.session(row) else { return };
        match (kind, leaf) {
            ("summary", Some(leaf)) => session.summaries.push((leaf, title)),
            ("summary", None) => {}
            ("custom-title", _) => session.custom_title = Some(title),
            _ => session.ai_title = Some(title),
        }
    }
}

/// The words that a row about the queue names.
fn queue_text(row: &Object<'_>) -> Option<String> {
    let content = row.get("content")?;
    if let Some(text) = string_of(content) {
        return Some(text.into_owned());
    }
    let texts = array_of(content)?.into_iter().filter_map(|block| Object::from_raw(block)?.str("text"));
    Some(texts.collect::<Vec<_>>().join("\n"))
}

fn is_command_row(blocks: &[Block]) -> bool {
    blocks.iter().any(|block| matches!(block, Block::Text(text) if text.trim_start().starts_with("<command-") && injected::is_slash_command(text)))
}

/// What a person put into their message, and its words; `None` where nothing is theirs.
fn prompt(blocks: Vec<Block>) -> Option<(Vec<Part>, String)> {
    let mut parts = Vec::new();
    let mut words = String::new();
    for block in blocks {
        match block {
            Block::Text(text) => {
                let Some(text) = injected::human_text(&text) else { continue };
                if !words.is_empty() {
                    words.push('\n');
                }
                words.push_str(&text);
                parts.push(Part::Text { text: text.into_owned() });
            }
            Block::Image(image) => parts.push(image),
            Block::Reasoning(_) | Block::Call { .. } => {}
        }
    }
    (!parts.is_empty()).then_some((parts, words))
}
