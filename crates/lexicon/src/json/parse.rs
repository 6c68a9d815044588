//! The parser: one pass, no recursion.

use super::{Json, JsonError, Token};

/// As deep as `serde_json` goes.
const MAX_DEPTH: usize = 127;

/// Objects up to this size are searched for a duplicate at once; larger ones are sorted when they end, so that an
/// object of a million members costs no million squared.
const SEARCH_LIMIT: u32 = 32;

pub(super) fn parse(text: &[u8]) -> Result<Json<'_>, JsonError> {
    let fail = |(at, what): Failure| {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        JsonError { what, line, column: at - line_start.min(at) + 1 }
    };
    let valid = std::str::from_utf8(text).map_err(|e| fail((e.valid_up_to(), "text that is not UTF-8")))?;
    if u32::try_from(text.len()).is_err() {
        return Err(fail((0, "a document of 4 GiB or more")));
    }
    let mut parser = Parser {
        text: valid,
        bytes: text,
        at: 0,
        json: Json {
            tokens: Vec::with_capacity(text.len() / 16 + 8),
            unescaped: String::new(),
            duplicates: Vec::new(),
        },
        open: Vec::with_capacity(16),
    };
    parser.document().map_err(fail)?;
    // In reading order; those of large objects come late, and some of them twice.
    parser.json.duplicates.sort_unstable();
    parser.json.duplicates.dedup();
    Ok(parser.json)
}

/// Where, and what.
type Failure = (usize, &'static str);

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    json: Json<'a>,
    open: Vec<Open>,
}

/// A container that has not ended yet.
struct Open {
    token: u32,
    len: u32,
    is_object: bool,
    /// Bloom filter of the keys so far.
    seen: u128,
    /// Too many keys to search one by one.
    sort: bool,
}

impl<'a> Parser<'a> {
    fn document(&mut self) -> Result<(), Failure> {
        loop {
            let is_open = self.value()?;
            if is_open {
                continue;
            }
            // A value has ended: and with it, perhaps, containers.
            loop {
                let Some(open) = self.open.last_mut() else {
                    return match self.skip_space() {
                        None => Ok(()),
                        Some(_) => Err((self.at, "something after the end of the document")),
                    };
                };
                open.len += 1;
                let is_object = open.is_object;
                match (self.skip_space(), is_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.key()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        self.close();
                    }
                    (Some(_), true) => return Err((self.at, "`,` or `}` expected")),
                    (Some(_), false) => return Err((self.at, "`,` or `]` expected")),
                    (None, _) => return Err((self.at, "the end came too early")),
                }
            }
        }
    }

    /// One value, or the start of a container that has something in it (then true).
    #[inline]
    fn value(&mut self) -> Result<bool, Failure> {
        let token = match self.skip_space() {
            Some(b'"') => {
                self.at += 1;
                self.string()?
            }
            Some(b'{') => {
                self.open(true)?;
                if self.skip_space() == Some(b'}') {
                    self.at += 1;
                    self.close();
                    return Ok(false);
                }
                self.key()?;
                return Ok(true);
            }
            Some(b'[') => {
                self.open(false)?;
                if self.skip_space() == Some(b']') {
                    self.at += 1;
                    self.close();
                    return Ok(false);
                }
                return Ok(true);
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Token::Bool(true))?,
            Some(b'f') => self.word("false", Token::Bool(false))?,
            Some(b'n') => self.word("null", Token::Null)?,
            Some(_) => return Err((self.at, "a value expected")),
            None => return Err((self.at, "the end came too early")),
        };
        self.json.tokens.push(token);
        Ok(false)
    }

    fn open(&mut self, is_object: bool) -> Result<(), Failure> {
        if self.open.len() >= MAX_DEPTH {
            return Err((self.at, "nesting deeper than 127"));
        }
        self.at += 1;
        let token = self.next_token();
        self.json.tokens.push(Token::Null); // overwritten by `close`
        self.open.push(Open { token, len: 0, is_object, seen: 0, sort: false });
        Ok(())
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        if open.sort {
            self.sort_for_duplicates(&open);
        }
        let (len, end) = (open.len, self.next_token());
        if let Some(token) = self.json.tokens.get_mut(open.token as usize) {
            *token = if open.is_object { Token::Object { len, end } } else { Token::Array { len, end } };
        }
    }

    /// The index the next token will have. The text is shorter than 4 GiB and a token takes a byte of it at least.
    fn next_token(&self) -> u32 {
        u32::try_from(self.json.tokens.len()).unwrap_or(u32::MAX)
    }

    /// A key and its colon.
    #[inline]
    fn key(&mut self) -> Result<(), Failure> {
        if self.skip_space() != Some(b'"') {
            return Err((self.at, "a key in quotes expected"));
        }
        self.at += 1;
        let token = self.string()?;
        self.push_key(token);
        if self.skip_space() != Some(b':') {
            return Err((self.at, "`:` expected"));
        }
        self.at += 1;
        Ok(())
    }

    /// Notes a key, and whether its object has had it before.
    #[inline]
    fn push_key(&mut self, token: Token<'a>) {
        let hash = match token {
            Token::Str(name) => crate::catalog::fingerprint(name),
            // Whether it had escapes or not, a name has one hash.
            Token::Escaped { start, end } => crate::catalog::fingerprint(self.json.unescaped_text(start, end)),
            _ => 0,
        };
        let key = self.next_token();
        self.json.tokens.push(token);
        let bit = 1_u128 << (hash.wrapping_mul(0x9e37_79b1) >> 25);
        let Some(open) = self.open.last_mut() else { return };
        if open.seen & bit == 0 {
            open.seen |= bit;
        } else if open.len > SEARCH_LIMIT {
            open.sort = true;
        } else {
            let first = open.token + 1;
            self.search_for_duplicate(first, key);
        }
    }

    /// Whether the key at `key` is among those of its object, which begin at `first`.
    #[cold]
    fn search_for_duplicate(&mut self, first: u32, key: u32) {
        let name = self.json.text(key);
        let mut at = first;
        while at < key {
            if self.json.text(at) == name {
                self.json.duplicates.push(key);
                return;
            }
            at = self.json.after(at + 1);
        }
    }

    #[cold]
    fn sort_for_duplicates(&mut self, open: &Open) {
        let end = self.next_token();
        let mut keys = Vec::with_capacity(open.len as usize);
        let mut at = open.token + 1;
        while at < end {
            keys.push(at);
            at = self.json.after(at + 1);
        }
        keys.sort_by(|&a, &b| self.json.text(a).cmp(self.json.text(b)).then(a.cmp(&b)));
        let again = keys.windows(2).filter_map(|pair| match pair {
            [a, b] if self.json.text(*a) == self.json.text(*b) => Some(*b),
            _ => None,
        });
        let again: Vec<u32> = again.collect();
        self.json.duplicates.extend(again);
    }

    #[inline]
    fn skip_space(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn word(&mut self, word: &'static str, token: Token<'a>) -> Result<Token<'a>, Failure> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return Err((self.at, "a value expected"));
        }
        self.at = end;
        Ok(token)
    }

    /// A string whose opening quote has been read.
    #[inline]
    fn string(&mut self) -> Result<Token<'a>, Failure> {
        let start = self.at;
        self.at = plain_until(self.bytes, start);
        if self.bytes.get(self.at) == Some(&b'"') {
            let s = self.text.get(start..self.at).unwrap_or_default();
            self.at += 1;
            return Ok(Token::Str(s));
        }
        self.escaped(start)
    }

    /// A string with escapes, of which everything from `start` to here is plain.
    #[cold]
    fn escaped(&mut self, start: usize) -> Result<Token<'a>, Failure> {
        let from = u32::try_from(self.json.unescaped.len()).unwrap_or(u32::MAX);
        let mut plain = start;
        loop {
            self.json.unescaped.push_str(self.text.get(plain..self.at).unwrap_or_default());
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    let to = u32::try_from(self.json.unescaped.len()).unwrap_or(u32::MAX);
                    return Ok(Token::Escaped { start: from, end: to });
                }
                Some(b'\\') => {
                    let c = self.escape()?;
                    self.json.unescaped.push(c);
                }
                Some(_) => return Err((self.at, "a control character in a string")),
                None => return Err((self.at, "the end came too early")),
            }
            plain = self.at;
            self.at = plain_until(self.bytes, plain);
        }
    }

    /// One escape, at its backslash.
    fn escape(&mut self) -> Result<char, Failure> {
        let Some(&kind) = self.bytes.get(self.at + 1) else {
            return Err((self.at, "the end came too early"));
        };
        let c = match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err((self.at, "an escape that JSON does not have")),
        };
        self.at += 2;
        Ok(c)
    }

    fn unicode_escape(&mut self) -> Result<char, Failure> {
        let start = self.at;
        let high = self.hex4()?;
        let code = match high {
            0xd800..=0xdbff => {
                if self.bytes.get(self.at..self.at + 2) != Some(br"\u") {
                    return Err((start, "half of a surrogate pair"));
                }
                let low = self.hex4()?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err((start, "half of a surrogate pair"));
                }
                0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)
            }
            other => other,
        };
        char::from_u32(code).ok_or((start, "half of a surrogate pair"))
    }

    /// The four digits after `\u`, at the backslash.
    fn hex4(&mut self) -> Result<u32, Failure> {
        let digits = self.bytes.get(self.at + 2..self.at + 6).ok_or((self.at, "the end came too early"))?;
        let mut code = 0;
        for &digit in digits {
            let value = char::from(digit).to_digit(16).ok_or((self.at, "four hexadecimal digits expected"))?;
            code = code * 16 + value;
        }
        self.at += 6;
        Ok(code)
    }

    #[inline]
    fn number(&mut self) -> Result<Token<'a>, Failure> {
        let start = self.at;
        let negative = self.bytes.get(self.at) == Some(&b'-');
        self.at += usize::from(negative);
        // Whole part, accumulated; `None` once it no longer fits.
        let mut whole = Some(0_u64);
        let first = self.at;
        while let Some(&digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            whole = whole.and_then(|w| w.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
            self.at += 1;
        }
        match self.at - first {
            0 => return Err((self.at, "a digit expected")),
            1 => {}
            _ if self.bytes.get(first) == Some(&b'0') => return Err((first, "a number that starts with 0")),
            _ => {}
        }
        if !matches!(self.bytes.get(self.at), Some(b'.' | b'e' | b'E')) {
            let exact = match (whole, negative) {
                (Some(w), false) => Some(i64::try_from(w).map_or(Token::Uint(w), Token::Int)),
                // -0 is a float, as it is elsewhere.
                (Some(0), true) | (None, _) => None,
                (Some(w), true) => 0_i64.checked_sub_unsigned(w).map(Token::Int),
            };
            if let Some(token) = exact {
                return Ok(token);
            }
        }
        self.float(start)
    }

    /// The rest of a number that is no integer of 64 bits.
    #[cold]
    fn float(&mut self, start: usize) -> Result<Token<'a>, Failure> {
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.text.get(start..self.at).map(str::parse::<f64>) {
            Some(Ok(f)) if f.is_finite() => Ok(Token::Float(f)),
            _ => Err((start, "a number out of range")),
        }
    }

    fn digits(&mut self) -> Result<(), Failure> {
        let first = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        if self.at == first { Err((first, "a digit expected")) } else { Ok(()) }
    }
}

/// The first quote, backslash or control character at or after `at`, eight bytes a step.
#[inline]
fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((chunk, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // A byte that is zero in `x` raises its high bit here; the lowest raised one is always right.
        let zero = |x: u64| x.wrapping_sub(ONES) & !x;
        let quote = zero(word ^ (ONES * 0x22));
        let backslash = zero(word ^ (ONES * 0x5c));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (quote | backslash | control) & HIGHS;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
        rest = after;
    }
    let is_special = |&b: &u8| b == b'"' || b == b'\\' || b < 0x20;
    rest.iter().position(is_special).map_or(bytes.len(), |i| at + i)
}
