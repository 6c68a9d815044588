//! Names for values that must not be kept: keyed, so that a stolen workspace file cannot be searched for guesses.

use std::{fmt, str::FromStr};

use hmac::{Hmac, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::Sha256;
use zeroize::Zeroizing;

/// The workspace's secret key. Wiped when dropped, never printed.
pub struct FingerprintKey(Zeroizing<[u8; 32]>);

impl FingerprintKey {
    /// Takes 32 bytes of good randomness, made once per workspace.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The fingerprint of `value` under this key.
    #[must_use]
    pub fn fingerprint(&self, value: &[u8]) -> Fingerprint {
        Fingerprint(self.mac("value", value))
    }

    /// HMAC-SHA256 of `value`; `domain` keeps the uses of the key apart.
    pub(crate) fn mac(&self, domain: &str, value: &[u8]) -> [u8; 32] {
        self.mac_of(domain, &[value])
    }

    /// The same of several parts, one after the other.
    fn mac_of(&self, domain: &str, parts: &[&[u8]]) -> [u8; 32] {
        // RFC 2104: a key shorter than the block is padded with zeros.
        let mut block = Zeroizing::new([0; 64]);
        for (to, from) in block.iter_mut().zip(self.0.iter()) {
            *to = *from;
        }
        let mut mac = <Hmac<Sha256> as Mac>::new((&*block).into());
        mac.update(domain.as_bytes());
        mac.update(&[0]);
        parts.iter().for_each(|part| mac.update(part));
        mac.finalize().into_bytes().into()
    }

    /// The first eight bytes of an HMAC: enough to tell a few thousand things apart.
    pub(crate) fn tag(&self, domain: &str, parts: &[&[u8]]) -> Tag {
        let mut tag = Tag::default();
        for (to, from) in tag.iter_mut().zip(self.mac_of(domain, parts)) {
            *to = from;
        }
        tag
    }

    pub(crate) fn duplicate(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A short keyed hash.
pub(crate) type Tag = [u8; 8];

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey(…)")
    }
}

/// HMAC-SHA256 of a value under a [`FingerprintKey`]: enough to know it again, not to read it. Written as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Its first eight digits, by which people name it.
    #[must_use]
    pub fn short(&self) -> String {
        self.0.iter().take(4).map(|b| format!("{b:02x}")).collect()
    }

    pub(crate) fn from_mac(mac: [u8; 32]) -> Self {
        Self(mac)
    }

    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

/// The text is not 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is 64 hexadecimal digits")]
pub struct NotAFingerprint;

impl FromStr for Fingerprint {
    type Err = NotAFingerprint;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        if s.len() != 64 {
            return Err(NotAFingerprint);
        }
        let mut digits = s.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()));
        let mut bytes = [0; 32];
        for byte in &mut bytes {
            let (Some(Some(high)), Some(Some(low))) = (digits.next(), digits.next()) else {
                return Err(NotAFingerprint);
            };
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(de::Error::custom)
    }
}
