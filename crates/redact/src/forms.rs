//! The forms in which a value may stand somewhere else.

use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use crate::base64::{self, Alphabet};

/// Prefixes of a covered value are covered from this many characters on.
pub const PREFIX_CHARS: usize = 12;
/// Lines of a covered value are covered by themselves from this many characters on.
pub const LINE_CHARS: usize = 16;
/// Values shorter than this (in bytes) are not looked for in base64: four digits or fewer would stand anywhere by chance.
pub const BASE64_BYTES: usize = 5;
/// Values shorter than this (in bytes) are not looked for in hexadecimal.
pub const HEX_BYTES: usize = 4;

/// A longer value (in bytes) is covered in pieces.
const LONGEST_PIECE: usize = 1 << 16;

/// How a hit runs on beyond itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunOn {
    /// It does not, unless it is only the beginning of the value: then to the end of the token.
    No,
    /// To the end of the token.
    Token,
    /// Over all of the base64 around it: the digits at its borders hold bits of the value too.
    Base64,
    /// Over all of the hexadecimal around it.
    Hex,
}

/// One form of a value, without its white space.
pub(crate) struct Form {
    pub(crate) bytes: Zeroizing<Vec<u8>>,
    /// How many of them are enough to be covered.
    pub(crate) min: usize,
    /// Before which of them white space stood.
    pub(crate) spaces: Vec<usize>,
    pub(crate) run_on: RunOn,
}

impl Form {
    /// Whether both are written alike.
    fn is(&self, other: &Self) -> bool {
        *self.bytes == *other.bytes && self.spaces == other.spaces
    }
}

/// All forms of `value`, and of its lines.
pub(crate) fn of(value: &str, run_on: RunOn) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::new();
    for piece in std::iter::once(value).chain(lines(value)) {
        for (_, form) in numbered(piece, 0, run_on) {
            if !forms.iter().any(|f| f.is(&form)) {
                forms.push(form);
            }
        }
    }
    forms
}

/// The lines of a value that are covered by themselves.
fn lines(value: &str) -> impl Iterator<Item = &str> {
    let lines = Some(value).filter(|v| v.trim().contains('\n')).into_iter().flat_map(str::lines).map(str::trim);
    lines.filter(|l| l.chars().count() >= LINE_CHARS && !l.starts_with("-----"))
}

/// Where in a value something stands that is covered by itself: all of it, or its pieces where it is very long; its lines;
/// and the values of a list of cookies.
pub(crate) fn pieces(value: &str) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut rest = value;
    // A value of many megabytes has forms of many more.
    while rest.len() > LONGEST_PIECE {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(LONGEST_PIECE));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces.extend(lines(value).filter(|l| l.len() <= LONGEST_PIECE));
    if !value.contains(char::is_whitespace) || value.contains("; ") {
        pieces.extend(
            value
                .split(';')
                .filter_map(|pair| pair.split_once('='))
                .map(|(_, v)| v.trim())
                .filter(|v| v.len() >= PREFIX_CHARS && v.len() < value.len() && v.bytes().any(|b| b.is_ascii_digit())),
        );
    }
    let start = |piece: &str| piece.as_ptr().addr() - value.as_ptr().addr();
    pieces.into_iter().map(|piece| (start(piece), start(piece) + piece.len())).collect()
}

/// All forms of `value`, with the numbers by which [`one`] writes them; `public` bytes at its start tell nothing.
pub(crate) fn numbered(value: &str, public: usize, run_on: RunOn) -> Vec<(u32, Form)> {
    let mut forms: Vec<(u32, Form)> = Vec::new();
    write(value, public, run_on, None, &mut |number, form| {
        if !forms.iter().any(|(_, f)| f.is(&form)) {
            forms.push((number, form));
        }
    });
    forms
}

/// The form of `value` with this number.
pub(crate) fn one(value: &str, public: usize, run_on: RunOn, number: u32) -> Option<Form> {
    let mut found = None;
    write(value, public, run_on, Some(number), &mut |_, form| found = Some(form));
    found
}

/// Words shorter than this (in characters) are covered as they are written only: in another case they are other words.
const CASE_CHARS: usize = 4;

/// The other ways to write a word that a person would take for the same: in other cases, composed and decomposed.
pub(crate) fn spellings(value: &str) -> Vec<Zeroizing<String>> {
    let mut all: Vec<Zeroizing<String>> = Vec::new();
    let mut add = |spelling: String| {
        if spelling != value && !all.iter().any(|known| **known == spelling) {
            all.push(Zeroizing::new(spelling));
        }
    };
    let mut cases = vec![Zeroizing::new(value.to_owned())];
    if value.chars().count() >= CASE_CHARS {
        cases.extend([value.to_lowercase(), value.to_uppercase(), capitalised(value)].map(Zeroizing::new));
    }
    for case in &cases {
        add(case.to_string());
        add(case.nfc().collect());
        add(case.nfd().collect());
    }
    all
}

/// Every word with a capital letter, the rest in lower case.
fn capitalised(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut within = false;
    for c in value.chars() {
        if within {
            out.extend(c.to_lowercase());
        } else {
            out.extend(c.to_uppercase());
        }
        within = c.is_alphanumeric() || c == '\'';
    }
    out
}

/// Adds `value` as texts, JSON and URLs have it, but not encoded.
pub(crate) fn as_written(value: &str, forms: &mut Vec<Form>) {
    let styles = [
        value.as_bytes().to_vec(),
        json(value, Json::Plain).into_bytes(),
        json(value, Json::Ascii).into_bytes(),
        percent(value, true, Percent::Component),
        percent(value, true, Percent::Form),
    ];
    for written in styles {
        let (bytes, spaces) = squeeze(&written);
        let min = bytes.len();
        let form = Form { bytes, min, spaces, run_on: RunOn::No };
        if min > 0 && !forms.iter().any(|f| f.is(&form)) {
            forms.push(form);
        }
    }
}

/// Calls `each` with all forms of `value` and their numbers, or with the `only` one.
fn write(value: &str, public: usize, run_on: RunOn, only: Option<u32>, each: &mut dyn FnMut(u32, Form)) {
    // A prefix is worth covering when it tells something: twelve characters, one of them not public.
    let twelfth = value.char_indices().nth(PREFIX_CHARS).map_or(value.len(), |(at, _)| at);
    let telling =
        value.char_indices().map(|(at, c)| at + c.len_utf8()).find(|end| *end > public).unwrap_or(value.len());
    let prefix = value.get(..twelfth.max(telling)).unwrap_or(value);

    let mut next = 0;
    let mut add = |encode: &dyn Fn(&str) -> Vec<u8>, run_on: RunOn| {
        let number = next;
        next += 1;
        if only.is_some_and(|only| only != number) {
            return;
        }
        let (bytes, spaces) = squeeze(&Zeroizing::new(encode(value)));
        let (short, _) = squeeze(&Zeroizing::new(encode(prefix)));
        let min = short.iter().zip(bytes.iter()).take_while(|(a, b)| a == b).count();
        if min > 0 {
            each(number, Form { bytes, min, spaces, run_on });
        }
    };
    add(&|v| v.as_bytes().to_vec(), run_on);
    add(&|v| json(v, Json::Plain).into_bytes(), run_on);
    add(&|v| json(v, Json::Slashes).into_bytes(), run_on);
    add(&|v| json(v, Json::Ascii).into_bytes(), run_on);
    add(&|v| json(v, Json::AsciiUpper).into_bytes(), run_on);
    for once in [Json::Plain, Json::Ascii] {
        add(&|v| json(&json(v, once), Json::Plain).into_bytes(), run_on);
    }
    add(&|v| json(v, Json::All).into_bytes(), RunOn::No);
    add(&|v| json(v, Json::All).to_ascii_uppercase().replace("\\U", "\\u").into_bytes(), RunOn::No);
    for upper in [true, false] {
        add(&|v| percent(v, upper, Percent::Component), run_on);
        add(&|v| percent(v, upper, Percent::Form), run_on);
        add(&|v| percent(v, upper, Percent::Strict), run_on);
        add(&|v| percent(v, upper, Percent::All), RunOn::No);
    }
    if value.len() >= HEX_BYTES {
        add(&|v| hex(v.as_bytes(), false), RunOn::Hex);
        add(&|v| hex(v.as_bytes(), true), RunOn::Hex);
    }
    if value.len() >= BASE64_BYTES {
        // Its letters apart from each other.
        add(&|v| v.chars().flat_map(|c| [c, ' ']).collect::<String>().into_bytes(), RunOn::No);
        for alphabet in [Alphabet::Standard, Alphabet::Url] {
            for before in 0..3 {
                add(&|v| base64::core(v.as_bytes(), before, alphabet), RunOn::Base64);
            }
        }
    }
    // From its end to its beginning, and then only whole: its last letters say nothing.
    let turned: Zeroizing<String> = Zeroizing::new(value.chars().rev().collect());
    if TURNED_BYTES.contains(&value.len()) && *turned != value && only.is_none_or(|only| only == next) {
        let (bytes, spaces) = squeeze(turned.as_bytes());
        each(next, Form { min: bytes.len(), bytes, spaces, run_on: RunOn::No });
    }
}

/// A value is looked for from its end to its beginning if it is so long (in bytes): shorter ones turned round are words, and
/// longer ones, of which only all is enough, would be compared again and again.
const TURNED_BYTES: RangeInclusive<usize> = 8..=256;

/// Takes out the ASCII white space, and says where it stood.
pub(crate) fn squeeze(bytes: &[u8]) -> (Zeroizing<Vec<u8>>, Vec<usize>) {
    let mut out = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut spaces = Vec::new();
    for byte in bytes {
        if !byte.is_ascii_whitespace() {
            out.push(*byte);
        } else if spaces.last() != Some(&out.len()) {
            spaces.push(out.len());
        }
    }
    (out, spaces)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Json {
    /// As most programs write it.
    Plain,
    /// With `\/`.
    Slashes,
    /// With everything beyond ASCII as `\u`.
    Ascii,
    /// The same, with upper-case digits.
    AsciiUpper,
    /// With everything as `\u`.
    All,
}

/// RFC 8259 section 7, without the quotes around it.
fn json(value: &str, style: Json) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        let escape = match c {
            '"' => Some('"'),
            '\\' => Some('\\'),
            '\n' => Some('n'),
            '\r' => Some('r'),
            '\t' => Some('t'),
            '\u{8}' => Some('b'),
            '\u{c}' => Some('f'),
            '/' if style == Json::Slashes => Some('/'),
            _ => None,
        };
        let long = style == Json::All || c < ' ' || (matches!(style, Json::Ascii | Json::AsciiUpper) && !c.is_ascii());
        match escape {
            Some(letter) if style != Json::All => out.extend(['\\', letter]),
            _ if long => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if style == Json::AsciiUpper {
                        format!("\\u{unit:04X}")
                    } else {
                        format!("\\u{unit:04x}")
                    });
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Percent {
    /// As `encodeURIComponent`.
    Component,
    /// As forms: a space becomes `+`.
    Form,
    /// RFC 3986: all but the unreserved.
    Strict,
    /// Everything.
    All,
}

fn percent(value: &str, upper: bool, style: Percent) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for byte in value.bytes() {
        let kept = match style {
            Percent::All => false,
            Percent::Strict => byte.is_ascii_alphanumeric() || b"-._~".contains(&byte),
            Percent::Form => byte.is_ascii_alphanumeric() || b"-._*".contains(&byte),
            Percent::Component => byte.is_ascii_alphanumeric() || b"-._~!*'()".contains(&byte),
        };
        if kept {
            out.push(byte);
        } else if byte == b' ' && style == Percent::Form {
            out.push(b'+');
        } else {
            out.push(b'%');
            out.extend(hex(&[byte], upper));
        }
    }
    out
}

fn hex(bytes: &[u8], upper: bool) -> Vec<u8> {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let digit = |n: u8| digits.get(usize::from(n)).copied().unwrap_or_default();
    bytes.iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}
