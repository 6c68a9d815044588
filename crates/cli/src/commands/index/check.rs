//! `onrecord index check` and `rebuild`: whether the index is right, and what is done about it.

use std::sync::Arc;

use onrecord_index::{
    Checked, Index, check,
    follow::{CompareProgress, Compared, Comparison, Difference, Limits},
};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    cli::Check,
    config,
    error::{FAILED, PROBLEMS, Result},
    output::{Out, counted, line_on_stderr, printable},
    terminal,
};

/// How many records of an account are named where it differs.
const NAMED: usize = 5;

pub async fn run(args: &Check, out: &mut Out) -> Result<u8> {
    let index = super::opened(&args.db).await?;
    let compared = if args.network { Some(compare(args, &index, out).await?) } else { None };
    let mut checked = check(&*index).await?;
    let found = checked.faults.len();
    if !checked.faults.is_empty() && args.repair {
        show(&checked, out)?;
        made_anew(&*index, out).await?;
        checked = check(&*index).await?;
    }
    if out.json {
        let network = compared.map(|Compared { accounts, differing, repaired, failed }| {
            json!({"accounts": accounts, "differing": differing, "repaired": repaired, "failed": failed})
        });
        let mended = args.repair.then(|| found.saturating_sub(checked.faults.len()));
        let mut told = json!({"records": checked.records, "searched": checked.searched,
            "conversations": checked.conversations, "faults": checked.faults, "mended": mended, "network": network});
        if let Some(told) = told.as_object_mut() {
            // What was not asked for.
            told.retain(|_, value| !value.is_null());
        }
        out.json_now(&told)?;
    } else {
        show(&checked, out)?;
        out.note(format!(
            "Compared {} with {}, and searched for {} of them.",
            count(checked.conversations, "conversation"),
            count(checked.records, "record"),
            checked.searched
        ));
        if let Some(compared) = compared {
            out.note(format!(
                "Compared {} with their repositories: {} differed, {} were fetched again, {} could not be looked at.",
                count(compared.accounts, "account"),
                compared.differing,
                compared.repaired,
                compared.failed
            ));
        }
    }
    let is_left = compared.is_some_and(|compared| compared.differing > compared.repaired);
    Ok(if is_left || !checked.faults.is_empty() {
        PROBLEMS
    } else if compared.is_some_and(|compared| compared.failed > 0) {
        FAILED
    } else {
        0
    })
}

fn show(checked: &Checked, out: &mut Out) -> Result<()> {
    if !out.json {
        for fault in &checked.faults {
            out.line(printable(fault))?;
        }
    }
    Ok(())
}

async fn compare(args: &Check, index: &Arc<dyn Index>, out: &mut Out) -> Result<Compared> {
    let (sender, mut heard) = mpsc::unbounded_channel();
    let comparison = Comparison {
        index: Arc::clone(index),
        client: config::client()?,
        limits: Limits::default(),
        sample: args.sample,
        repair: args.repair,
        on_progress: Arc::new(move |progress| drop(sender.send(progress))),
    };
    let bar = terminal::bar(out);
    let mut tell = |progress: CompareProgress| -> Result<()> {
        if let (CompareProgress::Now { done }, Some(bar)) = (&progress, &bar) {
            bar.set_length(*done);
            bar.set_position(*done);
        }
        match &bar {
            Some(bar) => bar.suspend(|| differs(&progress, out)),
            None => differs(&progress, out),
        }
    };
    let mut running = std::pin::pin!(comparison.run());
    let compared = loop {
        tokio::select! {
            biased;
            Some(progress) = heard.recv() => tell(progress)?,
            compared = &mut running => break compared?,
        }
    };
    while let Ok(progress) = heard.try_recv() {
        tell(progress)?;
    }
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    Ok(compared)
}

/// A line for an account that differs or cannot be looked at.
fn differs(progress: &CompareProgress, out: &mut Out) -> Result<()> {
    match progress {
        CompareProgress::Now { .. } => Ok(()),
        CompareProgress::Failed { did, why } if out.json => out.json_now(&json!({"failed": did, "why": why})),
        CompareProgress::Failed { did, why } => out.line(printable(&format!("{did} could not be looked at: {why}"))),
        CompareProgress::Differs { did, difference, repaired } if out.json => {
            let Difference { missing, stale, extra, status } = difference;
            let uris = |of: &[onrecord_index::Address]| of.iter().map(onrecord_index::Address::uri).collect::<Vec<_>>();
            out.json_now(&json!({"differs": did, "missing": uris(missing), "stale": uris(stale),
                "extra": uris(extra), "status": status, "repaired": matches!(repaired, Some(Ok(())))}))
        }
        CompareProgress::Differs { did, difference, repaired } => {
            let Difference { missing, stale, extra, status } = difference;
            let mut what = Vec::new();
            for (of, name) in [(missing, "missing"), (stale, "out of date"), (extra, "too much")] {
                if !of.is_empty() {
                    let named: Vec<_> = of.iter().take(NAMED).map(onrecord_index::Address::uri).collect();
                    let more = if of.len() > NAMED { ", …" } else { "" };
                    what.push(format!("{} {name} ({}{more})", of.len(), named.join(", ")));
                }
            }
            if let Some((ours, theirs)) = status {
                what.push(format!("{ours:?} here and {theirs:?} at its server").to_lowercase());
            }
            let repaired = match repaired {
                None => String::new(),
                Some(Ok(())) => "; fetched again".to_owned(),
                Some(Err(why)) => format!("; could not be fetched again: {why}"),
            };
            out.line(printable(&format!("{did}: {}{repaired}", what.join(", "))))
        }
    }
}

/// `onrecord index rebuild`.
pub async fn rebuild(index: &dyn Index, out: &mut Out) -> Result<u8> {
    let rebuilt = made_anew(index, out).await?;
    if out.json {
        out.json(&rebuilt)?;
    } else {
        out.line(format!(
            "{} in {} made anew",
            count(rebuilt.records, "record"),
            count(rebuilt.conversations, "conversation")
        ))?;
        if rebuilt.dropped > 0 {
            out.note(format!("{} were removed: this version lets no such in.", count(rebuilt.dropped, "record")));
        }
    }
    Ok(0)
}

async fn made_anew(index: &dyn Index, out: &Out) -> Result<onrecord_index::Rebuilt> {
    let bar = terminal::bar(out);
    let shown = bar.clone();
    let total: u64 = index.status().await?.records.iter().map(|(_, n)| n).sum();
    let tell = Arc::new(move |done| {
        if let Some(bar) = &shown {
            bar.set_length(total);
            bar.set_position(done);
        }
    });
    let rebuilt = index.rebuild(tell).await;
    match &bar {
        Some(bar) => bar.finish_and_clear(),
        None if !out.quiet => line_on_stderr(format_args!("Made {total} records' search, counts and lists anew.")),
        None => {}
    }
    let rebuilt = rebuilt?;
    index.forget().await?;
    Ok(rebuilt)
}

fn count(n: u64, what: &str) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), what)
}
