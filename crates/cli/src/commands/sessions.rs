//! `onrecord sessions`: the conversations found on this machine.

use jiff::{Timestamp, tz::TimeZone};
use onrecord_transcript::{Conversation, Grain, discover::Found};
use serde_json::json;

use crate::{
    cli::Sessions,
    error::Result,
    output::{Out, columns, counted, one_line, short_id},
    source::{self, Input},
};

pub fn run(args: &Sessions, out: &mut Out) -> Result<u8> {
    let discovery = source::discovered_also_in(args.root.clone());
    for folder in &discovery.unreadable {
        out.note(format_args!("left out: {}: {}", folder.path.display(), folder.reason));
    }
    let mut sessions = discovery.sessions;
    sessions.retain(|s| args.harness.is_none_or(|h| s.harness == h) && args.since.is_none_or(|d| day(s.modified) >= d));
    let mut found = 0_usize;
    let mut rows = Vec::new();
    for session in sessions {
        let Some(conversation) = matching(&session, args, out) else { continue };
        found += 1;
        if out.json {
            out.json(&json!({
                "id": conversation.source.id,
                "harness": session.harness,
                "path": session.path,
                "title": conversation.title,
                "createdAt": onrecord_transcript::model::format_rfc3339_ms(conversation.created_at),
                "modifiedAt": onrecord_transcript::model::format_rfc3339_ms(session.modified),
                "turns": conversation.turns.len(),
                "bytes": session.size,
            }))?;
        } else {
            rows.push(vec![
                short_id(&conversation.source.id),
                session.harness.to_string(),
                day(session.modified).to_string(),
                counted(conversation.turns.len(), "turn"),
                conversation.title.as_deref().map_or_else(|| "(no title)".to_owned(), |t| one_line(t, 70)),
            ]);
        }
    }
    for line in columns(&rows) {
        out.line(line)?;
    }
    if found == 0 {
        out.note("No conversation was found. `onrecord show FILE` reads one from anywhere.");
    }
    Ok(0)
}

fn day(time: Timestamp) -> jiff::civil::Date {
    time.to_zoned_datetime(TimeZone::system()).date()
}

/// The conversation, if it can be read and is one of those asked for.
fn matching(session: &Found, args: &Sessions, out: &Out) -> Option<Conversation> {
    let input = Input {
        name: session.path.display().to_string(),
        path: Some(session.path.clone()),
        harness: Some(session.harness),
        conversation: Some(session.id.clone()),
    };
    let conversation = match source::read(input, Grain::Turn, None) {
        Ok(conversation) => conversation,
        // A session in which nobody said anything is no news.
        Err(crate::error::Error::Transcript { source: onrecord_transcript::Error::Empty, .. }) => return None,
        Err(error) => {
            out.note(format_args!("left out: {error}"));
            return None;
        }
    };
    let contains = |text: &str, part: &str| text.to_lowercase().contains(part);
    let project = args.project.as_ref().map(|p| p.to_lowercase());
    if let Some(project) = project {
        let folder = conversation.source.cwd.clone().unwrap_or_default();
        if !contains(&folder, &project) && !contains(&session.path.to_string_lossy(), &project) {
            return None;
        }
    }
    let Some(query) = args.query.as_ref().map(|q| q.to_lowercase()) else { return Some(conversation) };
    let said = conversation.title.as_deref().is_some_and(|t| contains(t, &query))
        || conversation.turns.iter().any(|t| contains(&t.text, &query));
    said.then_some(conversation)
}
