//! Characters that look like others, or like nothing.

use unicode_normalization::UnicodeNormalization as _;

/// What a reader takes a character for.
pub(crate) enum Looks {
    /// Nothing: it takes no place on the page.
    LikeNothing,
    /// Another letter or digit, whatever stands beside it.
    Like(u8),
    /// Another letter, where it stands beside letters or digits of ASCII.
    LikeBeside(u8),
    /// A sign, where what stands before it was in disguise too.
    LikeAfter(u8),
}

/// How `c` (beyond ASCII) looks; `None` where it looks like itself.
///
/// Sources: Unicode `Default_Ignorable_Code_Point` (DerivedCoreProperties), UAX #15 (NFKC), and of UTS #39's confusables the
/// letters of Cyrillic, Greek and Armenian that are drawn like letters of ASCII.
pub(crate) fn looks(c: char) -> Option<Looks> {
    if is_ignorable(c) {
        return Some(Looks::LikeNothing);
    }
    match c {
        '\u{300}'..='\u{36f}' => Some(Looks::LikeNothing),
        // Wide, circled, squared, mathematical, raised and lowered letters and digits.
        '\u{aa}'
        | '\u{b2}'
        | '\u{b3}'
        | '\u{b9}'
        | '\u{ba}'
        | '\u{2070}'..='\u{209c}'
        | '\u{2100}'..='\u{214f}'
        | '\u{2160}'..='\u{217f}'
        | '\u{2460}'..='\u{24ff}'
        | '\u{ff01}'..='\u{ff5e}'
        | '\u{1d400}'..='\u{1d7ff}'
        | '\u{1f100}'..='\u{1f1ff}' => compatible(c).map(Looks::Like).or_else(|| wide_sign(c)),
        _ => drawn_like(c).map(Looks::LikeBeside),
    }
}

fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Letters, digits and what joins them in tokens; other marks of East Asian text are no disguise.
fn compatible(c: char) -> Option<u8> {
    let mut parts = std::iter::once(c).nfkc();
    let only = u8::try_from(parts.next()?).ok()?;
    let in_tokens = only.is_ascii_alphanumeric() || b"_-./+=".contains(&only);
    (in_tokens && parts.next().is_none()).then_some(only)
}

/// The signs of ASCII in full width: East Asian text has them too, but not within a word in full width.
fn wide_sign(c: char) -> Option<Looks> {
    let ascii = u32::from(c).checked_sub(0xfee0).and_then(|n| u8::try_from(n).ok())?;
    ascii.is_ascii_graphic().then_some(Looks::LikeAfter(ascii))
}

fn drawn_like(c: char) -> Option<u8> {
    Some(match c {
        'А' | 'Α' => b'A',
        'В' | 'Β' => b'B',
        'С' | 'Ϲ' => b'C',
        'Е' | 'Ε' => b'E',
        'Ԍ' => b'G',
        'Н' | 'Η' => b'H',
        'І' | 'Ι' | 'Ӏ' => b'I',
        'Ј' | 'Ϳ' => b'J',
        'К' | 'Κ' | 'K' => b'K',
        'М' | 'Μ' => b'M',
        'Ν' => b'N',
        'О' | 'Ο' | 'Օ' => b'O',
        'Р' | 'Ρ' => b'P',
        'Ѕ' => b'S',
        'Т' | 'Τ' => b'T',
        'Ս' => b'U',
        'Ѵ' => b'V',
        'Ԝ' => b'W',
        'Х' | 'Χ' => b'X',
        'Υ' | 'Ү' => b'Y',
        'Ζ' => b'Z',
        'а' | 'α' => b'a',
        'с' | 'ϲ' => b'c',
        'ԁ' => b'd',
        'е' | 'ҽ' => b'e',
        'ɡ' | 'ց' => b'g',
        'һ' | 'հ' => b'h',
        'і' | 'ι' | 'ı' => b'i',
        'ј' | 'ϳ' => b'j',
        'к' | 'κ' => b'k',
        'ո' => b'n',
        'о' | 'ο' | 'օ' => b'o',
        'р' | 'ρ' => b'p',
        'ԛ' => b'q',
        'г' => b'r',
        'ѕ' => b's',
        'т' | 'τ' => b't',
        'υ' | 'ս' => b'u',
        'ν' | 'ѵ' => b'v',
        'ԝ' => b'w',
        'х' | 'χ' => b'x',
        'у' | 'γ' => b'y',
        'З' => b'3',
        'б' => b'6',
        '‐' | '‑' | '‒' | '–' | '−' => b'-',
        '‗' | '＿' | 'ˍ' => b'_',
        '․' => b'.',
        '⁄' | '∕' => b'/',
        'ꓸ' => b'.',
        _ => return None,
    })
}
