//! The index in PostgreSQL: any number of processes, one that follows at a time, reads from a replica if there is one.

mod account;
mod lease;
mod outline;
mod read;
mod schema;
mod search;
mod stamp;
mod transfer;
mod write;

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use tokio_postgres::{Config, NoTls};

use crate::{
    admit::Admitted,
    change::{Address, SourceCursor},
    error::{Error, Result},
    index::{Answer, Applied, Index},
    lease::Lease,
    outline::Prompt,
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

/// An index in PostgreSQL.
#[derive(Debug)]
pub struct PostgresIndex {
    config: Config,
    writers: Pool,
    readers: Pool,
    has_removed: AtomicBool,
}

impl PostgresIndex {
    /// Opens the database at `url`, making the tables where they are missing. Of several hosts in the URL the first that takes
    /// writes is used. `replica` is the URL of the server that answers the reads.
    ///
    /// # Errors
    /// It cannot be reached; it was written by a newer version.
    pub async fn open(url: &str, replica: Option<&str>) -> Result<Self> {
        let mut config: Config = url.parse()?;
        // A host that became a standby is passed over.
        config.target_session_attrs(tokio_postgres::config::TargetSessionAttrs::ReadWrite);
        // Should this process be stopped within a transaction, others need not wait for it.
        let options =
            format!("{} -c idle_in_transaction_session_timeout=10000", config.get_options().unwrap_or_default());
        config.options(options.trim());
        let writers = pool(config.clone(), WRITERS)?;
        let readers = match replica {
            Some(url) => pool(url.parse()?, READERS)?,
            None => pool(config.clone(), READERS)?,
        };
        schema::migrate(&mut **writers.get().await?).await?;
        Ok(Self { config, writers, readers, has_removed: AtomicBool::new(false) })
    }

    async fn reader(&self) -> Result<Object> {
        Ok(self.readers.get().await?)
    }
}

fn pool(config: Config, size: usize) -> Result<Pool> {
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Verified });
    Pool::builder(manager).max_size(size).build().map_err(|error| Error::Unreachable(error.to_string()))
}

impl Index for PostgresIndex {
    fn apply(&self, batch: Admitted) -> Answer<'_, Applied> {
        Box::pin(async move {
            let mut client = self.writers.get().await?;
            let (applied, has_removed) = write::apply(&mut client, &batch).await?;
            self.has_removed.fetch_or(has_removed, Ordering::Relaxed);
            Ok(applied)
        })
    }

    fn cursor<'a>(&'a self, source: &'a str) -> Answer<'a, Option<SourceCursor>> {
        // Where to go on writing is never asked of a replica.
        Box::pin(async move { read::cursor(&self.writers.get().await?, source).await })
    }

    fn lease<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Lease>> {
        Box::pin(lease::take(&self.config, name))
    }

    fn recent<'a>(
        &'a self,
        of: &'a Recent,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<ConversationHead>> {
        Box::pin(async move { read::recent(&mut self.reader().await?, of, after, limit).await })
    }

    fn conversation<'a>(
        &'a self,
        address: &'a Address,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Kept<Conversation>> {
        Box::pin(async move { read::conversation(&mut self.reader().await?, address, after, limit).await })
    }

    fn cursor_at<'a>(&'a self, conversation: &'a Address, position: u64) -> Answer<'a, Option<Cursor>> {
        Box::pin(async move { outline::cursor_at(&self.reader().await?, conversation, position).await })
    }

    fn position<'a>(&'a self, conversation: &'a Address, turn: &'a Rkey) -> Answer<'a, Option<u64>> {
        Box::pin(async move { outline::position(&self.reader().await?, conversation, turn).await })
    }

    fn prompts<'a>(&'a self, conversation: &'a Address, limit: u32) -> Answer<'a, Vec<Prompt>> {
        Box::pin(async move { outline::prompts(&self.reader().await?, conversation, limit).await })
    }

    fn collection<'a>(
        &'a self,
        did: &'a Did,
        collection: &'a Nsid,
        after: Option<&'a Rkey>,
        limit: u32,
    ) -> Answer<'a, Vec<Turn>> {
        Box::pin(async move { outline::collection(&self.reader().await?, did, collection, after, limit).await })
    }

    fn record<'a>(&'a self, address: &'a Address) -> Answer<'a, Kept<Turn>> {
        Box::pin(async move {
            let mut client = self.reader().await?;
            let tx = read::snapshot(&mut client).await?;
            read::record(&tx, address).await
        })
    }

    fn search<'a>(&'a self, search: &'a Search, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Hit>> {
        Box::pin(async move { search::search(&mut self.reader().await?, search, after, limit).await })
    }

    fn names(&self, of: NameOf, limit: u32) -> Answer<'_, Vec<Name>> {
        Box::pin(async move { read::names(&self.reader().await?, of, limit).await })
    }

    fn members<'a>(&'a self, did: &'a Did) -> Answer<'a, Vec<Turn>> {
        Box::pin(async move { read::members(&self.reader().await?, did).await })
    }

    fn resolve<'a>(&'a self, handle: &'a Handle) -> Answer<'a, Option<Did>> {
        Box::pin(async move { read::resolve(&self.reader().await?, &handle.normalized()).await })
    }

    fn rejections(&self) -> Answer<'_, Vec<Rejected>> {
        Box::pin(async move { read::rejections(&self.reader().await?).await })
    }

    fn status(&self) -> Answer<'_, Status> {
        Box::pin(async move { read::status(&mut self.reader().await?).await })
    }

    fn stamp<'a>(&'a self, of: &'a Scope) -> Answer<'a, Stamp> {
        Box::pin(async move { stamp::stamp(&self.reader().await?, of).await })
    }

    fn export_page<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, ExportPage> {
        Box::pin(async move { transfer::page(&self.reader().await?, after, limit).await })
    }

    fn forget(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            if self.has_removed.swap(false, Ordering::Relaxed) {
                let client = self.writers.get().await?;
                for table in ["record", "conversation", "name_use", "account"] {
                    client.batch_execute(&format!("VACUUM (INDEX_CLEANUP ON) {table}")).await?;
                }
            }
            Ok(())
        })
    }
}
