//! Everything that follows from the records, made anew.

use std::sync::Arc;

use onrecord_lexicon::Did;

use super::{account, write::Work};
use crate::{
    admit::{derive_stored, merge_profile},
    change::{Address, rev_of_number},
    decide::{Conversations, count},
    error::{Error, Result},
    index::Rebuilt,
    row::{Row, another_time_key, is_searchable, time_key, time_of_key},
    stored::{address as address_of, terms},
};

/// How many records are looked at at once.
const CHUNK: usize = 1_000;

/// One that is being made anew.
struct Found {
    id: i64,
    account: i64,
    address: Address,
    row: Row,
}

impl Work<'_> {
    /// All of it within the transaction: until it is committed, readers see what was there before.
    pub(super) fn rebuild(&mut self, tell: &Arc<dyn Fn(u64) + Send + Sync>) -> Result<Rebuilt> {
        self.tx.execute_batch(
            "INSERT INTO search (search) VALUES ('delete-all');
             UPDATE account SET profile = NULL WHERE profile IS NOT NULL;
             DELETE FROM name_use;
             UPDATE conversation SET present = 0, title = NULL, started_ms = 0, published_us = 0, turns = 0,
                withheld = 0, steps = 0, failed = 0;
             CREATE TEMP TABLE IF NOT EXISTS moved (id INTEGER PRIMARY KEY, place INTEGER NOT NULL);
             DELETE FROM temp.moved;",
        )?;
        let mut rebuilt = Rebuilt::default();
        let mut after = i64::MIN;
        loop {
            let (found, seen) = self.page(&mut after, &mut rebuilt)?;
            self.derived(&found)?;
            rebuilt.records += found.len() as u64;
            tell(rebuilt.records);
            if seen < CHUNK {
                break;
            }
        }
        self.moved()?;
        self.tx.execute("DELETE FROM conversation WHERE NOT present AND turns <= 0", [])?;
        rebuilt.conversations = self
            .tx
            .query_row("SELECT count(*) FROM conversation WHERE present", [], |row| row.get::<_, i64>(0))?
            .unsigned_abs();
        Ok(rebuilt)
    }

    /// The next records, and how many rows were seen for that.
    fn page(&mut self, after: &mut i64, rebuilt: &mut Rebuilt) -> Result<(Vec<Found>, usize)> {
        let (mut found, mut unreadable, mut seen) = (Vec::new(), Vec::new(), 0);
        {
            let mut query = self.tx.prepare_cached(
                "SELECT r.id, r.account, a.did, c.nsid, r.rkey, r.rev, r.json FROM record r
                 JOIN account a ON a.id = r.account JOIN collection c ON c.id = r.collection
                 WHERE r.id > ?1 ORDER BY r.id LIMIT ?2",
            )?;
            let mut rows = query.query((*after, CHUNK.cast_signed()))?;
            while let Some(row) = rows.next()? {
                seen += 1;
                let id: i64 = row.get(0)?;
                *after = id;
                let (did, nsid, rkey): (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
                let (rev, json): (i64, String) = (row.get(5)?, row.get(6)?);
                let address = address_of(&did, &nsid, &rkey)?;
                match rev_of_number(rev).and_then(|rev| derive_stored(&address, &rev, &json)) {
                    Some(row_of) => found.push(Found { id, account: row.get(1)?, address, row: row_of }),
                    None => unreadable.push(id),
                }
            }
        }
        // Nothing that a reader could be shown.
        for id in unreadable {
            self.tx.prepare_cached("DELETE FROM record WHERE id = ?1")?.execute([id])?;
            rebuilt.dropped += 1;
            self.has_removed = true;
        }
        Ok((found, seen))
    }

    fn derived(&mut self, found: &[Found]) -> Result<()> {
        let mut conversations = Conversations::new();
        for one in found {
            count(&mut conversations, &one.address.did, &one.row, 1);
        }
        let account_of = |did: &Did| {
            let one = found.iter().find(|one| one.address.did == *did);
            one.map(|one| one.account).ok_or(Error::Corrupt { what: "an account" })
        };
        let ids = self.conversations(&conversations, account_of)?;
        for Found { id, account, address, row } in found {
            let conversation = row.conversation.as_ref().and_then(|(collection, rkey)| {
                ids.get(&(address.did.as_str(), collection.as_str(), rkey.as_str())).copied()
            });
            self.tx
                .prepare_cached("UPDATE record SET kind = ?2, opens = ?3, conversation = ?4 WHERE id = ?1")?
                .execute((id, row.kind.number(), row.opens, conversation))?;
            let place = time_key(row.at_ms, address);
            if time_of_key(*id) == time_of_key(place) {
                self.find_by(*id, &address.did, row)?;
            } else {
                self.tx.prepare_cached("INSERT INTO temp.moved (id, place) VALUES (?1, ?2)")?.execute((id, place))?;
            }
            if let Some(said) = &row.profile {
                let mut profile = account::find(self.tx, &address.did)?.map(|known| known.profile).unwrap_or_default();
                merge_profile(&mut profile, address.collection.as_str(), Some(said.clone()));
                account::set_profile(self.tx, *account, &profile)?;
            }
        }
        Ok(())
    }

    /// Puts those where they belong whose time is another than when they came first.
    fn moved(&mut self) -> Result<()> {
        let mut after = (i64::MIN, i64::MIN);
        loop {
            let page: Vec<(i64, i64)> = self
                .tx
                .prepare_cached(
                    "SELECT id, place FROM temp.moved WHERE (place, id) > (?1, ?2) ORDER BY place, id LIMIT ?3",
                )?
                .query_map((after.0, after.1, CHUNK.cast_signed()), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            for (id, place) in &page {
                after = (*place, *id);
                let (did, nsid, rkey, rev, json): (String, String, String, i64, String) = self
                    .tx
                    .prepare_cached(
                        "SELECT a.did, c.nsid, r.rkey, r.rev, r.json FROM record r JOIN account a ON a.id = r.account
                         JOIN collection c ON c.id = r.collection WHERE r.id = ?1",
                    )?
                    .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
                let address = address_of(&did, &nsid, &rkey)?;
                let row = crate::stored::row_of(&address, rev, &json)?;
                let (mut to, mut tries) = (*place, 0);
                while self.tx.prepare_cached("UPDATE OR IGNORE record SET id = ?2 WHERE id = ?1")?.execute((id, to))?
                    == 0
                {
                    // Another record has it.
                    tries += 1;
                    to = another_time_key(to, tries);
                }
                self.find_by(to, &address.did, &row)?;
            }
            if page.len() < CHUNK {
                self.tx.execute_batch("DROP TABLE temp.moved")?;
                return Ok(());
            }
        }
    }

    fn find_by(&self, id: i64, did: &Did, row: &Row) -> Result<()> {
        if is_searchable(row) {
            self.tx
                .prepare_cached("INSERT INTO search (rowid, terms) VALUES (?1, ?2)")?
                .execute((id, terms(did, row)))?;
        }
        Ok(())
    }
}
