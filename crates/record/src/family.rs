//! The families of records that are written.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::{aligned, tiles};

/// A way of writing conversations as records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Family {
    /// `click.aligned.chat`: a session record and one record per turn.
    #[default]
    ClickAligned,
    /// `run.tiles.chat.sessionSnapshot`: the whole conversation in one record.
    Tiles,
    /// The same, encrypted: whoever has the link can read it.
    TilesPrivate,
}

impl Family {
    /// Every family.
    pub const ALL: [Self; 3] = [Self::ClickAligned, Self::Tiles, Self::TilesPrivate];

    /// Its name on the command line, in JSON and in the ledger.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClickAligned => "click.aligned",
            Self::Tiles => "tiles",
            Self::TilesPrivate => "tiles-private",
        }
    }

    /// The collection of the record that stands for a whole conversation.
    #[must_use]
    pub const fn collection(self) -> &'static str {
        match self {
            Self::ClickAligned => aligned::SESSION,
            Self::Tiles | Self::TilesPrivate => tiles::SNAPSHOT,
        }
    }

    /// Whether a conversation is one record.
    #[must_use]
    pub const fn is_tiles(self) -> bool {
        matches!(self, Self::Tiles | Self::TilesPrivate)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is no family's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown family {0:?}; known: click.aligned, tiles, tiles-private")]
pub struct UnknownFamily(pub String);

impl FromStr for Family {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|f| f.as_str() == name).ok_or_else(|| UnknownFamily(name.to_owned()))
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.as_str())
    }
}
