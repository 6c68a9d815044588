//! What was asked in a conversation, without its answers.

use onrecord_lexicon::Rkey;
use serde::{Deserialize, Serialize};

/// How much of a prompt is read, in characters of its JSON.
pub(crate) const BEGINNING: i32 = 600;
/// A turn held back is no longer than this: role, time, conversation and the word.
pub(crate) const MAX_WITHHELD: i32 = 1_200;

/// One thing a person asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Its key.
    pub rkey: Rkey,
    /// How many turns of the conversation stand before it.
    pub position: u64,
    /// When it happened, as its record has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// How it begins; `None` of one held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beginning: Option<String>,
}

/// A row: the key, whether it opens, where its text begins, and the whole of a short record that does not open.
pub(crate) struct Line<'a> {
    pub(crate) rkey: &'a str,
    pub(crate) text: Option<&'a str>,
    pub(crate) record: Option<&'a str>,
}

impl Line<'_> {
    /// The prompt it is, if it is one.
    pub(crate) fn prompt(&self, position: u64) -> Option<Prompt> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Short {
            role: String,
            created_at: String,
            #[serde(default)]
            withheld: bool,
        }
        let rkey = Rkey::parse(self.rkey).ok()?;
        if let Some(text) = self.text {
            return Some(Prompt { rkey, position, created_at: None, beginning: Some(beginning(text)) });
        }
        let short: Short = serde_json::from_str(self.record?).ok()?;
        (short.withheld && short.role == "user").then_some(Prompt {
            rkey,
            position,
            created_at: Some(short.created_at),
            beginning: None,
        })
    }
}

/// The text whose JSON begins with `json`, which may be cut anywhere, and may go on after the text's end.
fn beginning(json: &str) -> String {
    let mut end = json.len();
    let mut chars = json.char_indices();
    // Where the last whole character ends that stands for itself, or for one that is whole.
    let mut whole = 0;
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                (whole, end) = (at, at);
                break;
            }
            '\\' => match chars.next() {
                Some((_, 'u')) => {
                    let digits: Vec<_> = chars.by_ref().take(4).collect();
                    let Some((last, _)) = digits.get(3) else { break };
                    let number = json.get(last - 3..=*last).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    // The first half of a pair waits for the second.
                    if !number.is_some_and(|n| (0xd800..0xdc00).contains(&n)) {
                        whole = last + 1;
                    }
                }
                Some((at, c)) => whole = at + c.len_utf8(),
                None => break,
            },
            c => whole = at + c.len_utf8(),
        }
    }
    let text = json.get(..whole.min(end)).unwrap_or_default();
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::string_slice, reason = "cut where a character ends, or the test fails")]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_read_wherever_it_was_cut() {
        let text = "a\"b\\\n\u{1f600}é日";
        let json = "a\\\"b\\\\\\n\\ud83d\\ude00\\u00e9日\",\"role\":\"user\"}";
        assert_eq!(beginning(json), text);
        for end in (0..json.len()).filter(|end| json.is_char_boundary(*end)) {
            let cut = beginning(&json[..end]);
            assert!(text.starts_with(&cut), "{cut:?} of {:?}", &json[..end]);
        }
        assert_eq!(beginning(&json[..1]), "a");
    }

    #[test]
    fn what_is_no_json_is_nothing() {
        for json in ["\\x41", "\\ud83dx", "\\ude00", "\\u00", "\n", ""] {
            assert_eq!(beginning(json), "", "{json:?}");
        }
    }

    #[test]
    fn only_what_a_person_asked_is_a_prompt() {
        let line = |record| Line { rkey: "3k", text: None, record: Some(record) }.prompt(2);
        let held = line(r#"{"role":"user","createdAt":"2026-01-01T00:00:00Z","withheld":true,"text":""}"#).unwrap();
        assert_eq!((held.position, held.beginning), (2, None));
        assert_eq!(line(r#"{"role":"assistant","createdAt":"x","withheld":true}"#), None);
        assert_eq!(line(r#"{"role":"user","createdAt":"x","text":""}"#), None);
        assert_eq!(line("{"), None);
    }
}
