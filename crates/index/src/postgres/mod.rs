//! The index in PostgreSQL: any number of processes, one that follows at a time, reads from a replica if there is one.

mod account;
mod address;
mod connect;
mod lease;
mod merge;
mod moderation;
mod notes;
mod outline;
mod read;
mod rebuild;
mod schema;
mod search;
mod stamp;
mod tls;
mod transfer;
mod vector;
mod write;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::Object;
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use tokio::{sync::OnceCell, time::timeout};
use tokio_postgres::config::TargetSessionAttrs;

use self::{
    address::Address as DatabaseAddress,
    connect::{Connections, Servers},
    lease::Leases,
};
use crate::{
    account::Account,
    admit::Admitted,
    change::{Address, SourceCursor},
    error::{Error, Result},
    index::{Answer, Applied, Index, Rebuilt},
    lease::Lease,
    moderation::{Decision, Hidden, HiddenSubject, Label, Moderated, Moderation, Subject, stream_of},
    outline::Prompt,
    owed::{Holding, Owed, OwedState, RepoHead, RunState},
    query::{
        Conversation, ConversationHead, Cursor, Hit, Kept, Name, NameOf, Page, Recent, Rejected, Search, Status, Turn,
    },
    stamp::{Scope, Stamp},
    transfer::ExportPage,
};

/// Connections that write: a batch, and what an operator asks for beside it.
const WRITERS: usize = 4;
/// Connections that read.
const READERS: usize = 16;
/// How long the server works on one question of a reader, in milliseconds, unless the address says otherwise.
const QUESTION_MS: u32 = 30_000;
/// How long an answer is waited for: longer than the server would work on it.
const ANSWER: Duration = Duration::from_secs(60);

/// A plan is made once for each connection and question: of a table in parts that takes longer than most answers.
const GENERIC: &str = "plan_cache_mode=force_generic_plan";

/// An index in PostgreSQL.
#[derive(Debug)]
pub struct PostgresIndex {
    servers: Servers,
    writers: Connections,
    readers: Connections,
    /// How long an answer is waited for, where that has an end.
    patience: Option<Duration>,
    leases: Leases,
    /// Set when the schema is known to be the current one.
    migrated: OnceCell<()>,
    has_removed: AtomicBool,
    merger: merge::Merger,
}

impl PostgresIndex {
    /// Opens the database at `url`, making the tables where they are missing. Of several hosts in the URL the first that takes
    /// writes is used. `replica` is the URL of the servers that answer the reads; without it those of `url` do, of which one
    /// that takes writes is preferred. As long as only reads are possible, only they are: writing begins when a server takes
    /// it.
    ///
    /// # Errors
    /// It cannot be reached, or not to make the tables that are missing; it was written by a newer version.
    pub async fn open(url: &str, replica: Option<&str>) -> Result<Self> {
        use TargetSessionAttrs::{Any, ReadWrite};
        let mut writing = DatabaseAddress::parse(url)?;
        let mut reading = match replica {
            Some(url) => DatabaseAddress::parse(url)?,
            None if writing.says_which => writing.clone(),
            None => DatabaseAddress { wanted: vec![ReadWrite, Any], ..writing.clone() },
        };
        // A host that became a standby is passed over.
        writing.wanted = vec![ReadWrite];
        // Should this process be stopped within a transaction, others need not wait for it.
        writing.set("idle_in_transaction_session_timeout=10000");
        let patience = (!reading.sets("statement_timeout")).then_some(ANSWER);
        reading.set(&format!("statement_timeout={QUESTION_MS}"));
        writing.set(GENERIC);
        reading.set(GENERIC);
        let (servers, reading) = (Servers::new(writing)?, Servers::new(reading)?);
        let writers = Connections::new(&servers, WRITERS)?;
        let index = Self {
            merger: merge::Merger::start(writers.clone()),
            writers,
            readers: Connections::new(&reading, READERS)?,
            servers,
            patience,
            leases: Leases::default(),
            migrated: OnceCell::new(),
            has_removed: AtomicBool::new(false),
        };
        match index.writer().await {
            Err(error) if error.may_pass() => {
                if !schema::is_current(&*index.readers.get().await?).await.unwrap_or(false) {
                    return Err(error);
                }
                tracing::warn!(%error, "no server takes writes now; reading only");
            }
            outcome => drop(outcome?),
        }
        Ok(index)
    }

    async fn writer(&self) -> Result<Object> {
        let mut client = self.writers.get().await?;
        self.migrated.get_or_try_init(|| schema::migrate(&mut client)).await?;
        Ok(client)
    }

    /// Asks a reader, and waits no longer for the answer than it could take.
    async fn read<T>(&self, question: impl AsyncFnOnce(&mut Object) -> Result<T>) -> Result<T> {
        let mut client = self.readers.get().await?;
        let asked = question(&mut client);
        match self.patience {
            Some(limit) => timeout(limit, asked).await.unwrap_or_else(|_| {
                Err(Error::Unreachable(format!("the server was asked and did not answer within {limit:?}")))
            }),
            None => asked.await,
        }
    }
}

impl Index for PostgresIndex {
    fn apply(&self, batch: Admitted) -> Answer<'_, Applied> {
        Box::pin(async move {
            let apply = async {
                let mut client = self.writer().await?;
                let (applied, has_removed) = write::apply(&mut client, &batch).await?;
                self.has_removed.fetch_or(has_removed, Ordering::Relaxed);
                Ok(applied)
            };
            let applied = tokio::select! {
                biased;
                applied = apply => applied,
                // A server that stands still says nothing, and another may have taken its place.
                () = self.leases.lost(batch.fence.as_ref()) => {
                    Err(Error::Unreachable("the lease was lost, and the batch has no answer".to_owned()))
                }
            }?;
            self.merger.wrote(applied.stored).await;
            Ok(applied)
        })
    }

    fn cursor<'a>(&'a self, source: &'a str) -> Answer<'a, Option<SourceCursor>> {
        // Where to go on writing is never asked of a replica.
        Box::pin(async move { read::cursor(&self.writer().await?, source).await })
    }

    fn lease<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Lease>> {
        Box::pin(async move {
            // The table of leases may not be there yet.
            drop(self.writer().await?);
            self.leases.take(&self.servers, name).await
        })
    }

    fn recent<'a>(
        &'a self,
        of: &'a Recent,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<ConversationHead>> {
        Box::pin(self.read(async move |client| read::recent(client, of, after, limit).await))
    }

    fn conversation<'a>(
        &'a self,
        address: &'a Address,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Kept<Conversation>> {
        Box::pin(self.read(async move |client| read::conversation(client, address, after, limit).await))
    }

    fn cursor_at<'a>(&'a self, conversation: &'a Address, position: u64) -> Answer<'a, Option<Cursor>> {
        Box::pin(self.read(async move |client| outline::cursor_at(client, conversation, position).await))
    }

    fn position<'a>(&'a self, conversation: &'a Address, turn: &'a Rkey) -> Answer<'a, Option<u64>> {
        Box::pin(self.read(async move |client| outline::position(client, conversation, turn).await))
    }

    fn prompts<'a>(&'a self, conversation: &'a Address, limit: u32) -> Answer<'a, Vec<Prompt>> {
        Box::pin(self.read(async move |client| outline::prompts(client, conversation, limit).await))
    }

    fn collection<'a>(
        &'a self,
        did: &'a Did,
        collection: &'a Nsid,
        after: Option<&'a Rkey>,
        limit: u32,
    ) -> Answer<'a, Vec<Turn>> {
        Box::pin(self.read(async move |client| outline::collection(client, did, collection, after, limit).await))
    }

    fn record<'a>(&'a self, address: &'a Address) -> Answer<'a, Kept<Turn>> {
        Box::pin(self.read(async move |client| read::record(&read::snapshot(client).await?, address).await))
    }

    fn search<'a>(&'a self, search: &'a Search, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Hit>> {
        Box::pin(self.read(async move |client| search::search(client, search, after, limit).await))
    }

    fn names(&self, of: NameOf, limit: u32) -> Answer<'_, Vec<Name>> {
        Box::pin(self.read(async move |client| read::names(client, of, limit).await))
    }

    fn members<'a>(&'a self, did: &'a Did) -> Answer<'a, Vec<Turn>> {
        Box::pin(self.read(async move |client| read::members(client, did).await))
    }

    fn resolve<'a>(&'a self, handle: &'a Handle) -> Answer<'a, Option<Did>> {
        Box::pin(self.read(async move |client| read::resolve(client, &handle.normalized()).await))
    }

    fn account<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<Account>> {
        Box::pin(self.read(async move |client| account::read(client, did).await))
    }

    fn rejections(&self) -> Answer<'_, Vec<Rejected>> {
        Box::pin(self.read(async |client| read::rejections(client).await))
    }

    fn status(&self) -> Answer<'_, Status> {
        Box::pin(self.read(async |client| read::status(client).await))
    }

    fn stamp<'a>(&'a self, of: &'a Scope) -> Answer<'a, Stamp> {
        Box::pin(self.read(async move |client| stamp::stamp(client, of).await))
    }

    fn moderate(&self, what: Moderation) -> Answer<'_, Moderated> {
        Box::pin(async move {
            let keep = async { moderation::moderate(&mut self.writer().await?, &what).await };
            tokio::select! {
                biased;
                kept = keep => kept,
                () = self.leases.lost(what.fence.as_ref()) => {
                    Err(Error::Unreachable("the lease was lost, and the labels have no answer".to_owned()))
                }
            }
        })
    }

    fn forget_labeler<'a>(&'a self, did: &'a Did) -> Answer<'a, u64> {
        Box::pin(async move { moderation::forget_labeler(&mut self.writer().await?, did, &stream_of(did)).await })
    }

    fn hides<'a>(&'a self, subject: &'a Subject) -> Answer<'a, Option<Hidden>> {
        Box::pin(self.read(async move |client| moderation::hides(client, subject).await))
    }

    fn hidden<'a>(
        &'a self,
        of: Option<&'a Did>,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<HiddenSubject>> {
        Box::pin(self.read(async move |client| moderation::hidden(client, of, after, limit).await))
    }

    fn decisions<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Decision>> {
        Box::pin(self.read(async move |client| moderation::decisions(client, after, limit).await))
    }

    fn labels<'a>(&'a self, subjects: &'a [Subject]) -> Answer<'a, Vec<Label>> {
        Box::pin(self.read(async move |client| moderation::labels(client, subjects).await))
    }

    fn export_page<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, ExportPage> {
        Box::pin(self.read(async move |client| transfer::page(client, after, limit).await))
    }

    // What is written next depends on these: they are never asked of a replica.

    fn head<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<RepoHead>> {
        Box::pin(async move { notes::head(&self.writer().await?, did).await })
    }

    fn owed<'a>(&'a self, run: &'a str, state: OwedState, after: Option<&'a Did>, limit: u32) -> Answer<'a, Vec<Owed>> {
        Box::pin(async move { notes::owed(&self.writer().await?, run, state, after, limit).await })
    }

    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, RunState> {
        Box::pin(async move { notes::run(&self.writer().await?, run).await })
    }

    fn holdings<'a>(&'a self, did: &'a Did, after: Option<&'a (Nsid, Rkey)>, limit: u32) -> Answer<'a, Vec<Holding>> {
        Box::pin(async move { notes::holdings(&self.writer().await?, did, after, limit).await })
    }

    fn rebuild(&self, tell: Arc<dyn Fn(u64) + Send + Sync>) -> Answer<'_, Rebuilt> {
        Box::pin(async move { rebuild::rebuild(self.writer().await?, &tell).await })
    }

    fn forget(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            if self.has_removed.swap(false, Ordering::Relaxed) {
                let client = self.writer().await?;
                let _paused = self.merger.pause().await;
                for table in ["record", "conversation", "name_use", "account"] {
                    client.batch_execute(&format!("VACUUM (INDEX_CLEANUP ON) {table}")).await?;
                }
            }
            Ok(())
        })
    }
}
