//! Identifiers and string formats. The only door to each type is its `parse`.
//! Source: the protocol's syntax specifications and its interop vectors.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A string that is not what it was taken for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a valid {what}: {why}")]
pub struct SyntaxError {
    /// The kind of identifier, e.g. `DID`.
    pub what: &'static str,
    /// The rule it breaks.
    pub why: &'static str,
}

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident, $what:literal, $check:path) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// Checks `s` against the specification.
            pub fn parse(s: &str) -> Result<Self, SyntaxError> {
                match $check(s) {
                    Ok(()) => Ok(Self(s.into())),
                    Err(why) => Err(SyntaxError { what: $what, why }),
                }
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = SyntaxError;

            fn from_str(s: &str) -> Result<Self, SyntaxError> {
                Self::parse(s)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let s = String::deserialize(d)?;
                Self::parse(&s).map_err(serde::de::Error::custom)
            }
        }
    };
}

// STUB: accepts anything that is not empty; replaced by the real checks.
fn stub(s: &str) -> Result<(), &'static str> {
    if s.is_empty() { Err("it is empty") } else { Ok(()) }
}

identifier!(
    /// A decentralised identifier, e.g. `did:plc:ewvi7nxzyoun6zhxrhs64oiz`.
    Did, "DID", stub
);
identifier!(
    /// A handle, e.g. `dana.example.com`.
    Handle, "handle", stub
);
identifier!(
    /// A namespaced identifier, e.g. `click.aligned.chat.message`.
    Nsid, "NSID", stub
);
identifier!(
    /// A record key.
    Rkey, "record key", stub
);
identifier!(
    /// A timestamp identifier: 13 characters of sortable base32.
    Tid, "TID", stub
);
identifier!(
    /// An at-uri: `at://AUTHORITY[/COLLECTION[/RKEY]]`.
    AtUri, "at-uri", stub
);
identifier!(
    /// A content identifier in its text form, as strict as records need it.
    Cid, "CID", stub
);
identifier!(
    /// A datetime: RFC 3339 and ISO 8601 at once, with a zone.
    Datetime, "datetime", stub
);
