//! The view as Markdown and as plain text.
//!
//! In both, no words of a turn can pass for the beginning of another: in Markdown a person's turn is a quotation, an
//! agent's headings stand below those of the document and its code blocks are closed; in plain text every turn is
//! indented.

use std::fmt::{self, Write};

use crate::{
    Error, Standing,
    bar::BAR,
    markdown::fence_after,
    moment::{Moment, span},
    view::{Continues, ConversationView, StepView, TurnView},
};

/// The conversation as a Markdown document.
pub fn conversation_markdown(view: &ConversationView<'_>) -> Result<String, Error> {
    let mut out = String::new();
    writeln!(out, "# {}\n", Escaped(&view.title))?;
    if let Some(description) = view.description {
        quote(&mut out, description)?;
        out.push('\n');
    }
    for line in head(view) {
        writeln!(out, "- {}", Escaped(&line))?;
    }
    turns_markdown(&mut out, view)?;
    writeln!(out, "\n---\n\n{}", standing(view))?;
    Ok(out)
}

/// The turns alone.
pub(super) fn turns_markdown(out: &mut String, view: &ConversationView<'_>) -> fmt::Result {
    for turn in &view.turns {
        if turn.continues != Continues::Turn {
            writeln!(out, "\n## {}, {}", Escaped(&turn.speaker(&view.author)), Escaped(&stamp(turn)))?;
        }
        out.push('\n');
        if turn.withheld {
            writeln!(out, "*{}*", off_the_record(turn))?;
        } else if turn.encrypted {
            writeln!(out, "*{ENCRYPTED}*")?;
        } else if turn.hidden {
            writeln!(out, "*{HIDDEN}*")?;
        } else if turn.is_empty() {
            writeln!(out, "*{EMPTY}*")?;
        } else if turn.role == "assistant" {
            lower_headings(out, turn)?;
        } else {
            quote(out, turn.text)?;
        }
        if !turn.steps.is_empty() {
            if !turn.text.trim().is_empty() {
                out.push('\n');
            }
            for step in &turn.steps {
                writeln!(out, "- {} {}{}", outcome(step), Code(step.tool), Summary(step))?;
            }
        }
        about(out, turn, "- ")?;
    }
    Ok(())
}

/// The conversation as plain text.
pub fn conversation_text(view: &ConversationView<'_>) -> Result<String, Error> {
    let mut out = String::new();
    writeln!(out, "{}\n", one_line(&view.title))?;
    if let Some(description) = view.description {
        indent(&mut out, description)?;
        out.push('\n');
    }
    for line in head(view) {
        writeln!(out, "{line}")?;
    }
    turns_text(&mut out, view)?;
    writeln!(out, "\n{}", standing(view))?;
    Ok(out)
}

/// The turns alone.
pub(super) fn turns_text(out: &mut String, view: &ConversationView<'_>) -> fmt::Result {
    for turn in &view.turns {
        if turn.continues != Continues::Turn {
            writeln!(out, "\n{}, {}", one_line(&turn.speaker(&view.author)), stamp(turn))?;
        }
        if turn.withheld {
            writeln!(out, "  [{}]", off_the_record(turn))?;
        } else if turn.encrypted {
            writeln!(out, "  [{ENCRYPTED}]")?;
        } else if turn.hidden {
            writeln!(out, "  [{HIDDEN}]")?;
        } else if turn.is_empty() {
            writeln!(out, "  [{EMPTY}]")?;
        } else {
            indent(out, turn.text)?;
        }
        for step in &turn.steps {
            let summary = one_line(step.summary.unwrap_or_default());
            let line = format!("  {:<6}  {}  {summary}", outcome(step), one_line(step.tool));
            writeln!(out, "{}", line.trim_end())?;
        }
        about(out, turn, "  ")?;
    }
    Ok(())
}

/// What a turn without words says instead.
pub(crate) const EMPTY: &str = "Nothing was said in this turn. It was not held back; it is empty.";

/// What a turn says that cannot be read.
pub(crate) const ENCRYPTED: &str = "This turn is encrypted, and cannot be read here.";

/// What a turn says that this site hides.
pub(crate) const HIDDEN: &str = "This site hides this turn. That is not its author's doing.";

fn off_the_record(turn: &TurnView<'_>) -> String {
    format!("Off the record. The author held back this {}, {}.", turn.noun(), turn.moment.clock())
}

fn head(view: &ConversationView<'_>) -> Vec<String> {
    let counts = view.counts;
    let start = Moment::read(view.created_at);
    let author =
        view.author.handle.map_or_else(|| view.author.did.to_owned(), |h| format!("@{h} ({})", view.author.did));
    let mut lines = vec![
        format!("By: {author}"),
        format!("When: {}", span(&start, &view.last_turn_at.map_or(start, Moment::read))),
        format!(
            "Turns: {}, off the record: {}, passages covered ({BAR}): {}",
            counts.turns, counts.withheld, counts.covered
        ),
        format!("Steps: {}, failed: {}", counts.steps, counts.failed),
    ];
    for model in &view.models {
        lines.push(if model.name == model.id {
            format!("Model: {}", model.id)
        } else {
            format!("Model: {} ({})", model.name, model.id)
        });
    }
    if let Some(discussion) = view.discussion {
        lines.push(format!("Discussion: {discussion}"));
    }
    lines.push(format!("Record: {}", view.uri));
    if let Some(part) = view.part {
        lines.push(format!("Records {} to {} of {}", part.first, part.last, part.of));
    }
    lines.extend(view.notes.iter().map(|note| format!("Note: {note}")));
    lines.iter().map(|line| one_line(line)).collect()
}

fn stamp(turn: &TurnView<'_>) -> String {
    format!("{}, {} UTC", turn.moment.day(), turn.moment.clock())
}

/// What may be said about where the records stand: never that they were verified.
pub(crate) fn standing(view: &ConversationView<'_>) -> String {
    match view.standing {
        Standing::Preview => "A preview: nothing of this is public yet, and nothing is signed.".to_owned(),
        Standing::Shelf => "On this machine's shelf: not signed, not public.".to_owned(),
        Standing::Repository => match &view.checked {
            Some(checked) => {
                let (did, words) = (view.author.did, checked.outcome.words());
                format!("From the repository of {did}. {words}, checked {}.", checked.when())
            }
            None => format!("From the repository of {}. Its signature has not been checked here.", view.author.did),
        },
    }
}

fn outcome(step: &StepView<'_>) -> &'static str {
    if step.failed { "failed" } else { "ran" }
}

fn about(out: &mut String, turn: &TurnView<'_>, lead: &str) -> fmt::Result {
    if lead.starts_with('-') && turn.steps.is_empty() && !(turn.refs.is_empty() && turn.mentions.is_empty()) {
        out.push('\n');
    }
    for reference in &turn.refs {
        writeln!(out, "{lead}about {} at {}", reference.uri, reference.cid)?;
    }
    for mention in &turn.mentions {
        writeln!(out, "{lead}about {}", mention.did)?;
    }
    Ok(())
}

fn quote(out: &mut String, text: &str) -> fmt::Result {
    for line in text.trim_end().lines() {
        writeln!(out, "{}", format!("> {line}").trim_end())?;
    }
    Ok(())
}

fn indent(out: &mut String, text: &str) -> fmt::Result {
    for line in text.trim_end().lines() {
        // A lone carriage return would put the cursor back before the indent.
        for line in line.split('\r') {
            writeln!(out, "{}", format!("  {line}").trim_end())?;
        }
    }
    Ok(())
}

/// An agent's Markdown with its headings two levels lower, its raw HTML as text, and its code fence closed at the end.
fn lower_headings(out: &mut String, turn: &TurnView<'_>) -> fmt::Result {
    let mut open = turn.fence;
    if let Some(fence) = open {
        writeln!(out, "{fence}")?;
    }
    let mut after_words = false;
    for line in turn.text.trim_end().lines() {
        let in_code = open.is_some();
        open = fence_after(open, line);
        let words = line.trim_start_matches(' ');
        let indent = line.get(..line.len() - words.len()).unwrap_or("");
        // What is indented further is code, or stands in a list, which ends before the next turn.
        let before = if in_code || indent.len() > 3 { "" } else { disarming(words, after_words) };
        writeln!(out, "{indent}{before}{words}")?;
        after_words = !words.is_empty();
    }
    if let Some(fence) = open {
        let mark = fence.trim_start();
        let length = mark.len() - mark.trim_start_matches(['`', '~']).len();
        writeln!(out, "{}", mark.get(..length).unwrap_or(mark))?;
    }
    Ok(())
}

/// What has to stand before the words of a line so that it is no heading of the document and hides nothing that follows.
fn disarming(words: &str, after_words: bool) -> &'static str {
    let trimmed = words.trim_end();
    let hashes = trimmed.len() - trimmed.trim_start_matches('#').len();
    let heading = trimmed.chars().nth(hashes).is_none_or(char::is_whitespace);
    // The other way to write a heading: a line of = or - below it.
    let underline = after_words
        && !trimmed.is_empty()
        && (trimmed.bytes().all(|b| b == b'=') || trimmed.bytes().all(|b| b == b'-'));
    // A comment or a script that is not closed would swallow the turns after it.
    let html = trimmed.starts_with('<')
        && !["<http://", "<https://", "<mailto:"].iter().any(|address| trimmed.starts_with(address));
    match hashes {
        1..=4 if heading => "##",
        5 if heading => "#",
        _ if underline || html => "\\",
        _ => "",
    }
}

pub(super) fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Foreign text that means nothing in Markdown.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in one_line(self.0).chars() {
            if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '&' | '|' | '~' | '!') {
                f.write_char('\\')?;
            }
            f.write_char(c)?;
        }
        Ok(())
    }
}

/// Foreign text as a code span, whatever backticks it holds.
pub(super) struct Code<'a>(pub(super) &'a str);

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = one_line(self.0);
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let ticks = "`".repeat(longest + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
        write!(f, "{ticks}{pad}{text}{pad}{ticks}")
    }
}

struct Summary<'a>(&'a StepView<'a>);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.summary {
            Some(summary) => write!(f, " {}", Escaped(summary)),
            None => Ok(()),
        }
    }
}
