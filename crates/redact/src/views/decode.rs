//! Text in base64 and hexadecimal.

use zeroize::Zeroizing;

use crate::text::part;

/// Shorter runs of base64 than this (in digits) hide nothing that a rule would know.
const BASE64_DIGITS: usize = 20;
/// Shorter runs of hexadecimal than this (in digits) hide nothing that a rule would know.
const HEX_DIGITS: usize = 32;
/// Shorter stretches of printable text than this (in bytes) within what was decoded are chance.
const PRINTABLE: usize = 14;
/// Lines of base64 that were wrapped are at least this long (in digits).
const WRAPPED: usize = 16;

/// What is told of: a text that stood encoded, and the bytes in which it did.
type Each<'a> = dyn FnMut(&[u8], (usize, usize)) + 'a;

/// Calls `each` with every printable text that stands encoded in `text`, and the bytes in which it does.
pub(crate) fn decoded(text: &[u8], each: &mut Each<'_>) {
    // Every stretch that is long enough has a byte at every so many: only those are looked at first.
    let stride = BASE64_DIGITS - 1;
    let (mut at, mut probe) = (0, stride);
    while let Some(byte) = text.get(probe) {
        let kind = class(*byte);
        if kind & (BASE64 | DUMP) == 0 {
            at = probe + 1;
            probe = at + stride;
            continue;
        }
        let start = run_start(text, at, probe, kind & BASE64 != 0, BASE64);
        if probe + 1 - start > stride {
            let end = run_end(text, start, BASE64);
            at = encoded(text, start, end, each).max(end);
            probe = at + stride;
            continue;
        }
        // A list of bytes has no long run of digits.
        // One of three bytes in it is a digit.
        let digit = part(text, probe.saturating_sub(2), probe + 1).iter().any(|b| class(*b) & HEX != 0);
        let list = run_start(text, at, probe, digit && kind & DUMP != 0, DUMP);
        at = if probe + 1 - list <= stride {
            start.min(list)
        } else if let Some(end) = dump(text, list, each) {
            end
        } else {
            // Only its first byte is done with: a run of digits may begin with the next.
            start.min(list + 1).max(at + 1)
        };
        probe = at + stride;
    }
}

/// Where the run of bytes of a class that holds `probe` begins, not before `from`; beyond `probe` if it holds none.
fn run_start(text: &[u8], from: usize, probe: usize, holds: bool, of: u8) -> usize {
    if !holds {
        return probe + 1;
    }
    let before = part(text, from, probe).iter().rev().take_while(|b| class(**b) & of != 0).count();
    probe - before
}

/// Decodes the run of digits `start..end`; returns where what was decoded ends.
fn encoded(text: &[u8], start: usize, end: usize, each: &mut Each<'_>) -> usize {
    let run = part(text, start, end);
    if run.len() < BASE64_DIGITS {
        return end;
    }
    let padded = |end: usize| end + part(text, end, end + 2).iter().take_while(|b| **b == b'=').count();
    // After the mark of a diff, and what says that it is hexadecimal.
    let marks = run.iter().take_while(|b| matches!(b, b'+' | b'-' | b'/' | b'_')).count();
    let bare = part(run, marks, run.len());
    let bare = bare.strip_prefix(b"0x").or_else(|| bare.strip_prefix(b"0X")).unwrap_or(bare);
    if bare.len() >= HEX_DIGITS && bare.iter().all(u8::is_ascii_hexdigit) {
        hexadecimal(bare, (start, end), each);
        return end;
    }
    // `67-68-70`: dashes are digits of base64.
    let dashed = |chunk: &[u8]| matches!(chunk, [a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() && matches!(rest, [] | [b'-']));
    if run.len() > 3 * PRINTABLE && run.chunks(3).all(dashed) {
        let plain: Zeroizing<Vec<u8>> = Zeroizing::new(run.chunks(3).map(|chunk| pair(part(chunk, 0, 2))).collect());
        if printable(&plain, (start, end), each) {
            return end;
        }
    }
    let lines = if run.len() >= WRAPPED { wrapped(text, start, end) } else { None };
    match lines {
        Some((digits, end)) => {
            base64(&digits, (start, padded(end)), each);
            end
        }
        None => {
            base64(run, (start, padded(end)), each);
            end
        }
    }
}

const BASE64: u8 = 1;
const HEX: u8 = 2;
/// What lists of bytes are written with.
const DUMP: u8 = 4;

#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "every index is below 256")]
const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_') {
            table[byte] |= BASE64;
        }
        if b.is_ascii_hexdigit() {
            table[byte] |= HEX;
        }
        if b.is_ascii_hexdigit() || matches!(b, b' ' | b',' | b':' | b'x' | b'\n') {
            table[byte] |= DUMP;
        }
        byte += 1;
    }
    table
}

static CLASSES: [u8; 256] = classes();

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or_default()
}

fn run_end(text: &[u8], start: usize, of: u8) -> usize {
    text.get(start..).and_then(|t| t.iter().position(|b| class(*b) & of == 0)).map_or(text.len(), |n| start + n)
}

/// The digits of base64 that goes on over lines, and where it ends.
fn wrapped(text: &[u8], start: usize, end: usize) -> Option<(Zeroizing<Vec<u8>>, usize)> {
    let width = end - start;
    let mut digits = Zeroizing::new(Vec::new());
    let mut last = end;
    while let Some(begin) = next_line(text, last) {
        let line_end = run_end(text, begin, BASE64);
        if line_end == begin || line_end - begin > width {
            break;
        }
        if digits.is_empty() {
            digits.extend_from_slice(part(text, start, end));
        }
        digits.extend_from_slice(part(text, begin, line_end));
        last = line_end;
        if line_end - begin < width {
            break;
        }
    }
    (!digits.is_empty()).then_some((digits, last))
}

/// Where the next line begins, if one ends at `at`: also after an escaped line end and a quotation mark or an indentation.
fn next_line(text: &[u8], at: usize) -> Option<usize> {
    let after = match part(text, at, at + 4) {
        [b'\r', b'\n', ..] => at + 2,
        [b'\n', ..] => at + 1,
        [b'\\', b'r', b'\\', b'n'] => at + 4,
        [b'\\', b'n', ..] => at + 2,
        _ => return None,
    };
    let marks = part(text, after, after + 40).iter().take_while(|b| matches!(b, b' ' | b'\t' | b'>' | b'|' | b'#'));
    Some(after + marks.count())
}

/// The value of a digit of base64, either alphabet; 64 for what is none.
#[expect(clippy::indexing_slicing, clippy::cast_possible_truncation, reason = "every index is below 256")]
const fn values() -> [u8; 256] {
    let mut table = [64; 256];
    let mut value = 0;
    while value < 26 {
        table[b'A' as usize + value] = value as u8;
        table[b'a' as usize + value] = value as u8 + 26;
        value += 1;
    }
    let mut digit = 0;
    while digit < 10 {
        table[b'0' as usize + digit] = digit as u8 + 52;
        digit += 1;
    }
    table[b'+' as usize] = 62;
    table[b'-' as usize] = 62;
    table[b'/' as usize] = 63;
    table[b'_' as usize] = 63;
    table
}

static VALUES: [u8; 256] = values();

/// Whatever in `digits` decodes to printable text. A run may begin before the base64 in it does (`\n` in a string), so all
/// four places in a group are tried.
fn base64(digits: &[u8], span: (usize, usize), each: &mut Each<'_>) {
    let mut plain = Zeroizing::new(Vec::with_capacity(digits.len() / 4 * 3 + 3));
    for skip in 0..4 {
        plain.clear();
        for group in digits.get(skip..).unwrap_or_default().chunks(4) {
            let value = |i: usize| {
                let digit = group.get(i).copied().unwrap_or(b'A');
                u32::from(VALUES.get(usize::from(digit)).copied().unwrap_or_default())
            };
            let bits = value(0) << 18 | value(1) << 12 | value(2) << 6 | value(3);
            let bytes = bits.to_be_bytes();
            plain.extend_from_slice(part(&bytes, 1, group.len().max(1)));
        }
        if wide(&plain, span, each) || printable(&plain, span, each) {
            return;
        }
    }
}

/// Text in UTF-16, as PowerShell encodes its commands: every other byte is 0.
fn wide(plain: &[u8], span: (usize, usize), each: &mut Each<'_>) -> bool {
    let zeros = |from: usize| plain.iter().skip(from).step_by(2).filter(|b| **b == 0).count();
    let half = plain.len() / 2;
    // Of both orders, and whatever few letters are not ASCII.
    let Some(letters) = [1, 0].into_iter().find(|from| half >= PRINTABLE && zeros(*from) * 8 >= half * 7) else {
        return false;
    };
    let text: Zeroizing<Vec<u8>> = Zeroizing::new(plain.iter().skip(1 - letters).step_by(2).copied().collect());
    printable(&text, span, each)
}

fn hexadecimal(digits: &[u8], span: (usize, usize), each: &mut Each<'_>) {
    for skip in 0..2 {
        let pairs = digits.get(skip..).unwrap_or_default().chunks_exact(2);
        let plain: Zeroizing<Vec<u8>> = Zeroizing::new(pairs.map(pair).collect());
        if printable(&plain, span, each) {
            return;
        }
    }
}

fn pair(digits: &[u8]) -> u8 {
    digits.iter().fold(0, |n, b| n << 4 | char::from(*b).to_digit(16).and_then(|d| u8::try_from(d).ok()).unwrap_or(0))
}

/// Calls `each` with the printable stretches of `plain`; says whether there are any.
fn printable(plain: &[u8], span: (usize, usize), each: &mut Each<'_>) -> bool {
    let readable = |b: &u8| (0x20..0x7f).contains(b) || matches!(b, b'\n' | b'\r' | b'\t' | 0x80..);
    let mut any = false;
    for stretch in plain.split(|b| !readable(b)) {
        // Text beyond ASCII is text only if it is UTF-8: random bytes are not.
        let ascii = stretch.iter().filter(|b| b.is_ascii()).count();
        let is_text = stretch.len() >= PRINTABLE && (ascii == stretch.len() || mostly_text(stretch, ascii));
        if is_text {
            any = true;
            each(stretch, span);
        }
    }
    any
}

fn mostly_text(stretch: &[u8], ascii: usize) -> bool {
    if str::from_utf8(stretch).is_ok() {
        return true;
    }
    // A token of ASCII may stand in it all the same.
    ascii >= PRINTABLE && stretch.split(|b| !b.is_ascii()).any(|s| s.len() >= PRINTABLE)
}

/// Bytes written one by one, the first of them at `from` or after what parts them: `67 68 70`, `0x67, 0x68`, `67:68`,
/// `6768 705f`, `103, 104, 112`, or lines of a dump with their addresses and characters. Returns where the list ends, if it
/// is one.
fn dump(text: &[u8], from: usize, each: &mut Each<'_>) -> Option<usize> {
    let parts = |b: &u8| matches!(b, b' ' | b',' | b':' | b'\n');
    let start = from + text.get(from..)?.iter().take(64).position(|b| !parts(b))?;
    let first = part(text, start, start + 9);
    let first = first.strip_prefix(b"0x").unwrap_or(first);
    let digits = first.iter().take_while(|b| class(**b) & HEX != 0).count();
    if !matches!(digits, 2 | 3 | 4 | 8) {
        return None;
    }
    hex_list(text, start, each).or_else(|| decimal_list(text, start, each))
}

fn hex_list(text: &[u8], start: usize, each: &mut Each<'_>) -> Option<usize> {
    let mut plain = Zeroizing::new(Vec::new());
    let (mut at, mut end) = (start, start);
    let mut lines = false;
    loop {
        if part(text, at, at + 2) == b"0x" {
            at += 2;
        }
        let group = run_end(part(text, 0, at + 16), at, HEX);
        let digits = part(text, at, group);
        if !matches!(digits.len(), 2 | 4 | 8) || class(text.get(group).copied().unwrap_or_default()) & BASE64 != 0 {
            break;
        }
        // An address at the beginning of the first line, and not a byte.
        let address = text.get(group) == Some(&b':') || part(text, group, group + 2) == b"  ";
        if digits.len() == 8 && plain.is_empty() && address {
            at = group + usize::from(text.get(group) == Some(&b':'));
            at += gap(text, at);
            lines = true;
            continue;
        }
        plain.extend(digits.chunks(2).map(pair));
        end = group;
        at = match gap(text, group) {
            length @ 1..4 if !part(text, group, group + length).ends_with(b"  ") => group + length,
            // Between the eighth byte and the ninth.
            2 if digits.len() == 2 && is_middle(text, group + 2) => group + 2,
            _ => match next_dump_line(text, group) {
                Some(next) => {
                    lines = true;
                    next
                }
                None => break,
            },
        };
    }
    let span = if lines { whole_lines(text, start, end) } else { (start, end) };
    listed(&plain, span, each)
}

/// Whether another byte of a dump stands at `at`, not the characters of its line.
fn is_middle(text: &[u8], at: usize) -> bool {
    matches!(part(text, at, at + 4), [a, b, b' ', next]
        if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() && (next.is_ascii_hexdigit() || *next == b' '))
}

/// A dump shows the characters too, beside the numbers.
fn whole_lines(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    let before = part(text, start.saturating_sub(24), start).iter().rev().take_while(|b| **b != b'\n').count();
    let after = part(text, end, end + 64).iter().take_while(|b| **b != b'\n').count();
    (start - before, end + after)
}

fn gap(text: &[u8], at: usize) -> usize {
    part(text, at, at + 4).iter().take_while(|b| matches!(b, b' ' | b',' | b':' | b'\n')).count()
}

/// The first byte of the next line of a dump: after the characters of this one and the address of that.
fn next_dump_line(text: &[u8], at: usize) -> Option<usize> {
    let line = at + part(text, at, at + 64).iter().position(|b| *b == b'\n')? + 1;
    let address = run_end(part(text, 0, line + 17), line, HEX);
    let long = address - line;
    let colon = usize::from(text.get(address) == Some(&b':'));
    let spaces = part(text, address + colon, address + colon + 4).iter().take_while(|b| **b == b' ').count();
    (matches!(long, 4..=16) && spaces > 0).then_some(address + colon + spaces)
}

fn decimal_list(text: &[u8], start: usize, each: &mut Each<'_>) -> Option<usize> {
    let mut plain = Zeroizing::new(Vec::new());
    let (mut at, mut end) = (start, start);
    loop {
        let digits = part(text, at, at + 4).iter().take_while(|b| b.is_ascii_digit()).count();
        let number = str::from_utf8(part(text, at, at + digits)).ok().and_then(|n| n.parse::<u8>().ok());
        let Some(byte) = number.filter(|_| digits >= 2) else { break };
        plain.push(byte);
        end = at + digits;
        let gap = gap(text, end);
        if gap == 0 || gap == 4 {
            break;
        }
        at = end + gap;
    }
    listed(&plain, (start, end), each)
}

fn listed(plain: &[u8], span: (usize, usize), each: &mut Each<'_>) -> Option<usize> {
    (plain.len() >= PRINTABLE).then(|| {
        printable(plain, span, each);
        span.1
    })
}
