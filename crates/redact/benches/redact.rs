//! Speed of scanning, sealing and the last gate on published text.
#![allow(missing_docs, clippy::unwrap_used, reason = "a bench fails loudly")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use onrecord_redact::{Decision, Decisions, Draft, DraftStep, DraftTurn, Engine, FingerprintKey, Role, scan, seal};

const PARAGRAPH: &str = "The scheduler keeps a list of reminders per user and wakes up once a minute; since the clocks changed, \
    `next_run` is computed in local time and then stored as UTC, so everything fires an hour late.\n\n```rust\n\
    fn next_run(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {\n    let local = now.with_timezone(&self.zone);\n    \
    self.rule.after(local).map(|t| t.with_timezone(&Utc))\n}\n```\n\n- the `full-text-only` mode stays as it is\n- see \
    https://docs.example.org/scheduler#time-zones and src/schedule/next_run.rs:42\n\n| case | before | after |\n|---|---|---|\n\
    | spring | 03:00 | 02:00 |\n\nאחרי השינוי הכול עובד. \u{1f980}\n\n";

fn conversation(turns: usize, bytes: usize) -> Draft {
    let turn = |n: usize| {
        let mut text = format!("Turn {n}. ");
        while text.len() < bytes / turns {
            text.push_str(PARAGRAPH);
        }
        DraftTurn {
            id: format!("turn-{n}"),
            index: n,
            role: if n % 2 == 1 { Role::User } else { Role::Assistant },
            created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
            model: Some("anthropic/claude-opus-4-5".to_owned()),
            text,
            reasoning: Vec::new(),
            steps: (0..3)
                .map(|s| DraftStep {
                    tool: "Bash".into(),
                    summary: format!("Run test {s} of turn {n}"),
                    failed: s == 1,
                })
                .collect(),
        }
    };
    Draft {
        title: Some("Reminders an hour late".into()),
        description: None,
        created_at: "2026-01-02T03:04:05Z".parse().unwrap(),
        turns: (1..=turns).map(turn).collect(),
    }
}

fn size(draft: &Draft) -> u64 {
    draft.turns.iter().map(|t| t.text.len() as u64).sum()
}

fn benches(c: &mut Criterion) {
    let key = FingerprintKey::from_bytes([3; 32]);
    let rules = Engine::builtin().unwrap();
    c.bench_function("compile all rules", |b| b.iter(|| Engine::builder().compile_all_now().build().unwrap()));
    c.bench_function("make an engine", |b| b.iter(|| Engine::builtin().unwrap()));
    c.bench_function("self-test", |b| b.iter(|| rules.self_test().unwrap()));

    let clean = conversation(5_000, 10_000_000);
    let nothing = Decisions::default();
    let mut group = c.benchmark_group("10 MB in 5,000 turns, nothing found");
    group.sample_size(10).throughput(Throughput::Bytes(size(&clean)));
    group.bench_function("scan", |b| b.iter(|| scan(black_box(&clean), &rules, &nothing, &key).unwrap()));
    group.bench_function("seal", |b| b.iter(|| seal(black_box(&clean), &rules, &nothing, &key).unwrap()));
    group.finish();

    let mut found = conversation(5_000, 10_000_000);
    for (n, turn) in found.turns.iter_mut().enumerate().filter(|(n, _)| n % 50 == 0) {
        turn.text.push_str(&["token gh", "p_", &format!("a7{:03}", n % 20).repeat(8), " in /home/dana/x"].concat());
    }
    let mut decisions = Decisions::default();
    decisions.cover_word(&key, "Project Nightingale").unwrap();
    decisions.cover_word(&key, "Dana").unwrap();
    for finding in scan(&found, &rules, &decisions, &key).unwrap().findings {
        decisions.decide(&finding, Decision::Cover, None).unwrap();
    }
    let mut group = c.benchmark_group("10 MB in 5,000 turns, 200 findings and two words covered");
    group.sample_size(10).throughput(Throughput::Bytes(size(&found)));
    group.bench_function("scan", |b| b.iter(|| scan(black_box(&found), &rules, &decisions, &key).unwrap()));
    group.bench_function("seal", |b| b.iter(|| seal(black_box(&found), &rules, &decisions, &key).unwrap()));
    let reviewed = seal(&found, &rules, &decisions, &key).unwrap();
    let texts: Vec<&str> = reviewed.turns().iter().filter_map(|t| Some(t.content()?.text())).collect();
    let body = texts.join(" ");
    group.bench_function("gate", |b| b.iter(|| reviewed.gate(black_box(body.as_bytes())).unwrap()));
    group.bench_function("scan, seal and gate", |b| {
        b.iter_batched(
            || (),
            |()| {
                scan(&found, &rules, &decisions, &key).unwrap();
                let reviewed = seal(&found, &rules, &decisions, &key).unwrap();
                reviewed.gate(body.as_bytes()).unwrap();
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();

    let request = body.get(..body.floor_char_boundary(1_000_000)).unwrap();
    let mut group = c.benchmark_group("a request of 1 MB");
    group.throughput(Throughput::Bytes(request.len() as u64));
    group.bench_function("gate", |b| b.iter(|| reviewed.gate(black_box(request.as_bytes())).unwrap()));
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
