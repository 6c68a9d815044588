//! Sessions of pi and of the agents built on its files: `docs/formats/pi.md` says what is in them.
//!
//! A file is a tree of entries; the conversation is the way from its last entry to the root.

mod messages;
mod person;
pub(crate) mod tree;

use std::{io::BufRead, ops::ControlFlow};

use crate::{
    Conversation, Harness, Role, Source, assemble,
    import::{
        Error, ParseOptions, Parsed,
        codex::{Unknown, json::Object as Json},
        title_of,
    },
    rows::{Object, Row, Warnings, read_rows},
    steps,
};

pub use person::words;

use messages::{Content, Thread};
use tree::{Parent, Tree};

/// Entries that say nothing in the conversation: settings, bookmarks, an extension's own state, and
/// context for the model that neither a person nor the model said.
const SILENT: [&str; 16] = [
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "service_tier_change",
    "mode_change",
    "ttsr_injection",
    "title",
    "title_change",
    "session_init",
    "session_info",
    "leaf",
    "branch_point",
    "tool_execution",
];

/// Reads one session file.
///
/// # Errors
/// [`Error::NotThisFormat`] if no entry is pi's, [`Error::Empty`] if nobody says anything in it,
/// [`Error::UnknownBranch`] if [`ParseOptions::branch`] is no entry's id, [`Error::Io`] if the
/// reader fails.
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut session = Session::default();
    let tally = read_rows(reader, &mut warnings, |row, _| {
        session.row(&row);
        ControlFlow::Continue(())
    })?;
    if tally.bytes == 0 {
        return Err(Error::Empty);
    }
    session.finish(options, warnings)
}

/// One file being read.
#[derive(Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    cwd: Option<String>,
    /// The name a person gave it.
    name: Option<String>,
    /// The name a program gave it.
    title: Option<String>,
    /// Provider and model that the header of the first version names.
    first_model: Option<Content>,
    tree: Tree<Content>,
    recognised: u64,
    unknown: Unknown,
}

impl Session {
    fn row(&mut self, row: &Row<'_>) {
        let object = &row.object;
        self.unknown.line = row.line;
        let kind = object.str("type").unwrap_or_default();
        let content = match kind.as_ref() {
            "session" if object.has("id") => {
                self.recognised += 1;
                self.header(object);
                return;
            }
            "message" => match object.get("message").and_then(|raw| Json::of(raw.get())) {
                Some(message) if message.has("role") => {
                    self.recognised += 1;
                    messages::content_of(&message, object.time("timestamp"))
                }
                _ => Content::Silent,
            },
            "model_change" => Content::model_of(object),
            kind => {
                self.meta(kind, object);
                if !SILENT.contains(&kind) {
                    self.unknown.count();
                }
                // Even an entry that says nothing may be somebody's parent.
                Content::Silent
            }
        };
        let parent = match object.get("parentId") {
            None => Parent::Previous,
            Some(raw) if raw.get() == "null" => Parent::Root,
            Some(_) => object.str("parentId").map_or(Parent::Previous, Parent::Id),
        };
        let id = object.str("id").filter(|id| !id.is_empty()).map(Into::into);
        self.tree.push(id, &parent, content);
    }

    fn header(&mut self, object: &Object<'_>) {
        if self.id.is_some() {
            return;
        }
        self.id = object.str("id").map(Into::into);
        self.cwd = object.str("cwd").map(Into::into);
        self.title = object.str("title").map(Into::into);
        self.first_model = Some(Content::model_of(object));
    }

    fn meta(&mut self, kind: &str, object: &Object<'_>) {
        match kind {
            // An empty name takes the name away.
            "session_info" => self.name = object.str("name").map(Into::into),
            "title" | "title_change" => self.title = object.str("title").map(Into::into),
            "session_init" => self.version = object.str("cliVersion").map(Into::into),
            _ => {}
        }
    }

    fn finish(self, options: &ParseOptions, mut warnings: Warnings) -> Result<Parsed, Error> {
        if self.recognised == 0 {
            return Err(Error::NotThisFormat { harness: Harness::Pi });
        }
        self.unknown.warn(&mut warnings);
        if self.tree.orphans() > 0 {
            warnings.push(
                None,
                "missing-parent",
                match self.tree.orphans() {
                    1 => "1 entry follows one that is not in the file; it was put after the one before it".to_owned(),
                    many => format!(
                        "{many} entries follow one that is not in the file; they were put after the one before them"
                    ),
                },
            );
        }
        let mut thread = Thread::new(options.fallback_time);
        if let Some(model) = self.first_model {
            thread.push(None, model);
        }
        let through = options.branch.as_deref();
        let branch = self.tree.branch(through);
        let branch = branch.ok_or_else(|| Error::UnknownBranch(through.unwrap_or_default().to_owned()))?;
        for (id, content) in branch {
            thread.push(id, content);
        }
        let (messages, orphans) = thread.finish();
        if orphans > 0 {
            warnings.push(
                None,
                "orphan-tool-result",
                match orphans {
                    1 => "1 row answers a tool call that is not in the conversation".to_owned(),
                    many => format!("{many} rows answer a tool call that is not in the conversation"),
                },
            );
        }
        let turns = assemble(messages, options.grain, |tool, input| {
            steps::summarise(tool, input, self.cwd.as_deref(), options.home.as_deref())
        });
        let Some(first) = turns.first() else {
            return Err(Error::Empty);
        };
        let given = |name: Option<String>| name.and_then(|name| title_of(&name));
        let own_title = given(self.name).or_else(|| given(self.title));
        let title_is_prompt = own_title.is_none();
        let title = own_title
            .or_else(|| turns.iter().filter(|turn| turn.role == Role::User).find_map(|turn| title_of(&turn.text)));
        let warnings = warnings.finish();
        let conversation = Conversation {
            source: Source {
                harness: Harness::Pi,
                id: self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| options.fallback_id.clone()),
                path: options.path.clone(),
                version: self.version,
                cwd: self.cwd,
                parent: None,
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
