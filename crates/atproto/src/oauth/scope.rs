//! What a session may do, and whether it is what was asked for. Source: the protocol's permission specification.
//!
//! A server drops what it does not know without a word, and may write the same permission another way: what was granted is
//! read for what it permits, not compared as text.

use std::fmt;

use onrecord_lexicon::Nsid;
use url::form_urlencoded;

use crate::Action;

/// The scope that every session has.
const BASE: &str = "atproto";
/// The scope that permits all writing to the repository, of before there were narrower ones.
const FULL: &str = "transition:generic";
const ACTIONS: [Action; 3] = [Action::Create, Action::Update, Action::Delete];

/// Scopes, in order, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes(Vec<String>);

/// `repo:…`: what may be done to the records of some collections.
#[derive(Debug, PartialEq, Eq)]
struct RepoPermission {
    /// `*` is all.
    collections: Vec<String>,
    actions: Vec<Action>,
}

impl Scopes {
    /// Reads a list as the protocol writes it, separated by spaces. Unknown scopes are kept, and permit nothing.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut scopes = Self::default();
        text.split_ascii_whitespace().for_each(|scope| scopes.add(scope));
        scopes
    }

    /// The narrowest scopes that let records of these collections be created, updated and deleted, and nothing else.
    pub fn for_collections<T: AsRef<str>>(collections: impl IntoIterator<Item = T>) -> Self {
        let mut scopes = Self(vec![BASE.to_owned()]);
        // One scope a collection: there are servers that know only this form.
        collections.into_iter().for_each(|collection| scopes.add(&format!("repo:{}", collection.as_ref())));
        scopes
    }

    /// All that may be done to a repository, for servers that know no narrower scope (`transition:generic`).
    #[must_use]
    pub fn full_access() -> Self {
        Self(vec![BASE.to_owned(), FULL.to_owned()])
    }

    /// Adds a scope, if it is not among them.
    pub fn add(&mut self, scope: &str) {
        if !self.contains(scope) {
            self.0.push(scope.to_owned());
        }
    }

    /// Whether the scope stands among them, as it is written.
    #[must_use]
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|known| known == scope)
    }

    /// The scopes, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether they permit to do this to records of the collection.
    #[must_use]
    pub fn permits(&self, collection: &str, action: Action) -> bool {
        self.contains(FULL)
            || self.iter().filter_map(RepoPermission::parse).any(|permission| permission.permits(collection, action))
    }

    /// The scopes of this list, which was asked for, that `granted` does not fulfil.
    #[must_use]
    pub fn not_in(&self, granted: &Self) -> Vec<String> {
        let fulfilled = |scope: &str| {
            if granted.contains(scope) {
                return true;
            }
            match RepoPermission::parse(scope) {
                Some(asked) => asked.is_within(granted),
                // What it stands for is written out in the answer, and known to the server alone.
                None if scope.starts_with("include:") => granted.iter().any(|scope| scope != BASE),
                None => false,
            }
        };
        self.iter().filter(|scope| !fulfilled(scope)).map(str::to_owned).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl RepoPermission {
    /// `repo:COLLECTION`, with or without `?action=…`, or `repo?collection=…&collection=…`. None if it is another scope, or
    /// not a valid one: a server takes no notice of those.
    fn parse(scope: &str) -> Option<Self> {
        let rest = scope.strip_prefix("repo")?;
        let (positional, query) = match rest.split_once('?') {
            Some((positional, query)) => (positional, query),
            None => (rest, ""),
        };
        let mut permission = Self { collections: Vec::new(), actions: Vec::new() };
        let positional = match positional.strip_prefix(':') {
            // Percent-encoding alone, without the form's other rules.
            Some(text) if text.contains(['=', '&', '+']) => return None,
            Some(text) => Some(form_urlencoded::parse(text.as_bytes()).next()?.0.into_owned()),
            None if positional.is_empty() => None,
            None => return None,
        };
        permission.collections.extend(positional.clone());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "collection" if positional.is_none() => permission.collections.push(value.into_owned()),
                "action" => permission.actions.push(ACTIONS.into_iter().find(|action| action.as_str() == value)?),
                _ => return None,
            }
        }
        let valid = |collection: &String| collection == "*" || Nsid::parse(collection).is_ok();
        if permission.collections.is_empty() || !permission.collections.iter().all(valid) {
            return None;
        }
        if permission.actions.is_empty() {
            permission.actions = ACTIONS.to_vec();
        }
        Some(permission)
    }

    fn permits(&self, collection: &str, action: Action) -> bool {
        self.actions.contains(&action) && self.collections.iter().any(|known| known == "*" || known == collection)
    }

    /// Whether `granted` permits all of it.
    fn is_within(&self, granted: &Scopes) -> bool {
        let each = |collection: &String| self.actions.iter().all(|action| granted.permits(collection, *action));
        self.collections.iter().all(each)
    }
}

#[cfg(test)]
mod tests {
    use Action::{Create, Delete, Update};
    use proptest::prelude::*;

    use super::*;

    const SESSION: &str = "click.aligned.chat.session";
    const MESSAGE: &str = "click.aligned.chat.message";
    const TILES: &str = "run.tiles.chat.sessionSnapshot";

    fn permitted(scopes: &str, collection: &str) -> Vec<Action> {
        let scopes = Scopes::parse(scopes);
        ACTIONS.into_iter().filter(|action| scopes.permits(collection, *action)).collect()
    }

    // Invariant 12.
    proptest! {
        #[test]
        fn whatever_a_server_writes_is_read_and_is_within_itself(text in ".{0,80}", odd in "repo[:?a-z.*&=%+ ]{0,60}") {
            for text in [text, odd] {
                let scopes = Scopes::parse(&text);
                prop_assert_eq!(&Scopes::parse(&scopes.to_string()), &scopes);
                prop_assert_eq!(scopes.not_in(&scopes), Vec::<String>::new());
                let _ = scopes.permits(MESSAGE, Create);
            }
        }
    }

    #[test]
    fn the_narrowest_scopes_for_a_family() {
        let scopes = Scopes::for_collections([SESSION, MESSAGE, SESSION]);
        assert_eq!(scopes.to_string(), "atproto repo:click.aligned.chat.session repo:click.aligned.chat.message");
        assert!(scopes.permits(SESSION, Create) && scopes.permits(MESSAGE, Delete));
        assert!(!scopes.permits(TILES, Create));
        assert!(!scopes.contains(FULL));
    }

    #[test]
    fn every_form_of_a_permission_is_read() {
        for (scopes, collection, actions) in [
            ("repo:click.aligned.chat.message", MESSAGE, &[Create, Update, Delete][..]),
            ("repo:click.aligned.chat.message", SESSION, &[]),
            ("repo:click.aligned.chat.message?action=create", MESSAGE, &[Create]),
            ("repo:click.aligned.chat.message?action=create&action=delete", MESSAGE, &[Create, Delete]),
            (
                "repo?collection=click.aligned.chat.session&collection=click.aligned.chat.message atproto",
                MESSAGE,
                &[Create, Update, Delete],
            ),
            ("repo?collection=click.aligned.chat.session&collection=click.aligned.chat.message", TILES, &[]),
            ("repo?action=update&collection=click.aligned.chat.message", MESSAGE, &[Update]),
            (
                "repo:click.aligned.chat.message?action=create repo:click.aligned.chat.message?action=delete",
                MESSAGE,
                &[Create, Delete],
            ),
            ("repo:%63lick.aligned.chat.message", MESSAGE, &[Create, Update, Delete]),
            ("repo:*", MESSAGE, &[Create, Update, Delete]),
            ("repo:*?action=delete", MESSAGE, &[Delete]),
            ("repo?collection=*", TILES, &[Create, Update, Delete]),
            ("atproto transition:generic", TILES, &[Create, Update, Delete]),
        ] {
            assert_eq!(permitted(scopes, collection), actions, "{scopes}");
        }
    }

    #[test]
    fn what_is_no_permission_permits_nothing() {
        for scope in [
            "",
            "atproto",
            "repo",
            "repo:",
            "repo?",
            "repo:click.aligned.*",
            "repo:message",
            "repo:click.aligned.chat.message=x",
            "repository:click.aligned.chat.message",
            "repo:click.aligned.chat.message?action=read",
            "repo:click.aligned.chat.message?collection=click.aligned.chat.message",
            "repo:click.aligned.chat.message?unknown=1",
            "repo?action=create",
            "rpc:click.aligned.chat.message?aud=*",
            "transition:email",
            "REPO:click.aligned.chat.message",
        ] {
            assert_eq!(permitted(scope, MESSAGE), [], "{scope}");
        }
    }

    fn missing(asked: &str, granted: &str) -> String {
        Scopes::parse(asked).not_in(&Scopes::parse(granted)).join(" ")
    }

    #[test]
    fn what_was_granted_is_compared_by_what_it_permits() {
        let asked = "atproto repo:click.aligned.chat.session repo:click.aligned.chat.message";
        let one = "repo?collection=click.aligned.chat.session&collection=click.aligned.chat.message atproto";
        assert_eq!(missing(asked, asked), "");
        assert_eq!(missing(asked, one), "");
        assert_eq!(missing(asked, "atproto repo:*"), "");
        assert_eq!(missing(asked, "atproto transition:generic"), "");
        assert_eq!(missing(asked, "atproto"), "repo:click.aligned.chat.session repo:click.aligned.chat.message");
        assert_eq!(
            missing(asked, "atproto repo:click.aligned.chat.session repo:click.aligned.chat.message?action=create"),
            "repo:click.aligned.chat.message"
        );
        assert_eq!(missing(asked, &asked.replace("atproto ", "")), "atproto");
        assert_eq!(missing("atproto transition:generic", "atproto repo:*"), "transition:generic");
        assert_eq!(missing("atproto blob:*/*", "atproto"), "blob:*/*");
        let include = "atproto include:click.aligned.authChat";
        assert_eq!(missing(include, one), "");
        assert_eq!(missing(include, "atproto"), "include:click.aligned.authChat");
        // Not a scope at all: the server drops it, and it is said.
        assert_eq!(missing("atproto repo:click.aligned.*", "atproto repo:*"), "repo:click.aligned.*");
    }
}
