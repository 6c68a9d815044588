//! The plan, and carrying it out; taking back.

use jiff::Timestamp;
use onrecord_record::{Action, Family, Write, aligned::SESSION, tiles::SNAPSHOT};
use onrecord_web::review::{Around, Change, Form, LinkView, PlanPage, TakeBackPage, TargetChoice};
use onrecord_workspace::{
    Error as WorkspaceError, Publication, Workspace,
    publish::{self, Fate, Plan, Pointers, TakeBack, Target},
};
use serde_json::Value;

use super::{
    desk::Desk,
    job::Running,
    library::gone_key,
    number_of,
    pages::{FAMILIES, family_of},
};
use crate::{
    commands::{about, publish as publish_command, published::target_of, unpublish},
    config,
    error::{Error, Result},
    output::{counted, one_line},
};

/// Writes of a plan that are listed.
const LISTED: usize = 300;
/// Longer texts are not compared line by line.
const LINES: usize = 400;
/// What names the shelf in a form.
const SHELF: &str = "shelf";

/// What is asked for: where it goes and how it is written.
struct Wanted {
    to: String,
    target: Target,
    family: Family,
}

impl Wanted {
    fn of(workspace: &Workspace, query: &Form) -> Result<Self> {
        let accounts = workspace.accounts()?;
        let to = match query.get("to").filter(|to| !to.is_empty()) {
            Some(to) => to.to_owned(),
            None => accounts.first().map_or_else(|| SHELF.to_owned(), |account| account.did.to_string()),
        };
        let target = if to == SHELF {
            Target::Shelf
        } else {
            let account = workspace.account(Some(&to))?;
            Target::Account(workspace.session(&config::client()?, &account)?)
        };
        Ok(Self { to, target, family: family_of(query)? })
    }
}

/// A plan as it stands now, and the name of all that it depends on.
struct Prepared {
    plan: Plan,
    pointers: Pointers,
    name: String,
    title: Option<String>,
}

async fn prepare(desk: &Desk, wanted: &Wanted) -> Result<Prepared> {
    let opened = &desk.opened;
    let reviewed = opened.seal()?;
    let title = reviewed.title().filter(|_| wanted.family != Family::TilesPrivate).map(str::to_owned);
    let repo = wanted.target.repo()?;
    let pointers = match wanted.family {
        Family::ClickAligned => about::look_up(opened, &reviewed, &repo, false).await?,
        Family::Tiles | Family::TilesPrivate => Pointers::default(),
    };
    let source = opened.conversation.source.id.clone();
    let plan = publish::prepare_as(
        wanted.family,
        &opened.workspace,
        &wanted.target,
        (opened.id, &source),
        reviewed,
        &pointers,
        Timestamp::now(),
    )
    .await?;
    plan.gate()?;
    wanted.target.check_scopes(&plan.writes)?;
    // A private record is another each time, as its nonce is.
    let is_private = wanted.family == Family::TilesPrivate;
    let writes: Vec<_> = (plan.writes.iter())
        .map(|w| {
            let cid = w.cid.as_ref().filter(|_| !is_private).map(ToString::to_string);
            (row(w), &w.collection, w.rkey.as_str(), cid)
        })
        .collect();
    let name = format!("{:016x}", number_of(&(desk.state()?, plan.uri.as_str(), wanted.family.as_str(), writes)));
    Ok(Prepared { plan, pointers, name, title })
}

fn row(write: &Write) -> &'static str {
    match write.action {
        Action::Create => "create",
        Action::Update => "update",
        Action::Delete => "delete",
    }
}

/// The page of the plan.
pub async fn page(desk: &Desk, around: Around<'_>, query: &Form) -> Result<String> {
    let wanted = Wanted::of(&desk.opened.workspace, query);
    let (to, family) = match &wanted {
        Ok(wanted) => (wanted.to.clone(), wanted.family),
        Err(_) => (query.text("to").to_owned(), family_of(query).unwrap_or_default()),
    };
    let prepared = match &wanted {
        Ok(wanted) => prepare(desk, wanted).await,
        Err(error) => Err(Error::Usage(error.to_string())),
    };
    let mut page = PlanPage {
        around,
        key: &desk.key,
        plan: "",
        title: "Publish".to_owned(),
        uri: String::new(),
        targets: targets(&desk.opened.workspace, &to)?,
        families: (FAMILIES.iter())
            .map(|(of, words)| TargetChoice {
                name: of.as_str().to_owned(),
                words: (*words).to_owned(),
                is_chosen: *of == family,
            })
            .collect(),
        counts: (0, 0, 0),
        turns: (0, 0),
        changes: Vec::new(),
        more: 0,
        lost: Vec::new(),
        is_public: to != SHELF,
        publish_as: String::new(),
        refused: None,
        is_on_record: false,
    };
    let (wanted, prepared) = match (&wanted, prepared) {
        (Ok(wanted), Ok(prepared)) => (wanted, prepared),
        (wanted, Err(error)) => {
            let (what, next) = refusal(wanted.as_ref().err().unwrap_or(&error));
            page.refused = Some((what, next));
            return Ok(page.html()?);
        }
        (Err(_), Ok(_)) => return Ok(page.html()?),
    };
    let plan = &prepared.plan;
    let publication = desk.opened.workspace.publication_in(desk.opened.id, &plan.repo, family)?;
    let turns = &desk.opened.conversation.turns;
    let held = turns.iter().filter(|t| desk.opened.decisions.is_withheld(&t.id)).count();
    page.plan = &prepared.name;
    page.title =
        format!("Publish: {}", prepared.title.as_deref().map_or_else(|| "(no title)".to_owned(), |t| one_line(t, 100)));
    page.uri.clone_from(&plan.uri);
    page.counts = plan.counts();
    page.turns = (turns.len() - held, held);
    page.publish_as = publish_command::name(&wanted.target);
    page.is_on_record = publication.as_ref().is_some_and(|p| p.records > 0);
    page.lost = lost(desk, &prepared);
    page.more = plan.writes.len().saturating_sub(LISTED);
    for write in plan.writes.iter().take(LISTED) {
        page.changes.push(change(desk, publication.as_ref(), plan, write)?);
    }
    Ok(page.html()?)
}

/// What stands in the way, and where to go.
fn refusal(error: &Error) -> (String, String) {
    let next = match error {
        Error::Workspace(WorkspaceError::Redact(onrecord_redact::Error::Undecided { .. })) => {
            "Decide about them first: go back to the conversation, and press n.".to_owned()
        }
        error => error.hint().unwrap_or_default(),
    };
    (format!("{error}."), next)
}

fn targets(workspace: &Workspace, chosen: &str) -> Result<Vec<TargetChoice>> {
    let accounts = workspace.accounts()?.into_iter().map(|account| TargetChoice {
        words: account.handle.as_ref().map_or_else(|| account.did.to_string(), |handle| format!("@{handle}")),
        is_chosen: account.did.as_str() == chosen,
        name: account.did.to_string(),
    });
    let words = publish_command::name(&Target::Shelf);
    let shelf = TargetChoice { name: SHELF.to_owned(), words, is_chosen: chosen == SHELF };
    Ok(accounts.chain([shelf]).collect())
}

/// What is left out, and what is to be known besides, as sentences.
fn lost(desk: &Desk, prepared: &Prepared) -> Vec<String> {
    let plan = &prepared.plan;
    let mut lines = Vec::new();
    let list: Vec<_> = desk.opened.lost.iter().chain(&plan.lost).map(|l| format!("{} {}", l.count, l.what)).collect();
    if !list.is_empty() {
        lines.push(format!("Not published: {}.", list.join(", ")));
    }
    if let Some(counts) = about::counts(&prepared.pointers) {
        lines.push(format!("It refers to {counts}."));
    }
    for pointer in &prepared.pointers.all {
        let why = match &pointer.fate {
            Fate::Absent(why) => format!("leads nowhere: {why}"),
            Fate::Failed(why) => format!("could not be looked up: {why}"),
            Fate::Covered => "is not referred to: its address says what you covered".to_owned(),
            _ => continue,
        };
        lines.push(format!("{} (turn {}) {}.", pointer.name, pointer.turn, one_line(&why, 200)));
    }
    if !plan.foreign.is_empty() {
        lines.push(format!(
            "{} more of this conversation are in the repository that onrecord did not write; they are left alone.",
            counted(plan.foreign.len(), "record")
        ));
    }
    lines
}

fn change(desk: &Desk, publication: Option<&Publication>, plan: &Plan, write: &Write) -> Result<Change> {
    let record = plan.records.iter().find(|r| r.rkey == write.rkey && r.collection == write.collection);
    let turns = &desk.opened.conversation.turns;
    let turn = record.and_then(|r| r.turn.as_deref()).and_then(|id| turns.iter().find(|t| t.id == id));
    let what = match (write.collection.as_str(), turn) {
        (SESSION, _) => "the conversation".to_owned(),
        (SNAPSHOT, _) => "the conversation, whole".to_owned(),
        (_, Some(turn)) => format!("turn {}", turn.index),
        (_, None) => "a turn that is there no more".to_owned(),
    };
    let mut lines = Vec::new();
    if write.action == Action::Update
        && let Some(json) = &write.record
        && let Some(before) =
            publication.map(|p| desk.opened.workspace.record(p, &write.collection, &write.rkey)).transpose()?.flatten()
    {
        lines = differences(&lines_of(&before), &lines_of(&serde_json::from_str(json.get())?));
    }
    Ok(Change { action: row(write), what, rkey: write.rkey.to_string(), lines })
}

/// A record as lines for people.
fn lines_of(record: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    if record["withheld"] == true {
        lines.push("(held back)".to_owned());
    }
    for field in ["title", "description", "discussion", "model", "text"] {
        if let Some(text) = record[field].as_str() {
            let name = if field == "text" { String::new() } else { format!("{field}: ") };
            lines.extend(text.lines().map(|line| format!("{name}{line}")));
        }
    }
    for step in record["steps"].as_array().into_iter().flatten() {
        let ran = if step["failed"] == true { "failed" } else { "ran" };
        let of = |field: &str| step[field].as_str().unwrap_or_default().to_owned();
        lines.push(format!("{ran} {} {}", of("tool"), of("summary")).trim_end().to_owned());
    }
    for field in ["refs", "mentions", "turns"] {
        let all = record[field].as_array().into_iter().flatten();
        lines.extend(all.map(|item| format!("{field}: {item}")));
    }
    lines
}

/// What goes, comes and stays, with two lines around each change.
fn differences(before: &[String], after: &[String]) -> Vec<String> {
    let mark = |mark: char, lines: &[String]| lines.iter().map(|line| format!("{mark}{line}")).collect::<Vec<_>>();
    if before.len() > LINES || after.len() > LINES {
        let gone: Vec<_> = before.iter().filter(|line| !after.contains(line)).cloned().collect();
        let come: Vec<_> = after.iter().filter(|line| !before.contains(line)).cloned().collect();
        return [mark('-', &gone), mark('+', &come)].concat();
    }
    // The longest common subsequence, from the end.
    let width = after.len() + 1;
    let mut longest = vec![0_usize; (before.len() + 1) * width];
    let at = |longest: &[usize], i: usize, j: usize| longest.get(i * width + j).copied().unwrap_or(0);
    for (i, gone) in before.iter().enumerate().rev() {
        for (j, come) in after.iter().enumerate().rev() {
            let length = if gone == come {
                at(&longest, i + 1, j + 1) + 1
            } else {
                at(&longest, i + 1, j).max(at(&longest, i, j + 1))
            };
            if let Some(place) = longest.get_mut(i * width + j) {
                *place = length;
            }
        }
    }
    let (mut i, mut j, mut all) = (0, 0, Vec::new());
    loop {
        match (before.get(i), after.get(j)) {
            (Some(gone), Some(come)) if gone == come => {
                all.push(format!(" {gone}"));
                (i, j) = (i + 1, j + 1);
            }
            (Some(gone), come) if come.is_none() || at(&longest, i + 1, j) >= at(&longest, i, j + 1) => {
                all.push(format!("-{gone}"));
                i += 1;
            }
            (_, Some(come)) => {
                all.push(format!("+{come}"));
                j += 1;
            }
            (_, None) => break,
        }
    }
    let is_near = |n: usize| {
        let around = n.saturating_sub(2)..=n + 2;
        around.into_iter().any(|n| all.get(n).is_some_and(|line| !line.starts_with(' ')))
    };
    (0..all.len()).filter(|n| is_near(*n)).filter_map(|n| all.get(n).cloned()).collect()
}

/// Carries out the plan that was agreed to, if it still is the plan.
pub async fn begin(desk: &Desk, form: &Form, site: &str) -> Result<Running> {
    let wanted = Wanted::of(&desk.opened.workspace, form)?;
    let turn = desk.opened.workspace.begin_publishing()?;
    let prepared = prepare(desk, &wanted).await?;
    if prepared.name != form.text("plan") {
        let why = "what would be written is not what was shown: look at the plan again; nothing was written";
        return Err(Error::Usage(why.to_owned()));
    }
    let running = Running::new(format!("Publishing as {}", publish_command::name(&wanted.target)));
    let site = site.to_owned();
    running.start(move |running| async move {
        let _turn = turn;
        let (target, plan) = (wanted.target, prepared.plan);
        let mut workspace = config::open_workspace()?;
        let outcome = publish::execute(&mut workspace, &target, &plan, &mut |event| running.show(&event)).await?;
        let words = format!("{} created, {} updated, {} deleted.", outcome.created, outcome.updated, outcome.deleted);
        let page = publish_command::page_of(&site, &target, &plan);
        let mut links = Vec::new();
        if let Some(link) = &outcome.link {
            let address = link.to_text().to_string();
            links.push(LinkView { name: "The link to send", address, is_link: true });
        }
        if plan.family != Family::TilesPrivate {
            links.push(LinkView { name: "Its page on your reading site", address: page, is_link: true });
        }
        links.push(LinkView { name: "Its at-uri", address: outcome.uri, is_link: false });
        Ok((words, links))
    });
    Ok(running)
}

fn publications(desk: &Desk) -> Result<Vec<Publication>> {
    let all = desk.opened.workspace.publications()?;
    Ok(all.into_iter().filter(|p| p.conversation == desk.opened.id).collect())
}

/// The question before it is taken back.
pub fn take_back_page(desk: &Desk, around: Around<'_>) -> Result<String> {
    let places = publications(desk)?.into_iter().map(|p| (p.uri(), place(&p), p.records));
    let (action, back) = (format!("/c/{}/take-back", desk.key), format!("/c/{}", desk.key));
    let page = TakeBackPage { around, action: &action, back: &back, title: None, places: places.collect() };
    Ok(page.html()?)
}

/// A publication whose transcript is not here.
fn gone(workspace: &Workspace, key: &str) -> Result<Publication> {
    let found = workspace.publications()?.into_iter().find(|p| gone_key(&p.uri()) == key);
    found.ok_or_else(|| super::no_such(key))
}

/// The same question about a conversation whose transcript is not here.
pub fn gone_page(workspace: &Workspace, around: Around<'_>, key: &str) -> Result<String> {
    let publication = gone(workspace, key)?;
    let title = publication.title.as_deref().map(|title| one_line(title, 200));
    let action = format!("/gone/{key}");
    let places = vec![(publication.uri(), place(&publication), publication.records)];
    let page = TakeBackPage { around, action: &action, back: "/", title: title.as_deref(), places };
    Ok(page.html()?)
}

/// Takes it back.
pub fn take_back_gone(workspace: &Workspace, key: &str) -> Result<Running> {
    begin_take_back(gone(workspace, key)?)
}

/// Where a publication is, for people.
fn place(publication: &Publication) -> String {
    match &publication.handle {
        Some(handle) => format!("As @{handle}"),
        None if publication.repo.as_str() == onrecord_workspace::SHELF => "On this machine's shelf".to_owned(),
        None => format!("As {}", publication.repo),
    }
}

/// Takes back what was asked for.
pub fn take_back(desk: &Desk, form: &Form) -> Result<Running> {
    let wanted = form.text("uri").to_owned();
    let not_there = || WorkspaceError::NotOnRecord { what: wanted.clone() };
    let publication = publications(desk)?.into_iter().find(|p| p.uri() == wanted).ok_or_else(not_there)?;
    begin_take_back(publication)
}

fn begin_take_back(publication: Publication) -> Result<Running> {
    let rkey = publication.rkey.clone();
    let running = Running::new("Taking it back".to_owned());
    running.start(move |running| async move {
        let mut workspace = config::open_workspace()?;
        let _turn = workspace.begin_publishing()?;
        let target = target_of(&workspace, publication.repo.as_str())?;
        let take_back = TakeBack::prepare_in(&workspace, &target, publication.family, &rkey).await?;
        target.check_scopes(&take_back.writes)?;
        let deleted = take_back.execute(&mut workspace, &target, &mut |event| running.show(&event)).await?;
        unpublish::forget_preview(&rkey)?;
        let words = format!(
            "Taken back: {} deleted. Whoever copied them before may still have them.",
            counted(deleted, "record")
        );
        Ok((words, Vec::new()))
    });
    Ok(running)
}

#[cfg(test)]
mod tests {
    use super::differences;

    fn diff(before: &str, after: &str) -> Vec<String> {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        differences(&lines(before), &lines(after))
    }

    #[test]
    fn only_what_changes_is_shown_and_two_lines_around_it() {
        assert_eq!(diff("a\nb\nc\nd\ne\nf", "a\nb\nc\nD\ne\nf"), [" b", " c", "-d", "+D", " e", " f"]);
        assert_eq!(diff("a", "a"), Vec::<String>::new());
        assert_eq!(diff("", "a\nb"), ["+a", "+b"]);
        assert_eq!(diff("a\nb", ""), ["-a", "-b"]);
    }

    #[test]
    fn long_texts_are_compared_by_what_stands_in_one_alone() {
        let long = "x\n".repeat(500);
        assert_eq!(diff(&format!("{long}a"), &format!("{long}b")), ["-a", "+b"]);
    }
}
