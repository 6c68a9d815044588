//! What is a secret and what is not.

use super::{
    name::Says,
    words::{self, Marks},
};
use crate::{
    checks::entropy,
    detect::entropy::{Shape, surprise},
    text::part,
};

/// How a value stands in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stands {
    /// In quotes, or where nothing but a literal can stand (`.env`, a flag, an element of XML).
    Literal,
    /// In quotes within a call, which may be a name.
    Argument,
    /// Without quotes where code might stand too.
    Bare,
    /// In a sentence.
    Prose,
}

/// No more of a value is looked at.
pub(super) const JUDGED: usize = 160;

/// Whether `value` is the secret that a name said would stand there.
pub(super) fn is_secret(value: &[u8], says: Says, stands: Stands) -> bool {
    let whole = part(value, 0, 4 * JUDGED);
    let value = part(value, 0, JUDGED);
    // Several assignments in a row are no value.
    let assigns = value.trim_ascii_end().iter().rev().skip_while(|b| **b == b'=').filter(|b| **b == b'=').count();
    if value.len() < 4 || assigns > 2 || is_reference(value) || is_other(value) {
        return false;
    }
    // Examples often say so at their end.
    if words::is_example(whole) {
        return false;
    }
    let shape = Shape::of(value);
    if shape.control > 0 {
        return false;
    }
    match says {
        Says::Pin => value.len() <= 8 && shape.digits == value.len(),
        Says::Words => is_word_list(value),
        Says::License => is_license(value) || is_machine_made(value, &shape, stands),
        Says::Password if shape.spaces == 1 && stands == Stands::Literal => is_in_two_parts(value),
        Says::Passphrase if shape.spaces > 0 => stands != Stands::Prose && is_passphrase(value, b' '),
        _ if shape.spaces > 0 || words::is_placeholder(value) => false,
        Says::Password | Says::Passphrase => {
            is_machine_made(value, &shape, stands)
                || is_made_up(value, &shape, stands)
                || is_number(value, &shape)
                || (stands == Stands::Bare && is_worded(value, &shape))
                || (stands == Stands::Literal && is_plain_word(value, &shape))
        }
        Says::MaybePassword => is_machine_made(value, &shape, stands) || is_made_up(value, &shape, stands),
        Says::Secret => {
            is_machine_made(value, &shape, stands)
                || (shape.signs > 0
                    && (stands != Stands::Bare || value.iter().any(|b| b"!@#$^".contains(b)))
                    && is_made_up(value, &shape, stands))
                || ((stands == Stands::Literal || stands == Stands::Bare && shape.digits > 2)
                    && is_worded(value, &shape))
        }
        Says::Whose => is_random(value, &shape) || is_digest(value, &shape),
        Says::Maybe => is_random(value, &shape),
    }
}

/// A password with a space in it: neither part is a word.
fn is_in_two_parts(value: &[u8]) -> bool {
    value.len() <= 32
        && value.split(|b| *b == b' ').all(|half| half.len() >= 3 && half.iter().any(|b| !b.is_ascii_alphabetic()))
        && value.iter().any(u8::is_ascii_digit)
        && value.iter().any(u8::is_ascii_alphabetic)
        && value.iter().any(|b| b"!@#$%^&*?".contains(b))
}

/// What values do not hold, but references, templates and code do.
static MARKS: Marks = Marks::new(&[
    "${", "{{", "}}", "$(", "%s", "%(", "{}", "#{", "***", "...", "…", "•", "█", "://", "()", "<%", "/>", "={", "=>",
    "->", "::", "&&", "||", "[]", "\\n",
]);

/// Names of where the value is, and code.
fn is_reference(value: &[u8]) -> bool {
    let first = value.first().copied().unwrap_or_default();
    let second = value.get(1).copied().unwrap_or_default();
    let name_follows = second.is_ascii_alphabetic() || matches!(second, b'_' | b'{' | b'(' | b'[');
    // A variable is letters; what merely begins with its sign may be a password.
    let variable = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b':' | b'-');
    let rest = part(value, 1, value.len());
    let named = name_follows
        && (matches!(second, b'{' | b'(' | b'[')
            || (rest.iter().all(variable) && (!rest.iter().any(u8::is_ascii_digit) || surprise(rest) < -5)));
    match first {
        b'$' | b'@' | b'#' | b'&' | b'!' | b'%' | b'*' | b':' if named => return true,
        b'{' | b'<' | b'[' | b'(' | b'\\' => return true,
        b'%' if value.len() > 2 && value.ends_with(b"%") => return true,
        _ => {}
    }
    if MARKS.is_in(value) || value.starts_with(b"__") || (contains(value, b"__") && surprise(value) < 0) {
        return true;
    }
    const STARTS: [&[u8]; 24] = [
        b"process.env",
        b"import.meta",
        b"os.environ",
        b"os.getenv",
        b"env.",
        b"env:",
        b"config.",
        b"settings.",
        b"secrets.",
        b"var.",
        b"vars.",
        b"args.",
        b"self.",
        b"this.",
        b"op:",
        b"vault:",
        b"arn:",
        b"did:",
        b"sha256",
        b"sha512-",
        b"sha1-",
        b"sha384-",
        b"data:",
        b"urn:",
    ];
    STARTS.iter().any(|start| value.get(..start.len()).is_some_and(|v| v.eq_ignore_ascii_case(start)))
}

/// Paths, addresses of mail, versions, dates, identifiers of the protocol.
fn is_other(value: &[u8]) -> bool {
    let first_is = |set: &[u8]| value.first().is_some_and(|b| set.contains(b));
    if (first_is(b"/~.") && value.iter().filter(|b| **b == b'/').count() >= 1 && surprise(value) < 0)
        || value.get(1..3) == Some(b":\\")
        || is_mail(value)
        || is_date(value)
    {
        return true;
    }
    let cid =
        value.len() >= 46 && (value.starts_with(b"bafy") || value.starts_with(b"bafk") || value.starts_with(b"Qm"));
    let key_or_image = [
        &b"AAAAB3NzaC1"[..],
        b"AAAAC3NzaC1",
        b"AAAAE2VjZHNh",
        b"iVBORw0KGgo",
        b"/9j/4",
        b"R0lGOD",
        b"MIIB",
        b"MIIC",
        b"pk_",
        b"zDnae",
        b"zQ3sh",
        b"z6Mk",
    ];
    cid || key_or_image.iter().any(|start| value.starts_with(start))
}

fn is_mail(value: &[u8]) -> bool {
    let Some(at) = value.iter().position(|b| *b == b'@') else { return false };
    let (user, host) = (part(value, 0, at), part(value, at + 1, value.len()));
    let dot = host.iter().rposition(|b| *b == b'.');
    !user.is_empty()
        && host.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'))
        && dot.is_some_and(|d| {
            d > 0 && host.len() - d > 2 && part(host, d + 1, host.len()).iter().all(u8::is_ascii_alphabetic)
        })
}

fn is_date(value: &[u8]) -> bool {
    let digit = |i: usize| value.get(i).is_some_and(u8::is_ascii_digit);
    value.len() >= 8
        && (0..4).all(digit)
        && matches!(value.get(4), Some(b'-' | b'/' | b'.'))
        && digit(5)
        && value.iter().all(|b| b.is_ascii_digit() || b"-/.:TZ+".contains(b))
}

/// Whether a machine made it: random letters and digits, hexadecimal, a UUID.
pub(super) fn is_machine_made(value: &[u8], shape: &Shape, stands: Stands) -> bool {
    if shape.foreign > 0 {
        return false;
    }
    if is_uuid(value) {
        return true;
    }
    let plain = value.strip_prefix(b"0x").unwrap_or(value);
    if Shape::of(plain).is_hex() {
        return plain.len() >= 16 && shape.digits > 0 && entropy(plain) > 2.2;
    }
    if stands == Stands::Bare && looks_like_code(value) {
        return false;
    }
    let mixed = shape.digits > 0 && shape.letters() > 0;
    let signs_few = shape.signs * 3 <= value.len();
    let score = surprise(value);
    let whole = match value.len() {
        0..8 => false,
        8..16 => {
            mixed
                && shape.separators + shape.signs <= 2
                && score >= if shape.signs > 0 || shape.digits > 1 { -5 } else { 2 }
                && (shape.digits > 1 || shape.lower.min(shape.upper) > 1)
                && (stands == Stands::Literal
                    || score >= 0
                    || (score >= -3 && shape.digits > 2 && shape.upper > 2 && value.len() >= 12))
        }
        16.. => {
            let long = value.len() >= 32 && shape.lower.min(shape.upper) > 4 && score >= 1;
            signs_few && entropy(value) > 2.8 && ((mixed && score >= -5) || score >= 4 || long)
        }
    };
    whole || has_random_part(value, stands)
}

/// A random part after a prefix that people made up (`live_app_…`).
fn has_random_part(value: &[u8], stands: Stands) -> bool {
    stands != Stands::Prose
        && value.split(|b| matches!(b, b'_' | b'-' | b'.' | b':' | b'/' | b'+' | b'~')).any(|part| {
            let shape = Shape::of(part);
            part.len() >= 16 && shape.digits > 1 && shape.letters() > 1 && shape.signs <= 2 && surprise(part) >= -3
        })
}

/// The value of a weak name must be random and nothing else: no hash, no identifier.
fn is_random(value: &[u8], shape: &Shape) -> bool {
    let mixed = shape.digits > 1 && shape.letters() > 3;
    !Shape::of(value.strip_prefix(b"0x").unwrap_or(value)).is_hex()
        && !is_uuid(value)
        && shape.foreign == 0
        && shape.signs * 4 <= value.len()
        && value.len() >= 16
        && mixed
        && !looks_like_code(value)
        && shape.separators * 8 <= value.len()
        && entropy(value) > 3.2
        && surprise(value) >= -1
}

/// Hexadecimal as long as keys are, a UUID, or small letters and digits in no order.
fn is_digest(value: &[u8], shape: &Shape) -> bool {
    let hex = shape.is_hex() && (20..=128).contains(&value.len()) && shape.digits > 1 && shape.letters() > 1;
    let lower = (20..=128).contains(&value.len())
        && shape.digits > 2
        && shape.letters() > 3
        && shape.signs + shape.foreign == 0
        && shape.separators <= 2
        && surprise(value) >= 3;
    (hex && entropy(value) > 2.8) || is_uuid(value) || lower
}

/// Brackets and operators within: an expression, unless a machine made it.
fn looks_like_code(value: &[u8]) -> bool {
    let brackets = value
        .iter()
        .filter(|b| matches!(b, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'|' | b'`' | b'"' | b'\''))
        .count();
    brackets > 0 || contains(value, b"==") && !value.ends_with(b"==") || contains(value, b",")
}

/// Passwords that people make up: words with digits and signs.
pub(super) fn is_made_up(value: &[u8], shape: &Shape, stands: Stands) -> bool {
    let letters = shape.letters() + shape.foreign;
    if letters < 2 || shape.digits == 0 || value.len() < 6 || value.len() > 64 || words::is_format(value) {
        return false;
    }
    if matches!(value, [.., b'(' | b'[' | b'{' | b'<']) || contains(value, b"()") {
        return false;
    }
    let signs = shape.signs;
    // A dash between words and numbers is an identifier's; a sign is a password's.
    match stands {
        Stands::Literal => {
            (signs > 0 && value.len() >= 6 && !is_format_string(value))
                || (shape.separators == 0 && shape.upper > 0 && shape.lower > 0 && value.len() >= 8 && !is_type(value))
                || (shape.separators == 0
                    && value.len() >= 8
                    && shape.upper == 0
                    && shape.digits >= 2
                    && starts_as_word(value))
                || (shape.separators > 0 && value.len() >= 10 && shape.digits >= 2 && is_passwordlike_kebab(value))
        }
        Stands::Argument | Stands::Bare | Stands::Prose => {
            let tail_signs = value.iter().rev().take_while(|b| b"!@#$%^&*?+~".contains(b)).count();
            let inner = part(value, 0, value.len() - tail_signs);
            let inner_signs = inner.iter().filter(|b| b"!@#$%^&*?~+=".contains(b)).count();
            let strange = inner.iter().filter(|b| b.is_ascii_punctuation() && !b"!@#$%^&*?~_-.+=".contains(b)).count();
            let begins = value.first().is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80);
            let separated = shape.separators > 0;
            let plain = begins && strange == 0 && value.len() >= 8 && !looks_like_code(value);
            let ends_in_digits = inner.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let all_classes = words::has_all_classes(value);
            let emphatic = value.iter().filter(|b| b"!@#$^&?".contains(b)).count();
            (plain && tail_signs > 0 && tail_signs <= 3 && ends_in_digits > 0 && (!separated || shape.upper > 0))
                || (plain
                    && inner_signs > 0
                    && inner_signs <= 3
                    && shape.digits > 0
                    && !separated
                    && !is_arithmetic(inner))
                || (plain && signs <= 3 && all_classes && !separated && !is_arithmetic(inner))
                // `River_stone!4`, `K1^ujf7%COMo`: what rules for passwords ask for, and code has not.
                || (plain && all_classes && emphatic > 0 && shape.separators <= 2 && !is_version_of(inner))
                // `Summer-River-204` after "password:".
                || (stands != Stands::Argument
                    && plain
                    && signs == 0
                    && separated
                    && (2..=4).contains(&ends_in_digits)
                    && shape.digits == ends_in_digits
                    && shape.upper > 0
                    && shape.lower > 5
                    && value.len() >= 10
                    && value.contains(&b'-')
                    && is_passwordlike_kebab(value))
                || (stands != Stands::Bare
                    && plain
                    && signs == 0
                    && !separated
                    && (2..=4).contains(&ends_in_digits)
                    && shape.digits == ends_in_digits
                    && !is_type(value))
        }
    }
}

/// `Pepper9926`, `Pepper-pepper-633`: what people make up also where a machine should have made it.
fn is_worded(value: &[u8], shape: &Shape) -> bool {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let letters = part(value, 0, value.len() - digits);
    (8..=32).contains(&value.len())
        && value.first().is_some_and(u8::is_ascii_uppercase)
        && (2..=4).contains(&digits)
        && digits == shape.digits
        && shape.signs + shape.foreign == 0
        && shape.lower >= 4
        && shape.separators <= 2
        && !value.iter().any(|b| matches!(b, b'.' | b'/' | b':'))
        && !is_type(value)
        && letters
            .split(|b| !b.is_ascii_alphabetic())
            .filter(|word| !word.is_empty())
            .all(|word| word.len() >= 4 && word.iter().skip(1).all(u8::is_ascii_lowercase) && !words::is_harmless(word))
}

/// `Summer-River-2024` and the like, no file and no version.
fn is_passwordlike_kebab(value: &[u8]) -> bool {
    !value.iter().any(|b| matches!(b, b'.' | b'/' | b':' | b'_')) && !is_uuid(value)
}

/// `a1+b2`, `x*2`: both sides of the sign are names or numbers of the same kind.
fn is_arithmetic(value: &[u8]) -> bool {
    value.iter().any(|b| matches!(b, b'+' | b'*' | b'=' | b'?' | b'%')) || is_version_of(value)
}

/// `react@18`, `name@1`.
fn is_version_of(value: &[u8]) -> bool {
    let mut parts = value.splitn(2, |b| *b == b'@');
    let name = parts.next().unwrap_or_default();
    let version = parts.next().unwrap_or_default();
    version.first().is_some_and(u8::is_ascii_digit) && name.iter().all(|b| b.is_ascii_lowercase() || *b == b'-')
}

fn is_format_string(value: &[u8]) -> bool {
    value.windows(2).any(|w| matches!(w, [b'%', b'd' | b's' | b'v' | b'q' | b'x'] | [b'{', b'0'..=b'9' | b'}']))
        || contains(value, b"</")
        || is_version_of(value)
        || value.starts_with(b"^")
}

/// `Uint8Array`, `Sha256`, `Argon2`: a number within or right after the name of a type.
fn is_type(value: &[u8]) -> bool {
    words::is_format(value)
        || value.iter().rev().take_while(|b| b.is_ascii_digit()).count() == 0 && {
            let digits = value.iter().filter(|b| b.is_ascii_digit()).count();
            digits <= 3 && surprise(value) < -8
        }
}

fn starts_as_word(value: &[u8]) -> bool {
    value.iter().take_while(|b| b.is_ascii_lowercase()).count() >= 4 || surprise(value) >= -3
}

/// A word in small letters, none of those that stand there in code; or several with dashes.
fn is_plain_word(value: &[u8], shape: &Shape) -> bool {
    let length = value.len();
    if shape.lower == length {
        return (8..=40).contains(&length) && !words::is_harmless(value);
    }
    // Words of a passphrase.
    let separator = value.iter().copied().find(|b| matches!(b, b'-' | b'.' | b'_')).unwrap_or(b'-');
    shape.lower + shape.separators == length && shape.separators >= 3 && is_passphrase(value, separator)
}

/// Digits alone, and not simply counted up.
fn is_number(value: &[u8], shape: &Shape) -> bool {
    let counted = value.windows(2).filter(|w| matches!(w, [a, b] if b.abs_diff(*a) <= 1)).count();
    shape.digits == value.len()
        && (6..=16).contains(&value.len())
        && counted * 2 < value.len()
        && !value.ends_with(b"000")
}

/// Four words or more, none of which a sentence or a label would have.
fn is_passphrase(value: &[u8], separator: u8) -> bool {
    let (mut count, mut harmless) = (0, 0);
    let good = value.split(|b| *b == separator).all(|word| {
        count += 1;
        harmless += usize::from(words::is_harmless(word));
        word.len() >= 3
            && word.iter().all(u8::is_ascii_alphanumeric)
            && word.iter().skip(1).all(|b| !b.is_ascii_uppercase())
            && !words::is_of_sentence(word)
    });
    good && (4..=10).contains(&count) && harmless * 2 <= count
}

/// Twelve to twenty-four words as wallets have them.
pub(super) fn is_word_list(value: &[u8]) -> bool {
    let mut count = 0_usize;
    let good = value.split(|b| matches!(b, b' ' | b',' | b'\n' | b'\t')).filter(|w| !w.is_empty()).all(|word| {
        count += 1;
        (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase) && !words::is_of_sentence(word)
    });
    good && (12..=24).contains(&count) && count.is_multiple_of(3)
}

/// Groups of four to eight capitals and digits.
fn is_license(value: &[u8]) -> bool {
    let groups = value.split(|b| *b == b'-');
    let shape = Shape::of(value);
    groups.clone().count() >= 3
        && groups.clone().all(|g| (4..=8).contains(&g.len()))
        && shape.lower == 0
        && shape.upper > 1
        && shape.digits > 1
        && shape.upper + shape.digits + shape.separators == value.len()
}

pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value
            .iter()
            .enumerate()
            .all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() })
}

pub(super) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len().max(1)).any(|w| w == needle)
}
