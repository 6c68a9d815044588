//! `onrecord index`: looking after the index of what the network publishes.

pub mod backfill;
mod check;

use std::{
    fs::File,
    io::{self, BufReader, BufWriter, Write as _},
    path::Path,
    sync::Arc,
};

use jiff::Timestamp;
use onrecord_index::{Applied, Index, export, import, open};
use serde_json::json;

use crate::{
    cli::{DbArg, IndexCommand},
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, counted, printable},
};

pub async fn run(command: &IndexCommand, out: &mut Out) -> Result<u8> {
    match command {
        IndexCommand::Backfill(args) => backfill::run(args, out).await,
        IndexCommand::Stats { db } => stats(&*opened(db).await?, out).await,
        IndexCommand::Check(args) => check::run(args, out).await,
        IndexCommand::Rebuild { db } => check::rebuild(&*opened(db).await?, out).await,
        IndexCommand::Export { db, out: file } => exported(&*opened(db).await?, file.as_deref(), out).await,
        IndexCommand::Import { file, db } => imported(&*opened(db).await?, file, out).await,
    }
}

async fn opened(db: &DbArg) -> Result<Arc<dyn Index>> {
    Ok(open(&config::index_address(db.db.as_deref())?, None).await?)
}

async fn stats(index: &dyn Index, out: &mut Out) -> Result<u8> {
    let (status, rejected) = (index.status().await?, index.rejections().await?);
    if out.json {
        out.json(&json!({"status": status, "rejected": rejected}))?;
        return Ok(0);
    }
    let mut rows = vec![
        vec!["conversations".to_owned(), status.conversations.to_string()],
        vec!["waiting for their record".to_owned(), status.waiting.to_string()],
    ];
    rows.extend(status.records.iter().map(|(collection, n)| vec![format!("records of {collection}"), n.to_string()]));
    rows.extend(
        status.accounts.iter().map(|(state, n)| vec![format!("accounts, {state:?}").to_lowercase(), n.to_string()]),
    );
    rows.push(vec!["known to be gone".to_owned(), status.gone.to_string()]);
    rows.extend(status.replica_lag_ms.map(|ms| vec!["behind its primary".to_owned(), format!("{ms} ms")]));
    rows.extend(rejected.iter().map(|r| vec![format!("refused: {} {}", r.reason, r.collection), r.count.to_string()]));
    rows.extend(status.cursors.iter().map(|at| vec![format!("followed: {}", at.source), at.cursor.clone()]));
    for line in columns(&rows) {
        out.line(printable(&line))?;
    }
    Ok(0)
}

async fn exported(index: &dyn Index, file: Option<&Path>, out: &mut Out) -> Result<u8> {
    let lines = match file {
        Some(path) => {
            let at = |source| Error::File { path: path.to_owned(), source };
            let mut to = BufWriter::new(File::create(path).map_err(at)?);
            let lines = export(index, &mut to).await?;
            to.flush().map_err(at)?;
            lines
        }
        None => export(index, &mut BufWriter::new(io::stdout())).await.map_err(|error| match error {
            onrecord_index::Error::Io(error) => Error::from(error),
            other => other.into(),
        })?,
    };
    out.note(format!("Wrote {}.", counted(usize::try_from(lines).unwrap_or(usize::MAX), "line")));
    Ok(0)
}

async fn imported(index: &dyn Index, file: &Path, out: &mut Out) -> Result<u8> {
    let start = Timestamp::now();
    let Applied { stored, removed, stale, ignored, rejected } = if file == Path::new("-") {
        import(index, &mut BufReader::new(io::stdin())).await?
    } else {
        let opened = File::open(file).map_err(|source| Error::File { path: file.to_owned(), source })?;
        import(index, &mut BufReader::new(opened)).await?
    };
    // So that the file of an index stands alone, and may be moved or copied.
    index.forget().await?;
    if out.json {
        out.json(&json!({
            "stored": stored, "removed": removed, "stale": stale, "ignored": ignored, "rejected": rejected
        }))?;
    } else {
        let count = |n: u64, what: &str| counted(usize::try_from(n).unwrap_or(usize::MAX), what);
        out.line(format!(
            "{} stored, {removed} removed, {stale} known already, {rejected} refused",
            count(stored, "record")
        ))?;
        out.note(format!("It took {} ms.", Timestamp::now().as_millisecond() - start.as_millisecond()));
    }
    Ok(if rejected == 0 { 0 } else { PROBLEMS })
}
