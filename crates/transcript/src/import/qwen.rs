//! Qwen Code: rows in a tree, with messages as Gemini has them. `docs/formats/qwen.md` says more.

use std::{borrow::Cow, io::BufRead};

use super::{
    Error, ParseOptions, Parsed,
    blocks::{self, Blocks},
    claude_code::without,
    model_name::named,
    pi::tree::{Parent, Tree},
    thread::{Head, Said, Thread, one},
};
use crate::{
    Harness, Part, Role,
    input::read_objects,
    rows::{Object, Warnings},
};

/// Reads a session.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut warnings = Warnings::default();
    let mut tree: Tree<Option<(Said, Blocks, bool)>> = Tree::default();
    let mut head = Head::default();
    let mut thread = Thread::new(options.fallback_time);
    let mut recognised = false;
    let bytes = read_objects(reader, &mut warnings, |line, object, _| {
        let text = |key: &str| object.str(key).map(Cow::into_owned);
        head.id = head.id.take().or_else(|| text("sessionId"));
        head.cwd = head.cwd.take().or_else(|| text("cwd"));
        head.version = text("version").or_else(|| head.version.take());
        let kind = object.str("type").unwrap_or_default();
        let message = object.object("message");
        recognised |= message.as_ref().is_some_and(|message| message.has("parts"));
        let said = match kind.as_ref() {
            "user" | "tool_result" => Some(said(object, message, Role::User)),
            "assistant" => Some(said(object, message, Role::Assistant)),
            "system" => None,
            _ => {
                thread.unknown(line);
                None
            }
        };
        let parent = match object.get("parentUuid") {
            None => Parent::Previous,
            Some(raw) if raw.get() == "null" => Parent::Root,
            Some(_) => object.str("parentUuid").map_or(Parent::Previous, Parent::Id),
        };
        tree.push(text("uuid"), &parent, said);
    })?;
    let mut options = options.clone();
    let through = options.branch.take();
    let branch = tree.branch(through.as_deref());
    let branch = branch.ok_or_else(|| Error::UnknownBranch(through.clone().unwrap_or_default()))?;
    for (_, said) in branch {
        let Some((said, blocks, has_failed)) = said else { continue };
        for mut result in blocks.results {
            result.failed |= has_failed;
            thread.result(result);
        }
        for _ in 0..blocks.unknown {
            thread.unknown(None);
        }
        thread.say(said);
    }
    one(thread, Harness::Qwen, head, &options, warnings, (bytes, recognised))
}

fn said(row: &Object<'_>, message: Option<Object<'_>>, role: Role) -> (Said, Blocks, bool) {
    let message = message.unwrap_or_default();
    let mut blocks = blocks::gemini(message.get("parts"));
    let mut parts = std::mem::take(&mut blocks.parts);
    if role == Role::User {
        for part in &mut parts {
            if let Part::Text { text } = part {
                *text = without(text, "system-reminder");
            }
        }
    }
    let model =
        row.str("model").and_then(|model| named(None, &model, Some("qwen"))).filter(|_| role == Role::Assistant);
    let outcome = row.object("toolCallResult").unwrap_or_default();
    let has_failed =
        outcome.has("error") || outcome.str("status").is_some_and(|s| matches!(s.as_ref(), "error" | "cancelled"));
    let id = row.str("uuid").map(Cow::into_owned);
    (Said { role, id, time: row.time("timestamp"), model, parts }, blocks, has_failed)
}
