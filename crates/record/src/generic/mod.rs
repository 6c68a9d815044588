//! Any other record: what its schema says, and where there is none what its shape says, about which field is the title, the
//! text, the time and the author. Nothing is left out: what is none of these stands below the text.

use jiff::Timestamp;
use onrecord_lexicon::{
    AtIdentifier, AtUri, Lexicon,
    schema::{Format, StringType, Type},
    syntax::Did,
};
use onrecord_transcript::{Conversation, Harness, Part, Role, Source, Turn, Warning};
use serde_json::Value;

use crate::tiles::text;

/// Names that such a field has in most schemas, the surest first.
const TITLES: [&str; 6] = ["title", "name", "subject", "headline", "label", "concept"];
const TEXTS: [&str; 14] = [
    "text",
    "content",
    "body",
    "message",
    "thought",
    "markdown",
    "reasoning",
    "prompt",
    "response",
    "summary",
    "statement",
    "observation",
    "description",
    "value",
];
const TIMES: [&str; 7] = ["createdAt", "created_at", "timestamp", "time", "date", "publishedAt", "indexedAt"];
const AUTHORS: [&str; 6] = ["author", "agent", "did", "sender", "from", "creator"];

/// A record of any kind, as a reader sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The collection.
    pub collection: String,
    /// Whether its schema was known.
    pub by_schema: bool,
    /// Its title.
    pub title: Option<String>,
    /// What it says.
    pub text: Option<String>,
    /// When it was made.
    pub time: Option<Timestamp>,
    /// Who made it, if it says so; else it is its repository's owner.
    pub author: Option<String>,
    /// Whether a person said it.
    pub by_person: bool,
    /// The model that said it, `provider/model`.
    pub model: Option<String>,
    /// The rest of its fields by name, in their order.
    pub rest: Vec<(String, Value)>,
}

/// Reads `record` of `collection`, with its schema where that is known.
#[must_use]
pub fn read(collection: &str, record: &Value, lexicon: Option<&Lexicon>) -> Document {
    let schema = lexicon.and_then(Lexicon::record).map(|record| record.object.properties.as_slice());
    let strings: Vec<Candidate<'_>> = record
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
        .filter(|(name, _)| !name.starts_with('$'))
        .map(|(name, text)| {
            let ty = schema.and_then(|fields| fields.iter().find(|(n, _)| n == name)).map(|(_, schema)| &schema.ty);
            Candidate { name, text, ty }
        })
        .collect();
    let mut used: Vec<&str> = Vec::new();
    let mut take = |found: Option<&Candidate<'_>>| {
        let found = found.filter(|c| !used.contains(&c.name))?;
        // The names are the record's own, and outlive this.
        used.extend(record.as_object().and_then(|o| o.get_key_value(found.name)).map(|(name, _)| name.as_str()));
        Some(found.text.to_owned())
    };
    let time = take(best(&strings, &TIMES, Candidate::is_time)).and_then(|time| time.parse().ok());
    let author = take(best(&strings, &AUTHORS, Candidate::is_account));
    let title = take(best(&strings, &TITLES, Candidate::is_line));
    // By name; else the field that the schema lets be longest; else the longest there is.
    let said = named(&strings, &TEXTS, Candidate::is_prose).or_else(|| {
        let others = strings.iter().filter(|c| c.is_prose() && Some(c.text) != title.as_deref());
        others.max_by_key(|c| (c.most().unwrap_or(0), c.text.len()))
    });
    let said = take(said);
    let role = text(record, "role").unwrap_or_default();
    let model = match record.get("model") {
        Some(Value::String(model)) => Some(model.clone()),
        Some(model) => text(model, "provider").zip(text(model, "id")).map(|(p, id)| format!("{p}/{id}")),
        None => None,
    };
    let rest = record
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.as_str() != "$type" && !used.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Document {
        collection: collection.to_owned(),
        by_schema: schema.is_some(),
        title,
        text: said,
        time,
        author,
        by_person: matches!(role, "user" | "human"),
        model,
        rest,
    }
}

/// A field that is text, with what its schema says of it.
struct Candidate<'a> {
    name: &'a str,
    text: &'a str,
    ty: Option<&'a Type>,
}

impl Candidate<'_> {
    fn string(&self) -> Option<&StringType> {
        match self.ty {
            Some(Type::String(string)) => Some(string),
            _ => None,
        }
    }

    fn format(&self) -> Option<&Format> {
        self.string()?.format.as_ref()
    }

    /// The most bytes that the schema lets it have.
    fn most(&self) -> Option<u64> {
        self.string()?.length.max.or(self.string()?.graphemes.max)
    }

    fn is_time(&self) -> bool {
        self.format().map_or_else(|| self.text.parse::<Timestamp>().is_ok(), |format| *format == Format::Datetime)
    }

    fn is_account(&self) -> bool {
        match self.format() {
            Some(format) => matches!(format, Format::Did | Format::Handle | Format::AtIdentifier),
            None => {
                Did::parse(self.text).is_ok() || (self.text.contains('.') && AtIdentifier::parse(self.text).is_ok())
            }
        }
    }

    /// Whether it is something a reader reads, and no identifier.
    fn is_prose(&self) -> bool {
        let identifier = || {
            self.is_time()
                || self.is_account()
                || AtUri::parse(self.text).is_ok()
                || self.text.contains("://") && !self.text.trim().contains(char::is_whitespace)
        };
        !self.text.trim().is_empty() && self.format().is_none() && !identifier()
    }

    fn is_line(&self) -> bool {
        self.is_prose() && !self.text.trim().contains('\n') && self.text.len() <= 640
    }
}

type Test<'a> = fn(&Candidate<'a>) -> bool;

fn named<'a, 'b>(all: &'b [Candidate<'a>], names: &[&str], test: Test<'a>) -> Option<&'b Candidate<'a>> {
    names.iter().find_map(|name| all.iter().find(|c| c.name == *name && test(c)))
}

/// By name, else the only one that can be it by what the schema says.
fn best<'a, 'b>(all: &'b [Candidate<'a>], names: &[&str], test: Test<'a>) -> Option<&'b Candidate<'a>> {
    named(all, names, test).or_else(|| all.iter().find(|c| c.format().is_some() && test(c)))
}

impl Document {
    /// The record as a conversation of one turn; `id` is what it is called.
    #[must_use]
    pub fn conversation(&self, id: &str) -> Conversation {
        let time = self.time.unwrap_or(Timestamp::UNIX_EPOCH);
        let mut text = self.text.clone().unwrap_or_default();
        let rest: Vec<String> = self.rest.iter().map(|(name, value)| line(name, value)).collect();
        if !rest.is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&rest.join("\n"));
        }
        let role = if self.by_person { Role::User } else { Role::Assistant };
        let agent = role == Role::Assistant;
        let turn = Turn {
            index: 1,
            id: "record".to_owned(),
            group: "record".to_owned(),
            role,
            created_at: time,
            model: self.model.clone().filter(|model| agent && model.contains('/')),
            parts: if agent { vec![Part::Text { text: text.clone() }] } else { Vec::new() },
            steps: agent.then(Vec::new),
            text,
        };
        let mut warnings = Vec::new();
        if !self.by_schema {
            warnings.push(Warning {
                line: None,
                code: "unknown-schema",
                message: format!(
                    "the schema of {} is not known here; the record is shown by its shape",
                    self.collection
                ),
            });
        }
        Conversation {
            source: Source {
                harness: Harness::Atproto,
                id: id.to_owned(),
                path: None,
                version: None,
                cwd: None,
                parent: None,
            },
            title: self.title.clone(),
            title_is_prompt: false,
            created_at: time,
            turns: vec![turn],
            warnings,
        }
    }
}

/// A field on a line of a Markdown list; what is no plain value as JSON.
fn line(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) if !text.contains('\n') => format!("- {name}: {text}"),
        Value::String(text) => format!("- {name}:\n\n  {}\n", text.replace('\n', "\n  ")),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            format!("- {name}: {}", items.join(", "))
        }
        other => format!("- {name}: `{other}`"),
    }
}

#[cfg(test)]
mod tests;
