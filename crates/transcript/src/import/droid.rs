//! Factory's Droid: rows in a tree, with messages as Anthropic has them. `docs/formats/droid.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::Blocks,
    claude_code::human_text,
    model_name::named,
    pi::tree::{Parent, Tree},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part, Role,
    input::{beside, documents::parse_object, read_objects},
    rows::{Object, Warnings},
};

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut tree: Tree<Option<(Said, Blocks)>> = Tree::default();
    let mut head = Head::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut recognised = false;
    let model = settings(options);
    let bytes = read_objects(reader, &mut warnings, |line, object, _| {
        let text = |key: &str| object.str(key).map(Cow::into_owned);
        let said = match object.str("type").as_deref() {
            Some("session_start") => {
                recognised = true;
                head.id = text("id");
                head.title = text("sessionTitle").or_else(|| text("title")).filter(|title| title != "New Session");
                head.cwd = text("cwd");
                head.version = text("version").or_else(|| object.i64("version").map(|version| version.to_string()));
                return;
            }
            Some("message") => message(object, model.as_deref()),
            Some("todo_state" | "compaction_state" | "session_end" | "file_snapshot") => None,
            _ => {
                thread.unknown(line);
                None
            }
        };
        recognised |= said.is_some();
        let parent = match object.get("parentId") {
            Some(raw) if raw.get() == "null" => Parent::Previous,
            None => Parent::Previous,
            Some(_) => object.str("parentId").map_or(Parent::Previous, Parent::Id),
        };
        tree.push(text("id"), &parent, said);
    })?;
    let mut options = options.clone();
    let through = options.branch.take();
    let branch = tree.branch(through.as_deref());
    let branch = branch.ok_or_else(|| Error::UnknownBranch(through.clone().unwrap_or_default()))?;
    for (_, said) in branch {
        let Some((said, blocks)) = said else { continue };
        for result in blocks.results {
            thread.result(result);
        }
        for _ in 0..blocks.unknown {
            thread.unknown(None);
        }
        thread.say(said);
    }
    one(thread, Harness::Droid, head, &options, warnings, (bytes, recognised))
}

/// The model in the settings beside the rows.
fn settings(options: &ParseOptions) -> Option<String> {
    let path = options.path.as_deref()?;
    let text = beside::read(&path.with_extension("settings.json"))?;
    parse_object(text.as_bytes(), |raw| {
        let settings = Object::from_raw(raw)?;
        // A model of the person's own making has a name of theirs.
        let name = settings.str("model")?;
        named(None, name.strip_prefix("custom:").unwrap_or(&name), None)
    })
    .flatten()
}

fn message(row: &Object<'_>, usual: Option<&str>) -> Option<(Said, Blocks)> {
    let message = row.object("message")?;
    let mut blocks = Blocks::of(message.get("content"));
    let mut parts = std::mem::take(&mut blocks.parts);
    let id = row.str("id").map(Cow::into_owned);
    let time = row.time("timestamp");
    let said = match message.str("role").as_deref()? {
        "user" => {
            for part in &mut parts {
                if let Part::Text { text } = part {
                    *text = human_text(text).map(Cow::into_owned).unwrap_or_default();
                }
            }
            Said { role: Role::User, id, time, model: None, parts }
        }
        "assistant" => {
            let own = message.str("model").and_then(|model| named(None, &model, None));
            let model = own.or_else(|| usual.map(str::to_owned));
            Said { role: Role::Assistant, id, time, model, parts }
        }
        _ => return None,
    };
    Some((said, blocks))
}
