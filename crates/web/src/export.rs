//! Pages and records as files, readable from a folder without a server.

use std::{collections::HashSet, path::PathBuf};

use onrecord_record::{Published, aligned};
use serde::Serialize;
use serde_json::Value;

use crate::{
    Error, ListEntry, ListView, Place, STYLE, Standing, conversation_html, conversation_json, conversation_markdown,
    conversation_text, list_html, render::page_count, view::ConversationView,
};

/// A file of an export: its path below the folder, and what it holds.
pub type ExportedFile = (PathBuf, Vec<u8>);

/// All files of `published`: `index.html`, `style.css`, for each conversation its pages (`<rkey>.html`,
/// `<rkey>.p2.html` …), `<rkey>.json`, `.md` and `.txt`, and every record as it stands or would stand in the
/// repository, `records/<collection>/<rkey>.json`.
///
/// # Errors
/// [`Error::SameKey`] where two conversations have one key.
pub fn export(published: &[Published], standing: Standing) -> Result<Vec<ExportedFile>, Error> {
    let mut files = vec![file("style.css", STYLE)];
    let mut keys = HashSet::new();
    let mut entries = Vec::with_capacity(published.len());
    for conversation in published {
        if !keys.insert(&conversation.rkey) {
            return Err(Error::SameKey { rkey: conversation.rkey.to_string() });
        }
        entries.push(ListEntry::new(conversation, standing));
        pages(&mut files, conversation, standing)?;
        records(&mut files, conversation)?;
    }
    entries.sort_by(|a, b| b.rkey.cmp(&a.rkey));
    let list = ListView { author: None, conversations: &entries, next: None };
    files.push(file("index.html", &list_html(&list, Place::Folder { stem: "index" })?));
    Ok(files)
}

fn pages(files: &mut Vec<ExportedFile>, published: &Published, standing: Standing) -> Result<(), Error> {
    let view = ConversationView::new(published, standing);
    let stem = view.rkey;
    let place = Place::Folder { stem };
    for page in 1..=page_count(view.turns.len()) {
        if let Some(html) = conversation_html(&view, place, Some(page))? {
            files.push(file(&place.page(page), &html));
        }
    }
    files.push(file(&place.format("json"), &conversation_json(&view)?));
    files.push(file(&place.format("md"), &conversation_markdown(&view)?));
    files.push(file(&place.format("txt"), &conversation_text(&view)?));
    Ok(())
}

fn records(files: &mut Vec<ExportedFile>, published: &Published) -> Result<(), Error> {
    files.push(record(aligned::SESSION, published.rkey.as_str(), &published.session)?);
    for message in &published.messages {
        files.push(record(aligned::MESSAGE, message.rkey.as_str(), &message.record)?);
    }
    Ok(())
}

fn record(collection: &str, rkey: &str, record: &impl Serialize) -> Result<ExportedFile, Error> {
    let mut value = serde_json::to_value(record)?;
    if let Value::Object(fields) = &mut value {
        fields.entry("$type").or_insert_with(|| collection.into());
    }
    Ok(file(&format!("records/{collection}/{rkey}.json"), &(serde_json::to_string_pretty(&value)? + "\n")))
}

fn file(path: &str, content: &str) -> ExportedFile {
    (PathBuf::from(path), content.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
