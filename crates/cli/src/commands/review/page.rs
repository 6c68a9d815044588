//! From a conversation that is decided about to its page.

use std::collections::{HashMap, HashSet};

use jiff::tz::TimeZone;
use onrecord_record::about;
use onrecord_redact::{Decision, Field, Finding, Fingerprint, Look, Marked, Scan, Shared, Shown};
use onrecord_transcript::{Role, Turn as TranscriptTurn, model::format_rfc3339_ms};
use onrecord_web::{
    model_name, path_of,
    review::{Cover, Group, Head, Kind, MarkKind, MarkedText, Panel, Pointer, Step, TextMark, Turn},
};

use super::desk::{Desk, by_turn};
use crate::{
    commands::publish,
    error::Result,
    output::{counted, one_line},
};

/// Groups that are listed beside the turns; of more it is said how many when these are decided.
const GROUPS: usize = 40;
/// Places that can be walked through without asking anew.
const WALK: usize = 2_000;

/// The turns of a page.
pub fn turns(desk: &Desk, look: &Look, page: usize) -> Vec<Turn> {
    let texts = by_turn(look);
    let kinds = Kinds::of(&look.scan);
    let turns = desk.opened.conversation.turns.iter().filter(|turn| Desk::page_of(turn.index) == page);
    turns.map(|turn| one_turn(desk, turn, texts.get(&turn.index).map_or(&[], Vec::as_slice), &kinds)).collect()
}

/// What the findings' numbers are on the page.
pub struct Kinds<'a>(HashMap<u32, &'a Finding>);

impl<'a> Kinds<'a> {
    pub fn of(scan: &'a Scan) -> Self {
        Self(scan.findings.iter().map(|f| (f.id, f)).collect())
    }

    pub fn marked(&self, shown: &Shown, kind: Kind) -> MarkedText {
        let marks = shown.marks.iter().filter_map(|mark| {
            let kind = match mark.what {
                Marked::Covered => MarkKind::Covered,
                Marked::Found(id) => {
                    let found = self.0.get(&id)?;
                    match found.decision {
                        Some(Decision::Allow) => MarkKind::Allowed(id),
                        _ if !found.blocking => MarkKind::Suggested(id),
                        _ => MarkKind::Open(id),
                    }
                }
            };
            Some(TextMark { start: mark.start, end: mark.end, kind })
        });
        MarkedText { field: shown.field.to_string(), text: shown.text.clone(), marks: marks.collect(), kind }
    }
}

fn one_turn(desk: &Desk, turn: &TranscriptTurn, texts: &[&Shown], kinds: &Kinds<'_>) -> Turn {
    let is_agent = turn.role == Role::Assistant;
    let text = |field: Field, kind: Kind| {
        texts.iter().find(|shown| shown.field == field).map_or_else(
            || MarkedText { field: field.to_string(), text: String::new(), marks: Vec::new(), kind },
            |shown| kinds.marked(shown, kind),
        )
    };
    let steps = turn.steps().iter().enumerate().map(|(number, step)| Step {
        number,
        tool: text(Field::StepTool(number), Kind::Line),
        summary: text(Field::StepSummary(number), Kind::Line),
        failed: step.failed,
        is_own: desk.opened.decisions.has_summary(&turn.id, number),
    });
    let said = text(Field::Text, if is_agent { Kind::Prose } else { Kind::Plain });
    let is_withheld = desk.opened.decisions.is_withheld(&turn.id);
    let at = turn.created_at.to_zoned_datetime(TimeZone::system());
    let speaker = match (&turn.model, is_agent) {
        (Some(model), true) => model_name(model).into_owned(),
        (None, true) => "The agent".to_owned(),
        (_, false) => "You".to_owned(),
    };
    Turn {
        index: turn.index,
        key: desk.key.clone(),
        is_agent,
        speaker,
        model: turn.model.clone(),
        datetime: format_rfc3339_ms(turn.created_at),
        time: at.strftime("%H:%M").to_string(),
        clock: at.strftime("%H:%M").to_string(),
        is_withheld,
        pointers: if is_withheld { Vec::new() } else { pointers(desk, turn, &said.text) },
        text: said,
        steps: steps.collect(),
        private: turn.index.checked_sub(1).and_then(|n| *desk.private.get(n)?),
    }
}

/// The records and accounts that a turn names in the open.
fn pointers(desk: &Desk, turn: &TranscriptTurn, text: &str) -> Vec<Pointer> {
    let (decisions, key) = (&desk.opened.decisions, &desk.opened.key);
    if !decisions.pointers() {
        return Vec::new();
    }
    let mut seen = HashSet::new();
    let names = about::find(text).into_iter().map(|found| found.pointer).filter(|name| seen.insert(name.clone()));
    names
        .map(|name| {
            let is_dropped = decisions.drops_pointer(key, &turn.id, name.as_str());
            let is_record = name.rkey().is_some();
            let words = if is_record { name.to_string() } else { format!("@{}", name.authority()) };
            let link = if is_record {
                onrecord_web::record_link(name.as_str()).into_owned()
            } else {
                format!("https://bsky.app/profile/{}", name.authority())
            };
            let link = Some(link).filter(|link| link.starts_with("https://"));
            let note = (!is_dropped).then(|| "looked up when you publish".to_owned());
            Pointer { name: name.to_string(), words, link, is_dropped, note }
        })
        .collect()
}

/// What stands above the turns.
pub fn head(desk: &Desk, look: &Look, site: &str) -> Result<Head> {
    let kinds = Kinds::of(&look.scan);
    let text = |field: Field, kind: Kind| {
        let shown = look.texts.iter().find(|shown| shown.turn.is_none() && shown.field == field);
        shown.map_or_else(
            || MarkedText { field: field.to_string(), text: String::new(), marks: Vec::new(), kind },
            |shown| kinds.marked(shown, kind),
        )
    };
    let opened = &desk.opened;
    let source = &opened.conversation.source;
    let project = source.cwd.as_deref().and_then(|cwd| cwd.rsplit(['/', '\\']).find(|name| !name.is_empty()));
    let day = opened.conversation.created_at.to_zoned_datetime(TimeZone::system()).strftime("%-d %B %Y").to_string();
    let mut about = vec![source.harness.name().to_owned()];
    about.extend(project.map(str::to_owned));
    about.extend([day, counted(desk.turns(), "turn")]);
    let discussion = opened.decisions.discussion().unwrap_or_default().to_owned();
    let title = text(Field::Title, Kind::Line);
    Ok(Head {
        key: desk.key.clone(),
        untitled: begins(desk, look),
        title_text: opened.decisions.title().or(opened.own_title()).unwrap_or_default().to_owned(),
        title,
        description: text(Field::Description, Kind::Plain),
        description_text: opened.decisions.description().unwrap_or_default().to_owned(),
        discussion_link: Some(onrecord_web::record_link(&discussion).into_owned())
            .filter(|link| link.starts_with("https://")),
        discussion,
        about: about.join(" · "),
        on_record: on_record(desk, site)?,
        warnings: opened.conversation.warnings.iter().map(warning).collect(),
    })
}

/// What stands in for a title that there is none of: how the first message begins that is published.
fn begins(desk: &Desk, look: &Look) -> String {
    let published = |turn: &&TranscriptTurn| turn.role == Role::User && !desk.opened.decisions.is_withheld(&turn.id);
    let first = desk.opened.conversation.turns.iter().find(published).map(|turn| turn.index);
    let text = look.texts.iter().find(|shown| shown.turn == first && first.is_some() && shown.field == Field::Text);
    let line = text.and_then(|shown| shown.text.lines().find(|line| !line.trim().is_empty()));
    line.map_or_else(|| "(no title)".to_owned(), |line| one_line(line, 96))
}

fn warning(warning: &onrecord_transcript::Warning) -> String {
    let line = warning.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    format!("{line}{}", one_line(&warning.message, 300))
}

/// Where it is on record, and the pages there.
pub fn on_record(desk: &Desk, site: &str) -> Result<Vec<(String, String)>> {
    let publications = desk.opened.workspace.publications()?;
    let ours = publications.into_iter().filter(|p| p.conversation == desk.opened.id && !p.taking_back && p.records > 0);
    Ok(ours
        .map(|p| {
            let handle = p.handle.as_ref().map(onrecord_lexicon::Handle::as_str);
            let words = match handle {
                Some(handle) => format!("as @{handle}"),
                None if p.repo.as_str() == onrecord_workspace::SHELF => "on this machine's shelf".to_owned(),
                None => format!("as {}", p.repo),
            };
            let path = path_of(p.repo.as_str(), handle, p.family, p.rkey.as_str());
            (words, format!("{}{path}", site.trim_end_matches('/')))
        })
        .collect())
}

/// What stands beside the turns.
pub fn panel(desk: &Desk, look: &Look) -> Result<Panel> {
    let opened = &desk.opened;
    let findings = &look.scan.findings;
    let (mut open, mut done, mut suggested) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Vec::new();
    for members in grouped(findings) {
        let Some(first) = members.first() else { continue };
        let undecided: Vec<&Finding> = members.iter().filter(|f| f.undecided()).copied().collect();
        if let Some(first) = undecided.first() {
            walk.extend(undecided.iter().map(|f| (f.id, f.turn, first.id)));
            open.push(group(desk, &undecided, None));
        } else if members.iter().all(|f| f.decision.is_none()) {
            suggested.push(group(desk, &members, None));
        } else {
            let decided: Vec<&Finding> =
                members.iter().filter(|f| f.decision.is_some_and(|d| d != Decision::Withhold)).copied().collect();
            let is_said_of_all = first.is_home() && opened.decisions.home().is_some();
            if !decided.is_empty() && !is_said_of_all {
                done.push(group(desk, &decided, decided.first().and_then(|f| f.decision)));
            }
        }
    }
    walk.sort_unstable();
    let walk: Vec<String> = (walk.iter().take(WALK))
        .map(|(id, turn, group)| format!("{id}.{}.{}.{group}", turn.unwrap_or(0), turn.map_or(0, Desk::page_of)))
        .collect();
    open.sort_by_key(|group: &Group| group.id);
    open.truncate(GROUPS);
    done.truncate(GROUPS);
    suggested.truncate(GROUPS);
    let undecided = look.scan.undecided();
    let history = opened.workspace.history(opened.id)?;
    let turns = &opened.conversation.turns;
    let published = |turn: &&TranscriptTurn| !opened.decisions.is_withheld(&turn.id);
    let on_record = turns.iter().filter(published).count();
    let steps: usize = turns.iter().filter(published).map(|turn| turn.steps().len()).sum();
    let named: usize = turns.iter().zip(&desk.named).filter(|(turn, _)| published(turn)).map(|(_, n)| n).sum();
    let could_point = desk.named.iter().any(|n| *n > 0);
    let mut will_be =
        format!("{} and {} held back, {}", counted(on_record, "turn"), turns.len() - on_record, counted(steps, "step"));
    if opened.decisions.pointers() && named > 0 {
        will_be.push_str(&format!(", {} named", counted(named, "record or account")));
    }
    let lost: Vec<_> = opened.lost.iter().map(|l| format!("{} ({})", l.what, l.count)).collect();
    let accounts = opened.workspace.accounts()?;
    let publish_as = match accounts.first() {
        Some(account) if account.handle.is_some() => format!("@{}", account.name()),
        Some(account) => account.name().to_owned(),
        None => publish::name(&onrecord_workspace::publish::Target::Shelf),
    };
    Ok(Panel {
        key: desk.key.clone(),
        undecided,
        decided: findings.iter().filter(|f| f.decision.is_some()).count(),
        open,
        done,
        suggested,
        covers: covers(desk),
        home: opened.decisions.home().map(|home| match home {
            onrecord_redact::HomeStyle::Tilde => "shown as ~",
            onrecord_redact::HomeStyle::Bar => "covered",
        }),
        walk: walk.join(" "),
        will_be: format!("{will_be}."),
        not_published: if lost.is_empty() { String::new() } else { format!("Not published: {}.", lost.join(", ")) },
        undo: history.undo,
        redo: history.redo,
        points: opened.decisions.pointers(),
        could_point,
        publish_as,
        is_on_record: opened.workspace.publications()?.iter().any(|p| p.conversation == opened.id),
        blocked: (on_record == 0).then(|| "All turns are held back: there is nothing to publish.".to_owned()),
    })
}

/// The findings of one thing, one after the other, in the order of their first places. All home folders are one thing.
fn grouped(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut places: HashMap<Option<(&Shared, Fingerprint)>, usize> = HashMap::new();
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let of = (!finding.is_home()).then_some((&finding.rule, finding.fingerprint));
        let at = *places.entry(of).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

fn group(desk: &Desk, members: &[&Finding], decision: Option<Decision>) -> Group {
    let Some(first) = members.first() else { return Group::default() };
    let turns: HashSet<usize> = members.iter().filter_map(|f| f.turn).collect();
    let decisions = &desk.opened.decisions;
    Group {
        id: first.id,
        name: first.name.to_string(),
        hint: one_line(&first.preview, 40),
        places: members.len(),
        turns: turns.len(),
        turn: first.turn,
        href: match first.turn {
            Some(turn) => format!("/c/{}?page={}#f{}", desk.key, Desk::page_of(turn), first.id),
            None => format!("/c/{}#head", desk.key),
        },
        allowable: first.allowable && !first.is_home(),
        is_home: first.is_home(),
        decision: decision.map(|decision| match decision {
            Decision::Cover => "covered",
            Decision::Allow => "allowed",
            Decision::Withhold => "held back",
        }),
        reason: decisions.reason(&first.rule, &first.fingerprint).map(|reason| one_line(reason, 120)),
        can_reopen: decisions.decision(first).is_some(),
    }
}

fn covers(desk: &Desk) -> Vec<Cover> {
    let words = desk.opened.word_places().into_iter().map(|(word, places)| Cover {
        name: format!("w:{word}"),
        words: format!("A word of yours, {}", counted(places, "place")),
        href: None,
    });
    let passages = desk.opened.decisions.covered_passages().map(|passage| Cover {
        name: format!("p:{passage}"),
        words: "A passage, in its place alone".to_owned(),
        href: None,
    });
    words.chain(passages).collect()
}
