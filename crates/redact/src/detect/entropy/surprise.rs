//! Whether a token was made by a machine or by people: how many bits it takes under a model of words and identifiers,
//! against how many under no model at all.

/// Bits that the second letter of each pair takes after the first in words of code, documentation and several languages:
/// row and column are letters. Counted over open-source code, its documentation and its translations.
const PAIRS: [[u8; 26]; 26] = [
    *b"85448759596343959343667768",
    *b"37563779358278379446399859",
    *b"38673793594478279463588979",
    *b"47742768387576469546577769",
    *b"47436568798453767234867579",
    *b"47663379299468379455597969",
    *b"48772954398564569346489979",
    *b"28862889398667389464597969",
    *b"56445559998442359543959795",
    *b"39782998498996369928494999",
    *b"47651779398655678835686969",
    *b"38752688388398369855579949",
    *b"25762889399657439846499989",
    *b"48433538496686479833568979",
    *b"76447669686442549354465899",
    *b"38673876497478349354488969",
    *b"79966989899478779769197999",
    *b"38652769396655379544568959",
    *b"58572774396667448742487958",
    *b"39672794299678469345598859",
    *b"54564669499443749333899799",
    *b"29681778399666479866999789",
    *b"39763884397674369337997999",
    *b"46463566398759629752788769",
    *b"56574788597443429634986988",
    *b"47861899399776389869669966",
];

/// Bits of a letter that begins a word.
const FIRST: i32 = 45;
/// Bits of a capital after a small letter, and of a digit after a letter or the other way round: a word ends, another begins.
const CAPITAL: i32 = 75;
const DIGIT: i32 = 75;
const NEXT_DIGIT: i32 = 33;
/// Bits of what separates words, and of any other sign.
const SEPARATOR: i32 = 30;
const SIGN: i32 = 62;

/// What a token is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) lower: usize,
    pub(crate) upper: usize,
    pub(crate) digits: usize,
    /// `_`, `-`, `.`, `/`, `:`.
    pub(crate) separators: usize,
    /// Other printable ASCII but spaces.
    pub(crate) signs: usize,
    pub(crate) spaces: usize,
    /// Bytes of characters that are not ASCII.
    pub(crate) foreign: usize,
    /// Bytes that no text has.
    pub(crate) control: usize,
    /// Letters that are no hexadecimal digits.
    pub(crate) beyond_hex: usize,
}

impl Shape {
    pub(crate) fn of(token: &[u8]) -> Self {
        let mut shape = Self::default();
        for byte in token {
            let count = match byte {
                b'a'..=b'z' => &mut shape.lower,
                b'A'..=b'Z' => &mut shape.upper,
                b'0'..=b'9' => &mut shape.digits,
                b'_' | b'-' | b'.' | b'/' | b':' => &mut shape.separators,
                b' ' | b'\t' | b'\n' | b'\r' => &mut shape.spaces,
                0x80.. => &mut shape.foreign,
                0..0x20 | 0x7f => &mut shape.control,
                _ => &mut shape.signs,
            };
            *count += 1;
            shape.beyond_hex += usize::from(byte.is_ascii_alphabetic() && !byte.is_ascii_hexdigit());
        }
        shape
    }

    pub(crate) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Only hexadecimal digits, in one case of letters.
    pub(crate) fn is_hex(&self) -> bool {
        self.beyond_hex + self.separators + self.signs + self.spaces + self.foreign + self.control == 0
            && (self.lower == 0 || self.upper == 0)
    }

    /// Tenths of bits that each byte takes where every byte of its alphabet is as likely.
    fn alphabet(&self) -> i32 {
        let base = match (self.lower > 0, self.upper > 0, self.digits > 0) {
            (true, true, true) => 60,
            (true, true, false) => 57,
            (true, false, true) | (false, true, true) => 52,
            (true, false, false) | (false, true, false) => 47,
            (false, false, _) => 33,
        };
        if self.is_hex() && self.digits > 0 { base.min(40) } else { base }
    }
}

/// How many tenths of bits a byte more than chance the token takes to say as words and identifiers: below about -5, people
/// made it; above, a machine did. Meaningless for fewer than about ten bytes.
pub(crate) fn surprise(token: &[u8]) -> i32 {
    let shape = Shape::of(token);
    let mut bits = 0;
    let mut before = 0_u8;
    for byte in token {
        bits += cost(before, *byte);
        before = *byte;
    }
    let length = i32::try_from(token.len()).unwrap_or(i32::MAX).max(1);
    bits / length - shape.alphabet()
}

fn cost(before: u8, byte: u8) -> i32 {
    match (before, byte) {
        (b'0'..=b'9', b'0'..=b'9') => NEXT_DIGIT,
        (b'a'..=b'z', b'A'..=b'Z') => CAPITAL,
        (b'a'..=b'z' | b'A'..=b'Z', b'a'..=b'z' | b'A'..=b'Z') => pair(before, byte),
        (b'a'..=b'z' | b'A'..=b'Z', b'0'..=b'9') | (b'0'..=b'9', b'a'..=b'z' | b'A'..=b'Z') => DIGIT,
        (_, b'a'..=b'z' | b'A'..=b'Z') => FIRST,
        (_, b'0'..=b'9') => NEXT_DIGIT,
        (_, b'_' | b'-' | b'.' | b'/' | b':' | b' ') => SEPARATOR,
        _ => SIGN,
    }
}

fn pair(first: u8, second: u8) -> i32 {
    let index = |letter: u8| usize::from(letter.to_ascii_lowercase().saturating_sub(b'a'));
    let bits = PAIRS.get(index(first)).and_then(|row| row.get(index(second)));
    bits.map_or(SIGN, |digit| i32::from(digit.saturating_sub(b'0')) * 10)
}
