//! From one index to another, whatever their stores.
//!
//! What goes out is what was seen: records, accounts, what is known to be gone, cursors; and what the host decided, so that
//! what is hidden here is in the export, and hidden there too. What follows from records is made again on the other side, by
//! the same door.

use std::io::{BufRead, Write};

use jiff::Timestamp;
use onrecord_lexicon::{Cid, Did, Tid};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    admit::{Trust, admit},
    change::{Address, Batch, Change, Put, Restored, SourceCursor},
    error::{Error, Result},
    index::{Applied, Index},
    moderation::{Decision, Label, Moderation},
    query::Cursor,
};

/// How many lines are read, and written, at once.
const CHUNK: u32 = 2_000;

/// A line of an export.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ExportLine {
    /// A decision of the host. Stands before all that it may hide.
    Decision(Decision),
    /// A label that is kept.
    Label(Label),
    /// An account.
    Account(Restored),
    /// A record.
    Record {
        /// Where it is.
        #[serde(flatten)]
        at: Address,
        /// Its CID.
        cid: Cid,
        /// Its revision.
        rev: Tid,
        /// The record.
        record: Box<RawValue>,
    },
    /// A record that is gone.
    Gone {
        /// Where it was.
        #[serde(flatten)]
        at: Address,
        /// Since which revision.
        rev: Tid,
    },
    /// How far a source was followed.
    Cursor(SourceCursor),
}

/// A part of an export.
#[derive(Debug, Clone)]
pub struct ExportPage {
    /// Its lines.
    pub lines: Vec<ExportLine>,
    /// Where to go on, if there is more.
    pub cursor: Option<Cursor>,
}

/// An export's parts, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Decisions,
    Labels,
    Accounts,
    Records,
    Gone,
    Floors,
    Cursors,
}

impl Phase {
    const ALL: [Self; 7] =
        [Self::Decisions, Self::Labels, Self::Accounts, Self::Records, Self::Gone, Self::Floors, Self::Cursors];

    /// The part a cursor stands in, and the key in it after which it goes on.
    pub(crate) fn of_cursor(cursor: Option<&Cursor>) -> Result<(Self, &str)> {
        let Some(cursor) = cursor else { return Ok((Self::Decisions, "")) };
        let [phase, key] = cursor.parts('x')?;
        let phase = phase.parse().ok().and_then(|n: usize| Self::ALL.get(n)).copied().ok_or(Error::Cursor)?;
        Ok((phase, key))
    }

    fn cursor(self, key: &str) -> Cursor {
        Cursor::new('x', &[&(self as usize).to_string(), key])
    }
}

/// The parts of a key, parted by `|`. None but the last may hold one.
pub(crate) fn keys<const N: usize>(key: &str) -> [&str; N] {
    let mut parts = key.splitn(N, '|');
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

/// Where the accounts begin in an export, one page after another of them.
pub(crate) fn accounts() -> Cursor {
    Phase::Accounts.cursor("")
}

impl ExportPage {
    /// The page of a phase whose last line has the key `last`.
    pub(crate) fn of(phase: Phase, lines: Vec<ExportLine>, limit: u32, last: &str) -> Self {
        let cursor = if lines.len() >= limit as usize {
            Some(phase.cursor(last))
        } else {
            Phase::ALL.get(phase as usize + 1).map(|next| next.cursor(""))
        };
        Self { lines, cursor }
    }
}

/// Writes everything to `out`, a JSON object a line; gives how many lines. What changes meanwhile may be in it or not.
///
/// # Errors
/// The index cannot be read, or `out` not be written.
pub async fn export(index: &dyn Index, out: &mut (dyn Write + Send)) -> Result<u64> {
    let mut cursor = None;
    let mut written = 0;
    loop {
        let page = index.export_page(cursor.as_ref(), CHUNK).await?;
        for line in &page.lines {
            serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
            out.write_all(b"\n")?;
            written += 1;
        }
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    out.flush()?;
    Ok(written)
}

/// What is wrong with a line, without the parser's own words: those quote what they did not expect.
fn misfit(error: &serde_json::Error) -> String {
    match error.classify() {
        serde_json::error::Category::Data => {
            format!("its fields are not those of any line (column {})", error.column())
        }
        _ => format!("it is not JSON (column {})", error.column()),
    }
}

/// The accounts that are known, some at a time, and where to go on.
pub(crate) async fn dids(index: &dyn Index, after: Option<&Cursor>) -> Result<(Vec<Did>, Option<Cursor>)> {
    let first = accounts();
    let page = index.export_page(Some(after.unwrap_or(&first)), CHUNK).await?;
    let dids = page.lines.into_iter().filter_map(|line| match line {
        ExportLine::Account(account) => Some(account.author.did),
        _ => None,
    });
    let next = page.cursor.filter(|next| matches!(Phase::of_cursor(Some(next)), Ok((Phase::Accounts, _))));
    Ok((dids.collect(), next))
}

/// Puts an export into an index, beside what it holds already; gives what that did.
///
/// # Errors
/// A line is none of an export; the index cannot be written. What was read before that may be in the index, and reading it
/// once more does no harm.
pub async fn import(index: &dyn Index, from: &mut (dyn BufRead + Send)) -> Result<Applied> {
    let mut sum = Applied::default();
    let mut changes = Vec::new();
    let mut moderation = Moderation { is_restored: true, ..Moderation::default() };
    let mut number = 0;
    let mut text = String::new();
    loop {
        text.clear();
        let is_over = from.read_line(&mut text)? == 0;
        number += 1;
        let mut cursor = None;
        if !text.trim().is_empty() {
            let line = serde_json::from_str(&text).map_err(|e| Error::Line { line: number, why: misfit(&e) })?;
            match line {
                ExportLine::Decision(decision) => moderation.decisions.push(decision),
                ExportLine::Label(label) => moderation.labels.push(label),
                ExportLine::Account(restored) => changes.push(Change::Restored(Box::new(restored))),
                ExportLine::Record { at, cid, rev, record } => {
                    changes.push(Change::Put(Box::new(Put { address: at, cid, rev, json: record.get().into() })));
                }
                ExportLine::Gone { at, rev } => changes.push(Change::RestoredGone { address: at, rev }),
                ExportLine::Cursor(at) => cursor = Some(at),
            }
        }
        // A cursor stands for all that came before it.
        let pending = changes.len() + moderation.decisions.len() + moderation.labels.len();
        if is_over || cursor.is_some() || pending >= CHUNK as usize {
            let decided = std::mem::replace(&mut moderation, Moderation { is_restored: true, ..Moderation::default() });
            index.moderate(decided).await?;
            let batch = Batch { cursor, changes: std::mem::take(&mut changes), fence: None };
            // The CID of a turn held back is that of the record, which may have said more than is kept.
            let applied = index.apply(admit(batch, Trust::Cids, Timestamp::now())).await?;
            sum.stored += applied.stored;
            sum.removed += applied.removed;
            sum.stale += applied.stale;
            sum.ignored += applied.ignored;
            sum.rejected += applied.rejected;
        }
        if is_over {
            return Ok(sum);
        }
    }
}
