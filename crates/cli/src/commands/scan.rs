//! `onrecord scan`: what must be decided before a conversation can be published.

use std::{collections::BTreeSet, time::Instant};

use onrecord_redact::{Decision, Finding};
use onrecord_transcript::Grain;
use serde_json::json;

use super::{block_on, sources};
use crate::{
    cli::Scan,
    error::{PROBLEMS, Result},
    output::{Out, columns, counted, one_line},
    rules,
    source::Opened,
};

/// Places listed of one thing; of more it is said how many.
const LISTED: usize = 8;

pub fn run(args: &Scan, out: &mut Out) -> Result<u8> {
    if args.self_test {
        return self_test(args, out);
    }
    // Without a conversation the sources are asked for: the command line sees to it.
    let Some(session) = args.session().filter(|_| !args.sources) else {
        return sources::run(args, out);
    };
    let opened = block_on(Opened::open(&session, &args.rules, Grain::Turn, out))?;
    let scan = opened.scan()?;
    let undecided = scan.undecided();
    if out.json {
        out.json(&json!({"findings": scan.findings, "undecided": undecided}))?;
    } else if scan.findings.is_empty() {
        out.line("Nothing was found. Read it once more before you publish it: rules cannot know everything.")?;
    } else {
        print(&scan.findings, out)?;
        out.line("")?;
        what_next(&session.session, &scan.findings, out)?;
    }
    Ok(if undecided > 0 { PROBLEMS } else { 0 })
}

/// Tries the engine as it would be used, with the person's own rules.
fn self_test(args: &Scan, out: &mut Out) -> Result<u8> {
    let engine = rules::builder(&args.rules, out.notes())?.build()?;
    let started = Instant::now();
    let passed = engine.self_test()?;
    let took = started.elapsed();
    if out.json {
        let canaries: Vec<_> =
            passed.canaries.iter().map(|(tier, what)| json!({"tier": tier, "planted": what, "found": true})).collect();
        out.json(&json!({
            "engine": passed.engine,
            "rules": passed.rules,
            "rulesHash": passed.rules_hash,
            "canaries": canaries,
        }))?;
        return Ok(0);
    }
    for (tier, what) in &passed.canaries {
        out.line(format_args!("  {tier:?}  {what}: found, covered, and stopped at the gate"))?;
    }
    out.line(format_args!("Engine {}, {} rules, SHA-256 {}", passed.engine, passed.rules, passed.rules_hash))?;
    out.note(format_args!("passed in {} ms", took.as_millis()));
    Ok(0)
}

/// The findings, grouped by what they are: first what is to be decided, last what is only a suggestion.
pub fn print(findings: &[Finding], out: &mut Out) -> Result<()> {
    let mut groups: Vec<(Standing, Vec<&Finding>)> = Vec::new();
    let mut known = std::collections::HashMap::new();
    for finding in findings {
        let standing = Standing::of(finding);
        let at = *known.entry((standing, finding.rule.as_str(), finding.name.as_str())).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, group)) => group.push(finding),
            None => groups.push((standing, vec![finding])),
        }
    }
    groups.sort_by_key(|(standing, _)| *standing);
    let mut last = None;
    for (standing, group) in groups {
        let first = last.is_none();
        if last.replace(standing) != Some(standing) {
            if !first {
                out.line("")?;
            }
            let heading = standing.heading();
            out.line(if standing == Standing::Open { out.bad(heading) } else { out.dim(heading) })?;
        }
        print_group(&group, out)?;
    }
    Ok(())
}

/// Which part of the list a finding stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Standing {
    Open,
    Decided,
    Suggestion,
}

impl Standing {
    fn of(finding: &Finding) -> Self {
        match finding.decision {
            Some(_) => Self::Decided,
            None if finding.blocking => Self::Open,
            None => Self::Suggestion,
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Open => "To decide",
            Self::Decided => "Decided",
            Self::Suggestion => "Suggestions: they may be nothing, and stop nothing",
        }
    }
}

fn print_group(group: &[&Finding], out: &mut Out) -> Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    out.line(format_args!("  {}  {}", out.bold(one_line(&first.name, 60)), how_often(group)))?;
    let row = |finding: &&Finding| {
        let place = match finding.turn {
            Some(turn) => format!("turn {turn}, {}", finding.field),
            None => finding.field.to_string(),
        };
        let state = match finding.decision {
            None => "",
            Some(Decision::Cover) => "covered",
            Some(Decision::Allow) => "allowed",
            Some(Decision::Withhold) => "held back with its turn",
        };
        let mut row = vec![format!("{:>6}", finding.id), one_line(&finding.preview, 24), place];
        row.extend((!state.is_empty()).then(|| state.to_owned()));
        row
    };
    for line in columns(&group.iter().take(LISTED).map(row).collect::<Vec<_>>()) {
        out.line(line)?;
    }
    if group.len() > LISTED {
        out.line(out.dim(format_args!("        and {} more", group.len() - LISTED)))?;
    }
    Ok(())
}

/// `14 times in 6 turns`.
fn how_often(group: &[&Finding]) -> String {
    let turns: BTreeSet<usize> = group.iter().filter_map(|f| f.turn).collect();
    match (group.len(), turns.len()) {
        (1, _) => "once".to_owned(),
        (times, 0) => format!("{times} times"),
        (times, turns) => format!("{times} times in {}", counted(turns, "turn")),
    }
}

/// The commands that decide what is open, ready to be copied.
fn what_next(session: &str, findings: &[Finding], out: &mut Out) -> Result<()> {
    let open: Vec<&Finding> = findings.iter().filter(|f| f.undecided()).collect();
    if open.is_empty() {
        return out.line("Everything that must be decided is decided.");
    }
    let values: BTreeSet<_> = open.iter().map(|f| (&f.rule, f.fingerprint)).collect();
    out.line(format_args!("{} to decide, {}:", open.len(), counted(values.len(), "different value")))?;
    let decide = format!("onrecord decide {}", quoted(session));
    let mut rows = vec![vec![format!("  {decide} --cover-findings"), "covers them all".to_owned()]];
    if let Some(finding) = open.iter().find(|f| f.allowable) {
        let what = "lets one stand where it stands now".to_owned();
        rows.push(vec![format!("  {decide} --allow {} --because WHY", finding.id), what]);
    }
    let turns: BTreeSet<usize> = open.iter().filter_map(|f| f.turn).collect();
    if !turns.is_empty() {
        let list: Vec<String> = turns.iter().take(LISTED).map(ToString::to_string).collect();
        let list = if turns.len() > LISTED { "TURNS".to_owned() } else { list.join(",") };
        rows.push(vec![format!("  {decide} --withhold {list}"), "holds back the turns".to_owned()]);
    }
    for line in columns(&rows) {
        out.line(line)?;
    }
    Ok(())
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+,".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", crate::output::printable(name).replace('\'', "'\\''"))
}
