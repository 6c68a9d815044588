//! What would go out, and what is for the author's eyes alone.

use onrecord_record::Family;
use onrecord_transcript::Part;
use onrecord_web::{
    ConversationView, Standing,
    review::{Around, Form, Pager, Preview, PrivateItem, PrivatePage, RecordView, Records, StepPage},
};
use onrecord_workspace::shelf_did;

use super::desk::Desk;
use crate::{
    commands::preview::{self, Made},
    error::{Error, Result},
};

/// How many records a page shows.
const PAGE: usize = 200;

/// The families that can be written, and what people call them.
pub const FAMILIES: [(Family, &str); 3] = [
    (Family::ClickAligned, "one record a turn (click.aligned)"),
    (Family::Tiles, "one record in all (Tiles)"),
    (Family::TilesPrivate, "one encrypted record, for whoever has its link (Tiles)"),
];

/// The family that is asked for.
pub fn family_of(query: &Form) -> Result<Family> {
    match query.get("family") {
        None | Some("") => Ok(Family::default()),
        Some(name) => name.parse().map_err(|e: onrecord_record::UnknownFamily| Error::Usage(e.to_string())),
    }
}

async fn made(desk: &Desk, family: Family) -> Result<Made> {
    let only = desk.opened.workspace.accounts()?.into_iter().next();
    let (repo, handle) = match only {
        Some(account) => (account.did, account.handle),
        None => (shelf_did()?, None),
    };
    let mut made = preview::make(&desk.opened, &repo, family).await?;
    made.published.handle = handle;
    Ok(made)
}

fn page_of(query: &Form, of: usize) -> usize {
    query.text("page").parse::<usize>().unwrap_or(1).clamp(1, of.div_ceil(PAGE).max(1))
}

/// The page as readers will see it.
pub async fn preview(desk: &Desk, around: Around<'_>, query: &Form) -> Result<String> {
    let family = family_of(query)?;
    let made = made(desk, family).await?;
    let view = ConversationView::new(&made.published, Standing::Preview);
    let page = page_of(query, view.turns.len());
    let words = format!("family={family}");
    let address = |page: usize| format!("/c/{}/preview?{words}&page={page}", desk.key);
    let lost = desk.opened.lost.iter().chain(&made.lost).map(|l| format!("{} {}", l.count, l.what)).collect();
    let page = Preview {
        around,
        key: &desk.key,
        view: &view,
        turns: (page - 1) * PAGE..view.turns.len().min(page * PAGE),
        pager: Pager::of(page, PAGE, view.turns.len(), address),
        lost,
        query: &words,
        family: family.as_str(),
        families: FAMILIES.map(|(family, words)| (family.as_str(), words)).to_vec(),
    };
    let html = page.html()?;
    // What was made of the records passes the gate as they did.
    made.reviewed.gate_page(html.as_bytes()).map_err(onrecord_workspace::Error::Gate)?;
    Ok(html)
}

/// The records that would go out.
pub async fn records(desk: &Desk, around: Around<'_>, query: &Form) -> Result<String> {
    let family = family_of(query)?;
    let made = made(desk, family).await?;
    let page = page_of(query, made.records.len());
    let words = format!("family={family}");
    let address = |page: usize| format!("/c/{}/records?{words}&page={page}", desk.key);
    let shown = made.records.iter().skip((page - 1) * PAGE).take(PAGE);
    let records = shown
        .map(|record| {
            let value: serde_json::Value = serde_json::from_str(record.json.get())?;
            Ok(RecordView {
                collection: record.collection.to_owned(),
                rkey: record.rkey.to_string(),
                cid: record.cid.to_string(),
                json: format!("{value:#}"),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let page = Records {
        around,
        key: &desk.key,
        query: &words,
        repo: made.published.repo.to_string(),
        records,
        pager: Pager::of(page, PAGE, made.records.len(), address),
        count: made.records.len(),
    };
    Ok(page.html()?)
}

/// What of a turn is never published.
pub fn private(desk: &Desk, around: Around<'_>, number: usize) -> Result<String> {
    let turns = desk.turns();
    let turn = number.checked_sub(1).and_then(|n| desk.opened.conversation.turns.get(n));
    let turn = turn.ok_or_else(|| Error::NoSuchTurn { name: "this conversation".to_owned(), turn: number, turns })?;
    let mut items = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Reasoning { text } => items.push(PrivateItem { name: "Reasoning".to_owned(), text: text.clone() }),
            Part::ToolCall { name, input, output, failed, .. } => {
                items.push(PrivateItem { name: format!("{name}, what it was given"), text: format!("{input:#}") });
                if let Some(output) = output {
                    let came = if *failed { "what came back; it failed" } else { "what came back" };
                    items.push(PrivateItem { name: format!("{name}, {came}"), text: output.clone() });
                }
            }
            Part::Image { mime_type, bytes } => {
                items.push(PrivateItem { name: "Image".to_owned(), text: format!("{mime_type}, {bytes} bytes") });
            }
            Part::Text { .. } => {}
        }
    }
    let page = PrivatePage { around, key: &desk.key, turn: number, page: Desk::page_of(number), items };
    Ok(page.html()?)
}

/// The page on which what a tool was called for is written anew.
pub fn step(desk: &Desk, around: Around<'_>, (turn, number): (usize, usize)) -> Result<String> {
    let draft = desk.opened.draft();
    let turns = draft.turns.len();
    let found = draft.turns.iter().find(|t| t.index == turn).and_then(|turn| turn.steps.get(number));
    let name = "this conversation".to_owned();
    let step = found.ok_or(Error::NoSuchTurn { name, turn, turns })?;
    let original = desk.opened.conversation.turns.get(turn.saturating_sub(1)).and_then(|t| t.steps().get(number));
    let page = StepPage {
        around,
        key: &desk.key,
        revision: desk.revision()?,
        turn,
        page: Desk::page_of(turn),
        number,
        tool: &step.tool,
        text: &step.summary,
        original: original.map_or("", |step| step.summary.as_str()),
    };
    Ok(page.html()?)
}
