//! The ledger: what is on record, where, under which keys.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Handle, Rkey, Tid};
use onrecord_record::{
    EncodedRecord, Family, Original, Published, RecordAt, SessionRecord, Write,
    aligned::{self, KnownKeys, MESSAGE, SESSION},
    tiles::{self, LinkSecret},
};
use rusqlite::{OptionalExtension, Row, Transaction};
use serde_json::{Map, Value};

use crate::{ConversationId, Error, Workspace};

/// A record's place within a repository: collection and key.
pub type Place = (String, Rkey);

/// A conversation on record in a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publication {
    pub(crate) id: i64,
    /// The conversation it came from.
    pub conversation: ConversationId,
    /// The harness's id of that conversation.
    pub source_id: String,
    /// Its repository.
    pub repo: Did,
    /// The repository's handle when it was published.
    pub handle: Option<Handle>,
    /// How its records are written.
    pub family: Family,
    /// Key of its session record, or of its one record.
    pub rkey: Rkey,
    /// When it was first published.
    pub published_at: Timestamp,
    /// A take-back has begun and not ended.
    pub taking_back: bool,
    /// How many of its records are known to be in the repository.
    pub records: u64,
    /// It was found in the repository, and no transcript on this machine is known to be that of it.
    pub adopted: bool,
    /// Its title as published, else the start of the first prompt as published.
    pub title: Option<String>,
}

impl Publication {
    /// Where its session record is, or its one record.
    #[must_use]
    pub fn uri(&self) -> String {
        format!("at://{}/{}/{}", self.repo, self.family.collection(), self.rkey)
    }
}

// Of a private one nothing is known here, its title neither.
const SELECT: &str =
    "SELECT p.id, p.conversation, c.source_id, p.repo, p.handle, p.rkey, p.published_at, p.taking_back,
    (SELECT count(*) FROM record r WHERE r.publication = p.id AND r.cid IS NOT NULL),
    coalesce(
        (SELECT nullif(coalesce(json ->> 'title', json ->> 'name'), '') FROM record r
            WHERE r.publication = p.id AND r.turn IS NULL),
        (SELECT substr(json ->> 'text', 1, 200) FROM record r
            WHERE r.publication = p.id AND json ->> 'role' = 'user' AND json ->> 'text' <> '' ORDER BY rkey LIMIT 1),
        (SELECT substr(item.value ->> 'text', 1, 200)
            FROM record r, json_each(r.json, '$.turns') turn, json_each(turn.value, '$.messages') message,
                json_each(message.value, '$.content') item
            WHERE r.publication = p.id AND p.family = 'tiles' AND message.value ->> 'role' = 'user'
                AND item.value ->> 'text' <> '' LIMIT 1)),
    p.family, c.harness = 'atproto'
    FROM publication p JOIN conversation c ON c.id = p.conversation";

fn publication(row: &Row<'_>) -> rusqlite::Result<Result<Publication, Error>> {
    let (repo, handle, rkey): (String, Option<String>, String) = (row.get(3)?, row.get(4)?, row.get(5)?);
    let published_at: String = row.get(6)?;
    let (id, conversation, source_id) = (row.get(0)?, ConversationId(row.get(1)?), row.get(2)?);
    let (taking_back, records, title): (bool, i64, Option<String>) = (row.get(7)?, row.get(8)?, row.get(9)?);
    let family: String = row.get(10)?;
    let adopted = row.get(11)?;
    Ok((|| {
        Ok(Publication {
            id,
            conversation,
            source_id,
            repo: Did::parse(&repo)?,
            handle: handle.as_deref().map(Handle::parse).transpose()?,
            family: family.parse().map_err(|_| Error::Corrupt { what: "a family in the ledger" })?,
            rkey: Rkey::parse(&rkey)?,
            published_at: published_at.parse().map_err(|_| Error::Corrupt { what: "a time in the ledger" })?,
            taking_back,
            records: records.unsigned_abs(),
            adopted,
            title,
        })
    })())
}

impl Workspace {
    /// Everything on record, newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn publications(&self) -> Result<Vec<Publication>, Error> {
        let mut query = self.db.prepare(&format!("{SELECT} ORDER BY p.rkey DESC"))?;
        let rows = query.query_map([], publication)?;
        rows.map(|row| row?).collect()
    }

    /// The publication of a conversation in a repository, in that family.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn publication_in(
        &self,
        conversation: ConversationId,
        repo: &Did,
        family: Family,
    ) -> Result<Option<Publication>, Error> {
        let sql = format!("{SELECT} WHERE p.conversation = ?1 AND p.repo = ?2 AND p.family = ?3");
        self.db.query_row(&sql, (conversation.0, repo.as_str(), family.as_str()), publication).optional()?.transpose()
    }

    /// The publication whose session record, or one record, has that key. Of two families' publications never both have it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn publication_at(&self, repo: &Did, rkey: &Rkey) -> Result<Option<Publication>, Error> {
        let sql = format!("{SELECT} WHERE p.repo = ?1 AND p.rkey = ?2");
        self.db.query_row(&sql, (repo.as_str(), rkey.as_str()), publication).optional()?.transpose()
    }

    /// The keys given out to a conversation in a repository, in the click.aligned family.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn known_keys(&self, conversation: ConversationId, repo: &Did) -> Result<KnownKeys, Error> {
        self.keys_in(conversation, repo, Family::ClickAligned)
    }

    /// The keys given out to a conversation in a repository, in that family.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn keys_in(&self, conversation: ConversationId, repo: &Did, family: Family) -> Result<KnownKeys, Error> {
        let mut query = self.db.prepare_cached(
            "SELECT r.turn, r.part, r.rkey FROM record r JOIN publication p ON p.id = r.publication
             WHERE p.conversation = ?1 AND p.repo = ?2 AND p.family = ?3",
        )?;
        let mut keys = KnownKeys { session: None, turns: HashMap::new() };
        let mut rows = query.query((conversation.0, repo.as_str(), family.as_str()))?;
        while let Some(row) = rows.next()? {
            let tid = Tid::parse(&row.get::<_, String>(2)?)?;
            match row.get::<_, Option<String>>(0)? {
                None => keys.session = Some(tid),
                Some(turn) => {
                    keys.turns.insert((turn, row.get(1)?), tid);
                }
            }
        }
        Ok(keys)
    }

    /// Remembers the keys of `records` before anything is sent, so that a second run uses the same ones.
    ///
    /// # Errors
    /// The store cannot be written: then nothing may be sent.
    pub fn reserve(
        &mut self,
        conversation: ConversationId,
        repo: &Did,
        family: Family,
        handle: Option<&Handle>,
        session: &Rkey,
        records: &[EncodedRecord],
    ) -> Result<Publication, Error> {
        let tx = self.db.transaction()?;
        // Found in the repository before, without its transcript: from now on the two belong together.
        tx.execute(
            "UPDATE publication SET conversation = ?1
             WHERE repo = ?2 AND rkey = ?3 AND family = ?4
                AND conversation IN (SELECT id FROM conversation WHERE harness = 'atproto')
                AND NOT EXISTS (SELECT 1 FROM publication WHERE conversation = ?1 AND repo = ?2 AND family = ?4)",
            (conversation.0, repo.as_str(), session.as_str(), family.as_str()),
        )?;
        let id: i64 = tx.query_row(
            "INSERT INTO publication (conversation, repo, rkey, handle, family, published_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (conversation, repo, family) DO UPDATE SET handle = coalesce(excluded.handle, handle), taking_back = 0
             RETURNING id",
            (
                conversation.0,
                repo.as_str(),
                session.as_str(),
                handle.map(Handle::as_str),
                family.as_str(),
                Timestamp::now().to_string(),
            ),
            |row| row.get(0),
        )?;
        {
            let mut insert = tx.prepare_cached(
                // A key that a turn had which is gone may have passed to another.
                "INSERT INTO record (publication, collection, rkey, turn, part) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO UPDATE SET turn = excluded.turn, part = excluded.part
                    WHERE turn IS NOT excluded.turn OR part <> excluded.part",
            )?;
            for record in records {
                insert.execute((id, record.collection, record.rkey.as_str(), &record.turn, record.part))?;
            }
        }
        // What stood in the repository and is not of this transcript: left alone there, as any record of others.
        tx.execute(
            "DELETE FROM record WHERE publication = ?1 AND turn = rkey
                AND (SELECT harness FROM conversation WHERE id = ?2) <> 'atproto'",
            (id, conversation.0),
        )?;
        tx.commit()?;
        self.publication_at(repo, session)?.ok_or(Error::Corrupt { what: "the ledger" })
    }

    /// Notes that the session record is in the repository: a conversation that was taken back from there is there again.
    fn note_back(tx: &Transaction<'_>, publication: &Publication) -> Result<(), Error> {
        tx.execute(
            "DELETE FROM gone WHERE repo = ?1 AND collection = ?2 AND rkey = ?3",
            (publication.repo.as_str(), publication.family.collection(), publication.rkey.as_str()),
        )?;
        Ok(())
    }

    /// Notes that `writes` have taken effect.
    ///
    /// # Errors
    /// The store cannot be written; the repository is then ahead of the ledger, and the next run finds that by listing it.
    pub fn note_written(
        &mut self,
        publication: &Publication,
        writes: &[Write],
        rev: Option<&str>,
    ) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        for write in writes {
            let (collection, rkey) = (write.collection.as_str(), write.rkey.as_str());
            match (&write.cid, &write.record) {
                (Some(cid), Some(json)) => tx
                    .prepare_cached(
                        "UPDATE record SET cid = ?4, rev = coalesce(?5, rev), json = ?6
                     WHERE publication = ?1 AND collection = ?2 AND rkey = ?3",
                    )?
                    .execute((publication.id, collection, rkey, cid.as_str(), rev, json.get()))?,
                _ => tx
                    .prepare_cached("DELETE FROM record WHERE publication = ?1 AND collection = ?2 AND rkey = ?3")?
                    .execute((publication.id, collection, rkey))?,
            };
        }
        if writes.iter().any(|w| w.collection == publication.family.collection() && w.cid.is_some()) {
            Self::note_back(&tx, publication)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Notes that `records` were found in the repository as they should be: what an earlier run wrote and could not note.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note_found(&mut self, publication: &Publication, records: &[&EncodedRecord]) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        {
            let mut update = tx.prepare_cached(
                "UPDATE record SET cid = ?4, json = ?5
                 WHERE publication = ?1 AND collection = ?2 AND rkey = ?3 AND cid IS NOT ?4",
            )?;
            for r in records {
                update.execute((publication.id, r.collection, r.rkey.as_str(), r.cid.as_str(), r.json.get()))?;
            }
        }
        if records.iter().any(|r| r.collection == publication.family.collection()) {
            Self::note_back(&tx, publication)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Notes that the repository holds no record at `places`: what an earlier run deleted and could not note. A key that was
    /// only given out stays remembered.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn note_absent(&mut self, publication: &Publication, places: &[&Place]) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        {
            let mut delete = tx.prepare_cached(
                "DELETE FROM record WHERE publication = ?1 AND collection = ?2 AND rkey = ?3 AND cid IS NOT NULL",
            )?;
            for (collection, rkey) in places {
                delete.execute((publication.id, collection, rkey.as_str()))?;
            }
        }
        tx.commit()?;
        Ok(())
    }

    /// The records of a publication known to be in the repository: place → CID.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn ledger(&self, publication: &Publication) -> Result<HashMap<Place, Option<Cid>>, Error> {
        let mut query = self.db.prepare_cached("SELECT collection, rkey, cid FROM record WHERE publication = ?1")?;
        let mut rows = query.query([publication.id])?;
        let mut records = HashMap::new();
        while let Some(row) = rows.next()? {
            let cid: Option<String> = row.get(2)?;
            let place = (row.get(0)?, Rkey::parse(&row.get::<_, String>(1)?)?);
            records.insert(place, cid.as_deref().map(Cid::parse).transpose()?);
        }
        Ok(records)
    }

    /// A record of a publication as it was written.
    ///
    /// # Errors
    /// The store cannot be read, or holds what is no record.
    pub fn record(&self, publication: &Publication, collection: &str, rkey: &Rkey) -> Result<Option<Value>, Error> {
        let sql = "SELECT json FROM record WHERE publication = ?1 AND collection = ?2 AND rkey = ?3";
        let found = self.db.query_row(sql, (publication.id, collection, rkey.as_str()), |row| row.get(0)).optional()?;
        let json: Option<String> = found.flatten();
        Ok(json.as_deref().map(serde_json::from_str).transpose()?)
    }

    /// The at-uris of a publication's records, those too that only have their keys.
    pub(crate) fn places(&self, publication: &Publication) -> Result<HashSet<String>, Error> {
        let uri = |(collection, rkey): Place| format!("at://{}/{collection}/{rkey}", publication.repo);
        Ok(self.ledger(publication)?.into_keys().map(uri).collect())
    }

    /// Marks that a take-back has begun: from now on the site answers 410.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn begin_take_back(&mut self, repo: &Did, collection: &str, rkey: &Rkey) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        tx.execute(
            "UPDATE publication SET taking_back = 1 WHERE repo = ?1 AND rkey = ?2",
            (repo.as_str(), rkey.as_str()),
        )?;
        tx.execute(
            "INSERT OR IGNORE INTO gone (repo, collection, rkey, at) VALUES (?1, ?2, ?3, ?4)",
            (repo.as_str(), collection, rkey.as_str(), Timestamp::now().to_string()),
        )?;
        tx.commit()?;
        Ok(())
    }

    /// Forgets a publication whose records are all gone from the repository.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn end_take_back(&mut self, repo: &Did, rkey: &Rkey) -> Result<(), Error> {
        self.db.execute("DELETE FROM publication WHERE repo = ?1 AND rkey = ?2", (repo.as_str(), rkey.as_str()))?;
        crate::pins::forget_lookups(&self.db)?;
        // The words must not linger in the log that SQLite writes ahead.
        self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }

    /// A number that stays the same as long as nobody else writes to the store. What is written through this very connection
    /// does not change it.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn version(&self) -> Result<i64, Error> {
        Ok(self.db.query_row("PRAGMA data_version", [], |row| row.get(0))?)
    }

    /// Whether a conversation stood there and was taken back.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn is_gone(&self, repo: &Did, rkey: &Rkey) -> Result<bool, Error> {
        let found = self.db.query_row(
            "SELECT 1 FROM gone WHERE repo = ?1 AND rkey = ?2",
            (repo.as_str(), rkey.as_str()),
            |_| Ok(()),
        );
        Ok(found.optional()?.is_some())
    }

    /// A publication's conversation with its records as they are; `None` while its session record is not there yet. A private one
    /// is opened with `secret`.
    ///
    /// # Errors
    /// The store cannot be read, or holds what is no record of ours; [`onrecord_record::Error::Encrypted`].
    pub fn original(&self, publication: &Publication, secret: Option<&LinkSecret>) -> Result<Option<Original>, Error> {
        let mut query = self.db.prepare_cached(
            "SELECT collection, rkey, cid, json FROM record WHERE publication = ?1 AND cid IS NOT NULL ORDER BY rkey",
        )?;
        let mut rows = query.query([publication.id])?;
        let (mut head, mut messages) = (None, Vec::new());
        while let Some(row) = rows.next()? {
            let (collection, rkey, cid, json): (String, String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let uri = AtUri::parse(&format!("at://{}/{collection}/{rkey}", publication.repo))?;
            let record = RecordAt { uri, cid: Cid::parse(&cid)?, value: serde_json::from_str(&json)? };
            if collection == MESSAGE { messages.push(record) } else { head = Some(record) }
        }
        let Some(head) = head else { return Ok(None) };
        if publication.family.is_tiles() {
            let snapshot = tiles::Snapshot::open(tiles::SNAPSHOT, head.value, secret)?;
            return Ok(Some(Original::tiles(snapshot, &publication.uri())));
        }
        let (original, unreadable) = Original::aligned(&publication.repo, publication.handle.clone(), head, messages)?;
        match unreadable.into_iter().next() {
            Some(unreadable) => Err(unreadable.into()),
            None => Ok(Some(original)),
        }
    }

    /// A publication's records as a reader sees them; `None` while its session record is not there yet. Of a private one that is
    /// nothing: it opens with its link alone.
    ///
    /// # Errors
    /// The store cannot be read, or holds what is no record of ours.
    pub fn published(&self, publication: &Publication) -> Result<Option<Published>, Error> {
        let mut query = self.db.prepare_cached(
            "SELECT collection, rkey, cid, json FROM record WHERE publication = ?1 AND cid IS NOT NULL ORDER BY rkey",
        )?;
        let mut rows = query.query([publication.id])?;
        let mut session = None;
        let mut messages = Vec::new();
        while let Some(row) = rows.next()? {
            let (collection, rkey, cid, json): (String, String, String, String) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            let record: (Rkey, Cid, Value) = (Rkey::parse(&rkey)?, Cid::parse(&cid)?, serde_json::from_str(&json)?);
            match collection.as_str() {
                SESSION | tiles::SNAPSHOT => session = Some(record),
                MESSAGE => messages.push(record),
                _ => return Err(Error::Corrupt { what: "a collection in the ledger" }),
            }
        }
        let Some((rkey, cid, value)) = session else { return Ok(None) };
        if publication.family.is_tiles() {
            return snapshot(publication, rkey, &cid, value).map(Some);
        }
        let (published, unreadable) =
            aligned::published(&publication.repo, publication.handle.clone(), (rkey, cid, &value), messages)?;
        match unreadable.into_iter().next() {
            Some(unreadable) => Err(unreadable.into()),
            None => Ok(Some(published)),
        }
    }
}

/// A snapshot as a reader sees it.
fn snapshot(publication: &Publication, rkey: Rkey, cid: &Cid, value: Value) -> Result<Published, Error> {
    let (repo, handle, family) = (&publication.repo, publication.handle.clone(), publication.family);
    if family == Family::TilesPrivate {
        let session = SessionRecord {
            title: None,
            description: None,
            discussion: None,
            created_at: Datetime::from_timestamp(publication.published_at),
            extra: Map::new(),
        };
        let (repo, cid) = (repo.clone(), cid.clone());
        return Ok(Published { repo, handle, family, rkey, cid, session, messages: Vec::new() });
    }
    let reading = tiles::read(&tiles::Snapshot::open(tiles::SNAPSHOT, value, None)?, &publication.uri());
    Ok(tiles::published(repo, handle, family, rkey, cid, &reading)?)
}
