//! Private keys in PEM, as files and as values.

use zeroize::Zeroizing;

use super::{pieces, sink::Sink};

/// Lines shorter than this are left to the rule for whole blocks: they could stand anywhere.
const SHORTEST_LINE: usize = 40;

/// How every new OpenSSH key begins: its first line is the same in all keys of a kind and says nothing.
const OPENSSH_START: &str = "b3BlbnNzaC1rZXktdjE";

/// `-----BEGIN` in base64.
const BEGIN_IN_BASE64: &str = "LS0tLS1CRUdJTi";

/// Whether the value is a private key in PEM, as it is or in base64.
pub(super) fn is_private_key(value: &str) -> bool {
    (value.contains("-----BEGIN ") && value.contains("PRIVATE KEY")) || value.starts_with(BEGIN_IN_BASE64)
}

/// Takes every line of the key's body, from the first private key to the end of the last.
pub(super) fn private_key(name: &str, text: &str, sink: &mut Sink) {
    if text.starts_with(BEGIN_IN_BASE64) {
        let folded = Zeroizing::new(text.split_whitespace().collect::<String>());
        if let Some(decoded) = pieces::base64(&folded)
            && let Ok(inner) = std::str::from_utf8(&decoded)
            && inner.contains("PRIVATE KEY")
        {
            sink.keep(name, folded);
            private_key(name, inner, sink);
        }
        return;
    }
    // A key in one line has its line breaks escaped.
    let unescaped = Zeroizing::new(text.replace("\\r", "").replace("\\n", "\n"));
    let mut within = false;
    for line in unescaped.lines().map(str::trim) {
        if line.starts_with("-----") || line.contains("-----BEGIN ") {
            within = line.contains("-----BEGIN ") && line.contains("PRIVATE KEY");
        } else if within && line.len() >= SHORTEST_LINE && !line.starts_with(OPENSSH_START) && is_body(line) {
            sink.keep(name, Zeroizing::new(line.to_owned()));
        }
    }
}

fn is_body(line: &str) -> bool {
    line.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}
