//! What a serving process counts, for whoever watches it. Names of series hold nothing that strangers chose: sources and
//! labelers are those of the command line, routes are the patterns of the site.

mod exposition;
mod process;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_index::{
    Index, Rejected, Status,
    follow::{LabelProgress, Progress},
};

use exposition::{Exposition, Kind};

/// How often the index is asked how it stands: counting takes a moment.
const STATUS_EVERY: Duration = Duration::from_secs(60);

/// The counts.
#[derive(Debug)]
pub struct Metrics {
    started: Timestamp,
    sources: Mutex<BTreeMap<String, Source>>,
    labelers: Mutex<BTreeMap<String, Labeler>>,
    requests: Mutex<BTreeMap<String, Route>>,
    status: tokio::sync::Mutex<Option<(Instant, Status)>>,
}

/// Of a source that is followed.
#[derive(Debug, Default)]
struct Source {
    is_held: bool,
    is_connected: bool,
    lost: u64,
    latest_ms: Option<i64>,
    frames: u64,
    changes: u64,
    bytes: u64,
    applied: onrecord_index::Applied,
    batches: Histogram,
    notices: u64,
    unreadable: u64,
    not_believed: u64,
    missed: u64,
    fetched: u64,
    fetch_failed: u64,
    fetching: u64,
    owed: u64,
}

/// Of a labeler that is followed.
#[derive(Debug, Default)]
struct Labeler {
    is_held: bool,
    is_connected: bool,
    lost: u64,
    kept: u64,
    stale: u64,
    ignored: u64,
    unreadable: u64,
    refused: BTreeMap<&'static str, u64>,
    sweep_failed: u64,
}

/// Of a route of the site.
#[derive(Debug, Default)]
struct Route {
    answers: BTreeMap<&'static str, u64>,
    took: Histogram,
}

/// Upper ends of a histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// How long things took.
#[derive(Debug, Default)]
struct Histogram {
    counts: [u64; BUCKETS.len()],
    count: u64,
    sum: f64,
}

impl Histogram {
    fn observe(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        self.count += 1;
        self.sum += seconds;
        if let Some((count, _)) = self.counts.iter_mut().zip(BUCKETS).find(|(_, end)| seconds <= *end) {
            *count += 1;
        }
    }

    fn write(&self, out: &mut Exposition, name: &str, label: (&str, &str)) {
        let mut below = 0;
        for (count, end) in self.counts.iter().zip(BUCKETS) {
            below += count;
            out.sample(&format!("{name}_bucket"), &[label, ("le", &end.to_string())], below);
        }
        out.sample(&format!("{name}_bucket"), &[label, ("le", "+Inf")], self.count);
        out.sample(&format!("{name}_sum"), &[label], self.sum);
        out.sample(&format!("{name}_count"), &[label], self.count);
    }
}

/// What is counted is counted, whoever panicked meanwhile.
fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Metrics {
    pub fn new() -> Self {
        Self {
            started: Timestamp::now(),
            sources: Mutex::default(),
            labelers: Mutex::default(),
            requests: Mutex::default(),
            status: tokio::sync::Mutex::default(),
        }
    }

    /// A source is followed.
    pub fn follows(&self, source: &str) {
        locked(&self.sources).entry(source.to_owned()).or_default();
    }

    /// Something happened to a source that is followed.
    pub fn source(&self, source: &str, progress: &Progress) {
        let mut sources = locked(&self.sources);
        let Some(of) = sources.get_mut(source) else { return };
        match progress {
            Progress::Waiting => (of.is_held, of.is_connected) = (false, false),
            Progress::Connected => (of.is_held, of.is_connected) = (true, true),
            Progress::Lost { .. } => {
                of.is_connected = false;
                of.lost += 1;
            }
            Progress::Applied(applied) => {
                of.applied.stored += applied.stored;
                of.applied.removed += applied.removed;
                of.applied.stale += applied.stale;
                of.applied.ignored += applied.ignored;
                of.applied.rejected += applied.rejected;
            }
            Progress::Wrote(wrote) => {
                of.frames += wrote.frames;
                of.changes += wrote.changes;
                of.bytes += wrote.bytes;
                of.latest_ms = wrote.latest_ms.or(of.latest_ms);
                of.batches.observe(wrote.took);
            }
            Progress::Notice { .. } => of.notices += 1,
            Progress::Unreadable { .. } => of.unreadable += 1,
            Progress::NotBelieved { .. } => of.not_believed += 1,
            Progress::Missed { .. } => of.missed += 1,
            Progress::Fetched(_) => of.fetched += 1,
            Progress::FetchFailed { .. } => of.fetch_failed += 1,
            Progress::Fetching { running, owed } => (of.fetching, of.owed) = (*running, *owed),
        }
    }

    /// When the last event happened that was read of a source.
    pub fn reached(&self, source: &str) -> Option<Timestamp> {
        let latest_ms = locked(&self.sources).get(source)?.latest_ms?;
        Timestamp::from_millisecond(latest_ms).ok()
    }

    /// Something happened to a labeler that is followed.
    pub fn labeler(&self, labeler: &str, progress: &LabelProgress) {
        let mut labelers = locked(&self.labelers);
        let of = labelers.entry(labeler.to_owned()).or_default();
        match progress {
            LabelProgress::Waiting => (of.is_held, of.is_connected) = (false, false),
            LabelProgress::Connected => (of.is_held, of.is_connected) = (true, true),
            LabelProgress::Lost { .. } => {
                of.is_connected = false;
                of.lost += 1;
            }
            LabelProgress::Kept(moderated) => {
                of.kept += moderated.kept;
                of.stale += moderated.stale;
                of.ignored += moderated.ignored;
            }
            LabelProgress::Refused(flaw) => *of.refused.entry(flaw.code()).or_default() += 1,
            LabelProgress::Unreadable { .. } => of.unreadable += 1,
            LabelProgress::SweepFailed { .. } => of.sweep_failed += 1,
            LabelProgress::Notice { .. } | LabelProgress::Swept { .. } => {}
        }
    }

    /// A request was answered. `route` is a pattern of the site, never an address that was asked for.
    pub fn answered(&self, route: &str, status: u16, took: Duration) {
        let class = match status {
            ..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        let mut requests = locked(&self.requests);
        let of = match requests.get_mut(route) {
            Some(of) => of,
            None => requests.entry(route.to_owned()).or_default(),
        };
        *of.answers.entry(class).or_default() += 1;
        of.took.observe(took);
    }

    /// Everything, in the format that Prometheus reads.
    pub async fn text(&self, index: Option<&dyn Index>) -> String {
        let mut out = Exposition::default();
        self.of_sources(&mut out);
        self.of_labelers(&mut out);
        self.of_requests(&mut out);
        if let Some(index) = index {
            match self.of_index(index).await {
                Ok((status, rejected)) => {
                    out.family("onrecord_index_up", Kind::Gauge, "Whether the index answers.");
                    out.sample("onrecord_index_up", &[], 1);
                    of_status(&mut out, &status);
                    of_rejections(&mut out, &rejected);
                }
                Err(error) => {
                    tracing::warn!(%error, "the index cannot be asked how it stands");
                    out.family("onrecord_index_up", Kind::Gauge, "Whether the index answers.");
                    out.sample("onrecord_index_up", &[], 0);
                }
            }
        }
        process::write(&mut out, self.started);
        out.into_text()
    }

    async fn of_index(&self, index: &dyn Index) -> onrecord_index::Result<(Status, Vec<Rejected>)> {
        let mut kept = self.status.lock().await;
        let status = match &*kept {
            Some((since, status)) if since.elapsed() < STATUS_EVERY => status.clone(),
            _ => kept.insert((Instant::now(), index.status().await?)).1.clone(),
        };
        Ok((status, index.rejections().await?))
    }

    fn of_sources(&self, out: &mut Exposition) {
        type Value = fn(&Source) -> u64;
        let sources = locked(&self.sources);
        let now_ms = Timestamp::now().as_millisecond();
        let name = "onrecord_follow_lag_seconds";
        out.family(name, Kind::Gauge, "Age of the latest event that was written, by its own time.");
        for (source, of) in &*sources {
            if let Some(latest_ms) = of.latest_ms {
                #[expect(clippy::cast_precision_loss, reason = "milliseconds are exact for far longer than this runs")]
                let lag = (now_ms - latest_ms) as f64 / 1000.0;
                out.sample(name, &[("source", source)], lag.max(0.0));
            }
        }
        let gauges: [(&str, &str, Value); 4] = [
            ("onrecord_follow_lease_held", "Whether this process is the one that follows.", |of| u64::from(of.is_held)),
            ("onrecord_follow_connected", "Whether the stream is open.", |of| u64::from(of.is_connected)),
            ("onrecord_follow_fetching", "Repositories being fetched, or waiting for their server's turn.", |of| {
                of.fetching
            }),
            ("onrecord_follow_owed", "Repositories still to be fetched, these included.", |of| of.owed),
        ];
        let counters: [(&str, &str, Value); 14] = [
            ("onrecord_follow_connections_lost_total", "Times the stream ended or did not begin.", |of| of.lost),
            ("onrecord_follow_frames_total", "Messages of the source.", |of| of.frames),
            ("onrecord_follow_changes_total", "Changes in them that were to be written.", |of| of.changes),
            ("onrecord_follow_record_bytes_total", "Bytes of the records in them, as JSON.", |of| of.bytes),
            ("onrecord_follow_stored_total", "Records stored, new or in a new version.", |of| of.applied.stored),
            ("onrecord_follow_removed_total", "Records removed.", |of| of.applied.removed),
            ("onrecord_follow_stale_total", "Changes that were no news.", |of| of.applied.stale),
            ("onrecord_follow_ignored_total", "Changes of what is not kept.", |of| of.applied.ignored),
            ("onrecord_follow_rejected_total", "Records refused.", |of| of.applied.rejected),
            ("onrecord_follow_unreadable_total", "Messages that cannot be understood.", |of| of.unreadable),
            ("onrecord_follow_not_believed_total", "Commits that did not pass the check.", |of| of.not_believed),
            ("onrecord_follow_missed_total", "Times something of a repository was missed on the stream.", |of| {
                of.missed
            }),
            ("onrecord_follow_fetched_total", "Repositories fetched whole.", |of| of.fetched),
            ("onrecord_follow_fetch_failed_total", "Repositories and accounts that could not be looked up.", |of| {
                of.fetch_failed
            }),
        ];
        let all = gauges.map(|family| (Kind::Gauge, family)).into_iter();
        for (kind, (name, help, value)) in all.chain(counters.map(|family| (Kind::Counter, family))) {
            out.family(name, kind, help);
            sources.iter().for_each(|(source, of)| out.sample(name, &[("source", source)], value(of)));
        }
        let name = "onrecord_follow_batch_duration_seconds";
        out.family(name, Kind::Histogram, "How long it took to write a batch.");
        sources.iter().for_each(|(source, of)| of.batches.write(out, name, ("source", source)));
    }

    fn of_labelers(&self, out: &mut Exposition) {
        type Value = fn(&Labeler) -> u64;
        let labelers = locked(&self.labelers);
        let families: [(Kind, &str, &str, Value); 8] = [
            (Kind::Gauge, "onrecord_labeler_lease_held", "Whether this process is the one that follows it.", |of| {
                u64::from(of.is_held)
            }),
            (Kind::Gauge, "onrecord_labeler_connected", "Whether the stream is open.", |of| u64::from(of.is_connected)),
            (Kind::Counter, "onrecord_labeler_connections_lost_total", "Times the stream ended.", |of| of.lost),
            (Kind::Counter, "onrecord_labeler_kept_total", "Labels kept.", |of| of.kept),
            (Kind::Counter, "onrecord_labeler_stale_total", "Labels that were no news.", |of| of.stale),
            (Kind::Counter, "onrecord_labeler_ignored_total", "Labels on accounts that are not known.", |of| {
                of.ignored
            }),
            (Kind::Counter, "onrecord_labeler_unreadable_total", "Messages that cannot be understood.", |of| {
                of.unreadable
            }),
            (Kind::Counter, "onrecord_labeler_sweep_failed_total", "Questions that were not answered.", |of| {
                of.sweep_failed
            }),
        ];
        for (kind, name, help, value) in families {
            out.family(name, kind, help);
            labelers.iter().for_each(|(labeler, of)| out.sample(name, &[("labeler", labeler)], value(of)));
        }
        let name = "onrecord_labeler_refused_total";
        out.family(name, Kind::Counter, "Labels that are not believed, by reason.");
        for (labeler, of) in &*labelers {
            for (reason, n) in &of.refused {
                out.sample(name, &[("labeler", labeler), ("reason", reason)], *n);
            }
        }
    }

    fn of_requests(&self, out: &mut Exposition) {
        let requests = locked(&self.requests);
        let name = "onrecord_http_requests_total";
        out.family(name, Kind::Counter, "Requests answered, by route and class of status.");
        for (route, of) in &*requests {
            for (class, n) in &of.answers {
                out.sample(name, &[("route", route), ("status", class)], *n);
            }
        }
        let name = "onrecord_http_request_duration_seconds";
        out.family(name, Kind::Histogram, "How long it took until an answer began.");
        requests.iter().for_each(|(route, of)| of.took.write(out, name, ("route", route)));
    }
}

fn of_status(out: &mut Exposition, status: &Status) {
    for (name, help, value) in [
        ("onrecord_index_conversations", "Conversations that can be read.", status.conversations),
        ("onrecord_index_waiting", "Conversations of which turns came and the record did not.", status.waiting),
        ("onrecord_index_hidden", "Records and accounts that this site hides.", status.hidden),
        ("onrecord_index_records", "Records stored.", status.records.iter().map(|(_, n)| n).sum()),
        ("onrecord_index_gone", "Records known to be gone.", status.gone),
    ] {
        out.family(name, Kind::Gauge, help);
        out.sample(name, &[], value);
    }
    if let Some(ms) = status.replica_lag_ms {
        let name = "onrecord_index_replica_lag_seconds";
        out.family(name, Kind::Gauge, "How far the server that answers the reads is behind.");
        out.sample(name, &[], Duration::from_millis(ms).as_secs_f64());
    }
}

/// By reason alone: a collection's name is chosen by whoever writes into it.
fn of_rejections(out: &mut Exposition, rejected: &[Rejected]) {
    let mut by_reason: BTreeMap<&str, u64> = BTreeMap::new();
    for one in rejected {
        *by_reason.entry(&one.reason).or_default() += one.count;
    }
    let name = "onrecord_index_rejections_total";
    out.family(name, Kind::Counter, "Records refused since the index was made, by reason.");
    by_reason.into_iter().for_each(|(reason, n)| out.sample(name, &[("reason", reason)], n));
}

#[cfg(test)]
mod tests;
