//! The beginning of a lexicon, to be filled in.

use crate::Nsid;

/// What a new lexicon defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scaffold {
    /// Records of a collection.
    Record,
    /// An endpoint that is asked.
    Query,
    /// An endpoint that does something.
    Procedure,
    /// A stream of messages.
    Subscription,
    /// Permissions that are asked for together.
    PermissionSet,
    /// Types for other lexicons to refer to.
    Defs,
}

impl Scaffold {
    /// What the name of a lexicon suggests that it defines.
    #[must_use]
    pub fn of(nsid: &Nsid) -> Self {
        let name = nsid.name();
        let begins_with = |verbs: &[&str]| {
            verbs.iter().any(|verb| {
                name.strip_prefix(verb).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
            })
        };
        if name == "defs" {
            Self::Defs
        } else if begins_with(&["get", "list", "search", "query"]) {
            Self::Query
        } else if begins_with(&["create", "update", "delete", "put", "upsert"]) {
            Self::Procedure
        } else if begins_with(&["subscribe"]) {
            Self::Subscription
        } else if begins_with(&["auth"]) {
            Self::PermissionSet
        } else {
            Self::Record
        }
    }

    /// A document of that name, over several lines, that [`crate::lint`] finds nothing wrong with.
    #[must_use]
    pub fn document(self, nsid: &Nsid) -> String {
        let defs = match self {
            Self::Record => RECORD,
            Self::Query => QUERY,
            Self::Procedure => PROCEDURE,
            Self::Subscription => SUBSCRIPTION,
            Self::PermissionSet => PERMISSION_SET,
            Self::Defs => DEFS,
        };
        let defs = defs.replace("GROUP", nsid.authority());
        // An NSID has nothing that JSON would escape.
        format!("{{\n  \"lexicon\": 1,\n  \"id\": \"{nsid}\",\n  \"defs\": {}\n}}\n", defs.trim())
    }
}

const RECORD: &str = r#"
{
    "main": {
      "type": "record",
      "description": "What a record of this kind is, in a sentence or two.",
      "key": "tid",
      "record": {
        "type": "object",
        "required": ["createdAt"],
        "properties": {
          "text": {
            "type": "string",
            "description": "What this text says.",
            "maxLength": 3000,
            "maxGraphemes": 300
          },
          "createdAt": {
            "type": "string",
            "format": "datetime",
            "description": "When the record was made."
          }
        }
      }
    }
  }
"#;

const QUERY: &str = r##"
{
    "main": {
      "type": "query",
      "description": "What is answered, and whether one has to be signed in.",
      "parameters": {
        "type": "params",
        "properties": {
          "limit": { "type": "integer", "minimum": 1, "maximum": 100, "default": 50 },
          "cursor": { "type": "string", "description": "Where the answer before ended.", "maxLength": 1024 }
        }
      },
      "output": {
        "encoding": "application/json",
        "schema": {
          "type": "object",
          "required": ["items"],
          "properties": {
            "cursor": { "type": "string", "description": "Where to go on, as long as there is more.", "maxLength": 1024 },
            "items": { "type": "array", "description": "What was found.", "items": { "type": "ref", "ref": "#item" } }
          }
        }
      }
    },
    "item": {
      "type": "object",
      "description": "One thing that was found.",
      "required": ["uri"],
      "properties": {
        "uri": { "type": "string", "format": "at-uri", "description": "The record that was found." }
      }
    }
  }
"##;

const PROCEDURE: &str = r#"
{
    "main": {
      "type": "procedure",
      "description": "What is done, and who may ask for it.",
      "input": {
        "encoding": "application/json",
        "schema": {
          "type": "object",
          "required": ["subject"],
          "properties": {
            "subject": { "type": "string", "format": "at-uri", "description": "What it is done to." }
          }
        }
      },
      "output": {
        "encoding": "application/json",
        "schema": { "type": "object", "properties": {} }
      },
      "errors": [{ "name": "NotFound", "description": "There is no such subject." }]
    }
  }
"#;

const SUBSCRIPTION: &str = r##"
{
    "main": {
      "type": "subscription",
      "description": "What is told of, as it happens.",
      "parameters": {
        "type": "params",
        "properties": {
          "cursor": { "type": "integer", "description": "The sequence number to go on from." }
        }
      },
      "message": { "schema": { "type": "union", "refs": ["#item"] } }
    },
    "item": {
      "type": "object",
      "description": "One thing that happened.",
      "required": ["seq"],
      "properties": {
        "seq": { "type": "integer", "description": "The sequence number of this message." }
      }
    }
  }
"##;

const PERMISSION_SET: &str = r#"
{
    "main": {
      "type": "permission-set",
      "title": "What is permitted, in a few words",
      "detail": "What an application can do with it, as people understand it.",
      "permissions": [
        { "type": "permission", "resource": "repo", "collection": ["GROUP.example"] }
      ]
    }
  }
"#;

const DEFS: &str = r#"
{
    "item": {
      "type": "object",
      "description": "What others refer to.",
      "properties": {
        "name": { "type": "string", "description": "What it is called.", "maxLength": 640, "maxGraphemes": 64 }
      }
    }
  }
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::lint_json;

    #[test]
    fn a_scaffold_is_above_reproach() {
        for (name, kind) in [
            ("note", Scaffold::Record),
            ("listNotes", Scaffold::Query),
            ("putNote", Scaffold::Procedure),
            ("subscribeNotes", Scaffold::Subscription),
            ("authBasic", Scaffold::PermissionSet),
            ("defs", Scaffold::Defs),
        ] {
            let nsid = Nsid::parse(&format!("com.example.{name}")).unwrap();
            assert_eq!(Scaffold::of(&nsid), kind);
            let document = kind.document(&nsid);
            assert_eq!(lint_json(document.as_bytes()).unwrap(), [], "{document}");
            assert!(crate::Lexicon::parse(name, document.as_bytes()).is_ok_and(|lexicon| lexicon.id == nsid));
        }
    }

    #[test]
    fn a_name_that_only_begins_like_a_verb_is_a_record() {
        for name in ["getaway", "listing", "author", "get"] {
            let nsid = Nsid::parse(&format!("com.example.{name}")).unwrap();
            assert_eq!(Scaffold::of(&nsid), Scaffold::Record, "{name}");
        }
    }
}
