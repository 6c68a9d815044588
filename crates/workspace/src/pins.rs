//! What was found where turns point: for good in what is published, for some minutes in what was only looked up.

use std::collections::HashMap;

use jiff::Timestamp;
use onrecord_atproto::Pin;
use onrecord_lexicon::{AtUri, Cid, Did};
use onrecord_record::StrongRef;
use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;

use crate::{Error, Publication, Workspace};

/// What was looked up is asked for again after this. Short, since records change; long enough to look at the plan.
const LIFE_SECONDS: i64 = 600;

/// What a publication's records point at already.
#[derive(Debug, Default)]
pub(crate) struct Pinned {
    /// By the name in the text.
    pub(crate) by_name: HashMap<AtUri, Pin>,
    /// CIDs by the record's uri, as the published records have them.
    pub(crate) cids: HashMap<AtUri, Cid>,
}

fn pin_from(uri: &str, cid: Option<&str>) -> Result<Pin, Error> {
    let uri = AtUri::parse(uri)?;
    Ok(match cid {
        Some(cid) => Pin::Record { uri, cid: Cid::parse(cid)? },
        None => Pin::Account(Did::parse(uri.authority())?),
    })
}

/// A pin's columns: uri, CID.
fn columns(pin: &Pin) -> Option<(String, Option<&str>)> {
    match pin {
        Pin::Record { uri, cid } => Some((uri.to_string(), Some(cid.as_str()))),
        Pin::Account(did) => Some((format!("at://{did}"), None)),
        Pin::Absent(_) | Pin::Failed(_) => None,
    }
}

impl Workspace {
    /// What `publication` points at already.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn pinned(&self, publication: &Publication) -> Result<Pinned, Error> {
        #[derive(Deserialize)]
        struct Refs {
            #[serde(default)]
            refs: Vec<StrongRef>,
        }
        let mut pinned = Pinned::default();
        let mut query = self.db.prepare_cached("SELECT name, uri, cid FROM pin WHERE publication = ?1")?;
        let mut rows = query.query([publication.id])?;
        while let Some(row) = rows.next()? {
            let (name, uri, cid): (String, String, Option<String>) = (row.get(0)?, row.get(1)?, row.get(2)?);
            pinned.by_name.insert(AtUri::parse(&name)?, pin_from(&uri, cid.as_deref())?);
        }
        let mut query = self.db.prepare_cached(
            "SELECT json FROM record WHERE publication = ?1 AND cid IS NOT NULL AND json ->> 'refs' IS NOT NULL",
        )?;
        let mut rows = query.query([publication.id])?;
        while let Some(row) = rows.next()? {
            // A record of another's making may have what it likes there.
            let refs = serde_json::from_str::<Refs>(&row.get::<_, String>(0)?).map(|r| r.refs).unwrap_or_default();
            pinned.cids.extend(refs.into_iter().map(|r| (r.uri, r.cid)));
        }
        Ok(pinned)
    }

    /// Remembers what `publication` is to point at, before anything is sent.
    ///
    /// # Errors
    /// The store cannot be written: then nothing may be sent.
    pub(crate) fn keep_pins(&mut self, publication: &Publication, pins: &[(AtUri, Pin)]) -> Result<(), Error> {
        let tx = self.db.transaction()?;
        tx.execute("DELETE FROM pin WHERE publication = ?1", [publication.id])?;
        for (name, pin) in pins {
            let Some((uri, cid)) = columns(pin) else { continue };
            tx.prepare_cached("INSERT OR REPLACE INTO pin (publication, name, uri, cid) VALUES (?1, ?2, ?3, ?4)")?
                .execute((publication.id, name.as_str(), uri, cid))?;
        }
        tx.commit()?;
        Ok(())
    }

    /// What was found at `name` a short while ago.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn looked_up(&self, name: &AtUri) -> Result<Option<Pin>, Error> {
        type Row = (Option<String>, Option<String>, Option<String>);
        let since = Timestamp::now().as_second() - LIFE_SECONDS;
        let mut query = self.db.prepare_cached("SELECT uri, cid, why FROM lookup WHERE name = ?1 AND at > ?2")?;
        let row: Option<Row> =
            query.query_row((name.as_str(), since), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        row.map(|(uri, cid, why)| match uri {
            Some(uri) => pin_from(&uri, cid.as_deref()),
            None => Ok(Pin::Absent(why.unwrap_or_default())),
        })
        .transpose()
    }

    /// Remembers for a while what was found, and forgets what was found long ago.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn note_looked_up(&self, found: &[(AtUri, Pin)]) -> Result<(), Error> {
        let now = Timestamp::now().as_second();
        let tx = self.db.unchecked_transaction()?;
        tx.execute("DELETE FROM lookup WHERE at <= ?1 OR at > ?2", (now - LIFE_SECONDS, now))?;
        let mut insert =
            tx.prepare_cached("INSERT OR REPLACE INTO lookup (name, uri, cid, why, at) VALUES (?1, ?2, ?3, ?4, ?5)")?;
        for (name, pin) in found {
            let why = match pin {
                Pin::Absent(why) => Some(why.as_str()),
                Pin::Failed(_) => continue,
                Pin::Record { .. } | Pin::Account(_) => None,
            };
            let (uri, cid) = columns(pin).unzip();
            insert.execute((name.as_str(), uri, cid.flatten(), why, now))?;
        }
        drop(insert);
        tx.commit()?;
        Ok(())
    }
}

/// Forgets all that was looked up: names that stood in a text which may be covered or gone by now.
pub(crate) fn forget_lookups(db: &Connection) -> Result<(), Error> {
    db.execute("DELETE FROM lookup", [])?;
    Ok(())
}
