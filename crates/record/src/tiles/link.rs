//! Links to Tiles records.

use onrecord_lexicon::{AtUri, data::base64};
use zeroize::Zeroizing;

use super::LinkSecret;
use crate::Error;

/// A link to a Tiles record.
///
/// `https://chat.tiles.run/<base64 of the at-uri>`, of a private record followed by `#<nonce>.<key>`. The older form
/// `https://tiles.run/share/<base64>` is read too. Base64 is written in the standard alphabet with padding, as Tiles writes
/// it, and read in either alphabet with or without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilesLink {
    /// The record.
    pub uri: AtUri,
    /// What opens it, if it is private.
    pub secret: Option<LinkSecret>,
}

impl TilesLink {
    /// The link that `text` is; `None` if it is none of Tiles'.
    ///
    /// # Errors
    /// [`Error::BadLink`] if it is one of Tiles' and leads nowhere, or its secret is incomplete.
    pub fn parse(text: &str) -> Result<Option<Self>, Error> {
        let bad = |why| Error::BadLink { why };
        let Some((_, rest)) = text.trim().split_once("://").filter(|(s, _)| matches!(*s, "https" | "http")) else {
            return Ok(None);
        };
        let (rest, fragment) = rest.split_once('#').map_or((rest, None), |(rest, f)| (rest, Some(f)));
        let rest = rest.split('?').next().unwrap_or_default();
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host.to_ascii_lowercase();
        let code = match (host.as_str(), path.strip_prefix("share/")) {
            ("chat.tiles.run", code) => code.unwrap_or(path),
            ("tiles.run" | "www.tiles.run", Some(code)) => code,
            _ => return Ok(None),
        };
        // The standard alphabet has a slash, so the rest of the path is the code; some programs escape it.
        let uri = decode(&unescaped(code.trim_end_matches('/'))).and_then(|bytes| String::from_utf8(bytes).ok());
        let uri = uri.ok_or_else(|| bad("its path is no base64 of an address"))?;
        let uri = AtUri::parse(&uri).map_err(|_| bad("its path does not hold an at-uri"))?;
        if uri.rkey().is_none() {
            return Err(bad("its at-uri names no record"));
        }
        let secret = match fragment.filter(|f| !f.is_empty()) {
            None => None,
            Some(text) => {
                let secret = LinkSecret::parse(&Zeroizing::new(unescaped(text)));
                Some(secret.ok_or_else(|| bad("what follows # is not a nonce and a key: the link is incomplete"))?)
            }
        };
        Ok(Some(Self { uri, secret }))
    }

    /// The link as text. That of a private record holds its key: it is shown to its author and to nobody else.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(format!("https://chat.tiles.run/{}", encode(self.uri.as_str().as_bytes())));
        if let Some(secret) = &self.secret {
            text.reserve_exact(90);
            text.push('#');
            text.push_str(&secret.fragment());
        }
        text
    }
}

/// Standard base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = base64::encode(bytes);
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// Base64 in either alphabet, with padding or without.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let standard: Zeroizing<String> = Zeroizing::new(
        text.chars()
            .map(|c| match c {
                '-' => '+',
                '_' => '/',
                c => c,
            })
            .collect(),
    );
    base64::decode(&standard)
}

/// The three characters of base64 that some programs escape in a link.
fn unescaped(text: &str) -> String {
    let mut out = text.to_owned();
    for (escape, plain) in [("%2F", "/"), ("%2f", "/"), ("%2B", "+"), ("%2b", "+"), ("%3D", "="), ("%3d", "=")] {
        out = out.replace(escape, plain);
    }
    out
}
