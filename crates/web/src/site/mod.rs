//! The reading site: pages by address, each in four formats.

mod about;
mod answer;
mod author;
mod collective;
mod conversation;
mod finds;
mod home;
mod host;
mod listing;
mod live;
mod names;
mod own;
mod reader;
mod routes;
mod search;
mod shared;
mod status;
mod turn;

use std::sync::Arc;

use onrecord_index::Index;
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use onrecord_record::{Family, Published};

use crate::Limits;

pub use host::Host;
pub use live::Live;
pub use own::{FindSource, KnowSource, Known, ListSource, Own, OwnEntry, OwnList, ResolveSource, VersionSource};
pub use routes::router;
pub use status::{Reached, ReachedSource};

/// How many conversations a page of the list shows.
pub const LIST_PAGE: u32 = 50;

/// Why a source could not answer; it is logged, and the reader is told that it happened.
pub type SourceError = Box<dyn std::error::Error + Send + Sync>;

/// What a site shows.
#[derive(Debug)]
pub struct Site {
    /// What is on record from this machine, if that is shown.
    pub own: Option<Own>,
    /// What the network publishes, if that is shown.
    pub index: Option<Arc<dyn Index>>,
    /// What the site says of itself.
    pub host: Host,
    /// What it looks up with, when a reader asks what became of a record, or whether the author signed; nothing is looked up
    /// without.
    pub live: Option<Live>,
    /// When what is followed was, where this process follows something.
    pub reached: Option<Reached>,
    /// Whether only requests for a loopback name are answered. Set it where the site listens on loopback and shows
    /// what is not public: otherwise any web page could read it by giving its own name a loopback address.
    pub loopback_only: bool,
    /// How much anyone may ask of it.
    pub limits: Limits,
}

/// The address of a session record, or of the one record a conversation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whose repository.
    pub repo: Repo,
    /// Which collection; the short addresses do not say.
    pub collection: Option<Nsid>,
    /// Which record.
    pub rkey: Rkey,
}

/// A repository, by either of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repo {
    /// By its identifier.
    Did(Did),
    /// By the handle of its owner.
    Handle(Handle),
}

/// What is on record from this machine at an address.
#[derive(Debug, Clone)]
pub enum Found {
    /// The conversation.
    Conversation(Box<Published>),
    /// It is here, and only its link opens it, which no server sees whole.
    Encrypted,
    /// It was here and its author took it back.
    Gone,
    /// Nothing.
    Unknown,
}

/// Path of a conversation on a site: `/@handle/rkey` where the handle is known, else `/at/did/collection/rkey`.
#[must_use]
pub fn path_of(repo: &str, handle: Option<&str>, family: Family, rkey: &str) -> String {
    path_in(repo, handle, family.collection(), rkey)
}

/// The same of any collection. Two of them have short paths; a key alone does not tell the others apart.
pub(crate) fn path_in(repo: &str, handle: Option<&str>, collection: &str, rkey: &str) -> String {
    let is_short = Family::ALL.iter().any(|family| family.collection() == collection);
    match handle.filter(|_| is_short) {
        Some(handle) => format!("/@{handle}/{rkey}"),
        None => format!("/at/{}/{collection}/{rkey}", escaped(repo)),
    }
}

/// Path of an account on a site.
pub(crate) fn path_of_account(repo: &str, handle: Option<&str>) -> String {
    handle.map_or_else(|| format!("/at/{}", escaped(repo)), |handle| format!("/@{handle}"))
}

/// A DID may hold `%`, which in a path has to be written out.
fn escaped(repo: &str) -> String {
    repo.replace('%', "%25")
}

#[cfg(test)]
mod tests;
