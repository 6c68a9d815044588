//! Filling the index while its pages are served.

use std::{fs, sync::Arc};

use futures_util::{StreamExt as _, stream};
use onrecord_atproto::{
    Client,
    stream::{BadSource, Source},
};
use onrecord_index::{
    Index,
    follow::{Follower, Progress, fetch},
};
use tokio::task::JoinSet;

use crate::{
    cli::Serve,
    config,
    error::{Error, Result},
    output::line_on_stderr,
};

/// Repositories that are fetched at once.
const AT_ONCE: usize = 4;

/// The work beside the pages. Ends when dropped; whatever was written is whole, and the next run goes on from there.
pub struct Following(JoinSet<Result<()>>);

impl Following {
    /// Begins to follow what `args` names.
    pub fn start(args: &Serve, index: &Arc<dyn Index>, quiet: bool) -> Result<Self> {
        let mut work = JoinSet::new();
        if args.follow.is_empty() && args.repo.is_empty() {
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
                on_progress: teller(source, quiet),
            };
            work.spawn(async move {
                match follower.run().await {
                    Ok(never) => match never {},
                    Err(error) => Err(error.into()),
                }
            });
        }
        if !args.repo.is_empty() {
            work.spawn(fetch_all(args.repo.clone(), Arc::clone(index), client, quiet));
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

async fn fetch_all(repos: Vec<String>, index: Arc<dyn Index>, client: Client, quiet: bool) -> Result<()> {
    let count = repos.len();
    let one = |who: String| {
        let (index, client) = (Arc::clone(&index), client.clone());
        async move {
            let identity = client.resolve(&who).await.map_err(|error| error.to_string());
            let fetched = match identity {
                Ok(identity) => fetch(&*index, &client, &identity.did, None).await,
                Err(why) => Err(why),
            };
            (who, fetched)
        }
    };
    let mut done = stream::iter(repos).map(one).buffer_unordered(AT_ONCE).enumerate();
    while let Some((n, (who, fetched))) = done.next().await {
        match fetched {
            Ok(fetched) if !quiet => {
                line_on_stderr(format_args!("{} of {count}: {who}: {} records", n + 1, fetched.records));
            }
            Ok(_) => {}
            Err(why) => line_on_stderr(format_args!("{} of {count}: {who} could not be fetched: {why}", n + 1)),
        }
    }
    Ok(())
}

/// Says how a source is followed. What strangers send, and could send without end, is for the log.
fn teller(source: &Source, quiet: bool) -> Arc<dyn Fn(Progress) + Send + Sync> {
    let source = source.to_string();
    Arc::new(move |progress| match progress {
        Progress::Connected if !quiet => line_on_stderr(format_args!("Following {source}.")),
        Progress::Waiting => tracing::info!(source, "another process follows it; waiting"),
        Progress::Lost { why, again_in } => {
            line_on_stderr(format_args!("{source}: {why}; connecting again in {:.1} s", again_in.as_secs_f64()));
        }
        Progress::Notice { name, message } => line_on_stderr(format_args!("{source} says {name}: {message}")),
        Progress::Unreadable { why } => tracing::warn!(source, why, "a frame that cannot be understood"),
        Progress::NotBelieved { did, why } => tracing::warn!(source, %did, why, "not believed; fetching it"),
        Progress::Fetched(fetched) => tracing::info!(source, did = %fetched.did, records = fetched.records, "fetched"),
        Progress::FetchFailed { did, why } => tracing::warn!(source, %did, why, "cannot be looked up"),
        Progress::Applied(_) | Progress::Connected => {}
    })
}
