//! `onrecord index backfill`: fetching what was put on record before.

use std::{sync::Arc, time::Duration};

use indicatif::ProgressBar;
use onrecord_atproto::Client;
use onrecord_index::{
    AccountStatus, Index,
    follow::{Backfill, BackfillProgress, Limits, Target},
};
use serde_json::json;
use tokio::sync::mpsc;

use crate::{
    cli::{Backfill as Args, Past},
    config,
    error::{Error, FAILED, Result},
    output::{Out, line_on_stderr, printable},
    terminal,
};

pub async fn run(args: &Args, out: &mut Out) -> Result<u8> {
    if args.past.is_empty() {
        return Err(Error::Usage("say what to fetch: --repo DID, --members-of DID or --network URL".to_owned()));
    }
    let index = super::opened(&args.db).await?;
    let client = config::client()?;
    let (targets, unknown) = targets(&client, &args.past).await;
    for (who, why) in &unknown {
        failed(who, why, out)?;
    }
    let (sender, mut heard) = mpsc::unbounded_channel();
    let backfill = Backfill {
        index: Arc::clone(&index),
        client,
        limits: Limits { at_once: args.at_once.into(), per_host: args.per_host.into(), ..Limits::default() },
        anew: args.again,
        on_progress: Arc::new(move |progress| drop(sender.send(progress))),
    };
    let (mut fetched, mut before, mut lost) = (0, 0, unknown.len() as u64);
    for target in &targets {
        let mut shown = Shown::new(out);
        let mut running = std::pin::pin!(backfill.run(target));
        let ended = loop {
            tokio::select! {
                biased;
                Some(progress) = heard.recv() => shown.show(&progress, out)?,
                ended = &mut running => break ended?,
            }
        };
        while let Ok(progress) = heard.try_recv() {
            shown.show(&progress, out)?;
        }
        (fetched, before) = (fetched + ended.fetched, before + ended.before);
        lost += ended.failed + ended.unlisted;
    }
    let count = |n: u64| if n == 1 { "1 repository".to_owned() } else { format!("{n} repositories") };
    if out.json {
        out.json_now(&json!({"done": true, "fetched": fetched, "before": before, "failed": lost}))?;
    } else {
        out.line(format!("{} fetched", count(fetched)))?;
        if before > 0 {
            out.note(format!("{} had been before; --again fetches also these.", count(before)));
        }
        if lost > 0 {
            out.note("Running this again tries only what could not be fetched.");
        }
    }
    Ok(if lost == 0 { 0 } else { FAILED })
}

/// What to fetch, and who of them nobody knows.
pub async fn targets(client: &Client, past: &Past) -> (Vec<Target>, Vec<(String, String)>) {
    let (mut targets, mut unknown, mut repos) = (Vec::new(), Vec::new(), Vec::new());
    let resolve = async |who: &String| client.resolve(who).await.map(|identity| identity.did);
    for who in &past.repo {
        match resolve(who).await {
            Ok(did) => repos.push(did),
            Err(error) => unknown.push((who.clone(), error.to_string())),
        }
    }
    if !repos.is_empty() {
        targets.push(Target::Repos(repos));
    }
    for who in &past.members_of {
        match resolve(who).await {
            Ok(did) => targets.push(Target::MembersOf(did)),
            Err(error) => unknown.push((who.clone(), error.to_string())),
        }
    }
    targets.extend(past.network.iter().cloned().map(Target::Network));
    (targets, unknown)
}

fn failed(who: &str, why: &str, out: &mut Out) -> Result<()> {
    if out.json {
        out.json_now(&json!({"failed": who, "why": why}))
    } else {
        out.line(printable(&format!("{who} could not be fetched: {why}")))
    }
}

/// What is shown while it runs: a bar on a terminal, an object each with `--json`.
struct Shown {
    bar: Option<ProgressBar>,
}

impl Shown {
    fn new(out: &Out) -> Self {
        Self { bar: terminal::bar(out) }
    }

    fn show(&mut self, progress: &BackfillProgress, out: &mut Out) -> Result<()> {
        match progress {
            BackfillProgress::Now { done, total } => {
                if let Some(bar) = &self.bar {
                    bar.set_length(*total);
                    bar.set_position(*done);
                }
            }
            BackfillProgress::Fetched(fetched) => {
                if let Some(bar) = &self.bar {
                    bar.set_message(fetched.did.to_string());
                }
                if out.json {
                    out.json_now(&json!({"fetched": fetched.did, "rev": fetched.rev, "records": fetched.records,
                        "proven": fetched.is_proven, "status": fetched.status}))?;
                } else if fetched.status != AccountStatus::Active {
                    self.say(&format!("{} is not shown by its server ({:?})", fetched.did, fetched.status), out);
                }
            }
            BackfillProgress::Failed { did, why } => {
                let bar = self.bar.take();
                if let Some(bar) = &bar {
                    bar.suspend(|| failed(did.as_str(), why, out))?;
                } else {
                    failed(did.as_str(), why, out)?;
                }
                self.bar = bar;
            }
            BackfillProgress::Listed { collection, count } => {
                if let Some(bar) = &self.bar {
                    bar.set_message(format!("listing {collection}"));
                }
                if out.json {
                    out.json_now(&json!({"listed": collection, "count": count}))?;
                }
            }
            BackfillProgress::ListFailed { collection, why } => {
                if out.json {
                    out.json_now(&json!({"unlisted": collection, "why": why}))?;
                } else {
                    out.line(printable(&format!("{collection} could not be listed: {why}")))?;
                }
            }
            BackfillProgress::OnHold { host, wait } => {
                if out.json {
                    out.json_now(&json!({"onHold": host, "seconds": wait.as_secs()}))?;
                } else if *wait >= Duration::from_secs(10) {
                    self.say(&format!("{host} is left alone for {} s", wait.as_secs()), out);
                }
            }
            BackfillProgress::Waiting => self.say("another process does this; waiting for it", out),
        }
        Ok(())
    }

    fn say(&self, text: &str, out: &Out) {
        match &self.bar {
            Some(bar) => bar.suspend(|| line_on_stderr(format_args!("{}", printable(text)))),
            None => out.note(printable(text)),
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How often members are looked for that a collective added.
const MEMBERS_EVERY: Duration = Duration::from_secs(10);

/// Fetches what is asked for beside the pages, and from then on the members that collectives add. `is_followed` says that a
/// stream keeps what was fetched.
pub async fn beside(past: Past, index: Arc<dyn Index>, client: Client, is_followed: bool, quiet: bool) -> Result<()> {
    let (targets, unknown) = targets(&client, &past).await;
    for (who, why) in &unknown {
        line_on_stderr(format_args!("{} could not be fetched: {}", printable(who), printable(why)));
    }
    let backfill = Backfill {
        index,
        client,
        limits: Limits::default(),
        // Nobody else tells what became of it in between.
        anew: !is_followed,
        on_progress: Arc::new(move |progress| match progress {
            BackfillProgress::Failed { did, why } => {
                line_on_stderr(format_args!("{did} could not be fetched: {}", printable(&why)));
            }
            BackfillProgress::ListFailed { collection, why } => {
                line_on_stderr(format_args!("{collection} could not be listed: {}", printable(&why)));
            }
            BackfillProgress::Fetched(fetched) if !quiet => {
                line_on_stderr(format_args!("Fetched {}: {} records.", fetched.did, fetched.records));
            }
            progress => tracing::debug!(?progress, "backfill"),
        }),
    };
    for target in &targets {
        match backfill.run(target).await {
            Ok(_) | Err(onrecord_index::Error::Fenced) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let collectives = || {
        targets.iter().filter_map(|target| match target {
            Target::MembersOf(did) => Some(did),
            _ => None,
        })
    };
    while is_followed && collectives().next().is_some() {
        tokio::time::sleep(MEMBERS_EVERY).await;
        for did in collectives() {
            match backfill.new_members(did).await {
                Ok(_) | Err(onrecord_index::Error::Fenced) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}
