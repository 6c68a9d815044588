//! `onrecord show`: one conversation, normalised.

use std::collections::HashMap;

use jiff::tz::TimeZone;
use onrecord_lexicon::{AtUri, Cid, Datetime, Did, Rkey};
use onrecord_record::{
    Family, HELD_BACK, MessageRecord, Original, Published, PublishedMessage, SessionRecord, StepRecord, aligned,
    tiles::TilesLink,
};
use onrecord_transcript::{Conversation, Grain, Harness, Part, Role, Turn};
use onrecord_web::{ConversationView, Place, Standing, conversation_html};
use onrecord_workspace::Error as WorkspaceError;
use serde_json::Map;

use crate::{
    cli::{Format, Show},
    commands::block_on,
    config,
    error::{Error, Result},
    output::{Out, counted, printable},
    source::{self, Found},
};

pub fn run(args: &Show, out: &mut Out) -> Result<u8> {
    let (mut conversation, original) = match source::file(&args.session) {
        Some(input) => source::read_any(input, Grain::Turn, args.branch.clone())?,
        None => {
            let workspace = config::open_workspace()?;
            match source::find(&args.session, &workspace)? {
                Found::Transcript(input) => source::read_any(input, Grain::Turn, args.branch.clone())?,
                Found::Gone { path, uris, .. } => {
                    let uri = uris.into_iter().next().ok_or(WorkspaceError::NothingToPublish)?;
                    out.note(format_args!(
                        "Its transcript is gone from {}: this is what is on record.",
                        path.display()
                    ));
                    let original = block_on(source::read_record(&TilesLink { uri, secret: None }, &workspace))?;
                    (original.conversation(), Some(original))
                }
                Found::Record(link) => {
                    let original = block_on(source::read_record(&link, &workspace))?;
                    (original.conversation(), Some(original))
                }
            }
        }
    };
    let notes = original.as_ref().map(Original::notes).unwrap_or_default();
    let turns = conversation.turns.len();
    if let Some(turn) = args.turn {
        conversation.turns.retain(|t| t.index == turn);
        if conversation.turns.is_empty() {
            return Err(Error::NoSuchTurn { name: source::without_key(&args.session.session).to_owned(), turn, turns });
        }
    }
    match if out.json { Format::Json } else { args.format } {
        Format::Json => out.json(&conversation)?,
        Format::Text => text(&conversation, turns, &notes, out)?,
        Format::Markdown => out.raw(printable(&markdown(&conversation, &notes)).as_bytes())?,
        Format::Html => html(&conversation, &notes, out)?,
    }
    for warning in &conversation.warnings {
        let place = warning.line.map_or_else(String::new, |n| format!("line {n}: "));
        out.note(format_args!("{place}{} ({})", warning.message, warning.code));
    }
    if let Some(several) = source::others(&conversation) {
        out.note(several);
    }
    Ok(0)
}

/// `ours` is whether the conversation is from this machine: a record's author may be anybody.
fn speaker(turn: &Turn, ours: bool) -> String {
    match (turn.role, &turn.model) {
        (Role::User, _) => if ours { "You" } else { "The author" }.to_owned(),
        (Role::Assistant, Some(model)) => onrecord_web::model_name(model).into_owned(),
        (Role::Assistant, None) => "Agent".to_owned(),
    }
}

/// What is said in place of the words of turns that have none for a reason, by the turns' ids.
type Notes = HashMap<String, &'static str>;

/// `turns` is how many there are in all; `conversation` may hold a single one.
fn text(conversation: &Conversation, turns: usize, notes: &Notes, out: &mut Out) -> Result<()> {
    let zone = TimeZone::system();
    let title = conversation.title.as_deref().unwrap_or("(no title)");
    out.line(out.bold(printable(title)))?;
    let source = &conversation.source;
    let turns = counted(turns, "turn");
    out.line(out.dim(format_args!("{} {}, {turns}", source.harness.name(), printable(&source.id))))?;
    for turn in &conversation.turns {
        let time = turn.created_at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M");
        out.line("")?;
        let heading = format!("{}  {}", turn.index, printable(&speaker(turn, source.harness != Harness::Atproto)));
        out.line(format_args!("{}  {}", out.bold(heading), out.dim(time)))?;
        if let Some(note) = notes.get(&turn.id) {
            out.line(out.dim(format_args!("  ({note})")))?;
        }
        if !turn.text.is_empty() {
            out.line(printable(turn.text.trim_end()))?;
        }
        for step in turn.steps() {
            let tool = format!("{} {}", printable(&step.tool), printable(&step.summary));
            let word = if step.failed { out.bad("✗ failed") } else { out.dim("✓ ran") };
            out.line(format_args!("  {word}  {}", tool.trim_end()))?;
        }
        let images = turn.parts.iter().filter(|p| matches!(p, Part::Image { .. })).count();
        if images > 0 {
            out.line(out.dim(format_args!("  ({})", counted(images, "image"))))?;
        }
    }
    Ok(())
}

fn markdown(conversation: &Conversation, notes: &Notes) -> String {
    let mut text = String::new();
    if let Some(title) = &conversation.title {
        text.push_str(&format!("# {title}\n"));
    }
    for turn in &conversation.turns {
        text.push_str(&format!("\n## {}\n\n", speaker(turn, conversation.source.harness != Harness::Atproto)));
        if let Some(note) = notes.get(&turn.id) {
            text.push_str(&format!("*({note})*\n"));
        }
        if !turn.text.is_empty() {
            text.push_str(turn.text.trim_end());
            text.push('\n');
        }
        if !turn.text.is_empty() && !turn.steps().is_empty() {
            text.push('\n');
        }
        for step in turn.steps() {
            let failed = if step.failed { "**failed** " } else { "" };
            let line = format!("- {failed}`{}` {}", step.tool, step.summary);
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    text
}

/// The page as a reader would see it, of the conversation as it is on this machine: for the author's eyes. Nothing is
/// covered, no record is made, and its keys and CIDs are placeholders.
fn html(conversation: &Conversation, notes: &Notes, out: &mut Out) -> Result<()> {
    let repo = Did::parse(onrecord_workspace::SHELF)?;
    let cid = Cid::of_dag_cbor_digest(&[0; 32]);
    let first = Rkey::parse("preview")?;
    let session_uri = AtUri::parse(&format!("at://{repo}/{}/{first}", aligned::SESSION))?;
    let message = |turn: &Turn| {
        let record = MessageRecord {
            session: session_uri.clone(),
            role: if turn.role == Role::User { "user" } else { "assistant" }.to_owned(),
            withheld: notes.get(&turn.id) == Some(&HELD_BACK),
            // What cannot be read is not held back, and not empty.
            text: match notes.get(&turn.id) {
                Some(note) if *note != HELD_BACK => format!("*({note})*"),
                _ => turn.text.clone(),
            },
            model: turn.model.clone(),
            steps: (turn.steps().iter())
                .map(|s| StepRecord {
                    tool: s.tool.clone(),
                    summary: Some(s.summary.clone()).filter(|s| !s.is_empty()),
                    failed: s.failed,
                })
                .collect(),
            refs: Vec::new(),
            mentions: Vec::new(),
            created_at: Datetime::from_timestamp(turn.created_at),
            extra: Map::new(),
        };
        Ok(PublishedMessage { rkey: Rkey::parse(&format!("turn-{}", turn.index))?, cid: cid.clone(), record })
    };
    let session = SessionRecord {
        title: conversation.title.clone(),
        description: None,
        discussion: None,
        created_at: Datetime::from_timestamp(conversation.created_at),
        extra: Map::new(),
    };
    let messages = conversation.turns.iter().map(message).collect::<Result<_>>()?;
    let family = Family::ClickAligned;
    let page = Published { repo, handle: None, family, rkey: first, cid: cid.clone(), session, messages };
    let view = ConversationView::new(&page, Standing::Preview);
    let html = conversation_html(&view, Place::Alone, None)?.unwrap_or_default();
    out.raw(html.as_bytes())
}
