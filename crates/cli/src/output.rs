//! Printing: data on standard output, everything else on standard error.

use std::{
    fmt,
    io::{self, BufWriter, IsTerminal as _, StdoutLock, Write as _},
};

use serde::Serialize;

use crate::{config, error::Result};

/// Where a command's data goes.
pub struct Out {
    stdout: BufWriter<StdoutLock<'static>>,
    /// Print JSON and not text.
    pub json: bool,
    /// Say nothing on standard error but errors.
    pub quiet: bool,
    colour: bool,
    colour_stderr: bool,
}

impl Out {
    pub fn new(json: bool, quiet: bool) -> Self {
        let wanted = !config::no_color();
        Self {
            stdout: BufWriter::new(io::stdout().lock()),
            json,
            quiet,
            colour: wanted && io::stdout().is_terminal(),
            colour_stderr: wanted && io::stderr().is_terminal(),
        }
    }

    /// A line of data.
    pub fn line(&mut self, text: impl fmt::Display) -> Result<()> {
        Ok(writeln!(self.stdout, "{text}")?)
    }

    /// Data as it is.
    pub fn raw(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stdout.write_all(bytes)?)
    }

    /// A JSON document or an object of a stream, on a line of its own.
    pub fn json(&mut self, value: &impl Serialize) -> Result<()> {
        self.line(escaped(serde_json::to_string(value)?))
    }

    /// A JSON document to be read, over many lines.
    pub fn json_for_people(&mut self, value: &impl Serialize) -> Result<()> {
        self.line(escaped(serde_json::to_string_pretty(value)?))
    }

    /// A JSON object of a stream that someone may be waiting for.
    pub fn json_now(&mut self, value: &impl Serialize) -> Result<()> {
        self.json(value)?;
        Ok(self.stdout.flush()?)
    }

    /// A remark for the person, on standard error.
    pub fn note(&self, text: impl fmt::Display) {
        self.notes().note(text);
    }

    /// Where remarks go, for whoever has no data to print.
    pub fn notes(&self) -> Notes {
        Notes { quiet: self.quiet }
    }

    pub fn finish(&mut self) -> Result<()> {
        Ok(self.stdout.flush()?)
    }

    /// Less important.
    pub fn dim(&self, text: impl fmt::Display) -> String {
        self.paint("2", text)
    }

    pub fn bold(&self, text: impl fmt::Display) -> String {
        self.paint("1", text)
    }

    /// Something that failed or is in the way.
    pub fn bad(&self, text: impl fmt::Display) -> String {
        self.paint("31", text)
    }

    fn paint(&self, code: &str, text: impl fmt::Display) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_string() }
    }

    pub fn paint_error(&self, text: &str) -> String {
        if self.colour_stderr { format!("\u{1b}[31m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Remarks for the person, on standard error. Unlike [`Out`] it can be used from anywhere.
#[derive(Debug, Clone, Copy)]
pub struct Notes {
    quiet: bool,
}

impl Notes {
    /// Says nothing.
    pub const NONE: Self = Self { quiet: true };

    pub fn note(self, text: impl fmt::Display) {
        if !self.quiet {
            line_on_stderr(format_args!("{}", printable(&text.to_string())));
        }
    }
}

/// A line on standard error; a closed one is nobody's loss.
pub fn line_on_stderr(text: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Foreign text made safe for a terminal: no control character can reach it but line breaks and tabs.
pub fn printable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// The same JSON with all control characters escaped: JSON leaves U+007F to U+009F as they are, which some terminals obey.
///
/// Such characters stand within strings only, and the line breaks that are left between values only.
fn escaped(json: String) -> String {
    let is_unsafe = |c: char| c.is_control() && c != '\n';
    if !json.contains(is_unsafe) {
        return json;
    }
    json.chars().map(|c| if is_unsafe(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// A number of things, in words: `1 turn`, `2 turns`.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// The start of a session id, to tell conversations apart in a list.
pub fn short_id(id: &str) -> String {
    printable(&id.chars().take(8).collect::<String>())
}

/// The same on one line of at most `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > width * 4 {
            break;
        }
    }
    let line = printable(&line);
    match line.char_indices().nth(width.saturating_sub(1)) {
        Some((at, _)) if line.chars().count() > width => {
            format!("{}…", line.get(..at).unwrap_or_default().trim_end())
        }
        _ => line,
    }
}

/// Rows as aligned columns, two spaces apart, the last one as long as it is.
pub fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (n, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(n) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let pad = |row: &Vec<String>| {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count().min(*width)));
        }
        line.trim_end().to_owned()
    };
    rows.iter().map(pad).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn no_control_character_of_a_foreign_document_reaches_a_terminal() {
        let document = json!({"description": "a\u{1b}[2J b\u{9b}2J c\u{7f}\nd"});
        for text in [serde_json::to_string(&document).unwrap(), serde_json::to_string_pretty(&document).unwrap()] {
            let text = escaped(text);
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text:?}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
        }
    }
}
