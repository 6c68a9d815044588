use std::collections::{BTreeMap, BTreeSet};

use onrecord_atproto::stream::LabelFlaw;
use onrecord_index::{
    Applied,
    follow::{LabelProgress, Progress, Wrote},
};

use super::*;

fn lost() -> Progress {
    Progress::Lost { why: "a stranger's words".into(), again_in: Duration::from_secs(1) }
}

fn samples(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').unwrap()).map(|(name, value)| (name, value.parse().unwrap())).collect()
}

async fn full() -> String {
    let metrics = Metrics::new();
    metrics.follows("jetstream:wss://a.example");
    let now_ms = Timestamp::now().as_millisecond();
    for progress in [
        Progress::Connected,
        Progress::Applied(Applied { stored: 3, removed: 2, ..Applied::default() }),
        Progress::Wrote(Wrote {
            frames: 7,
            changes: 5,
            bytes: 900,
            latest_ms: Some(now_ms - 4_000),
            took: Duration::from_millis(20),
        }),
        Progress::Wrote(Wrote { took: Duration::from_secs(60), ..Wrote::default() }),
        Progress::Fetching { running: 2, owed: 9 },
        Progress::Unreadable { why: "a stranger's words".into() },
        lost(),
    ] {
        metrics.source("jetstream:wss://a.example", &progress);
    }
    metrics.source("never followed", &lost());
    metrics.labeler("mod\"era\\tor\n.example", &LabelProgress::Refused(LabelFlaw::Signature));
    metrics.answered("/@{owner}/{rkey}", 200, Duration::from_millis(2));
    metrics.answered("/@{owner}/{rkey}", 410, Duration::from_millis(2));
    metrics.answered("other", 404, Duration::from_millis(1));
    metrics.text(None).await
}

#[tokio::test]
async fn what_happened_is_counted() {
    let text = full().await;
    let samples = samples(&text);
    let of = |name: &str| samples[format!("{name}{{source=\"jetstream:wss://a.example\"}}").as_str()];
    assert_eq!((of("onrecord_follow_stored_total"), of("onrecord_follow_removed_total")), (3.0, 2.0));
    assert_eq!((of("onrecord_follow_frames_total"), of("onrecord_follow_record_bytes_total")), (7.0, 900.0));
    assert_eq!((of("onrecord_follow_lease_held"), of("onrecord_follow_connected")), (1.0, 0.0));
    assert_eq!(of("onrecord_follow_connections_lost_total"), 1.0);
    assert_eq!((of("onrecord_follow_fetching"), of("onrecord_follow_owed")), (2.0, 9.0));
    assert!((4.0..60.0).contains(&of("onrecord_follow_lag_seconds")));
    let bucket = |end: &str| {
        samples[format!(
            "onrecord_follow_batch_duration_seconds_bucket{{source=\"jetstream:wss://a.example\",le=\"{end}\"}}"
        )
        .as_str()]
    };
    assert_eq!((bucket("0.01"), bucket("0.025"), bucket("10"), bucket("+Inf")), (0.0, 1.0, 1.0, 2.0));
    assert_eq!(samples["onrecord_http_requests_total{route=\"/@{owner}/{rkey}\",status=\"4xx\"}"], 1.0);
    assert!(!text.contains("stranger") && !text.contains("never followed"), "{text}");
}

#[tokio::test]
async fn every_family_is_announced_once_and_every_sample_is_of_one() {
    let text = full().await;
    let mut families = BTreeSet::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            assert!(families.insert(rest.split(' ').next().unwrap()), "{line}");
        } else if !line.starts_with('#') {
            let name = line.split(['{', ' ']).next().unwrap();
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(families.contains(name) || families.contains(family), "{line}");
        }
    }
    assert!(
        text.contains(
            r#"onrecord_labeler_refused_total{labeler="mod\"era\\tor\n.example",reason="label-signature"} 1"#
        ),
        "{text}"
    );
    assert!(text.ends_with('\n') && families.contains("process_start_time_seconds"));
}
