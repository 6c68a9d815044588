//! What the engine finds in a file, and how fast.
//!
//! `cargo run --release -p onrecord-redact --example measure -- FILE [--views on|off] [--list]`
//!
//! FILE is plain text, or JSON lines of `{"type", "secret", "text"}` with planted secrets. A line without a secret is a
//! negative: nothing in it may block. A secret that does not stand literally in its text is encoded or broken up.
//! `--list` prints the numbers of the lines, from 0, in which anything blocks. No value is ever printed.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fs,
    process::ExitCode,
    time::Instant,
};

use onrecord_redact::{Decisions, Draft, DraftTurn, Engine, Finding, FingerprintKey, Role, Tier, scan};
use serde_json::Value;

const USAGE: &str = "usage: measure FILE [--views on|off] [--list]";
/// A turn of a transcript is rarely longer.
const TURN_BYTES: usize = 64 * 1024;
/// Less text than this tells nothing about the speed: shorter ones are scanned again and again.
const TIMED_BYTES: usize = 8_000_000;

struct Planted {
    kind: String,
    secret: Option<String>,
    text: String,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn Error>> {
    let (mut file, mut views, mut list) = (None, true, false);
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--list" => list = true,
            "--views" => views = args.next().map(|on| on != "off").ok_or(USAGE)?,
            _ if file.is_none() && !arg.starts_with('-') => file = Some(arg),
            _ => return Err(USAGE.into()),
        }
    }
    let file = file.ok_or(USAGE)?;
    let content = String::from_utf8_lossy(&fs::read(file)?).into_owned();
    let begun = Instant::now();
    let builder = Engine::builder();
    let engine = if views { builder.build()? } else { builder.without_views().build()? };
    println!("{} rules compiled in {} ms", engine.rule_count(), begun.elapsed().as_millis());
    match planted(&content) {
        Some(corpus) if list => {
            for (number, planted) in corpus.iter().enumerate() {
                if findings(&engine, &draft(&planted.text))?.iter().any(blocks) {
                    println!("found {number}");
                }
            }
            Ok(())
        }
        Some(corpus) => {
            recall(&engine, &corpus)?;
            speed(&engine, &corpus.into_iter().map(|p| p.text).collect::<Vec<_>>().join("\n"))
        }
        None => {
            alarms(&engine, &content)?;
            speed(&engine, &content)
        }
    }
}

/// The planted secrets of a file of JSON lines; none if it is anything else.
fn planted(content: &str) -> Option<Vec<Planted>> {
    let of_line = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let field = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        Some(Planted { kind: field("type")?, secret: field("secret"), text: field("text")? })
    };
    content.lines().map(of_line).collect::<Option<Vec<_>>>().filter(|corpus| !corpus.is_empty())
}

fn draft(text: &str) -> Draft {
    let mut turns = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut cut = rest.len().min(TURN_BYTES);
        while !rest.is_char_boundary(cut) {
            cut += 1;
        }
        let (head, tail) = rest.split_at(cut);
        // Between two lines where there are any.
        let cut = if tail.is_empty() { cut } else { head.rfind('\n').map_or(cut, |end| end + 1) };
        let (turn, tail) = rest.split_at(cut);
        let index = turns.len() + 1;
        turns.push(DraftTurn {
            id: index.to_string(),
            index,
            role: Role::Assistant,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            model: None,
            text: turn.to_owned(),
            reasoning: Vec::new(),
            steps: Vec::new(),
        });
        rest = tail;
    }
    Draft { title: None, description: None, created_at: jiff::Timestamp::UNIX_EPOCH, turns }
}

fn findings(engine: &Engine, draft: &Draft) -> Result<Vec<Finding>, Box<dyn Error>> {
    Ok(scan(draft, engine, &Decisions::default(), &FingerprintKey::from_bytes([0; 32]))?.findings)
}

fn blocks(finding: &Finding) -> bool {
    finding.blocking && matches!(finding.tier, Tier::A | Tier::B | Tier::C | Tier::D)
}

#[derive(Default)]
struct Count {
    all: usize,
    found: usize,
    whole: usize,
}

impl Count {
    fn line(&self, what: &str) -> String {
        let share = |n: usize| n as f64 / self.all.max(1) as f64;
        let Self { all, found, whole } = self;
        format!("{what:<11}{all:>6}   found {found:>6} {:.3}   whole {whole:>6} {:.3}", share(*found), share(*whole))
    }
}

fn recall(engine: &Engine, corpus: &[Planted]) -> Result<(), Box<dyn Error>> {
    let (mut plain, mut encoded, mut negative) = (Count::default(), Count::default(), Count::default());
    let mut missed: BTreeMap<String, usize> = BTreeMap::new();
    for planted in corpus {
        let mut found = findings(engine, &draft(&planted.text))?;
        found.retain(blocks);
        let Some(secret) = &planted.secret else {
            negative.all += 1;
            negative.found += usize::from(!found.is_empty());
            if let Some(alarm) = found.first() {
                *missed.entry(format!("false alarm on {} by {}", planted.kind, alarm.rule)).or_default() += 1;
            }
            continue;
        };
        let (count, hit, whole) = match planted.text.find(secret.as_str()) {
            Some(start) => {
                let end = start + secret.len();
                let hit = found.iter().any(|f| f.start < end && start < f.end);
                (&mut plain, hit, found.iter().any(|f| f.start <= start && end <= f.end))
            }
            // Where it stands in the text is not known: only that something is found.
            None => (&mut encoded, !found.is_empty(), !found.is_empty()),
        };
        count.all += 1;
        count.found += usize::from(hit);
        count.whole += usize::from(whole);
        if !whole {
            *missed.entry(format!("{} {}", if hit { "in part" } else { "missed" }, planted.kind)).or_default() += 1;
        }
    }
    println!("{}\n{}", plain.line("plain"), encoded.line("encoded"));
    println!("{:<11}{:>6}   alarmed {:>4}", "negatives", negative.all, negative.found);
    for (what, count) in missed {
        println!("  {count:>4} {what}");
    }
    Ok(())
}

/// How many different values are found, by rule.
fn alarms(engine: &Engine, text: &str) -> Result<(), Box<dyn Error>> {
    let mut by_rule: BTreeMap<(Tier, String), BTreeSet<String>> = BTreeMap::new();
    for finding in findings(engine, &draft(text))? {
        by_rule.entry((finding.tier, finding.rule.to_string())).or_default().insert(finding.fingerprint.to_string());
    }
    let megabytes = text.len() as f64 / 1e6;
    let mut blocking = 0;
    for ((tier, rule), values) in by_rule {
        println!("  {:>5} tier {tier:?} {rule}", values.len());
        if tier <= Tier::D {
            blocking += values.len();
        }
    }
    println!("{megabytes:.1} MB: {blocking} different values of tiers A to D, {:.2} a MB", blocking as f64 / megabytes);
    Ok(())
}

fn speed(engine: &Engine, text: &str) -> Result<(), Box<dyn Error>> {
    let draft = draft(text);
    findings(engine, &draft)?;
    let rounds = (TIMED_BYTES / text.len().max(1)).max(1);
    let (begun, cpu) = (Instant::now(), cpu_ns());
    for _ in 0..rounds {
        std::hint::black_box(findings(engine, &draft)?);
    }
    let wall = begun.elapsed().as_secs_f64();
    let (seconds, clock) = match (cpu, cpu_ns()) {
        (Some(before), Some(after)) => (after.saturating_sub(before) as f64 / 1e9, "CPU-second"),
        _ => (wall, "second by the clock"),
    };
    let megabytes = (text.len() * rounds) as f64 / 1e6;
    println!("{:.1} MB per {clock} ({megabytes:.1} MB in {seconds:.2} s)", megabytes / seconds);
    Ok(())
}

/// What this thread has run, in nanoseconds; Linux only.
fn cpu_ns() -> Option<u64> {
    fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}
