//! `onrecord decide`: decisions from the shell.

use std::str::FromStr;

use onrecord_redact::{Decision, Scan};
use serde_json::json;

use crate::{
    cli::Decide,
    error::{Error, Result},
    output::{Out, counted, one_line},
    source::Opened,
};

/// Numbers of turns, e.g. `3,7-9`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns(Vec<(usize, usize)>);

impl FromStr for Turns {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.trim().parse::<usize>().ok().filter(|n| *n > 0).ok_or_else(|| format!("{text:?} is no turn's number"))
        };
        let range = |part: &str| {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let (from, to) = (number(from)?, number(to)?);
            if from > to { Err(format!("{part:?} ends before it begins")) } else { Ok((from, to)) }
        };
        s.split(',').map(range).collect::<Result<_, _>>().map(Self)
    }
}

pub fn run(args: &Decide, out: &mut Out) -> Result<u8> {
    let mut opened = Opened::open(&args.session)?;
    change(args, &mut opened, out)?;
    opened.keep_decisions()?;

    let scan = opened.scan()?;
    if out.json {
        out.json(&stand(&opened, &scan))?;
    } else {
        print(&opened, &scan, out)?;
    }
    Ok(0)
}

fn change(args: &Decide, opened: &mut Opened, out: &Out) -> Result<()> {
    let turns = opened.conversation.turns.len();
    let ids = |list: &Turns| -> Result<Vec<String>> {
        let mut ids = Vec::new();
        for &(from, to) in &list.0 {
            if to > turns {
                return Err(Error::NoSuchTurn { name: args.session.session.clone(), turn: to, turns });
            }
            ids.extend(opened.conversation.turns.iter().skip(from - 1).take(to + 1 - from).map(|t| t.id.clone()));
        }
        Ok(ids)
    };
    let withhold = args.withhold.as_ref().map(ids).transpose()?.unwrap_or_default();
    let publish = args.publish.as_ref().map(ids).transpose()?.unwrap_or_default();
    for id in withhold {
        opened.decisions.withhold(&id);
    }
    for id in publish {
        opened.decisions.publish(&id);
    }
    if let Some(title) = &args.title {
        opened.decisions.set_title(Some(title.clone()));
    }
    if let Some(description) = &args.description {
        opened.decisions.set_description(Some(description.clone()));
    }
    if let Some(home) = args.home {
        opened.decisions.set_home(home.into());
    }
    for text in &args.cover {
        if !opened.mentions(text) {
            return Err(Error::NothingToCover);
        }
        opened.decisions.cover_word(&opened.key, text)?;
    }
    if !args.allow.is_empty() || args.cover_findings {
        let scan = opened.scan()?;
        let why = args.because.as_deref().unwrap_or("none given");
        for &id in &args.allow {
            let finding = (scan.findings.iter().find(|f| f.id == id))
                .ok_or(Error::NoSuchFinding { id, count: scan.findings.len() })?;
            opened.decisions.decide(finding, Decision::Allow, Some(why))?;
        }
        if args.cover_findings {
            let open = scan.findings.iter().filter(|f| f.undecided() && !args.allow.contains(&f.id));
            let mut covered = 0;
            for finding in open {
                opened.decisions.decide(finding, Decision::Cover, None)?;
                covered += 1;
            }
            out.note(format_args!("{} covered", counted(covered, "finding")));
        }
    }
    opened.settle_title();
    Ok(())
}

fn withheld(opened: &Opened) -> Vec<usize> {
    let held = opened.conversation.turns.iter().filter(|t| opened.decisions.is_withheld(&t.id));
    held.map(|t| t.index).collect()
}

/// The decisions as they now stand, for other programs.
fn stand(opened: &Opened, scan: &Scan) -> serde_json::Value {
    let (title, description) = opened.covered_head(scan);
    json!({
        "session": opened.conversation.source.id,
        "title": title,
        "description": description,
        "turns": opened.conversation.turns.len(),
        "withheld": withheld(opened),
        "coveredWords": opened.decisions.covered_words().count(),
        "home": opened.decisions.home(),
        "findings": scan.findings,
        "undecided": scan.undecided(),
    })
}

fn print(opened: &Opened, scan: &Scan, out: &mut Out) -> Result<()> {
    let (title, description) = opened.covered_head(scan);
    let turns = opened.conversation.turns.len();
    if let Some(title) = &title {
        out.line(format_args!("Title        {}", one_line(title, 80)))?;
    }
    if let Some(description) = &description {
        out.line(format_args!("Description  {}", one_line(description, 80)))?;
    }
    let held = withheld(opened);
    let list: Vec<_> = held.iter().map(ToString::to_string).collect();
    let list = if held.is_empty() { "none".to_owned() } else { list.join(", ") };
    out.line(format_args!("Turns        {} on record, {} held back ({list})", turns - held.len(), held.len()))?;
    out.line(format_args!("Words        {} covered by you", opened.decisions.covered_words().count()))?;
    out.line(format_args!("Findings     {}, {} undecided", scan.findings.len(), scan.undecided()))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Turns;

    #[test]
    fn turns_are_numbers_and_ranges() {
        assert_eq!("3,7-9".parse(), Ok(Turns(vec![(3, 3), (7, 9)])));
        assert_eq!(" 1 - 2 ".parse(), Ok(Turns(vec![(1, 2)])));
    }

    #[test]
    fn what_is_no_list_of_turns_is_refused() {
        for wrong in ["", "0", "x", "3-", "9-7", "1,,2", "-1"] {
            assert!(wrong.parse::<Turns>().is_err(), "{wrong:?}");
        }
    }
}
