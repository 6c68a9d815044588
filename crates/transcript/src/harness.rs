//! The programs whose transcripts are read, and what their files are known by.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a harness keeps its transcripts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Rows of JSON, one a line.
    Rows,
    /// A JSON document.
    Document,
    /// Either.
    RowsOrDocument,
    /// An SQLite database; older versions documents or rows.
    Database,
    /// Text.
    Text,
    /// None: not a file.
    Nothing,
}

macro_rules! harnesses {
    ($( $(#[$doc:meta])* $variant:ident: $id:literal, $name:literal, $shape:ident, $known_by:literal; )*) => {
        /// The program that wrote a transcript.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Harness {
            $( $(#[$doc])* #[serde(rename = $id)] $variant, )*
            /// None: the conversation was read back from its records.
            #[serde(rename = "atproto")]
            Atproto,
        }

        impl Harness {
            /// Every harness whose transcripts can be read, in the order they are listed to people.
            pub const ALL: [Self; [$($id),*].len()] = [$(Self::$variant),*];

            /// The identifier on the command line and in JSON, e.g. `claude-code`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                    Self::Atproto => "atproto",
                }
            }

            /// The name people know it by, e.g. `Claude Code`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Atproto => "records",
                }
            }

            /// What its transcripts are kept in.
            #[must_use]
            pub const fn shape(self) -> Shape {
                match self {
                    $(Self::$variant => Shape::$shape,)*
                    Self::Atproto => Shape::Nothing,
                }
            }

            /// What tells its transcripts from others', in a few words that complete "there is no …".
            #[must_use]
            pub const fn known_by(self) -> &'static str {
                match self {
                    $(Self::$variant => $known_by,)*
                    Self::Atproto => "record",
                }
            }
        }
    };
}

harnesses! {
    /// Anthropic's Claude Code.
    ClaudeCode: "claude-code", "Claude Code", Rows, "row of `type` user or assistant with a `message` and an id or time";
    /// OpenAI's Codex, command line and IDE.
    Codex: "codex", "Codex", Rows, "row with a `payload`, and no header with `instructions` or `git`";
    /// pi, and the agents built on its session files.
    Pi: "pi", "pi", Rows, "`session` header, and no `message` with a `stopReason`";
    /// opencode: files, exports, and databases of two generations.
    OpenCode: "opencode", "opencode", Database, "`info` with `messages` and `parts`, and no table `session` or `session_v2`";
    /// Google's Gemini CLI.
    GeminiCli: "gemini-cli", "Gemini CLI", RowsOrDocument, "message of `type` gemini, and no `sessionId` with a `projectHash`";
    /// GitHub's Copilot CLI.
    CopilotCli: "copilot-cli", "Copilot CLI", Rows, "row of `type` session.start, user.message or assistant.message with `data`";
    /// The chat in Visual Studio Code.
    VsCodeChat: "vscode-chat", "VS Code chat", RowsOrDocument, "`requests` with a `response`, and no log of changes with `kind` and `k`";
    /// Cursor, IDE and command line.
    Cursor: "cursor", "Cursor", Database, "row with a `role` and a `message`, and no table `cursorDiskKV`";
    /// Block's Goose.
    Goose: "goose", "Goose", Database, "header with a `working_dir`, and no table `messages` with `content_json`";
    /// Cline, IDE and command line.
    Cline: "cline", "Cline", Document, "list of messages with a `<task>`, and no `messages` of an `agent`";
    /// Roo Code, which keeps Cline's files.
    Roo: "roo", "Roo Code", Document, "list of messages with a `<task>` in a folder of Roo Code's";
    /// Kilo Code, which keeps Cline's files.
    Kilo: "kilo", "Kilo Code", Document, "list of messages with a `<task>` in a folder of Kilo Code's";
    /// The Zed editor's agent.
    Zed: "zed", "Zed", Database, "messages of `User` and `Agent`, and no table `threads` with `data_type`";
    /// Charm's Crush.
    Crush: "crush", "Crush", Database, "table `messages` with `parts` beside a table `sessions`";
    /// Sourcegraph's Amp.
    Amp: "amp", "Amp", Document, "thread whose `id` begins with T-, with `messages`";
    /// Qwen Code.
    Qwen: "qwen", "Qwen Code", Rows, "row whose `message` has `parts`";
    /// Moonshot's Kimi CLI and Kimi Code.
    Kimi: "kimi", "Kimi", Rows, "row of `type` turn.prompt or context.append_message, and no `message` of `type` TurnBegin";
    /// Factory's Droid.
    Droid: "droid", "Factory Droid", Rows, "row of `type` session_start";
    /// OpenHands.
    OpenHands: "openhands", "OpenHands", RowsOrDocument, "event of `kind` MessageEvent or ActionEvent, and none with an `action` or `observation`";
    /// Continue.
    Continue: "continue", "Continue", Document, "`sessionId` with a `history`";
    /// Aider.
    Aider: "aider", "Aider", Text, "line `# aider chat started at`";
    /// OpenAI's ChatGPT, from its export.
    ChatGpt: "chatgpt", "ChatGPT", Document, "conversation with a `mapping`";
    /// Anthropic's Claude apps, from their export.
    ClaudeAi: "claude-ai", "Claude", Document, "conversation with `chat_messages`";
    /// Open WebUI, from its export.
    OpenWebUi: "openwebui", "Open WebUI", Document, "`chat` with a `history`";
    /// LibreChat, from its export.
    LibreChat: "librechat", "LibreChat", Document, "`conversationId` with `messages`";
    /// Google's Gemini apps, from a Takeout.
    GeminiTakeout: "gemini-takeout", "Gemini", RowsOrDocument, "activity of `Gemini Apps`";
    /// The Agent Trajectory Interchange Format.
    Atif: "atif", "ATIF", Document, "`schema_version` that begins with ATIF";
    /// The Session Trace Simple Format.
    Sts: "sts", "STS", Rows, "`session` header with a `harness`";
    /// A list of messages as OpenAI's chat interface takes them.
    OpenAiChat: "openai-chat", "OpenAI chat messages", RowsOrDocument, "list of messages with a `role` and a `content`";
    /// A list of items as OpenAI's Responses interface takes and gives them.
    OpenAiResponses: "openai-responses", "OpenAI Responses items", RowsOrDocument, "list of items of `type` message with `input_text` or `output_text`";
}

impl Harness {
    /// Whether a file of its may hold several conversations.
    #[must_use]
    pub fn may_hold_several(self) -> bool {
        self.shape() == Shape::Database || crate::import::export::walk_of(self).is_some()
    }
}

impl fmt::Display for Harness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name given is not one of [`Harness::ALL`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown harness {given:?}; known: {}", Harness::ALL.map(Harness::as_str).join(", "))]
pub struct UnknownHarness {
    /// The name that was given.
    pub given: String,
}

impl FromStr for Harness {
    type Err = UnknownHarness;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|h| h.as_str() == s).ok_or_else(|| UnknownHarness { given: s.to_owned() })
    }
}
