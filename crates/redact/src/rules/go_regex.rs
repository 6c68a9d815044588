//! Go's regular expressions in the syntax of the `regex` crate.
//!
//! Both descend from RE2 and nearly agree. What differs, by Go's documentation of `regexp/syntax`: `\Q…\E`, octal escapes, any
//! punctuation after a backslash stands for itself (`\<` too), a `{` that begins no repetition too; within brackets `[`, `&&`,
//! `--` and `~~` mean nothing; `\d`, `\s`, `\w` and `\b` know ASCII only, while `.` and negated classes take whole characters.

use std::{iter::Peekable, str::Chars};

const BLANKS: &str = r"\t\n\x0c\r\x20";

/// `pattern` as an expression for a builder with Unicode on.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut reader = Reader { chars: pattern.chars().peekable(), out: String::with_capacity(pattern.len() + 16) };
    while let Some(c) = reader.chars.next() {
        match c {
            '\\' => reader.escape()?,
            '[' => reader.class()?,
            '(' => reader.group()?,
            '{' => reader.brace(),
            ']' | '}' => reader.literal(c),
            _ => reader.out.push(c),
        }
    }
    Ok(reader.out)
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    out: String,
}

impl Reader<'_> {
    /// A character that stands for itself.
    fn literal(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || !c.is_ascii() {
            self.out.push(c);
        } else {
            self.out.push_str(&format!("\\x{{{:x}}}", u32::from(c)));
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.chars.peek().copied() {
            Some('Q') => {
                self.chars.next();
                while let Some(c) = self.chars.next() {
                    if c == '\\' && self.chars.peek() == Some(&'E') {
                        self.chars.next();
                        break;
                    }
                    self.literal(c);
                }
                Ok(())
            }
            Some(c @ ('b' | 'B')) => {
                self.out.push_str(&format!("(?-u:\\{c})"));
                self.chars.next();
                Ok(())
            }
            Some(c @ ('A' | 'z')) => {
                self.out.push('\\');
                self.out.push(c);
                self.chars.next();
                Ok(())
            }
            _ if self.set()? => Ok(()),
            _ => {
                let c = self.escaped()?;
                self.literal(c);
                Ok(())
            }
        }
    }

    /// An escape that stands for a set of characters, after its backslash; says whether there was one.
    fn set(&mut self) -> Result<bool, String> {
        let Some(c) = self.chars.peek().copied() else { return Ok(false) };
        let text = match c {
            'd' => "[0-9]".to_owned(),
            'D' => "[^0-9]".to_owned(),
            's' => format!("[{BLANKS}]"),
            'S' => format!("[^{BLANKS}]"),
            'w' => "[0-9A-Za-z_]".to_owned(),
            'W' => "[^0-9A-Za-z_]".to_owned(),
            'p' | 'P' => {
                self.chars.next();
                return self.property(c == 'P').map(|()| true);
            }
            _ => return Ok(false),
        };
        self.chars.next();
        self.out.push_str(&text);
        Ok(true)
    }

    /// `\pN`, `\p{Greek}`, `\p{^Greek}` after the `p`.
    fn property(&mut self, mut negated: bool) -> Result<(), String> {
        let unfinished = || "\\p is unfinished".to_owned();
        let first = self.chars.next().ok_or_else(unfinished)?;
        let mut name = String::new();
        if first == '{' {
            loop {
                match self.chars.next().ok_or_else(unfinished)? {
                    '}' => break,
                    '^' if name.is_empty() => negated = !negated,
                    c => name.push(c),
                }
            }
        } else {
            name.push(first);
        }
        self.out.push_str(&format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' }));
        Ok(())
    }

    /// The character that an escape stands for, after its backslash.
    fn escaped(&mut self) -> Result<char, String> {
        let c = self.chars.next().ok_or("it ends with a backslash")?;
        let number = |digits: &str, radix| {
            u32::from_str_radix(digits, radix)
                .ok()
                .and_then(char::from_u32)
                .ok_or(format!("\\{c}{digits} is no character"))
        };
        match c {
            'a' => Ok('\u{7}'),
            'f' => Ok('\u{c}'),
            'n' => Ok('\n'),
            'r' => Ok('\r'),
            't' => Ok('\t'),
            'v' => Ok('\u{b}'),
            'x' => {
                let mut digits = String::new();
                if self.chars.next_if_eq(&'{').is_some() {
                    digits.extend(std::iter::from_fn(|| self.chars.next_if(|c| *c != '}')));
                    self.chars.next();
                } else {
                    digits.extend(self.chars.by_ref().take(2));
                }
                number(&digits, 16)
            }
            '0'..='7' => {
                let mut digits = String::from(c);
                while digits.len() < 3 {
                    let Some(next) = self.chars.next_if(|c| ('0'..='7').contains(c)) else { break };
                    digits.push(next);
                }
                if c != '0' && digits.len() == 1 {
                    return Err("it refers back to a group, which only backtracking engines can".to_owned());
                }
                number(&digits, 8)
            }
            c if c.is_ascii_punctuation() || c == ' ' => Ok(c),
            c => Err(format!("\\{c} is unknown")),
        }
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.chars.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        let around = || Err("it looks ahead or behind, which only backtracking engines can".to_owned());
        let mut flags = String::new();
        while let Some(c) = self.chars.next() {
            match c {
                '=' | '!' => return around(),
                // Names tell the program nothing: groups are counted.
                'P' | '<' if flags.is_empty() => {
                    if c == 'P' && self.chars.next_if_eq(&'<').is_none() {
                        return Err("(?P is unknown here".to_owned());
                    }
                    if matches!(self.chars.peek(), Some('=' | '!')) {
                        return around();
                    }
                    return match self.chars.find(|c| *c == '>') {
                        Some(_) => Ok(()),
                        None => Err("a group's name is unfinished".to_owned()),
                    };
                }
                'i' | 'm' | 's' | 'U' | '-' => flags.push(c),
                ':' | ')' => {
                    self.out.push_str(&format!("?{flags}{c}"));
                    return Ok(());
                }
                c => return Err(format!("the flag {c} is unknown")),
            }
        }
        Err("a group is unfinished".to_owned())
    }

    /// A repetition, or a brace that stands for itself.
    fn brace(&mut self) {
        let inner: String = self.chars.clone().take(12).take_while(|c| *c != '}').collect();
        let mut numbers = inner.splitn(2, ',');
        let digits = |n: &str| n.bytes().all(|b| b.is_ascii_digit());
        let least = numbers.next().is_some_and(|n| !n.is_empty() && digits(n));
        let closed = self.chars.clone().nth(inner.chars().count()) == Some('}');
        if least && numbers.next().is_none_or(digits) && closed {
            self.out.push_str(&format!("{{{inner}}}"));
            for _ in 0..=inner.len() {
                self.chars.next();
            }
        } else {
            self.literal('{');
        }
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.chars.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let c = self.chars.next().ok_or("brackets are not closed")?;
            match c {
                ']' if !first => break,
                '[' if self.posix() => {}
                '\\' if self.set()? => {}
                c => {
                    let low = if c == '\\' { self.escaped()? } else { c };
                    self.literal(low);
                    let mut ahead = self.chars.clone();
                    if ahead.next() == Some('-') && ahead.next().is_some_and(|next| next != ']') {
                        self.chars.next();
                        let c = self.chars.next().ok_or("brackets are not closed")?;
                        let high = if c == '\\' { self.escaped()? } else { c };
                        self.out.push('-');
                        self.literal(high);
                    }
                }
            }
            first = false;
        }
        self.out.push(']');
        Ok(())
    }

    /// `[:alpha:]` after its `[`, copied; says whether there was one.
    fn posix(&mut self) -> bool {
        let name: String = self.chars.clone().take(12).take_while(|c| *c != ']').collect();
        let is_one = name.len() > 2 && name.starts_with(':') && name.ends_with(':');
        if is_one {
            self.out.push_str(&format!("[{name}]"));
            for _ in 0..=name.chars().count() {
                self.chars.next();
            }
        }
        is_one
    }
}

#[cfg(test)]
mod tests;
