//! Gemini's apps, from a Takeout of one's activity: each prompt with its answer stands by itself. `docs/formats/gemini-takeout.md`
//! says more.

use std::io::BufRead;

use jiff::{Timestamp, fmt::strtime};

use super::{
    Error, ParseOptions, Parsed, html,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Harness, Part,
    input::documents::{read_values, read_whole},
    rows::{Object, Warnings, clean},
};

/// The longest page of activity that is read, in bytes.
const MAX_PAGE_BYTES: u64 = 512 * 1024 * 1024;

/// What each entry of a page begins with.
const CELL: &str = "class=\"outer-cell";
/// The cell of an entry that holds the prompt, the time and the answer.
const CONTENT: &str = "mdl-typography--body-1\">";

/// Reads the entry that the options name, else the newest.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    super::export::parse(Harness::GeminiTakeout, reader, options)
}

/// Goes through the entries of a file.
pub(crate) fn conversations(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let is_page = reader.fill_buf()?.trim_ascii_start().starts_with(b"<");
    let mut recognised = false;
    if is_page {
        let mut bytes = read_whole(reader, MAX_PAGE_BYTES)?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let page = clean(&mut bytes, None, warnings);
        for (index, cell) in page.split(CELL).skip(1).enumerate() {
            if let Some((prompt, time, answer)) = entry(cell) {
                recognised = true;
                offer(pick, options, index, &prompt, time, &answer);
            }
        }
        return Ok((length, recognised));
    }
    let mut index = 0;
    let bytes = read_values(reader, warnings, |raw, _| {
        let Some(object) = Object::from_raw(raw).filter(is_gemini) else { return };
        let Some(title) = object.str("title") else { return };
        recognised = true;
        let items = object.array("safeHtmlItem").unwrap_or_default().into_iter().filter_map(Object::from_raw);
        let answer: Vec<String> = items.filter_map(|item| Some(html::to_text(&item.str("html")?))).collect();
        let answer = answer.join("\n\n");
        // What was only looked at, or done by a tap, has no answer.
        if !answer.is_empty() || title.starts_with("Prompted ") {
            offer(pick, options, index, &prompt_of(&title), object.time("time"), &answer);
        }
        index += 1;
    })?;
    Ok((bytes, recognised))
}

fn is_gemini(object: &Object<'_>) -> bool {
    let named = |name: &str| name.contains("Gemini") || name == "Bard";
    object.str("header").is_some_and(|header| named(&header))
        || object
            .value("products")
            .is_some_and(|p| p.as_array().into_iter().flatten().filter_map(|p| p.as_str()).any(named))
}

/// The prompt behind the word, of any language, that says what was done.
fn prompt_of(title: &str) -> String {
    let title = title.replace('\u{a0}', " ");
    let words = title.strip_prefix("Prompted ").map_or(title.as_str(), |words| words);
    words.trim().to_owned()
}

fn offer(
    pick: &mut Pick<'_>,
    options: &ParseOptions,
    index: usize,
    prompt: &str,
    time: Option<Timestamp>,
    answer: &str,
) {
    let id = time.map_or_else(|| format!("entry-{index}"), |time| format!("activity-{}", time.as_millisecond()));
    let listed = Listed::new(id, None, time);
    if !pick.wants(&listed) {
        return;
    }
    let mut thread = Thread::new(options.fallback_time);
    if time.is_none() {
        thread.leave_out("unknown-time", None, "times could not be read; the file's stands for them");
    }
    thread.say(Said::user(vec![Part::Text { text: prompt.to_owned() }]).at(time));
    thread.say(Said::agent(None, vec![Part::Text { text: answer.to_owned() }]));
    let head = listed.head();
    let conversation = thread.conversation(Harness::GeminiTakeout, head, options, &[]);
    pick.offer(&listed, conversation);
}

/// Prompt, time and answer of one cell.
fn entry(cell: &str) -> Option<(String, Option<Timestamp>, String)> {
    let (_, content) = cell.split_once(CONTENT)?;
    let content = content.split_once("</div>").map_or(content, |(content, _)| content);
    let mut pieces = content.split("<br>");
    let mut prompt = html::to_text(pieces.next()?);
    let mut time = None;
    let mut rest: Vec<&str> = Vec::new();
    for piece in pieces {
        let text = html::to_text(piece);
        if time.is_some() {
            rest.push(piece);
        } else if is_date(&text) {
            time = Some(date(&text));
        } else if !piece.trim().is_empty() {
            // The prompt goes on.
            prompt.push('\n');
            prompt.push_str(&text);
        }
    }
    let answer = html::to_text(&rest.join("<br>"));
    // The word stands in the language of the account, with a hard blank behind it.
    let said = match prompt.split_once('\u{a0}') {
        Some((word, said)) if !word.contains(' ') && !said.trim().is_empty() => said.to_owned(),
        _ => prompt,
    };
    (time.is_some() && !answer.is_empty()).then(|| (prompt_of(&said), time.flatten(), answer))
}

/// Whether a line is a date with a time, in whatever language: a year, and a colon between digits.
fn is_date(text: &str) -> bool {
    let has_year =
        text.split(|c: char| !c.is_ascii_digit()).any(|number| number.len() == 4 && number.starts_with("20"));
    let bytes = text.as_bytes();
    let has_time = bytes.windows(3).any(|w| matches!(w, [a, b':', b] if a.is_ascii_digit() && b.is_ascii_digit()));
    has_year && has_time && text.len() < 64
}

/// A date as an English or a numbers-only page has it. The zone's name is taken for UTC unless it says otherwise.
fn date(text: &str) -> Option<Timestamp> {
    let text: String = text.chars().map(|c| if matches!(c, '\u{202f}' | '\u{a0}') { ' ' } else { c }).collect();
    let (rest, zone) = text.rsplit_once(' ')?;
    let offset_hours = match zone {
        "CET" | "BST" => 1,
        "CEST" | "EET" => 2,
        "EEST" | "MSK" => 3,
        "UTC" | "GMT" => 0,
        "EDT" => -4,
        "EST" | "CDT" => -5,
        "CST" | "MDT" => -6,
        "MST" | "PDT" => -7,
        "PST" => -8,
        "JST" => 9,
        _ => 0,
    };
    let formats = ["%b %d, %Y, %I:%M:%S %p", "%d %b %Y, %H:%M:%S", "%d.%m.%Y, %H:%M:%S", "%Y-%m-%d, %H:%M:%S"];
    let civil = formats.iter().find_map(|format| strtime::parse(*format, rest).ok()?.to_datetime().ok())?;
    let offset = jiff::tz::Offset::from_hours(offset_hours).ok()?;
    offset.to_timestamp(civil).ok()
}
