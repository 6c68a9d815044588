//! `onrecord scan`: what must be decided before a conversation can be published.

use std::collections::BTreeMap;

use onrecord_redact::{Decision, Finding};
use serde_json::json;

use super::sources;
use crate::{
    cli::Scan,
    error::{PROBLEMS, Result},
    output::Out,
    source::Opened,
};

pub fn run(args: &Scan, out: &mut Out) -> Result<u8> {
    // Without a conversation the sources are asked for: the command line sees to it.
    let Some(session) = args.session().filter(|_| !args.sources) else {
        return sources::run(args, out);
    };
    let opened = Opened::open(&session)?;
    let scan = opened.scan()?;
    let undecided = scan.undecided();
    if out.json {
        out.json(&json!({"findings": scan.findings, "undecided": undecided}))?;
    } else if scan.findings.is_empty() {
        out.line("Nothing was found. Read it once more before you publish it: rules cannot know everything.")?;
    } else {
        print(&scan.findings, out)?;
        out.line("")?;
        if undecided == 0 {
            out.line("Everything found is decided.")?;
        } else {
            out.line(format_args!(
                "{undecided} to decide: `onrecord decide {} --cover-findings` covers them all; \
                 `--allow N --because WHY` lets one stand, `--withhold TURNS` holds turns back.",
                session.session
            ))?;
        }
    }
    Ok(if undecided > 0 { PROBLEMS } else { 0 })
}

/// The findings, grouped by what they are.
pub fn print(findings: &[Finding], out: &mut Out) -> Result<()> {
    let mut groups: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((&finding.name, &finding.preview)).or_default().push(finding);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, findings)| findings.first().map(|f| f.id));
    for ((name, preview), findings) in groups {
        let places = if findings.len() == 1 { "place" } else { "places" };
        let heading = format!("{name}  {preview}  ({} {places})", findings.len());
        out.line(out.bold(heading))?;
        for finding in findings {
            let turn = finding.turn.map_or_else(String::new, |n| format!("turn {n}, "));
            let state = match finding.decision {
                None if finding.blocking => out.bad("undecided"),
                None => out.dim("a suggestion"),
                Some(Decision::Cover) => "covered".to_owned(),
                Some(Decision::Allow) => "allowed".to_owned(),
                Some(Decision::Withhold) => "held back with its turn".to_owned(),
            };
            out.line(format_args!("  {:>3}  {turn}{}  {state}", finding.id, finding.field))?;
        }
    }
    Ok(())
}
