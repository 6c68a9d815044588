//! What a session may be asked to write: families of records, by the names that the command line has for them.

use onrecord_atproto::{Action, oauth::Scopes};
use onrecord_record::{
    Family,
    aligned::{MEMBER, MESSAGE, SESSION},
    tiles::SNAPSHOT,
};

/// A family of records that access is asked for as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Conversations, as a session and its messages.
    ClickAligned,
    /// Conversations as Tiles keeps them, public or private.
    Tiles,
    /// The members of a collective.
    Members,
    /// Lexicons.
    Lexicons,
}

impl Access {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::ClickAligned, Self::Tiles, Self::Members, Self::Lexicons];

    /// Its name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClickAligned => "click.aligned",
            Self::Tiles => "tiles",
            Self::Members => "members",
            Self::Lexicons => "lexicons",
        }
    }

    /// The collections of its records.
    #[must_use]
    pub fn collections(self) -> &'static [&'static str] {
        match self {
            Self::ClickAligned => &[SESSION, MESSAGE],
            Self::Tiles => &[SNAPSHOT],
            Self::Members => &[MEMBER],
            Self::Lexicons => &["com.atproto.lexicon.schema"],
        }
    }

    /// The family that has records of this collection.
    #[must_use]
    pub fn of(collection: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|access| access.collections().contains(&collection))
    }

    /// The narrowest scopes for these families.
    #[must_use]
    pub fn scopes(of: &[Self]) -> Scopes {
        Scopes::for_collections(of.iter().flat_map(|access| access.collections()))
    }

    /// Whether all of it was granted.
    #[must_use]
    pub fn is_granted(self, scopes: &Scopes) -> bool {
        let actions = [Action::Create, Action::Update, Action::Delete];
        self.collections().iter().all(|collection| actions.iter().all(|action| scopes.permits(collection, *action)))
    }
}

impl From<Family> for Access {
    fn from(family: Family) -> Self {
        match family {
            Family::ClickAligned => Self::ClickAligned,
            Family::Tiles | Family::TilesPrivate => Self::Tiles,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_collection_is_of_its_family() {
        for access in Access::ALL {
            assert!(access.collections().iter().all(|collection| Access::of(collection) == Some(access)));
        }
        assert_eq!(Access::of("app.bsky.feed.post"), None);
        assert!(Family::ALL.into_iter().all(|family| Access::of(family.collection()) == Some(family.into())));
    }

    #[test]
    fn a_family_is_granted_where_all_of_it_is() {
        let scopes = Access::scopes(&[Access::ClickAligned, Access::Members]);
        let granted: Vec<_> = Access::ALL.into_iter().filter(|access| access.is_granted(&scopes)).collect();
        assert_eq!(granted, [Access::ClickAligned, Access::Members]);
        assert!(Access::ALL.into_iter().all(|access| access.is_granted(&Scopes::full_access())));
        assert!(!Access::ClickAligned.is_granted(&Scopes::for_collections([SESSION])));
    }
}
