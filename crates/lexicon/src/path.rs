//! Where in a value we are, kept on the stack so that it costs nothing until it is written out.

use std::fmt;

/// A chain of steps from the outermost value.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
    depth: u32,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Root,
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    pub(crate) fn root() -> Self {
        Self { parent: None, step: Step::Root, depth: 0 }
    }

    #[inline]
    pub(crate) fn name(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Name(name), depth: self.depth + 1 }
    }

    #[inline]
    pub(crate) fn index(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index), depth: self.depth + 1 }
    }

    /// How many steps from the root.
    #[inline]
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }
}

/// As `$.steps[3].summary`; a name that is no identifier as `$["a b"]`, and shortened as every quotation is.
impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}")?;
        }
        match self.step {
            Step::Root => f.write_str("$"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Name(name) if is_plain(name) => write!(f, ".{name}"),
            Step::Name(name) => write!(f, "[{}]", quoted(name)),
        }
    }
}

fn is_plain(name: &str) -> bool {
    name.len() <= QUOTED_CHARS
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '$' | '_'))
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'$' | b'_' | b'-'))
}

/// The most of a value that a message repeats, in characters: it may be private, or huge.
const QUOTED_CHARS: usize = 40;

/// `s` in quotes, cut to 40 characters, with nothing in it that would break a line or a terminal.
pub(crate) fn quoted(s: &str) -> String {
    let mut quoted = String::with_capacity(s.len().min(4 * QUOTED_CHARS) + 5);
    quoted.push('"');
    for (i, c) in s.chars().enumerate() {
        if i == QUOTED_CHARS {
            quoted.push('…');
            break;
        }
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || is_format_control(c) => quoted.extend(c.escape_unicode()),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Characters that are not seen but change how the text around them is.
fn is_format_control(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_characters_are_quoted_and_no_more() {
        assert_eq!(quoted(&"ä".repeat(40)), format!("\"{}\"", "ä".repeat(40)));
        assert_eq!(quoted(&"ä".repeat(41)), format!("\"{}…\"", "ä".repeat(40)));
    }

    #[test]
    fn nothing_quoted_reaches_the_terminal_as_a_command() {
        assert_eq!(quoted("a\u{1b}[2J\n\u{202e}\"\\"), r#""a\u{1b}[2J\u{a}\u{202e}\"\\""#);
    }

    #[test]
    fn paths_name_members_and_elements() {
        let root = Path::root();
        let (long, steps) = ("x".repeat(41), root.name("steps"));
        assert_eq!(root.to_string(), "$");
        assert_eq!(steps.index(3).name("summary").to_string(), "$.steps[3].summary");
        assert_eq!(root.name("$type").to_string(), "$.$type");
        assert_eq!(root.name("a.b").to_string(), r#"$["a.b"]"#);
        assert_eq!(root.name("").to_string(), r#"$[""]"#);
        assert_eq!(root.name(&long).to_string(), format!("$[\"{}…\"]", "x".repeat(40)));
    }
}
