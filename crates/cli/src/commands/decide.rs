//! `onrecord decide`: decisions from the shell.

use std::{collections::HashSet, str::FromStr};

use onrecord_redact::{Decision, Finding, Scan};
use onrecord_transcript::Grain;
use onrecord_workspace::publish::{Fate, Pointers};
use serde_json::json;

use crate::{
    cli::Decide,
    commands::{about, preview},
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

pub async fn run(args: &Decide, out: &mut Out) -> Result<u8> {
    let mut opened = Opened::open(&args.session, &args.rules, Grain::Turn, out).await?;
    change(args, &mut opened, out)?;
    opened.keep_decisions()?;

    let scan = opened.scan()?;
    let covered = opened.covered(&scan);
    let pointers = match &covered {
        Some(reviewed) => about::known(&opened, reviewed, &preview::any_repo(&opened.workspace)?).await?,
        None => Pointers::default(),
    };
    let stand = Stand {
        title: covered.as_ref().and_then(|c| c.title().map(str::to_owned)),
        description: covered.as_ref().and_then(|c| c.description().map(str::to_owned)),
        pointers,
    };
    if out.json {
        out.json(&document(&opened, &scan, &stand))?;
    } else {
        print(&opened, &scan, &stand, out)?;
    }
    Ok(0)
}

/// What may be shown of the conversation.
struct Stand {
    title: Option<String>,
    description: Option<String>,
    pointers: Pointers,
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
    let by_number = !(args.allow.is_empty() && args.uncover.is_empty() && args.reopen.is_empty());
    // Numbers are those that `scan` printed, before anything is changed.
    let seen = if by_number || !args.withhold_turns_with.is_empty() { Some(opened.scan()?) } else { None };
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
    if let Some(seen) = &seen {
        args.uncover.iter().try_for_each(|id| uncover(id, seen, opened))?;
        args.withhold_turns_with.iter().try_for_each(|rule| withhold_turns_with(rule, seen, opened))?;
        for &id in &args.reopen {
            if !opened.decisions.reopen(finding(seen, id)?) {
                return Err(Error::CannotUncover { id, why: "was not decided about" });
            }
        }
    }
    for text in &args.cover {
        if !opened.mentions(text) {
            return Err(Error::NothingToCover);
        }
        opened.decisions.cover_word(&opened.key, text)?;
    }
    for pattern in &args.cover_pattern {
        match opened.cover_pattern(pattern)? {
            0 => return Err(Error::NothingToCover),
            words => out.note(format_args!("{} covered", counted(words, "different text"))),
        }
    }
    if let Some(seen) = &seen {
        let why = args.because.as_deref().unwrap_or("none given");
        for &id in &args.allow {
            opened.decisions.decide(finding(seen, id)?, Decision::Allow, Some(why))?;
        }
    }
    about::decide(args, opened)?;
    if args.cover_findings {
        let scan = opened.scan()?;
        let mut covered = 0;
        for finding in scan.findings.iter().filter(|f| f.undecided()) {
            opened.decisions.decide(finding, Decision::Cover, None)?;
            covered += 1;
        }
        out.note(format_args!("{} covered", counted(covered, "finding")));
    }
    opened.settle_title();
    Ok(())
}

fn finding(seen: &Scan, id: u32) -> Result<&Finding> {
    seen.get(id).ok_or(Error::NoSuchFinding { id, count: seen.findings.len() })
}

/// Uncovers a word by the first eight digits of its fingerprint, or a finding by its number.
fn uncover(id: &str, seen: &Scan, opened: &mut Opened) -> Result<()> {
    let words: Vec<_> =
        opened.decisions.covered_words().filter(|w| w.short() == id.to_ascii_lowercase()).copied().collect();
    if !words.is_empty() {
        for word in &words {
            opened.decisions.uncover(word);
        }
        return Ok(());
    }
    let Ok(id) = id.parse() else { return Err(Error::NoSuchWord(id.to_owned())) };
    let finding = finding(seen, id)?;
    match opened.decisions.decision(finding) {
        Some(Decision::Cover) => {
            opened.decisions.reopen(finding);
        }
        _ if finding.decision == Some(Decision::Cover) => {
            return Err(Error::CannotUncover { id, why: "lies within something else that is covered; uncover that" });
        }
        _ => return Err(Error::CannotUncover { id, why: "is not covered" }),
    }
    Ok(())
}

/// Holds back the turns with findings of a rule, by its id, or of a tier, by its letter.
fn withhold_turns_with(rule: &str, seen: &Scan, opened: &mut Opened) -> Result<()> {
    let is_meant = |f: &&Finding| f.rule == rule || format!("{:?}", f.tier).eq_ignore_ascii_case(rule);
    let turns: Vec<_> = seen.findings.iter().filter(is_meant).filter_map(|f| f.turn_id.clone()).collect();
    if turns.is_empty() {
        return Err(Error::NoSuchRule(rule.to_owned()));
    }
    turns.iter().for_each(|turn| opened.decisions.withhold(turn));
    Ok(())
}

fn withheld(opened: &Opened) -> Vec<usize> {
    let held = opened.conversation.turns.iter().filter(|t| opened.decisions.is_withheld(&t.id));
    held.map(|t| t.index).collect()
}

/// The decisions as they now stand, for other programs.
fn document(opened: &Opened, scan: &Scan, stand: &Stand) -> serde_json::Value {
    let mut document = json!({
        "session": opened.conversation.source.id,
        "title": stand.title,
        "description": stand.description,
        "turns": opened.conversation.turns.len(),
        "withheld": withheld(opened),
        "coveredWords": opened.decisions.covered_words().count(),
        "home": opened.decisions.home(),
        "words": opened
            .word_places()
            .iter()
            .map(|(word, places)| json!({"id": word.short(), "places": places}))
            .collect::<Vec<_>>(),
        "findings": scan.findings,
        "undecided": scan.undecided(),
    });
    // Only where there is something to say of them.
    if let Some(fields) = document.as_object_mut() {
        if !opened.decisions.pointers() {
            fields.insert("refs".to_owned(), "none".into());
        }
        if !stand.pointers.all.is_empty() {
            fields.insert("pointers".to_owned(), json!(stand.pointers.all));
        }
    }
    document
}

fn print(opened: &Opened, scan: &Scan, stand: &Stand, out: &mut Out) -> Result<()> {
    let turns = opened.conversation.turns.len();
    if let Some(title) = &stand.title {
        out.line(format_args!("Title        {}", one_line(title, 80)))?;
    }
    if let Some(description) = &stand.description {
        out.line(format_args!("Description  {}", one_line(description, 80)))?;
    }
    let held = withheld(opened);
    let list: Vec<_> = held.iter().map(ToString::to_string).collect();
    let list = if held.is_empty() { "none".to_owned() } else { list.join(", ") };
    out.line(format_args!("Turns        {} on record, {} held back ({list})", turns - held.len(), held.len()))?;
    let words = opened.word_places();
    out.line(format_args!("Words        {} covered by you", words.len()))?;
    for (word, places) in words {
        out.line(format_args!("               {}  {}", word.short(), counted(places, "place")))?;
    }
    let dropped = stand.pointers.all.iter().filter(|p| p.fate == Fate::Refused).count();
    let named = stand.pointers.all.len() - dropped;
    if named + dropped > 0 {
        out.line(format_args!("Refers to    {}, {dropped} dropped", counted(named, "record or account")))?;
        about::print(&stand.pointers, out)?;
    }
    let decided = |decision| scan.findings.iter().filter(|f| f.decision == Some(decision)).count();
    let mut states = vec![format!("{} undecided", scan.undecided())];
    for (decision, name) in
        [(Decision::Cover, "covered"), (Decision::Allow, "allowed"), (Decision::Withhold, "held back with their turns")]
    {
        let count = decided(decision);
        states.extend((count > 0).then(|| format!("{count} {name}")));
    }
    out.line(format_args!("Findings     {}: {}", scan.findings.len(), states.join(", ")))?;
    let mut told = HashSet::new();
    for finding in scan.findings.iter().filter(|f| f.decision == Some(Decision::Allow)) {
        if told.insert((&finding.rule, finding.fingerprint)) {
            let why = opened.decisions.reason(&finding.rule, &finding.fingerprint).unwrap_or_default();
            let (name, hint) = (one_line(&finding.name, 40), one_line(&finding.preview, 24));
            out.line(format_args!(
                "               {} allowed: {name} {hint}  because: {}",
                finding.id,
                one_line(why, 60)
            ))?;
        }
    }
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
