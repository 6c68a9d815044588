//! Where the parsers put what they read, and where it is decided what of it is kept.

use zeroize::Zeroizing;

use super::{
    json,
    names::{self, NameSays},
    pem, pieces,
    worth::{self, Certainty},
};

/// The most values taken from one file: more are no credentials but data.
const MOST_VALUES: usize = 2000;

/// The longest value looked at, in bytes.
const LONGEST_VALUE: usize = 64 * 1024;

/// How far values in values are followed: a JSON text in a variable, whose member is a URL.
const DEEPEST: usize = 2;

/// What a place is, which says how much a name must tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Trust {
    /// Settings of every kind: only names or values that say secret.
    Settings,
    /// Credentials with what belongs to them: names that may mean a secret do.
    Credentials,
    /// A list of credentials under names of the person's own.
    List,
}

/// A value worth searching. Without `Debug`, so that it cannot be printed by accident.
pub(crate) struct Found {
    pub(crate) name: String,
    pub(crate) value: Zeroizing<String>,
}

/// What was found in one file.
#[derive(Default)]
pub(crate) struct Sink {
    found: Vec<Found>,
    depth: usize,
    full: bool,
    damaged: Option<&'static str>,
}

impl Sink {
    /// Takes the value if its name, or it by itself, says that it is a secret, and what secrets stand within it.
    pub(crate) fn offer(&mut self, name: &str, value: &str, trust: Trust) {
        self.offer_as(name, name, value, trust);
    }

    /// The same, judged by its key and kept under a fuller name.
    pub(crate) fn offer_as(&mut self, key: &str, name: &str, value: &str, trust: Trust) {
        let says = names::name_says(key);
        let sure = match (trust, says) {
            (_, NameSays::Harmless) | (Trust::Settings | Trust::Credentials, NameSays::Nothing) => None,
            (Trust::Settings, NameSays::Maybe) | (Trust::List, NameSays::Nothing) => Some(Certainty::Hinted),
            (Trust::Settings, NameSays::Secret) | (Trust::Credentials, NameSays::Maybe) => Some(Certainty::Named),
            (Trust::Credentials, NameSays::Secret) | (Trust::List, NameSays::Maybe | NameSays::Secret) => {
                Some(Certainty::Credential)
            }
        };
        self.judge(name, value, sure);
    }

    /// Takes a value that stands where only a secret can stand.
    pub(crate) fn credential(&mut self, name: &str, value: &str) {
        self.judge(name, value, Some(Certainty::Credential));
    }

    /// Takes the secrets that stand within a text: passwords in URLs, for instance.
    pub(crate) fn within(&mut self, name: &str, text: &str) {
        self.judge(name, text, None);
    }

    /// Takes a value that needs no judging, such as a line of a private key.
    pub(crate) fn keep(&mut self, name: &str, value: Zeroizing<String>) {
        if self.found.len() < MOST_VALUES {
            self.found.push(Found { name: names::safe_name(name), value });
        } else {
            self.full = true;
        }
    }

    /// Notes that the file is not what it should be, and was read line by line.
    pub(crate) fn damaged(&mut self, why: &'static str) {
        self.damaged = Some(why);
    }

    fn judge(&mut self, name: &str, value: &str, sure: Option<Certainty>) {
        let value = value.trim();
        if value.is_empty() || value.len() > LONGEST_VALUE || self.depth > DEEPEST {
            return;
        }
        self.depth += 1;
        if pem::is_private_key(value) {
            pem::private_key(name, value, self);
        } else if value.starts_with('{') {
            json::within(name, value, self);
        } else {
            for piece in pieces::of(name, value) {
                if worth::is_worth(&piece, Certainty::Named) {
                    self.keep(name, piece);
                }
            }
            let sure = sure.or_else(|| worth::value_says_secret(value).then_some(Certainty::Named));
            if sure.is_some_and(|sure| worth::is_worth(value, sure)) {
                self.keep(name, Zeroizing::new(value.to_owned()));
            }
        }
        self.depth -= 1;
    }

    /// What there is to say about the file.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &'static str> {
        let full = self.full.then_some("holds more than 2,000 values, the rest was left out");
        self.damaged.into_iter().chain(full)
    }

    /// What was found. A name that repeats a value, as the key of a map may, is none.
    pub(crate) fn finish(mut self) -> Vec<Found> {
        let repeats = |name: &str| self.found.iter().any(|f| name.contains(f.value.as_str()));
        let bad: Vec<bool> = self.found.iter().map(|f| repeats(&f.name)).collect();
        for (found, _) in self.found.iter_mut().zip(bad).filter(|(_, bad)| *bad) {
            "a value".clone_into(&mut found.name);
        }
        self.found
    }
}
