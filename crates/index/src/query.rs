//! Questions and answers.

use onrecord_lexicon::{Cid, Did, Tid};
use serde::{Deserialize, Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use crate::{
    account::Author,
    change::{AccountStatus, Address, SourceCursor},
    error::{Error, Result},
    moderation::{Hidden, HiddenTurn},
    row::NameKind,
    snippet::Snippet,
    terms::{Mark, words},
};

/// Where to go on; opaque. Good for the list it came with, on this index, whatever happens in between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// A cursor that came in from outside. It is checked where it is used.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As it goes out.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn new(list: char, parts: &[&str]) -> Self {
        let mut text = String::from(list);
        for part in parts {
            text.push('~');
            text.push_str(part);
        }
        Self(text)
    }

    /// The parts of a cursor of `list`.
    pub(crate) fn parts<const N: usize>(&self, list: char) -> Result<[&str; N]> {
        // A zero is nothing that a store could be asked for.
        let whole = Some(self.0.as_str()).filter(|text| !text.contains('\0'));
        let rest = whole
            .and_then(|text| text.strip_prefix(list))
            .and_then(|rest| rest.strip_prefix('~'))
            .ok_or(Error::Cursor)?;
        rest.splitn(N, '~').collect::<Vec<_>>().try_into().map_err(|_| Error::Cursor)
    }
}

/// A stretch of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// What is in it.
    pub items: Vec<T>,
    /// Where the next one begins, if there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

impl<T> Page<T> {
    /// Of one more than asked for, those asked for, and where to go on after the last.
    pub(crate) fn of(mut items: Vec<T>, limit: u32, cursor: impl FnOnce(&T) -> Cursor) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let is_more = items.len() > limit;
        items.truncate(limit);
        let cursor = items.last().filter(|_| is_more).map(cursor);
        Self { items, cursor }
    }
}

/// What is known at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "state", content = "value")]
pub enum Kept<T> {
    /// It is here.
    Here(T),
    /// It was here, or its deletion was seen, or its account may not be shown now.
    Gone,
    /// It is here and this site does not show it.
    Hidden(Hidden),
    /// Nothing.
    Unknown,
}

/// Which conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recent {
    /// Everybody's.
    All,
    /// One account's.
    By(Did),
    /// Those of the members of a collective, as it lists them.
    MembersOf(Did),
}

/// A conversation, in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationHead {
    /// Where its record is.
    pub address: Address,
    /// Whose it is.
    pub author: Author,
    /// The title in its record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the person said first, as far as published, where there is no title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opening: Option<String>,
    /// When it started.
    pub started_ms: i64,
    /// When it was put on record, as far as its key tells.
    pub published_us: i64,
    /// How many turns it has, as records.
    pub turns: u64,
    /// Of those, held back.
    pub withheld: u64,
    /// Of those, hidden by this site: what they hold is in no other number here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hidden: u64,
    /// Tool calls in it.
    pub steps: u64,
    /// Of those, failed.
    pub failed: u64,
    /// Its models, the most used first.
    pub models: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A turn within its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Shown {
    /// As its author wrote it, or held it back.
    Turn(Turn),
    /// This site hides it: neither its author's doing nor a gap.
    Hidden(HiddenTurn),
}

impl Shown {
    /// Where it stands.
    #[must_use]
    pub fn address(&self) -> &Address {
        match self {
            Self::Turn(turn) => &turn.address,
            Self::Hidden(turn) => &turn.address,
        }
    }

    /// The turn, unless this site hides it.
    #[must_use]
    pub fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Hidden(_) => None,
        }
    }
}

/// A conversation, with some of its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// What the list says of it.
    pub head: ConversationHead,
    /// Its own record.
    pub record: Turn,
    /// Its turns, in reading order.
    pub turns: Page<Shown>,
}

/// A record as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// Where.
    pub address: Address,
    /// Its CID.
    pub cid: Cid,
    /// The revision it was seen at.
    pub rev: Tid,
    /// The conversation it belongs to; itself, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Address>,
    /// The record.
    pub record: RecordJson,
}

/// The JSON text of a record as it is stored. Whoever reads it parses it; it is not parsed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordJson(Box<str>);

impl RecordJson {
    pub(crate) fn new(json: String) -> Self {
        Self(json.into())
    }

    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        &self.0
    }
}

impl Serialize for RecordJson {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(to)
    }
}

/// What to look for. All that is given must hold; nothing given is no question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Search {
    /// Words that must all stand in it; `"several words"` together; `word*` the start of one; `-word` not.
    pub text: String,
    /// By this account.
    pub author: Option<Did>,
    /// With this model, as `provider/model` or without its provider.
    pub model: Option<String>,
    /// In which this tool was called.
    pub tool: Option<String>,
    /// From this program, of families that tell.
    pub harness: Option<String>,
    /// That happened at this time or later, in milliseconds since 1970.
    pub after_ms: Option<i64>,
    /// That happened before this time.
    pub before_ms: Option<i64>,
    /// Turns that were held back.
    pub withheld: bool,
    /// Turns in which a step failed.
    pub failed: bool,
    /// That point at this record or account: an at-uri or a DID.
    pub about: Option<String>,
}

impl Search {
    /// What points at a record or an account.
    #[must_use]
    pub fn about(target: &str) -> Self {
        Self { about: Some(target.to_owned()), ..Self::default() }
    }

    /// What it asks of the inverted index.
    pub(crate) fn asked(&self) -> Result<Asked> {
        let mut asked = Asked::default();
        let marks = [
            (Mark::Author, self.author.as_ref().map(Did::as_str)),
            (Mark::Model, self.model.as_deref()),
            (Mark::Tool, self.tool.as_deref()),
            (Mark::Harness, self.harness.as_deref()),
            (Mark::About, self.about.as_deref()),
            (Mark::Withheld, self.withheld.then_some("")),
            (Mark::Failed, self.failed.then_some("")),
        ];
        for (mark, name) in marks {
            asked.all.extend(name.map(|name| Phrase { words: vec![mark.term(name)], is_prefix: false }));
        }
        let mut rest = self.text.trim_start();
        while !rest.is_empty() {
            let (is_not, from) = rest.strip_prefix('-').map_or((false, rest), |from| (true, from));
            let (piece, after) = match from.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => from.find([' ', '\t', '\n', '"']).map_or((from, ""), |at| from.split_at(at)),
            };
            let is_prefix = !from.starts_with('"') && piece.ends_with('*');
            let words: Vec<String> = words(piece).map(|word| word.term.into_owned()).collect();
            if !words.is_empty() {
                let phrase = Phrase { words, is_prefix };
                if is_not { asked.none.push(phrase) } else { asked.all.push(phrase) }
            }
            rest = after.trim_start();
        }
        asked.is_dated = self.after_ms.is_some() || self.before_ms.is_some();
        if asked.all.is_empty() && !(asked.is_dated && asked.none.is_empty()) {
            Err(Error::EmptyQuery)
        } else {
            Ok(asked)
        }
    }
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    pub(crate) words: Vec<String>,
    pub(crate) is_prefix: bool,
}

/// A question to the inverted index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) all: Vec<Phrase>,
    pub(crate) none: Vec<Phrase>,
    /// A time is asked for, which is a question of its own.
    pub(crate) is_dated: bool,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Where.
    pub address: Address,
    /// Whose.
    pub author: Author,
    /// The conversation it belongs to; itself, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<Address>,
    /// That conversation's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who speaks in it, as it says: `user`, `assistant`, or another word; `None` of what is no turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The model that speaks, as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// When it happened.
    pub at_ms: i64,
    /// Its author holds it back: there is nothing to quote.
    pub withheld: bool,
    /// The place where the words stand; the beginning, where none were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<Snippet>,
    #[serde(skip)]
    pub(crate) id: i64,
}

/// What names are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NameOf {
    /// Models, counted by turn.
    Model,
    /// Tools, counted by call.
    Tool,
}

impl NameOf {
    pub(crate) fn kind(self) -> NameKind {
        match self {
            Self::Model => NameKind::Model,
            Self::Tool => NameKind::Tool,
        }
    }
}

/// The longest opening, in bytes.
const MAX_OPENING: usize = 400;

/// What stands in for a title: the first line of a turn that has any.
pub(crate) fn opening(record: &str) -> Option<String> {
    let record: serde_json::Value = serde_json::from_str(record).ok()?;
    let line = record.get("text")?.as_str()?.lines().map(str::trim).find(|line| !line.is_empty())?;
    line.get(..line.floor_char_boundary(MAX_OPENING)).map(str::to_owned)
}

/// The role and the model of a turn.
pub(crate) fn speaker(record: &serde_json::Value) -> (Option<String>, Option<String>) {
    let role = record.get("role").and_then(serde_json::Value::as_str);
    let Some(role) = role else { return (None, None) };
    let model = record.get("model").and_then(|model| match model {
        serde_json::Value::String(model) => Some(model.clone()),
        other => {
            let part = |name| other.get(name).and_then(serde_json::Value::as_str);
            part("provider").zip(part("id")).map(|(provider, id)| format!("{provider}/{id}"))
        }
    });
    (Some(role.to_owned()), model)
}

/// Whether a record is a turn held back.
pub(crate) fn is_withheld(record: &serde_json::Value) -> bool {
    record.get("withheld").and_then(serde_json::Value::as_bool) == Some(true)
}

/// A model or a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Name {
    /// As records have it.
    pub name: String,
    /// How many turns or calls.
    pub count: u64,
    /// In how many conversations.
    pub conversations: u64,
}

/// Records that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rejected {
    /// The reason, e.g. `cid-mismatch` or `lexicon:max-length`.
    pub reason: String,
    /// Of which collection.
    pub collection: String,
    /// How many.
    pub count: u64,
}

/// How an index stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `sqlite` or `postgres`.
    pub store: &'static str,
    /// Records stored, by collection.
    pub records: Vec<(String, u64)>,
    /// Conversations that can be read.
    pub conversations: u64,
    /// Records and accounts that this site hides, by its own decision or a label.
    pub hidden: u64,
    /// Conversations of which turns came and the record did not.
    pub waiting: u64,
    /// Accounts, by state.
    pub accounts: Vec<(AccountStatus, u64)>,
    /// Records known to be gone.
    pub gone: u64,
    /// How far each source was followed.
    pub cursors: Vec<SourceCursor>,
    /// How far behind the reads are, where they come from a replica; in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replica_lag_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> (Vec<String>, Vec<String>) {
        let asked = Search { text: text.to_owned(), ..Search::default() }.asked().unwrap();
        let text = |p: &Phrase| format!("{}{}", p.words.join(" "), if p.is_prefix { "*" } else { "" });
        (asked.all.iter().map(text).collect(), asked.none.iter().map(text).collect())
    }

    #[test]
    fn words_phrases_prefixes_and_negations() {
        assert_eq!(
            asked(r#"Kiln "glaze cracks" temper* -glass -"cold kiln""#),
            (vec!["kiln".into(), "glaze cracks".into(), "temper*".into()], vec!["glass".into(), "cold kiln".into()])
        );
        assert_eq!(asked("snake_case 東京").0, ["snake case", "東 京"]);
        assert_eq!(asked(r#"an"unclosed quote"#).0, ["an", "unclosed quote"]);
        for nothing in ["", " ", "- * \"\"", "-word"] {
            let search = Search { text: nothing.to_owned(), ..Search::default() };
            assert!(matches!(search.asked(), Err(Error::EmptyQuery)), "{nothing:?}");
        }
    }

    #[test]
    fn a_cursor_is_of_its_list() {
        let cursor = Cursor::new('s', &["1", "did:plc:a~b"]);
        assert_eq!(cursor.parts::<2>('s').unwrap(), ["1", "did:plc:a~b"]);
        assert!(Cursor::from_text("s~1~a\0").parts::<2>('s').is_err());
        assert!(cursor.parts::<2>('r').is_err() && cursor.parts::<4>('s').is_err());
    }
}
