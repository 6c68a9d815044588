//! The place in a record where what was asked for stands.

use onrecord_record::tiles::Reading;
use serde::Serialize;
use serde_json::Value;

use crate::{
    change::Address,
    family::read_snapshot,
    query::{Asked, Phrase},
    terms::words,
};

/// How much of a text is shown around what was found, in words before and after.
const BEFORE: usize = 8;
const AFTER: usize = 24;
/// The longest snippet, in bytes, should words be long.
const MAX_BYTES: usize = 600;

/// A passage, cut into what was asked for and what was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snippet {
    /// The text goes on before it.
    pub cut_before: bool,
    /// The passage.
    pub parts: Vec<SnippetPart>,
    /// The text goes on after it.
    pub cut_after: bool,
}

/// A part of a [`Snippet`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnippetPart {
    /// Its text.
    pub text: String,
    /// Whether it was asked for.
    pub found: bool,
}

/// The best passage of a record's texts; `None` if it has none.
pub(crate) fn snippet(address: &Address, record: &Value, asked: &Asked) -> Option<Snippet> {
    let whole = read_snapshot(address, record);
    let texts = match &whole {
        Some(reading) => texts_of_turns(reading),
        None => texts(record),
    };
    let hit = texts.iter().find_map(|text| Some((*text, *matches(text, &asked.all).first()?)));
    let (text, at) = hit.or_else(|| texts.first().map(|text| (*text, (0, 0))))?;
    Some(passage(text, at.0, &matches(text, &asked.all)))
}

/// The texts of a conversation that is one record, but for the turns held back.
fn texts_of_turns(reading: &Reading) -> Vec<&str> {
    let turns = reading.conversation.turns.iter().filter(|turn| !reading.held.contains(&turn.id));
    let texts = turns.flat_map(|turn| {
        let steps = turn.steps().iter().flat_map(|step| [step.summary.as_str(), step.tool.as_str()]);
        std::iter::once(turn.text.as_str()).chain(steps)
    });
    texts.chain(reading.conversation.title.as_deref()).filter(|text| !text.trim().is_empty()).collect()
}

/// The texts of a record in the order they are read.
fn texts(record: &Value) -> Vec<&str> {
    let own = ["text", "title", "description"].map(|name| record.get(name));
    let steps = record.get("steps").and_then(Value::as_array).into_iter().flatten();
    let steps = steps.flat_map(|step| [step.get("summary"), step.get("tool")]);
    let mut texts: Vec<&str> = own
        .into_iter()
        .chain(steps)
        .filter_map(|value| value?.as_str())
        .filter(|text| !text.trim().is_empty())
        .collect();
    if texts.is_empty() {
        for value in record.as_object().into_iter().flatten().filter(|(name, _)| *name != "$type").map(|(_, v)| v) {
            texts.extend(value.as_str().filter(|text| text.contains(' ')));
        }
    }
    texts
}

/// Where the phrases stand in `text`, in order, as ranges of bytes.
fn matches(text: &str, phrases: &[Phrase]) -> Vec<(usize, usize)> {
    let words: Vec<_> = words(text).collect();
    let mut found = Vec::new();
    for phrase in phrases {
        for at in words.windows(phrase.words.len().max(1)) {
            let last = phrase.words.len().saturating_sub(1);
            let fits = at.iter().zip(&phrase.words).enumerate().all(|(n, (word, asked))| {
                word.term == *asked || (phrase.is_prefix && n == last && word.term.starts_with(asked.as_str()))
            });
            if let (true, Some(first), Some(end)) = (fits, at.first(), at.last()) {
                found.push((first.start, end.end));
            }
        }
    }
    found.sort_unstable();
    found
}

fn passage(text: &str, at: usize, found: &[(usize, usize)]) -> Snippet {
    let before: Vec<_> = words(text.get(..at).unwrap_or_default()).map(|w| w.start).collect();
    let start = before.iter().rev().nth(BEFORE - 1).copied().unwrap_or(0);
    let from_here = text.get(start..).unwrap_or_default();
    let end = words(from_here).nth(BEFORE + AFTER).map_or(text.len(), |w| start + w.start);
    let end = text.floor_char_boundary(end.min(start + MAX_BYTES));
    let mut parts: Vec<SnippetPart> = Vec::new();
    let mut push = |from: usize, to: usize, found: bool| {
        // One line, whatever it was.
        let piece = text.get(from..to).unwrap_or_default();
        let mut line = String::with_capacity(piece.len());
        for c in piece.chars() {
            if !c.is_whitespace() {
                line.push(c);
            } else if !line.ends_with(' ') {
                line.push(' ');
            }
        }
        if !line.is_empty() {
            parts.push(SnippetPart { text: line, found });
        }
    };
    let mut done = start;
    for &(from, to) in found.iter().filter(|(from, to)| *from >= start && *to <= end) {
        if to > done {
            push(done, from.max(done), false);
            push(from.max(done), to, true);
            done = to;
        }
    }
    push(done, end, false);
    if let Some(first) = parts.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
    if let Some(last) = parts.last_mut() {
        last.text = last.text.trim_end().to_owned();
    }
    parts.retain(|part| !part.text.is_empty());
    Snippet { cut_before: start > 0, parts, cut_after: end < text.trim_end().len() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::Search;

    fn shown(record: &Value, text: &str) -> String {
        let asked = Search { text: text.to_owned(), ..Search::default() }.asked().unwrap();
        let address = Address {
            did: "did:plc:ewvi7nxzyoun6zhxrhs64oiz".parse().unwrap(),
            collection: "click.aligned.chat.message".parse().unwrap(),
            rkey: "3k".parse().unwrap(),
        };
        let snippet = snippet(&address, record, &asked).unwrap();
        let parts = snippet.parts.iter().map(|p| if p.found { format!("[{}]", p.text) } else { p.text.clone() });
        format!(
            "{}{}{}",
            if snippet.cut_before { "…" } else { "" },
            parts.collect::<String>(),
            if snippet.cut_after { "…" } else { "" }
        )
    }

    #[test]
    fn the_words_are_marked_where_they_stand() {
        let long = format!("{} the Glaze cracks\n\nin the kiln {}", "before ".repeat(50), "after ".repeat(50));
        let record = json!({"text": long});
        let shown = shown(&record, "\"glaze cracks\" kiln");
        assert!(shown.starts_with("…before") && shown.contains("the [Glaze cracks] in the [kiln] after"), "{shown}");
        assert!(shown.ends_with("after…") && shown.len() < 300, "{shown}");
    }

    #[test]
    fn a_step_is_quoted_where_the_text_has_nothing() {
        let record = json!({"text": "Done.", "steps": [{"tool": "Bash", "summary": "fire the kiln"}]});
        assert_eq!(shown(&record, "kil*"), "fire the [kiln]");
        assert_eq!(shown(&record, "absent"), "Done.");
        assert_eq!(shown(&json!({"text": "a ███ b"}), "b"), "a ███ [b]");
    }
}
