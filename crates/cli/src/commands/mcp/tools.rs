//! The tools: a query each, under a name an agent understands.

use std::sync::Arc;

use onrecord_lexicon::{Catalog, schema::Type};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

/// A tool.
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// The query that it is.
    pub nsid: &'static str,
    /// For people.
    title: &'static str,
    /// For agents: when to use it, and what comes.
    description: &'static str,
}

/// All of them, those first that one begins with.
pub const KINDS: [Kind; 8] = [
    Kind {
        name: "search",
        nsid: "dev.onrecord.searchTurns",
        title: "Search published conversations",
        description: "Find turns of published conversations between people and agents by words and filters (model, tool, \
                      author, time, failed tool calls, what they are about). Gives passages with the at-uri of each turn and of its \
                      conversation; go on with `read` or `turn`.",
    },
    Kind {
        name: "read",
        nsid: "dev.onrecord.getConversation",
        title: "Read a conversation",
        description: "Read a published conversation page by page, in order, by the at-uri of its session record: what was \
                      asked, what the agent answered, which tools it called and which calls failed. Begin with a small `limit`.",
    },
    Kind {
        name: "turn",
        nsid: "dev.onrecord.getTurn",
        title: "Read one turn",
        description: "Read one turn whole, by its at-uri, with the conversation it belongs to.",
    },
    Kind {
        name: "about",
        nsid: "dev.onrecord.listTurnsAbout",
        title: "Who discussed this",
        description: "Find turns that point at a record (at-uri) or an account (DID).",
    },
    Kind {
        name: "conversations",
        nsid: "dev.onrecord.listConversations",
        title: "List conversations",
        description: "List published conversations, the newest first: all, one author's, or those of a collective's members.",
    },
    Kind {
        name: "author",
        nsid: "dev.onrecord.getAuthor",
        title: "Look up an author",
        description: "Who an author is, by handle or DID, as far as they say, and the conversation they published last.",
    },
    Kind {
        name: "models",
        nsid: "dev.onrecord.listModels",
        title: "List models",
        description: "Which models spoke in published conversations, the most used first.",
    },
    Kind {
        name: "tools",
        nsid: "dev.onrecord.listTools",
        title: "List tools",
        description: "Which tools agents called in published conversations, the most used first.",
    },
];

impl Kind {
    /// The tool of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// As clients are told of it.
    pub fn tool(&self) -> Tool {
        let catalog = Catalog::bundled();
        let object = |schema: Option<Value>| match schema {
            Some(Value::Object(object)) => Arc::new(object),
            _ => Arc::new(JsonObject::new()),
        };
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(true);
        Tool::new(self.name, self.description, object(catalog.params_json_schema(self.nsid)))
            .with_title(self.title)
            .with_raw_output_schema(object(catalog.output_json_schema(self.nsid)))
            .with_annotations(hints)
    }

    /// The arguments of a call as the query takes them.
    ///
    /// # Errors
    /// An argument that it does not know, or that is no plain value.
    pub fn params(&self, arguments: &JsonObject) -> Result<Vec<(&'static str, String)>, String> {
        let known = Catalog::bundled().endpoint(self.nsid).and_then(|endpoint| endpoint.parameters.as_ref());
        let mut params = Vec::new();
        for (name, value) in arguments {
            let known = known.and_then(|params| params.properties.iter().find(|(known, _)| known == name));
            let Some((name, schema)) = known else { return Err(format!("{name}: there is no such argument")) };
            match (value, &schema.ty) {
                // What is optional may be said to be nothing.
                (Value::Null, _) => {}
                (Value::String(text), _) => params.push((name.as_str(), text.clone())),
                (Value::Bool(_), Type::Boolean { .. }) | (Value::Number(_), Type::Integer(_)) => {
                    params.push((name.as_str(), value.to_string()));
                }
                _ => return Err(format!("{name}: this is not what it takes")),
            }
        }
        Ok(params)
    }
}
