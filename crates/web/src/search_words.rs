//! Questions as people write them: words, and among them filters as `name:value`.
//!
//! One reading of them for every door. Pure: whose handle is meant is asked of the network's names elsewhere.

use std::fmt;

use jiff::{
    Timestamp,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use onrecord_index::Search;
use onrecord_lexicon::{AtIdentifier, AtUri};
use onrecord_record::about::named;

/// The longest question, in bytes.
pub const MAX_QUESTION: usize = 1_000;

/// The filters, each with what it asks for: for help, in the order in which they are explained.
pub const FILTERS: [(&str, &str); 9] = [
    ("author:dana.example", "by this account, named by its handle or its DID"),
    ("model:claude-opus-4-5", "in which this model speaks, with or without its provider"),
    ("tool:Bash", "in which this tool was called"),
    ("harness:tiles", "written by this program, where its records say so"),
    ("after:2026-01-31", "of this day or later; a month, a year or a whole time do too, all in UTC"),
    ("before:2026-02-01", "from before this day"),
    ("has:withheld", "turns that their authors hold back"),
    ("has:failed", "turns in which a step failed"),
    ("about:at://…", "that refer to a record or an account: an at-uri, a DID, a handle, or a link of bsky.app"),
];

/// What a question asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchWords {
    /// What can be asked of an index as it stands; its `author` and `about` are left open.
    pub search: Search,
    /// By whom.
    pub author: Option<AtIdentifier>,
    /// What is referred to: a record, or an account as `at://AUTHORITY`. Its authority may be a handle.
    pub about: Option<AtUri>,
    /// Beginnings of words that look like a filter and are none, e.g. `modle`. What follows them is searched for as words.
    pub unknown: Vec<String>,
}

/// Why a question cannot be answered as it stands, in a sentence for whoever asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misread {
    /// It is longer than [`MAX_QUESTION`].
    #[error("The question is too long: it may have {MAX_QUESTION} bytes.")]
    TooLong,
    /// A filter has nothing after its colon.
    #[error("{0}: needs something right after the colon, without a space.")]
    NoValue(&'static str),
    /// A filter stands twice.
    #[error("{0}: can be given once.")]
    Twice(&'static str),
    /// A filter has a minus before it.
    #[error("{0}: cannot be turned around with a minus; only words and phrases can.")]
    Negated(&'static str),
    /// What follows `author:` names no account.
    #[error("author: takes a handle, such as dana.example, or a DID; {0:?} is neither.")]
    NoAccount(String),
    /// What follows `after:` or `before:` names no time.
    #[error("{0}: takes a date, such as 2026-01-31, or a whole time, such as 2026-01-31T12:00:00Z; {1:?} is neither.")]
    NoDate(&'static str, String),
    /// What follows `has:` is nothing that is kept of turns.
    #[error("has: takes withheld or failed; {0:?} is neither.")]
    NoProperty(String),
    /// What follows `about:` leads to no record and no account.
    #[error("about: takes an at-uri, a DID, a handle, or a link of bsky.app; {0:?} is none of them.")]
    NoTarget(String),
    /// No time is both after the one and before the other.
    #[error("Nothing is both after: and before: these times, for the first is not earlier than the second.")]
    NoTime,
}

/// A search as a person would ask for it; what no question can say is left out.
pub(crate) fn question(search: &Search) -> String {
    let time = |ms: Option<i64>| ms.and_then(|ms| Timestamp::from_millisecond(ms).ok()).map(|time| time.to_string());
    let mut question = search.text.trim().to_owned();
    for (filter, value) in [
        (Filter::Author, search.author.as_ref().map(ToString::to_string)),
        (Filter::Model, search.model.clone()),
        (Filter::Tool, search.tool.clone()),
        (Filter::Harness, search.harness.clone()),
        (Filter::After, time(search.after_ms)),
        (Filter::Before, time(search.before_ms)),
        (Filter::Has, search.withheld.then(|| "withheld".to_owned())),
        (Filter::Has, search.failed.then(|| "failed".to_owned())),
        (Filter::About, search.about.clone()),
    ] {
        let Some(value) = value.filter(|value| !value.trim().is_empty() && !value.contains('"')) else { continue };
        let space = if question.is_empty() { "" } else { " " };
        let quote = if value.contains(char::is_whitespace) { "\"" } else { "" };
        question.push_str(&format!("{space}{}:{quote}{value}{quote}", filter.name()));
    }
    question
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    Author,
    Model,
    Tool,
    Harness,
    After,
    Before,
    Has,
    About,
}

impl Filter {
    const ALL: [Self; 8] =
        [Self::Author, Self::Model, Self::Tool, Self::Harness, Self::After, Self::Before, Self::Has, Self::About];

    fn name(self) -> &'static str {
        match self {
            Self::Author => "author",
            Self::Model => "model",
            Self::Tool => "tool",
            Self::Harness => "harness",
            Self::After => "after",
            Self::Before => "before",
            Self::Has => "has",
            Self::About => "about",
        }
    }
}

impl SearchWords {
    /// Reads a question.
    ///
    /// # Errors
    /// A [`Misread`]: a filter without a value that it could have. Never ignored, for the answer would be to another question.
    pub fn parse(text: &str) -> Result<Self, Misread> {
        if text.len() > MAX_QUESTION {
            return Err(Misread::TooLong);
        }
        let mut read = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (is_not, from) = rest.strip_prefix('-').map_or((false, rest), |from| (true, from));
            let (word, after) = word(from);
            let filter = word.split_once(':').filter(|(name, _)| is_name(name));
            let known = filter.and_then(|(name, value)| Some((filter_of(name)?, value)));
            if let Some((filter, value)) = known {
                if is_not {
                    return Err(Misread::Negated(filter.name()));
                }
                let (value, after) =
                    if value.is_empty() && after.starts_with('"') { quoted(after) } else { (value, after) };
                if value.trim().is_empty() {
                    return Err(Misread::NoValue(filter.name()));
                }
                read.take(filter, value.trim())?;
                rest = after.trim_start();
                continue;
            }
            // `std::fs`, `https://…` and `did:plc:…` are words that people look for.
            if let Some((name, value)) = filter
                && !value.is_empty()
                && !value.starts_with([':', '/', '\\'])
                && !matches!(name, "did" | "http" | "https" | "at" | "mailto")
                && !read.unknown.iter().any(|known| known == name)
            {
                read.unknown.push(name.to_owned());
            }
            let whole = rest.len() - after.len();
            if !read.search.text.is_empty() {
                read.search.text.push(' ');
            }
            read.search.text.push_str(rest.get(..whole).unwrap_or_default());
            rest = after.trim_start();
        }
        match (read.search.after_ms, read.search.before_ms) {
            (Some(after), Some(before)) if after >= before => Err(Misread::NoTime),
            _ => Ok(read),
        }
    }

    /// Whether it asks nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.search == Search::default() && self.author.is_none() && self.about.is_none()
    }

    fn take(&mut self, filter: Filter, value: &str) -> Result<(), Misread> {
        let name = filter.name();
        let search = &mut self.search;
        match filter {
            Filter::Author => {
                let who = AtIdentifier::parse(value.strip_prefix('@').unwrap_or(value));
                once(&mut self.author, name, who.map_err(|_| Misread::NoAccount(value.to_owned()))?)
            }
            Filter::Model => once(&mut search.model, name, value.to_owned()),
            Filter::Tool => once(&mut search.tool, name, value.to_owned()),
            Filter::Harness => once(&mut search.harness, name, value.to_owned()),
            Filter::After => once(&mut search.after_ms, name, time(name, value)?),
            Filter::Before => once(&mut search.before_ms, name, time(name, value)?),
            Filter::Has => {
                match value {
                    "withheld" => search.withheld = true,
                    "failed" => search.failed = true,
                    other => return Err(Misread::NoProperty(other.to_owned())),
                }
                Ok(())
            }
            Filter::About => {
                once(&mut self.about, name, named(value).ok_or_else(|| Misread::NoTarget(value.to_owned()))?)
            }
        }
    }
}

/// What stands before the next space, or a phrase in quotes, with its quotes; and what follows.
fn word(text: &str) -> (&str, &str) {
    if text.starts_with('"') {
        let (_, after) = quoted(text);
        return text.split_at_checked(text.len() - after.len()).unwrap_or((text, ""));
    }
    let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What stands between the quote that `text` begins with and the next one, and what follows that.
fn quoted(text: &str) -> (&str, &str) {
    let text = text.strip_prefix('"').unwrap_or(text);
    text.split_once('"').unwrap_or((text, ""))
}

fn is_name(text: &str) -> bool {
    text.len() > 1 && text.bytes().all(|b| b.is_ascii_alphabetic())
}

fn filter_of(name: &str) -> Option<Filter> {
    Filter::ALL.into_iter().find(|filter| filter.name().eq_ignore_ascii_case(name))
}

fn once<T>(place: &mut Option<T>, name: &'static str, value: T) -> Result<(), Misread> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(Misread::Twice(name)),
    }
}

/// The first millisecond of a year, a month or a day in UTC, or that of a whole time.
fn time(name: &'static str, value: &str) -> Result<i64, Misread> {
    let date = match value.len() {
        4 => format!("{value}-01-01"),
        7 => format!("{value}-01"),
        _ => value.to_owned(),
    };
    let at = date.parse::<Timestamp>().ok().or_else(|| {
        // Without an offset it is in UTC, as times on pages are. `DateTime` takes a date for its midnight.
        let at = date
            .parse::<DateTime>()
            .ok()
            .or_else(|| Some(date.parse::<Date>().ok()?.to_datetime(jiff::civil::Time::MIN)))?;
        TimeZone::UTC.to_timestamp(at).ok()
    });
    at.map(Timestamp::as_millisecond).ok_or_else(|| Misread::NoDate(name, value.to_owned()))
}

/// What is said of [`SearchWords::unknown`].
pub(crate) struct Unknown<'a>(pub(crate) &'a str);

impl fmt::Display for Unknown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: is no filter, so it was searched for as a word. In quotes, nothing is taken for one.", self.0)
    }
}

#[cfg(test)]
mod tests;
