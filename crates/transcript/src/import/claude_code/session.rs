//! One session: its rows, in file order, into a conversation.

use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
};

use jiff::Timestamp;

use super::{
    beside,
    content::{Block, ToolResult},
    tree::{NodeId, Tree},
    unite::Messages,
};
use crate::{
    Conversation, Harness, Parent, ParseOptions, Part, Source, Warning, assemble,
    import::{fold_title, title_of},
    rows::Object,
    steps::summarise,
};

/// How far into the queue a prompt is looked for.
const QUEUE_LOOK_AHEAD: usize = 64;

/// What a row says.
#[derive(Debug)]
pub(super) enum Said {
    /// By a person; `words` is its text alone.
    Prompt { uuid: Option<String>, parts: Vec<Part>, words: String },
    /// By the agent: some or all blocks of a message.
    Agent { message_id: Option<String>, uuid: Option<String>, model: Option<String>, blocks: Vec<Block> },
    /// By tools.
    Results(Vec<ToolResult>),
    /// By a person, into the queue.
    Queued(String),
    /// By the harness, into the queue; or a slash command. It takes a place there, and is no prompt.
    QueuedOther(String),
    /// By the harness: the first prompt leaves the queue, or the one with these words.
    Dequeued(Option<String>),
    /// The person took the queue back into their input line; these words, if the row says so.
    QueueTakenBack(Option<String>),
}

/// A row that says something.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) line: u64,
    pub(super) time: Option<Timestamp>,
    /// The row in the tree; of a row without an id, the one before it.
    pub(super) node: Option<NodeId>,
    pub(super) said: Said,
}

impl Entry {
    const fn is_queue_bookkeeping(&self) -> bool {
        matches!(self.said, Said::QueuedOther(_) | Said::Dequeued(_) | Said::QueueTakenBack(_))
    }
}

/// A prompt that was put into the queue.
#[derive(Debug)]
struct Waiting {
    /// Its place among the entries.
    at: usize,
    line: u64,
    text: String,
    is_in_queue: bool,
    /// Whether the agent, or another prompt, has come since it left the queue.
    is_given: bool,
}

/// Prompts that were put into the queue and have not turned up as rows of their own.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    settled: HashSet<usize>,
    /// What stands in the queue, prompts and other things: place among the entries, and words.
    places: VecDeque<(usize, String)>,
    /// Prompts that have left it since the agent last came.
    left: Vec<usize>,
}

impl Queue {
    /// Finds the prompts that `words` consist of: several queued prompts come as one, joined by newlines.
    /// Gives the place of the last of them.
    fn settle(&mut self, words: &str) -> Option<usize> {
        let mut rest = words.trim();
        let mut last = None;
        while !rest.is_empty() {
            let found = self.waiting.iter().take(QUEUE_LOOK_AHEAD).position(|prompt| {
                rest.strip_prefix(prompt.text.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
            });
            let Some(prompt) = found.and_then(|found| self.waiting.remove(found)) else { break };
            self.settled.insert(prompt.at);
            last = last.max(Some(prompt.at));
            rest = rest.get(prompt.text.len()..).unwrap_or_default().trim_start();
        }
        last
    }

    /// Another prompt has come: what was in the queue before it has no row of its own.
    fn pass_over(&mut self, last_settled: Option<usize>) {
        for prompt in self.waiting.iter_mut().take(QUEUE_LOOK_AHEAD) {
            let is_passed = match last_settled {
                Some(last) => prompt.at < last,
                None => !prompt.is_in_queue,
            };
            prompt.is_given |= is_passed;
        }
    }

    /// The first in the queue leaves it for the agent, or the one with these words; its row, if there is one,
    /// comes later.
    fn leave(&mut self, words: Option<&str>) {
        let words = words.map(str::trim);
        while self.places.front().is_some_and(|(at, _)| self.settled.contains(at)) {
            self.places.pop_front();
        }
        let mut places = self.places.iter().take(QUEUE_LOOK_AHEAD);
        let found = places
            .position(|(at, text)| !self.settled.contains(at) && words.is_none_or(|words| words == text.as_str()));
        let Some((at, _)) = found.and_then(|found| self.places.remove(found)) else { return };
        if let Some(prompt) = self.waiting_at(at) {
            prompt.is_in_queue = false;
            self.left.push(at);
        }
    }

    /// The agent has come: what left the queue before was given to it.
    fn give(&mut self) {
        for at in std::mem::take(&mut self.left) {
            if let Some(prompt) = self.waiting_at(at) {
                prompt.is_given = true;
            }
        }
    }

    fn waiting_at(&mut self, at: usize) -> Option<&mut Waiting> {
        let found = self.waiting.binary_search_by_key(&at, |prompt| prompt.at).ok()?;
        self.waiting.get_mut(found)
    }
}

/// The rows of one session id.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) id: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// Whether a row of the main thread has come. Until then the rows of a subagent are kept: the
    /// file may be that subagent's own.
    pub(super) has_main: bool,
    pub(super) sidechain_rows: u64,
    pub(super) agent_id: Option<String>,
    pub(super) version: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) custom_title: Option<String>,
    pub(super) ai_title: Option<String>,
    /// By the row that the summarised branch ends with; often one of another file.
    pub(super) summaries: Vec<(NodeId, String)>,
    pub(super) harness_errors: u64,
    pub(super) slash_commands: u64,
    pub(super) unknown_blocks: u64,
}

impl Session {
    /// The folder of the first row that names one, the version of the last.
    pub(super) fn note_facts(&mut self, row: &Object<'_>) {
        if self.cwd.is_none() {
            self.cwd = row.str("cwd").filter(|cwd| !cwd.is_empty()).map(Cow::into_owned);
        }
        if let Some(version) = row.str("version").filter(|version| !version.is_empty())
            && self.version.as_deref() != Some(version.as_ref())
        {
            self.version = Some(version.into_owned());
        }
    }

    /// A row of the main thread has come: what subagents said before it is not this conversation.
    pub(super) fn begin_main(&mut self) {
        if !self.has_main {
            self.has_main = true;
            if self.sidechain_rows > 0 {
                self.entries.retain(|entry| matches!(entry.said, Said::Queued(_)) || entry.is_queue_bookkeeping());
            }
        }
    }

    /// The conversation; `None` if nobody said anything in it.
    pub(super) fn finish(
        mut self,
        tree: &Tree,
        branch: Option<NodeId>,
        options: &ParseOptions,
    ) -> Option<Conversation> {
        let mut notes = Notes::default();
        self.settle_queue(&mut notes);
        self.leave_other_branches(tree, branch, &mut notes);
        let first_time = self.entries.iter().find_map(|entry| entry.time);
        let nodes: HashSet<NodeId> = if self.summaries.is_empty() {
            HashSet::new()
        } else {
            self.entries.iter().filter_map(|entry| entry.node).collect()
        };
        let summary = self.summaries.iter().rev().find(|(leaf, _)| nodes.contains(leaf)).map(|(_, title)| title);
        let harness_title =
            self.custom_title.as_ref().or(self.ai_title.as_ref()).or(summary).and_then(|title| fold_title(title));

        let mut time = first_time.unwrap_or(options.fallback_time);
        let mut messages = Messages::default();
        let mut results: Vec<(u64, ToolResult)> = Vec::new();
        let mut first_words = None;
        for Entry { line, time: own_time, said, .. } in std::mem::take(&mut self.entries) {
            time = own_time.unwrap_or(time);
            match said {
                Said::Prompt { uuid, parts, words } => {
                    first_words = first_words.or_else(|| title_of(&words));
                    messages.prompt(uuid, time, own_time.is_some(), parts);
                }
                Said::Queued(text) => {
                    first_words = first_words.or_else(|| title_of(&text));
                    messages.prompt(None, time, own_time.is_some(), vec![Part::Text { text }]);
                }
                Said::Agent { message_id, uuid, model, blocks } => {
                    messages.agent(message_id, uuid, time, model, blocks);
                }
                Said::Results(given) => results.extend(given.into_iter().map(|result| (line, result))),
                Said::QueuedOther(_) | Said::Dequeued(_) | Said::QueueTakenBack(_) => {}
            }
        }
        // After all calls, since a result may stand before its call.
        for (line, mut result) in results {
            if result.persisted {
                match beside::persisted(options.path.as_deref(), &result.output) {
                    Some(whole) => result.output = whole,
                    None => notes.persisted.add(line),
                }
            }
            if !messages.result(result) {
                notes.orphans.add(line);
            }
        }
        let turns = assemble(messages.finish(), options.grain, |tool, input| {
            summarise(tool, input, self.cwd.as_deref(), options.home.as_deref())
        });
        let created_at = turns.first()?.created_at;
        let warnings = notes.warnings(&self);
        let described = if self.has_main { None } else { options.path.as_deref().and_then(beside::description) };
        let (call, description) = described.unwrap_or_default();
        let harness_title = harness_title.or_else(|| description.as_deref().and_then(fold_title));
        let is_agents = !self.has_main && self.agent_id.is_some();
        let parent = self.id.clone().filter(|_| is_agents).map(|id| Parent { id, call });
        Some(Conversation {
            source: Source {
                harness: Harness::ClaudeCode,
                id: self.source_id(options),
                path: options.path.clone(),
                version: self.version,
                cwd: self.cwd,
                parent,
            },
            title_is_prompt: harness_title.is_none(),
            title: harness_title.or(first_words),
            created_at,
            turns,
            warnings,
        })
    }

    /// A subagent's rows carry the session id of the conversation that started it.
    fn source_id(&self, options: &ParseOptions) -> String {
        if !self.has_main
            && let Some(agent) = &self.agent_id
        {
            return format!("agent-{agent}");
        }
        self.id.clone().unwrap_or_else(|| options.fallback_id.clone())
    }

    /// Takes out of the queue what came to the agent as a row of its own, what the person took back, and
    /// what the agent has not got yet. What remains is a prompt that stands nowhere else.
    fn settle_queue(&mut self, notes: &mut Notes) {
        let mut queue = Queue::default();
        for (at, entry) in self.entries.iter().enumerate() {
            match &entry.said {
                Said::Queued(text) => {
                    let text = text.trim().to_owned();
                    queue.places.push_back((at, text.clone()));
                    let line = entry.line;
                    queue.waiting.push_back(Waiting { at, line, text, is_in_queue: true, is_given: false });
                }
                Said::QueuedOther(text) => queue.places.push_back((at, text.trim().to_owned())),
                Said::Dequeued(words) => queue.leave(words.as_deref()),
                Said::QueueTakenBack(Some(words)) => {
                    queue.settle(words);
                }
                Said::QueueTakenBack(None) => {
                    queue.places.clear();
                    let settled = &mut queue.settled;
                    queue.waiting.retain(|prompt| !prompt.is_in_queue || !settled.insert(prompt.at));
                }
                Said::Prompt { words, .. } => {
                    let last = queue.settle(words);
                    queue.pass_over(last);
                }
                Said::Agent { .. } => queue.give(),
                Said::Results(_) => {}
            }
        }
        for prompt in queue.waiting.iter().filter(|prompt| !prompt.is_given) {
            notes.queued.add(prompt.line);
            queue.settled.insert(prompt.at);
        }
        let mut at = 0;
        self.entries.retain(|entry| {
            at += 1;
            !queue.settled.contains(&(at - 1)) && !entry.is_queue_bookkeeping()
        });
    }

    /// Drops what hangs below a prompt that the person replaced.
    fn leave_other_branches(&mut self, tree: &Tree, branch: Option<NodeId>, notes: &mut Notes) {
        let is_message = |entry: &&Entry| !matches!(entry.said, Said::Queued(_));
        let prompts: Vec<(NodeId, u64, Option<String>)> = self
            .entries
            .iter()
            .filter_map(|entry| match &entry.said {
                Said::Prompt { uuid, .. } => Some((entry.node?, entry.line, uuid.clone())),
                _ => None,
            })
            .collect();
        if prompts.len() < 2 {
            return;
        }
        let leaf = branch.or_else(|| self.entries.iter().rev().filter(is_message).find_map(|entry| entry.node));
        let ids: Vec<NodeId> = prompts.iter().map(|(node, ..)| *node).collect();
        let replaced = tree.replaced(&ids, leaf);
        if replaced.is_empty() {
            return;
        }
        let left = tree.below(&replaced);
        let is_left = |entry: &Entry| entry.node.is_some_and(|node| left.contains(node));
        let named = prompts.into_iter().filter(|(node, ..)| replaced.binary_search(node).is_ok());
        notes.branches.extend(named.filter_map(|(_, line, uuid)| Some((line, uuid?))));
        self.entries.retain(|entry| !is_left(entry));
    }
}

/// How often something happened, and where first.
#[derive(Debug, Default)]
struct Count {
    count: u64,
    line: Option<u64>,
}

impl Count {
    fn add(&mut self, line: u64) {
        self.count += 1;
        self.line.get_or_insert(line);
    }
}

/// What a session's reader is told.
#[derive(Debug, Default)]
struct Notes {
    orphans: Count,
    persisted: Count,
    /// Prompts that still wait in the queue.
    queued: Count,
    /// Line and id of each prompt that was replaced.
    branches: Vec<(u64, String)>,
}

/// Branches that are named one by one.
const NAMED_BRANCHES: usize = 100;

impl Notes {
    fn warnings(self, session: &Session) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let more = self.branches.len().saturating_sub(NAMED_BRANCHES);
        for (line, uuid) in self.branches.into_iter().take(NAMED_BRANCHES) {
            let uuid: String =
                uuid.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(64).collect();
            warnings.push(Warning {
                line: Some(line),
                code: "other-branch",
                message: format!("a prompt that was replaced, and what followed it, is left out; its branch is {uuid}"),
            });
        }
        let mut counted = |count: u64, line: Option<u64>, code: &'static str, one: &str, many: &str| match count {
            0 => {}
            1 => warnings.push(Warning { line, code, message: format!("1 {one}") }),
            count => warnings.push(Warning { line, code, message: format!("{count} {many}") }),
        };
        counted(
            u64::try_from(more).unwrap_or(u64::MAX),
            None,
            "other-branch",
            "more replaced prompt is left out",
            "more replaced prompts are left out",
        );
        if session.has_main {
            counted(
                session.sidechain_rows,
                None,
                "sidechain-rows",
                "row of a subagent is left out",
                "rows of subagents are left out",
            );
        } else {
            counted(
                session.sidechain_rows,
                None,
                "subagent-transcript",
                "row, of a subagent: its instructions came from an agent, not from a person, and are left out",
                "rows, all of a subagent: its instructions came from an agent, not from a person, and are left out",
            );
        }
        counted(
            session.harness_errors,
            None,
            "harness-error",
            "error message of the harness is left out",
            "error messages of the harness are left out",
        );
        counted(
            session.slash_commands,
            None,
            "slash-command",
            "slash command is left out: it is no prompt",
            "slash commands are left out: they are no prompts",
        );
        counted(
            self.orphans.count,
            self.orphans.line,
            "result-without-call",
            "tool result belongs to no call that was read",
            "tool results belong to no call that was read",
        );
        counted(
            self.persisted.count,
            self.persisted.line,
            "persisted-output",
            "tool output lies in a file of its own, which was not read",
            "tool outputs lie in files of their own, which were not read",
        );
        counted(
            self.queued.count,
            self.queued.line,
            "queued-prompt",
            "prompt still waits for the agent and is left out",
            "prompts still wait for the agent and are left out",
        );
        counted(
            session.unknown_blocks,
            None,
            "unknown-block-type",
            "content block of an unknown type skipped",
            "content blocks of unknown types skipped",
        );
        warnings
    }
}
