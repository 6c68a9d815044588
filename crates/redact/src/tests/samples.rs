//! Samples are templates, so that no string with the shape of a real secret stands in the repository.

/// A sample with its blanks filled, and where its secrets stand.
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) secrets: Vec<(usize, usize)>,
}

/// Fills `<alnum:36>` and the like with made-up characters that depend on `seed`, and takes out « and ».
pub(crate) fn fill(template: &str, seed: u64) -> Sample {
    let mut text = String::new();
    let mut secrets = Vec::new();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut rest = template;
    while let Some(c) = rest.chars().next() {
        if let Some((kind, length, after)) = blank(rest) {
            let alphabet: &[u8] = match kind {
                "alnum" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "url" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
                "b64" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
                "lower" => b"abcdefghijklmnopqrstuvwxyz0123456789",
                "b58" => b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
                "b32" => b"abcdefghijklmnopqrstuvwxyz234567",
                "upper" => b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                "hex" => b"0123456789abcdef",
                "digit" => b"0123456789",
                other => panic!("no alphabet {other}"),
            };
            for n in 0..length {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let mut pick = alphabet[usize::try_from(state >> 33).unwrap() % alphabet.len()];
                // Both a digit and letters early on, and no dash at the ends, as tokens have it.
                if n == 2 && alphabet.contains(&b'7') {
                    pick = b'7';
                }
                if n == 1 && alphabet.contains(&b'q') {
                    pick = b'q';
                }
                if (n == 0 || n + 1 == length) && matches!(pick, b'-' | b'_' | b'+' | b'/') {
                    pick = b'R';
                }
                text.push(char::from(pick));
            }
            rest = after;
            continue;
        }
        rest = rest.strip_prefix(c).unwrap();
        match c {
            '«' => secrets.push((text.len(), 0)),
            '»' => secrets.last_mut().unwrap().1 = text.len(),
            other => text.push(other),
        }
    }
    Sample { text, secrets }
}

fn blank(rest: &str) -> Option<(&str, usize, &str)> {
    let (inner, after) = rest.strip_prefix('<')?.split_once('>')?;
    let (kind, length) = inner.split_once(':')?;
    kind.bytes().all(|b| b.is_ascii_alphanumeric()).then_some(())?;
    Some((kind, length.parse().ok()?, after))
}
