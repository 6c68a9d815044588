//! Content identifiers, in two strengths: the lenient string format, and the one form that records use.

use super::SyntaxError;

/// Bytes of a CID as records use it: version, codec, hash function, digest length, 32 bytes of digest.
const BINARY_LEN: usize = 36;
/// `b` and 36 bytes in base32.
const TEXT_LEN: usize = 59;
const VERSION: u8 = 1;
const RAW: u8 = 0x55;
const DAG_CBOR: u8 = 0x71;
const SHA2_256: u8 = 0x12;
const DIGEST_LEN: u8 = 32;
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

identifier!(
    /// A content identifier as links and blobs must have it: CIDv1 in lower-case base32, of DAG-CBOR
    /// or raw bytes, by SHA-256. The lexicon string format `cid` is wider: [`is_valid_cid`].
    #[derive(PartialOrd, Ord)]
    Cid, "CID", check
);

impl Cid {
    /// The CID of DAG-CBOR bytes whose SHA-256 is `digest`.
    #[must_use]
    pub fn of_dag_cbor_digest(digest: &[u8; 32]) -> Self {
        Self::of_digest(DAG_CBOR, digest)
    }

    /// The CID of raw bytes (a blob) whose SHA-256 is `digest`.
    #[must_use]
    pub fn of_raw_digest(digest: &[u8; 32]) -> Self {
        Self::of_digest(RAW, digest)
    }

    fn of_digest(codec: u8, digest: &[u8; 32]) -> Self {
        let header = [VERSION, codec, SHA2_256, DIGEST_LEN];
        Self(encode_base32(header.iter().chain(digest).copied()))
    }

    /// The CID with this binary form.
    ///
    /// # Errors
    /// If it is not CIDv1, DAG-CBOR or raw, SHA-256, 36 bytes exactly.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SyntaxError> {
        match check_binary(bytes) {
            Ok(()) => Ok(Self(encode_base32(bytes.iter().copied()))),
            Err(why) => Err(SyntaxError { what: "CID", why }),
        }
    }

    /// The binary form.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; BINARY_LEN] {
        decode_base32(&self.0).unwrap_or([0; BINARY_LEN])
    }

    /// The SHA-256 of the content.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.to_bytes().last_chunk().copied().unwrap_or_default()
    }

    /// Whether the content is raw bytes (a blob's); else it is DAG-CBOR.
    #[must_use]
    pub fn is_raw(&self) -> bool {
        matches!(self.to_bytes(), [_, RAW, ..])
    }
}

impl From<&Cid> for cid::Cid {
    fn from(cid: &Cid) -> Self {
        let [_, codec, ..] = cid.to_bytes();
        let digest = cid.digest();
        let hash = cid::multihash::Multihash::wrap(u64::from(SHA2_256), &digest).unwrap_or_default();
        Self::new_v1(u64::from(codec), hash)
    }
}

impl From<Cid> for cid::Cid {
    fn from(cid: Cid) -> Self {
        Self::from(&cid)
    }
}

impl TryFrom<&cid::Cid> for Cid {
    type Error = SyntaxError;

    fn try_from(cid: &cid::Cid) -> Result<Self, SyntaxError> {
        Self::from_bytes(&cid.to_bytes())
    }
}

/// Whether `s` has the lexicon string format `cid`: the letter of some base and 7 to 255 characters
/// after it. Any base passes, and what is encoded is not looked at; CIDs of version 0 have no such letter.
#[must_use]
pub fn is_valid_cid(s: &str) -> bool {
    (8..=256).contains(&s.len())
        && s.starts_with(is_base)
        && s.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'='))
}

/// The multibase registry's codes that are letters or digits.
fn is_base(c: char) -> bool {
    matches!(
        c,
        '0' | '7'
            | '9'
            | 'f'
            | 'F'
            | 'v'
            | 'V'
            | 't'
            | 'T'
            | 'b'
            | 'B'
            | 'c'
            | 'C'
            | 'h'
            | 'k'
            | 'K'
            | 'R'
            | 'z'
            | 'Z'
            | 'm'
            | 'M'
            | 'u'
            | 'U'
    )
}

pub(super) fn check(s: &str) -> Result<(), &'static str> {
    if !s.starts_with('b') {
        return Err("it is not in lower-case base32");
    }
    if s.len() != TEXT_LEN {
        return Err("it is not 59 characters long");
    }
    match decode_base32(s) {
        Some(bytes) => check_binary(&bytes),
        None => Err("it is not lower-case base32 of whole bytes"),
    }
}

fn check_binary(bytes: &[u8]) -> Result<(), &'static str> {
    match bytes {
        [VERSION, RAW | DAG_CBOR, SHA2_256, DIGEST_LEN, digest @ ..] => {
            if digest.len() == usize::from(DIGEST_LEN) {
                Ok(())
            } else {
                Err("the digest is not 32 bytes long")
            }
        }
        [VERSION, RAW | DAG_CBOR, ..] => Err("the hash is not SHA-256"),
        [VERSION, ..] => Err("it is neither of DAG-CBOR nor of raw bytes"),
        _ => Err("it is not of version 1"),
    }
}

/// 36 bytes to `b` and 58 characters.
fn encode_base32(bytes: impl Iterator<Item = u8>) -> Box<str> {
    let mut text = String::with_capacity(TEXT_LEN);
    text.push('b');
    let (mut bits, mut held) = (0u32, 0u32);
    let mut put = |digit: u32| {
        let digit = usize::try_from(digit & 31).ok().and_then(|i| BASE32.get(i));
        text.push(digit.map_or('a', |b| char::from(*b)));
    };
    for byte in bytes {
        bits = bits << 8 | u32::from(byte);
        held += 8;
        while held >= 5 {
            held -= 5;
            put(bits >> held);
        }
        bits &= (1 << held) - 1;
    }
    if held > 0 {
        put(bits << (5 - held));
    }
    text.into_boxed_str()
}

/// `None` unless `text` is `b` and 58 characters of base32 whose last bits are 0.
fn decode_base32(text: &str) -> Option<[u8; BINARY_LEN]> {
    let digits = text.strip_prefix('b')?.as_bytes();
    if digits.len() != TEXT_LEN - 1 {
        return None;
    }
    let mut out = [0; BINARY_LEN];
    let mut place = out.iter_mut();
    let (mut bits, mut held) = (0u32, 0u32);
    for b in digits {
        let digit = match b {
            b'a'..=b'z' => b - b'a',
            b'2'..=b'7' => b - b'2' + 26,
            _ => return None,
        };
        bits = bits << 5 | u32::from(digit);
        held += 5;
        if held >= 8 {
            held -= 8;
            *place.next()? = u8::try_from(bits >> held).ok()?;
            bits &= (1 << held) - 1;
        }
    }
    (bits == 0).then_some(out)
}
