//! A JSON text that is cut off, closed behind the last thing in it that is whole.

/// `text` up to the last member or item that is whole, with what is open there closed; `None` if nothing is.
///
/// Nothing is made up: a string, number or name that is not finished goes, and with it the member it belongs to.
pub(super) fn mend(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut open: Vec<u8> = Vec::new();
    // Where the last whole value within a container ends, and how many containers are open there.
    let mut whole: Option<(usize, usize)> = None;
    let mut at = 0;
    // Within an object a string is a name until a colon has come.
    let mut expects_value = false;
    while let Some(byte) = bytes.get(at) {
        let in_object = open.last() == Some(&b'{');
        match byte {
            b'"' => {
                let Some(length) = string_length(bytes.get(at + 1..).unwrap_or_default()) else { break };
                at += length + 1;
                if !in_object || expects_value {
                    whole = Some((at + 1, open.len()));
                    expects_value = false;
                }
            }
            b'{' | b'[' => {
                open.push(*byte);
                expects_value = false;
                // Empty is whole, too.
                whole = Some((at + 1, open.len()));
            }
            b'}' | b']' => {
                let opener = if *byte == b'}' { b'{' } else { b'[' };
                if open.pop() != Some(opener) {
                    break;
                }
                whole = Some((at + 1, open.len()));
                if open.is_empty() {
                    break;
                }
            }
            b':' => expects_value = true,
            b',' => expects_value = false,
            byte if byte.is_ascii_whitespace() => {}
            _ => {
                let rest = bytes.get(at..)?;
                let Some(length) = rest.iter().position(|b| matches!(b, b',' | b'}' | b']') || b.is_ascii_whitespace())
                else {
                    break;
                };
                at += length - 1;
                if !in_object || expects_value {
                    whole = Some((at + 1, open.len()));
                    expects_value = false;
                }
            }
        }
        at += 1;
        if open.len() > MAX_DEPTH {
            break;
        }
    }
    close(text, &open, whole)
}

/// Deeper than `serde_json` reads.
const MAX_DEPTH: usize = 128;

fn close(text: &str, open: &[u8], whole: Option<(usize, usize)>) -> Option<String> {
    let (end, depth) = whole?;
    let mut mended = text.get(..end)?.to_owned();
    for opener in open.get(..depth.min(open.len()))?.iter().rev() {
        mended.push(if *opener == b'{' { '}' } else { ']' });
    }
    Some(mended)
}

/// How long the string is whose opening quote stands before `bytes`; `None` if it does not end.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_is_not_finished_goes_and_what_is_open_is_closed() {
        for (cut, whole) in [
            (r#"{"a":1,"b":[{"c":"x"},{"c":"y"#, r#"{"a":1,"b":[{"c":"x"},{}]}"#),
            (r#"{"a":1,"b""#, r#"{"a":1}"#),
            (r#"{"a":1,"b":tru"#, r#"{"a":1}"#),
            (r#"[1,2,3"#, r#"[1,2]"#),
            (r#"{"a":"x\"#, r#"{}"#),
            (r#"{"a":{"b":[]},"#, r#"{"a":{"b":[]}}"#),
        ] {
            assert_eq!(mend(cut).as_deref(), Some(whole), "{cut}");
        }
        assert_eq!(mend("12"), None);
        assert_eq!(mend(""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_beginning_of_a_document_is_a_document(cut in any::<prop::sample::Index>(), n in 0_usize..4) {
            let document = json!({
                "messages": (0..n).map(|i| json!({"id": i, "text": format!("é {i} \"q\" \\"), "deep": [[], {}, [true, null, -1.5e3]]})).collect::<Vec<_>>(),
                "title": "x",
            });
            let text = document.to_string();
            let mut end = cut.index(text.len() + 1);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            if let Some(mended) = mend(text.get(..end).unwrap()) {
                let value: Result<Value, _> = serde_json::from_str(&mended);
                prop_assert!(value.is_ok(), "{mended}");
            } else {
                prop_assert_eq!(end, 0);
            }
        }

        #[test]
        fn anything_else_is_mended_somehow(text in "[\\{\\}\\[\\],:\" a\\\\é1]{0,40}") {
            let _ = mend(&text);
        }
    }
}
