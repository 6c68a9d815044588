//! Filling the index while its pages are served.

use std::{fs, sync::Arc};

use onrecord_atproto::stream::{BadSource, Source};
use onrecord_index::{
    Index,
    follow::{Follower, LabelFollower, LabelProgress, Progress},
};
use tokio::task::JoinSet;

use crate::{
    cli::Serve,
    commands::index::backfill,
    config,
    error::{Error, Result},
    metrics::Metrics,
    output::line_on_stderr,
};

/// The work beside the pages. Ends when dropped; whatever was written is whole, and the next run goes on from there.
pub struct Following(JoinSet<Result<()>>);

impl Following {
    /// Begins to follow what `args` names.
    pub fn start(args: &Serve, index: &Arc<dyn Index>, metrics: &Arc<Metrics>, quiet: bool) -> Result<Self> {
        let mut work = JoinSet::new();
        if args.follow.is_empty() && args.past.is_empty() && args.labeler.is_empty() {
            return Ok(Self(work));
        }
        let sources: Vec<Source> = (args.follow.iter())
            .map(|source| source.parse().map_err(|error: BadSource| Error::Usage(error.to_string())))
            .collect::<Result<_>>()?;
        let client = config::client()?;
        let dictionary = args
            .dictionary
            .as_ref()
            .map(|path| fs::read(path).map_err(|source| Error::File { path: path.clone(), source }));
        let dictionary = dictionary.transpose()?;
        for source in &sources {
            let follower = Follower {
                index: Arc::clone(index),
                client: client.clone(),
                source: source.clone(),
                dictionary: dictionary.clone(),
                on_progress: teller(source, metrics, quiet),
            };
            work.spawn(async move {
                match follower.run().await {
                    Ok(never) => match never {},
                    Err(error) => Err(error.into()),
                }
            });
        }
        for labeler in &args.labeler {
            let follower = LabelFollower {
                index: Arc::clone(index),
                client: client.clone(),
                labeler: labeler.clone(),
                on_progress: label_teller(labeler, metrics, quiet),
            };
            work.spawn(async move {
                match follower.run().await {
                    Ok(never) => match never {},
                    Err(error) => Err(error.into()),
                }
            });
        }
        if !args.past.is_empty() {
            let is_followed = !sources.is_empty();
            work.spawn(backfill::beside(args.past.clone(), Arc::clone(index), client, is_followed, quiet));
        }
        Ok(Self(work))
    }

    /// Waits until something of it fails for good, as when the index cannot be written any more.
    pub async fn failed(&mut self) -> Error {
        loop {
            match self.0.join_next().await {
                Some(Ok(Ok(()))) => {}
                Some(Ok(Err(error))) => return error,
                Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Some(Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }
}

/// Says how a source is followed. What strangers send, and could send without end, is for the log.
fn teller(source: &Source, metrics: &Arc<Metrics>, quiet: bool) -> Arc<dyn Fn(Progress) + Send + Sync> {
    let (source, metrics) = (source.to_string(), Arc::clone(metrics));
    metrics.follows(&source);
    Arc::new(move |progress| {
        metrics.source(&source, &progress);
        tell(&source, progress, quiet);
    })
}

fn tell(source: &str, progress: Progress, quiet: bool) {
    match progress {
        Progress::Connected if !quiet => line_on_stderr(format_args!("Following {source}.")),
        Progress::Waiting => tracing::info!(source, "another process follows it; waiting"),
        Progress::Lost { why, again_in } => {
            line_on_stderr(format_args!("{source}: {why}; connecting again in {:.1} s", again_in.as_secs_f64()));
        }
        Progress::Notice { name, message } => line_on_stderr(format_args!("{source} says {name}: {message}")),
        Progress::Unreadable { why } => tracing::warn!(source, why, "a frame that cannot be understood"),
        Progress::NotBelieved { did, why } => tracing::warn!(source, %did, why, "not believed; fetching it"),
        Progress::Missed { did } => tracing::warn!(source, %did, "something was missed; fetching it"),
        Progress::Fetched(fetched) => tracing::info!(source, did = %fetched.did, records = fetched.records, "fetched"),
        Progress::FetchFailed { did, why } => tracing::warn!(source, %did, why, "cannot be looked up"),
        Progress::Applied(_) | Progress::Wrote(_) | Progress::Fetching { .. } | Progress::Connected => {}
    }
}

/// The same of a labeler.
fn label_teller(labeler: &str, metrics: &Arc<Metrics>, quiet: bool) -> Arc<dyn Fn(LabelProgress) + Send + Sync> {
    let (labeler, metrics) = (labeler.to_owned(), Arc::clone(metrics));
    Arc::new(move |progress| {
        metrics.labeler(&labeler, &progress);
        match progress {
            LabelProgress::Connected if !quiet => line_on_stderr(format_args!("Following the labeler {labeler}.")),
            LabelProgress::Waiting => tracing::info!(labeler, "another process follows it; waiting"),
            LabelProgress::Lost { why, again_in } => line_on_stderr(format_args!(
                "the labeler {labeler}: {why}; connecting again in {:.1} s",
                again_in.as_secs_f64()
            )),
            LabelProgress::Notice { name, message } => {
                line_on_stderr(format_args!("the labeler {labeler} says {name}: {message}"));
            }
            LabelProgress::Refused(flaw) => tracing::warn!(labeler, flaw = flaw.code(), "a label that is not believed"),
            LabelProgress::Unreadable { why } => tracing::warn!(labeler, why, "a frame that cannot be understood"),
            LabelProgress::Swept { accounts } => tracing::info!(labeler, accounts, "asked of all that are known"),
            LabelProgress::SweepFailed { why } => tracing::warn!(labeler, why, "cannot be asked"),
            LabelProgress::Kept(_) | LabelProgress::Connected => {}
        }
    })
}
