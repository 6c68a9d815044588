//! What a store can do.

use std::{future::Future, pin::Pin, sync::Arc};

use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use serde::Serialize;

use crate::{
    account::Account,
    admit::Admitted,
    change::{Address, SourceCursor},
    error::Result,
    lease::Lease,
    moderation::{Decision, Hidden, HiddenSubject, Label, Moderated, Moderation, Subject},
    outline::Prompt,
    owed::{Holding, Owed, OwedState, RepoHead, RunState},
    query::{
        Conversation, ConversationHead, Cursor, Hit, Kept, Name, NameOf, Page, Recent, Rejected, Search, Status, Turn,
    },
    stamp::{Scope, Stamp},
    transfer::ExportPage,
};

/// What a call of [`Index`] gives. Boxed, so that an index can be held without knowing its store.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// What a batch did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Records stored, new or in a new version.
    pub stored: u64,
    /// Records removed.
    pub removed: u64,
    /// Changes that were no news: replays, and what came after something newer.
    pub stale: u64,
    /// Changes of what is not kept: other collections, and accounts of which nothing is stored.
    pub ignored: u64,
    /// Records refused.
    pub rejected: u64,
}

/// What a rebuild did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Rebuilt {
    /// Records from which everything else was made.
    pub records: u64,
    /// Conversations that can be read.
    pub conversations: u64,
    /// Records that were removed, since this version would not have let them in.
    pub dropped: u64,
}

/// The reader's store: everything public that was seen, and nothing that no longer is.
///
/// Reads see whole batches. Times are milliseconds since 1970 where they are numbers.
pub trait Index: Send + Sync + std::fmt::Debug {
    /// Applies a batch: all of it, its cursor included, or nothing.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if its lease passed on; the store cannot be written.
    fn apply(&self, batch: Admitted) -> Answer<'_, Applied>;

    /// How far a source was followed.
    ///
    /// # Errors
    /// The store cannot be read.
    fn cursor<'a>(&'a self, source: &'a str) -> Answer<'a, Option<SourceCursor>>;

    /// Takes the lease `name`, if nobody holds it. It is held until the guard is dropped, or its process ends or stands still
    /// for some seconds.
    ///
    /// # Errors
    /// The store cannot be reached.
    fn lease<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Lease>>;

    /// Conversations, the one put on record last first.
    ///
    /// # Errors
    /// The store cannot be read; a cursor of another list.
    fn recent<'a>(
        &'a self,
        of: &'a Recent,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<ConversationHead>>;

    /// A conversation and some of its turns, in reading order; `Kept::Gone` if it was here and is not any more, and
    /// `Kept::Hidden` if this site does not show it.
    ///
    /// # Errors
    /// The store cannot be read; a cursor of another list.
    fn conversation<'a>(
        &'a self,
        address: &'a Address,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Kept<Conversation>>;

    /// Where to go on in a conversation so that `position` of its turns are skipped; `None` if it has fewer.
    ///
    /// # Errors
    /// The store cannot be read.
    fn cursor_at<'a>(&'a self, conversation: &'a Address, position: u64) -> Answer<'a, Option<Cursor>>;

    /// How many turns of a conversation stand before this one; `None` if it is none of them.
    ///
    /// # Errors
    /// The store cannot be read.
    fn position<'a>(&'a self, conversation: &'a Address, turn: &'a Rkey) -> Answer<'a, Option<u64>>;

    /// What was asked in a conversation, in reading order: the first `limit` turns of people that have words or are held back.
    ///
    /// # Errors
    /// The store cannot be read.
    fn prompts<'a>(&'a self, conversation: &'a Address, limit: u32) -> Answer<'a, Vec<Prompt>>;

    /// Records of one collection of a repository, by key, from the one after `after` on.
    ///
    /// # Errors
    /// The store cannot be read.
    fn collection<'a>(
        &'a self,
        did: &'a Did,
        collection: &'a Nsid,
        after: Option<&'a Rkey>,
        limit: u32,
    ) -> Answer<'a, Vec<Turn>>;

    /// One record, with whose it is.
    ///
    /// # Errors
    /// The store cannot be read.
    fn record<'a>(&'a self, address: &'a Address) -> Answer<'a, Kept<Turn>>;

    /// What is found, the latest first.
    ///
    /// # Errors
    /// [`crate::Error::EmptyQuery`] if nothing is asked for; the store cannot be read; a cursor of another list.
    fn search<'a>(&'a self, search: &'a Search, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Hit>>;

    /// Models or tools, the most used first.
    ///
    /// # Errors
    /// The store cannot be read.
    fn names(&self, of: NameOf, limit: u32) -> Answer<'_, Vec<Name>>;

    /// The members of a collective, by key.
    ///
    /// # Errors
    /// The store cannot be read.
    fn members<'a>(&'a self, did: &'a Did) -> Answer<'a, Vec<Turn>>;

    /// Whose handle this is.
    ///
    /// # Errors
    /// The store cannot be read.
    fn resolve<'a>(&'a self, handle: &'a Handle) -> Answer<'a, Option<Did>>;

    /// What is known of an account, be it shown or not; `None` if nothing is.
    ///
    /// # Errors
    /// The store cannot be read.
    fn account<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<Account>>;

    /// How many records were refused, by reason and collection.
    ///
    /// # Errors
    /// The store cannot be read.
    fn rejections(&self) -> Answer<'_, Vec<Rejected>>;

    /// How much is stored, and how far the sources were followed.
    ///
    /// # Errors
    /// The store cannot be read.
    fn status(&self) -> Answer<'_, Status>;

    /// What tells whether an answer made earlier is still right. Ask for it before what the answer is made of: as long as it
    /// stays the same, so does the answer.
    ///
    /// # Errors
    /// The store cannot be read.
    fn stamp<'a>(&'a self, of: &'a Scope) -> Answer<'a, Stamp>;

    /// Keeps decisions of the host and labels, all of them, the cursor included, or nothing. They hold from the moment this
    /// is done, for every process that asks the same database.
    ///
    /// # Errors
    /// [`crate::Error::Fenced`] if its lease passed on; the store cannot be written.
    fn moderate(&self, moderation: Moderation) -> Answer<'_, Moderated>;

    /// Takes a labeler's labels back, and forgets how far it was followed; gives how many they were.
    ///
    /// # Errors
    /// The store cannot be written.
    fn forget_labeler<'a>(&'a self, did: &'a Did) -> Answer<'a, u64>;

    /// Why something is not shown, itself or what it belongs to; `None` if nothing says so, be it here or not.
    ///
    /// # Errors
    /// The store cannot be read.
    fn hides<'a>(&'a self, subject: &'a Subject) -> Answer<'a, Option<Hidden>>;

    /// All that is not shown now, and why, in the order of accounts; of one account alone, if it is given.
    ///
    /// # Errors
    /// The store cannot be read; a cursor of another list.
    fn hidden<'a>(
        &'a self,
        of: Option<&'a Did>,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<HiddenSubject>>;

    /// The host's decisions, all there ever were, the last one first.
    ///
    /// # Errors
    /// The store cannot be read; a cursor of another list.
    fn decisions<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Decision>>;

    /// The labels that hold now on any of the subjects themselves.
    ///
    /// # Errors
    /// The store cannot be read.
    fn labels<'a>(&'a self, subjects: &'a [Subject]) -> Answer<'a, Vec<Label>>;

    /// A part of everything, to be put into another index; see [`crate::export`].
    ///
    /// # Errors
    /// The store cannot be read; a cursor of another list.
    fn export_page<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, ExportPage>;

    /// Up to where a repository was seen whole; `None` if nothing of the account is known.
    ///
    /// # Errors
    /// The store cannot be read.
    fn head<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<RepoHead>>;

    /// The repositories of a run that are in a state, by DID, after `after`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn owed<'a>(&'a self, run: &'a str, state: OwedState, after: Option<&'a Did>, limit: u32) -> Answer<'a, Vec<Owed>>;

    /// How a run stands.
    ///
    /// # Errors
    /// The store cannot be read.
    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, RunState>;

    /// The records of an account, by collection and key, after `after`.
    ///
    /// # Errors
    /// The store cannot be read.
    fn holdings<'a>(&'a self, did: &'a Did, after: Option<&'a (Nsid, Rkey)>, limit: u32) -> Answer<'a, Vec<Holding>>;

    /// Makes everything that follows from the records anew, and tells how many it has done. Readers see what was there before
    /// until it is done: of the whole index in SQLite, account by account in PostgreSQL.
    ///
    /// # Errors
    /// The store cannot be read or written: then what was there before stays, in PostgreSQL of the accounts that are left.
    fn rebuild(&self, tell: Arc<dyn Fn(u64) + Send + Sync>) -> Answer<'_, Rebuilt>;

    /// Sees to it that what was removed is in no file of the store either, as far as the store can.
    ///
    /// # Errors
    /// The store cannot be written.
    fn forget(&self) -> Answer<'_, ()>;
}
