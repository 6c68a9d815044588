//! The index in a SQLite file: one thread that writes, connections that read.

mod account;
mod checkpoint;
mod lease;
mod moderation;
mod notes;
mod outline;
mod read;
mod rebuild;
mod schema;
mod search;
mod stamp;
mod sweep;
mod transfer;
mod write;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    time::{Duration, Instant},
};

use onrecord_lexicon::{Did, Handle, Nsid, Rkey};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use tokio::sync::{Semaphore, oneshot};

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

use checkpoint::Checkpointer;
use stamp::Stamps;
use write::Writer;

/// How many reads run at once.
const READERS: usize = 8;
/// How often what was removed is also taken out of the write-ahead log.
const FORGET_EVERY: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce(&mut Writer) + Send>;

/// An index in a SQLite file.
#[derive(Debug)]
pub struct SqliteIndex {
    path: PathBuf,
    jobs: mpsc::Sender<Job>,
    readers: Mutex<Vec<Connection>>,
    turns: Arc<Semaphore>,
    stamps: Stamps,
}

impl SqliteIndex {
    /// Opens the file at `path`, making it where it is missing.
    ///
    /// # Errors
    /// It cannot be made, read or written; it was written by a newer version.
    pub async fn open(path: PathBuf) -> Result<Self> {
        let (jobs, todo) = mpsc::channel::<Job>();
        let (opened, ready) = oneshot::channel();
        let at = path.clone();
        std::thread::Builder::new().name("index-writer".to_owned()).spawn(move || match open_writer(&at) {
            Ok(mut writer) => {
                // Nobody waits any more if the opening was given up.
                if opened.send(Ok(())).is_ok() {
                    write_on(&mut writer, &todo);
                }
            }
            Err(error) => drop(opened.send(Err(error))),
        })?;
        ready.await.map_err(|_| Error::Closed)??;
        let (turns, stamps) = (Arc::new(Semaphore::new(READERS)), Stamps::new(path.clone()));
        Ok(Self { path, jobs, readers: Mutex::default(), turns, stamps })
    }

    /// Runs `job` on the writer.
    async fn write<T: Send + 'static>(&self, job: impl FnOnce(&mut Writer) -> Result<T> + Send + 'static) -> Result<T> {
        let (answer, done) = oneshot::channel();
        let job: Job = Box::new(move |writer| drop(answer.send(job(writer))));
        self.jobs.send(job).map_err(|_| Error::Closed)?;
        done.await.map_err(|_| Error::Closed)?
    }

    /// Runs `question` on a reader, all of it on one state of the file.
    async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let _turn = self.turns.acquire().await.map_err(|_| Error::Closed)?;
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let path = self.path.clone();
        let work = move || {
            let db = match idle {
                Some(db) => db,
                None => open_reader(&path)?,
            };
            let answer = {
                let tx = db.unchecked_transaction()?;
                question(&tx)
            };
            Ok::<_, Error>((db, answer))
        };
        let (db, answer) = tokio::task::spawn_blocking(work).await.map_err(|_| Error::Closed)??;
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).push(db);
        answer
    }
}

/// Works until everybody who could give work is gone.
fn write_on(writer: &mut Writer, todo: &mpsc::Receiver<Job>) {
    let mut forgotten = Instant::now();
    loop {
        let job = if writer.has_unswept {
            match todo.try_recv() {
                Ok(job) => Some(job),
                Err(mpsc::TryRecvError::Empty) => None,
                Err(mpsc::TryRecvError::Disconnected) => break,
            }
        } else if writer.has_removed {
            match todo.recv_timeout(FORGET_EVERY.saturating_sub(forgotten.elapsed())) {
                Ok(job) => Some(job),
                Err(mpsc::RecvTimeoutError::Timeout) => None,
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
        } else {
            match todo.recv() {
                Ok(job) => Some(job),
                Err(mpsc::RecvError) => break,
            }
        };
        if let Some(job) = job {
            job(writer);
        }
        if writer.has_unswept
            && let Err(error) = writer.sweep()
        {
            tracing::warn!(%error, "what an account no longer has is not all removed; that goes on with the next start");
            writer.has_unswept = false;
        }
        if let Err(error) = writer.checkpoint() {
            tracing::warn!(%error, "the write-ahead log was not moved into the file; trying again");
        }
        if writer.has_removed && forgotten.elapsed() >= FORGET_EVERY {
            if let Err(error) = writer.forget() {
                tracing::warn!(%error, "what was removed is still in the write-ahead log; trying again");
            }
            forgotten = Instant::now();
        }
    }
    if writer.has_removed
        && let Err(error) = writer.forget()
    {
        tracing::warn!(%error, "what was removed is still in the write-ahead log");
    }
}

fn open_writer(path: &Path) -> Result<Writer> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // It may become the data folder, which holds what is not public too.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut db = Connection::open(path)?;
    db.busy_timeout(Duration::from_secs(10))?;
    // Before the first table: a page holds some records whole.
    db.pragma_update(None, "page_size", 8192)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "NORMAL")?;
    db.pragma_update(None, "secure_delete", true)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.pragma_update(None, "cache_size", -65_536)?;
    // Somebody else does that, beside this thread.
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    db.set_prepared_statement_cache_capacity(64);
    stay_prepared(&db)?;
    schema::migrate(&mut db)?;
    db.execute("INSERT INTO search (search, rank) VALUES ('hashsize', 16777216)", [])?;
    let checkpointer = Checkpointer::start(path)?;
    Ok(Writer::new(db, checkpointer))
}

/// Plans do not depend on what is asked for. Else SQLite compiles a statement again for each value that is bound, which takes
/// longer than most answers.
fn stay_prepared(db: &Connection) -> Result<()> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(Duration::from_secs(10))?;
    // Beside what the system keeps of the file in memory.
    db.pragma_update(None, "cache_size", -4_096)?;
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.set_prepared_statement_cache_capacity(64);
    stay_prepared(&db)?;
    Ok(db)
}

impl Index for SqliteIndex {
    fn apply(&self, batch: Admitted) -> Answer<'_, Applied> {
        Box::pin(self.write(move |writer| writer.apply(&batch)))
    }

    fn cursor<'a>(&'a self, source: &'a str) -> Answer<'a, Option<SourceCursor>> {
        let source = source.to_owned();
        Box::pin(self.read(move |db| read::cursor(db, source)))
    }

    fn lease<'a>(&'a self, name: &'a str) -> Answer<'a, Option<Lease>> {
        Box::pin(lease::take(self.jobs.clone(), name.to_owned()))
    }

    fn recent<'a>(
        &'a self,
        of: &'a Recent,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<ConversationHead>> {
        let (of, after) = (of.clone(), after.cloned());
        Box::pin(self.read(move |db| read::recent(db, &of, after.as_ref(), limit)))
    }

    fn conversation<'a>(
        &'a self,
        address: &'a Address,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Kept<Conversation>> {
        let (address, after) = (address.clone(), after.cloned());
        Box::pin(self.read(move |db| read::conversation(db, &address, after.as_ref(), limit)))
    }

    fn cursor_at<'a>(&'a self, conversation: &'a Address, position: u64) -> Answer<'a, Option<Cursor>> {
        let of = conversation.clone();
        Box::pin(self.read(move |db| outline::cursor_at(db, &of, position)))
    }

    fn position<'a>(&'a self, conversation: &'a Address, turn: &'a Rkey) -> Answer<'a, Option<u64>> {
        let (of, turn) = (conversation.clone(), turn.clone());
        Box::pin(self.read(move |db| outline::position(db, &of, &turn)))
    }

    fn prompts<'a>(&'a self, conversation: &'a Address, limit: u32) -> Answer<'a, Vec<Prompt>> {
        let of = conversation.clone();
        Box::pin(self.read(move |db| outline::prompts(db, &of, limit)))
    }

    fn collection<'a>(
        &'a self,
        did: &'a Did,
        collection: &'a Nsid,
        after: Option<&'a Rkey>,
        limit: u32,
    ) -> Answer<'a, Vec<Turn>> {
        let (did, collection, after) = (did.clone(), collection.clone(), after.cloned());
        Box::pin(self.read(move |db| outline::collection(db, &did, &collection, after.as_ref(), limit)))
    }

    fn record<'a>(&'a self, address: &'a Address) -> Answer<'a, Kept<Turn>> {
        let address = address.clone();
        Box::pin(self.read(move |db| read::record(db, &address)))
    }

    fn search<'a>(&'a self, search: &'a Search, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Hit>> {
        let (search, after) = (search.clone(), after.cloned());
        Box::pin(self.read(move |db| search::search(db, &search, after.as_ref(), limit)))
    }

    fn names(&self, of: NameOf, limit: u32) -> Answer<'_, Vec<Name>> {
        Box::pin(self.read(move |db| read::names(db, of, limit)))
    }

    fn members<'a>(&'a self, did: &'a Did) -> Answer<'a, Vec<Turn>> {
        let did = did.clone();
        Box::pin(self.read(move |db| read::members(db, &did)))
    }

    fn resolve<'a>(&'a self, handle: &'a Handle) -> Answer<'a, Option<Did>> {
        let handle = handle.normalized();
        Box::pin(self.read(move |db| read::resolve(db, &handle)))
    }

    fn account<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<Account>> {
        let did = did.clone();
        Box::pin(self.read(move |db| account::read(db, &did)))
    }

    fn rejections(&self) -> Answer<'_, Vec<Rejected>> {
        Box::pin(self.read(read::rejections))
    }

    fn status(&self) -> Answer<'_, Status> {
        Box::pin(self.read(read::status))
    }

    fn stamp<'a>(&'a self, of: &'a Scope) -> Answer<'a, Stamp> {
        Box::pin(self.stamps.get(of))
    }

    fn moderate(&self, what: Moderation) -> Answer<'_, Moderated> {
        Box::pin(self.write(move |writer| moderation::moderate(writer.db(), &what)))
    }

    fn forget_labeler<'a>(&'a self, did: &'a Did) -> Answer<'a, u64> {
        let did = did.clone();
        Box::pin(self.write(move |writer| moderation::forget_labeler(writer.db(), &did, &stream_of(&did))))
    }

    fn hides<'a>(&'a self, subject: &'a Subject) -> Answer<'a, Option<Hidden>> {
        let subject = subject.clone();
        Box::pin(self.read(move |db| moderation::hides(db, &subject)))
    }

    fn hidden<'a>(
        &'a self,
        of: Option<&'a Did>,
        after: Option<&'a Cursor>,
        limit: u32,
    ) -> Answer<'a, Page<HiddenSubject>> {
        let (of, after) = (of.cloned(), after.cloned());
        Box::pin(self.read(move |db| moderation::hidden(db, of.as_ref(), after.as_ref(), limit)))
    }

    fn decisions<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, Page<Decision>> {
        let after = after.cloned();
        Box::pin(self.read(move |db| moderation::decisions(db, after.as_ref(), limit)))
    }

    fn labels<'a>(&'a self, subjects: &'a [Subject]) -> Answer<'a, Vec<Label>> {
        let subjects = subjects.to_vec();
        Box::pin(self.read(move |db| moderation::labels(db, &subjects)))
    }

    fn export_page<'a>(&'a self, after: Option<&'a Cursor>, limit: u32) -> Answer<'a, ExportPage> {
        let after = after.cloned();
        Box::pin(self.read(move |db| transfer::page(db, after.as_ref(), limit)))
    }

    fn head<'a>(&'a self, did: &'a Did) -> Answer<'a, Option<RepoHead>> {
        let did = did.clone();
        Box::pin(self.read(move |db| notes::head(db, &did)))
    }

    fn owed<'a>(&'a self, run: &'a str, state: OwedState, after: Option<&'a Did>, limit: u32) -> Answer<'a, Vec<Owed>> {
        let (run, after) = (run.to_owned(), after.map(ToString::to_string));
        Box::pin(self.read(move |db| notes::owed(db, &run, state, after.as_deref(), limit)))
    }

    fn run<'a>(&'a self, run: &'a str) -> Answer<'a, RunState> {
        let run = run.to_owned();
        Box::pin(self.read(move |db| notes::run(db, &run)))
    }

    fn holdings<'a>(&'a self, did: &'a Did, after: Option<&'a (Nsid, Rkey)>, limit: u32) -> Answer<'a, Vec<Holding>> {
        let (did, after) = (did.clone(), after.cloned());
        Box::pin(self.read(move |db| notes::holdings(db, &did, after.as_ref(), limit)))
    }

    fn rebuild(&self, tell: Arc<dyn Fn(u64) + Send + Sync>) -> Answer<'_, Rebuilt> {
        Box::pin(self.write(move |writer| writer.rebuild(&tell)))
    }

    fn forget(&self) -> Answer<'_, ()> {
        Box::pin(self.write(|writer| {
            while writer.has_unswept {
                writer.sweep()?;
            }
            writer.forget()
        }))
    }
}
