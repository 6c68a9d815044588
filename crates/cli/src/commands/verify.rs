//! `onrecord verify`: whether what is on record is what its author signed.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use onrecord_atproto::Client;
use onrecord_lexicon::{AtUri, syntax::SyntaxError};
use onrecord_record::verify::{
    Complete, KeySource, Kind, PinCounts, Report, Scope, Setting, Verified, Wanted, Way, run as run_file,
};
use onrecord_repo::{Car, PublicKey};

use crate::{
    cli::Verify,
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, counted, printable},
    source,
};

/// Failures and notices that are printed for people; `--json` has more.
const MAX_PRINTED: usize = 30;

pub async fn run(args: &Verify, out: &mut Out) -> Result<u8> {
    let key = args.key.as_deref().map(PublicKey::parse).transpose().map_err(|error| Error::Usage(error.to_string()))?;
    let report = match named(&args.subject)? {
        Named::File(path) => {
            let file = open(&path)?;
            match key {
                Some(key) => by_key(file, &path, key)?,
                None => config::client()?.verify_car(file, &args.subject).await?,
            }
        }
        Named::Uri(uri) => verify(&config::client()?, &uri, key.as_ref()).await?,
    };
    if out.json {
        out.json(&report)?;
    } else {
        print(&report, out)?;
    }
    Ok(if report.ok { 0 } else { PROBLEMS })
}

async fn verify(client: &Client, uri: &AtUri, key: Option<&PublicKey>) -> Result<Report> {
    Ok(client.verify(uri, key).await?)
}

/// A file by a key that is given: nothing is asked of anybody.
fn by_key(file: File, path: &Path, key: PublicKey) -> Result<Report> {
    let at = |error: onrecord_repo::Error| match error {
        onrecord_repo::Error::Io(source) => Error::File { path: path.to_owned(), source },
        error => onrecord_atproto::Error::from(error).into(),
    };
    let setting = Setting {
        subject: path.display().to_string(),
        wanted: Wanted::All,
        way: Way::File,
        did: None,
        key: Some(key),
        key_source: KeySource::Given,
        now: Timestamp::now(),
    };
    let Verified { mut report, pins, .. } = run_file(&mut Car::open(file).map_err(at)?, &setting).map_err(at)?;
    report.leave_pins(&pins);
    Ok(report)
}

enum Named {
    File(PathBuf),
    Uri(AtUri),
}

/// What is meant: a file if there is one, else an at-uri, a link of a reading site, a DID or a handle.
fn named(subject: &str) -> Result<Named> {
    let path = Path::new(subject);
    let is_file = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("car"));
    if is_file || fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(Named::File(path.to_owned()));
    }
    if let Some(uri) = source::link_uri(subject)? {
        return Ok(Named::Uri(uri));
    }
    let who = subject.trim().trim_start_matches('@');
    let who = if who.starts_with("did:") { who.to_owned() } else { who.to_ascii_lowercase() };
    let uri = AtUri::parse(&format!("at://{who}"));
    uri.map(Named::Uri).map_err(|_: SyntaxError| {
        Error::Usage(format!("{subject:?} is neither an at-uri, a link, a handle, a DID, nor a file"))
    })
}

fn open(path: &Path) -> Result<File> {
    let at = |source| Error::File { path: path.to_owned(), source };
    let file = File::open(path).map_err(at)?;
    if file.metadata().map_err(at)?.is_dir() {
        return Err(at(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    Ok(file)
}

fn print(report: &Report, out: &mut Out) -> Result<()> {
    let failed = counted(usize::try_from(report.failure_count).unwrap_or(usize::MAX), "failure");
    let verdict = match (report.ok, report.authentic) {
        (true, true) => out.bold("verified"),
        (true, false) => out.bold("nothing wrong, but not proven: no key"),
        (false, true) => format!("{}, {}", out.bold("signed by its author"), out.bad(&failed)),
        (false, false) => out.bad(format!("NOT verified, {failed}")),
    };
    out.line(format_args!("{}: {verdict}", printable(&report.subject)))?;
    for (name, value) in facts(report) {
        out.line(format_args!("  {name:<8}  {}", printable(&value)))?;
    }
    for failure in report.failures.iter().take(MAX_PRINTED) {
        out.line("")?;
        let text = format!("{}: {} ({})", failure.at, failure.message, failure.code);
        out.line(format_args!("{} {}", out.bad("✗"), printable(&text)))?;
        out.line(format_args!("  {}", failure.meaning))?;
    }
    more(report.failure_count, report.failures.len().min(MAX_PRINTED), "failure", out)?;
    for notice in report.notices.iter().take(MAX_PRINTED) {
        out.line("")?;
        let text = format!("{}: {} ({})", notice.at, notice.message, notice.code);
        out.line(format_args!("· {}", printable(&text)))?;
        out.line(format_args!("  {}", out.dim(notice.meaning)))?;
    }
    let notices = u64::try_from(report.notices.len()).unwrap_or(u64::MAX);
    more(notices, report.notices.len().min(MAX_PRINTED), "notice", out)
}

fn more(all: u64, printed: usize, thing: &str, out: &mut Out) -> Result<()> {
    match usize::try_from(all).unwrap_or(usize::MAX).saturating_sub(printed) {
        0 => Ok(()),
        left => out.line(format_args!("\nand {} more", counted(left, thing))),
    }
}

/// What was verified, by which key, when and how, as a person reads it.
fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(did) = &report.did {
        facts.push((
            "author",
            match &report.handle {
                Some(handle) => format!("{handle} ({did})"),
                None => did.to_string(),
            },
        ));
    }
    facts.push((
        "key",
        match (&report.key, report.key_source) {
            (Some(key), KeySource::DidDocument) => format!("{key}, of the account's DID document"),
            (Some(key), _) => format!("{key}, as given"),
            (None, _) => "none".to_owned(),
        },
    ));
    if let Some(commit) = &report.commit {
        facts.push(("state", format!("rev {} of {}, commit {}", commit.rev, commit.committed_at, commit.cid)));
    }
    let from = match (report.way, &report.pds) {
        (Way::Proofs, Some(pds)) => format!("proofs of each record, from {pds}"),
        (Way::Repository, Some(pds)) => format!("the whole repository, from {pds}"),
        (Way::Proofs | Way::Repository, None) => "its server".to_owned(),
        (Way::File, _) => "a file".to_owned(),
    };
    facts.push(("by", format!("{from}; {} blocks, {} bytes", report.counts.blocks, report.counts.bytes)));
    facts.push(("records", counts(report)));
    let pins = pins(&report.counts.pins);
    if !pins.is_empty() {
        facts.push(("pins", pins));
    }
    let whole = match (report.complete, report.scope) {
        (Complete::Proven, Scope::Record) => return facts,
        (Complete::Proven, Scope::Session) => "the signed tree holds no more messages of this conversation",
        (Complete::Proven, Scope::Repository) => "the signed tree holds no more records",
        (Complete::AsListed, _) => {
            "as far as the server lists it; verify the account to be sure that nothing is left out"
        }
        (Complete::No, _) if report.failures.iter().any(|failure| failure.kind == Kind::Proof) => "not known",
        (Complete::No, _) => "no",
    };
    facts.push(("complete", whole.to_owned()));
    facts
}

fn counts(report: &Report) -> String {
    let counts = &report.counts;
    let mut parts = vec![format!("{} looked at", counts.records)];
    let more = [
        (counts.sessions, "sessions"),
        (counts.messages, "messages"),
        (counts.withheld, "withheld"),
        (counts.bars, "bars"),
        (counts.without_lexicon, "of lexicons not known here"),
    ];
    parts.extend(more.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    parts.join(", ")
}

fn pins(pins: &PinCounts) -> String {
    let all = [
        (pins.same, "as they were"),
        (pins.changed, "changed since"),
        (pins.deleted, "deleted"),
        (pins.unreachable, "not to be reached"),
        (pins.unchecked, "not looked up"),
    ];
    let parts: Vec<_> =
        all.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    parts.join(", ")
}
