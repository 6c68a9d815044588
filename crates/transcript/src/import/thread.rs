//! A conversation being put together: messages in reading order, each tool's result in its call.

use std::collections::{BTreeMap, HashMap, VecDeque};

use jiff::Timestamp;

use super::{
    Error, ParseOptions, Parsed,
    blocks::{ToolResult, data_url},
    fold_title, title_of,
};
use crate::{Conversation, Harness, Message, Parent, Part, Role, Source, Warning, assemble, rows::Warnings, steps};

/// What a conversation is besides its messages.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// The harness's own id.
    pub(crate) id: Option<String>,
    /// The harness's version.
    pub(crate) version: Option<String>,
    /// The project folder.
    pub(crate) cwd: Option<String>,
    /// The title that the harness or the person gave.
    pub(crate) title: Option<String>,
    /// The conversation that started this one.
    pub(crate) parent: Option<Parent>,
}

/// One message, as an importer found it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) role: Role,
    pub(crate) id: Option<String>,
    pub(crate) time: Option<Timestamp>,
    pub(crate) model: Option<String>,
    pub(crate) parts: Vec<Part>,
}

impl Said {
    pub(crate) const fn user(parts: Vec<Part>) -> Self {
        Self { role: Role::User, id: None, time: None, model: None, parts }
    }

    pub(crate) const fn agent(model: Option<String>, parts: Vec<Part>) -> Self {
        Self { role: Role::Assistant, id: None, time: None, model, parts }
    }

    pub(crate) fn id(mut self, id: Option<impl Into<String>>) -> Self {
        self.id = id.map(Into::into).filter(|id| !id.is_empty());
        self
    }

    pub(crate) const fn at(mut self, time: Option<Timestamp>) -> Self {
        self.time = time;
        self
    }
}

/// The messages so far.
#[derive(Debug)]
pub(crate) struct Thread {
    /// The time of what has none of its own: that of what came before.
    time: Timestamp,
    messages: Vec<Message>,
    /// Where the calls of each id are that have no result: message and part.
    open: HashMap<String, VecDeque<(usize, usize)>>,
    /// What was left out, by its code: how often, and in what words.
    left_out: BTreeMap<&'static str, (u64, Option<u64>, &'static str)>,
}

impl Thread {
    pub(crate) fn new(time: Timestamp) -> Self {
        Self { time, messages: Vec::new(), open: HashMap::new(), left_out: BTreeMap::new() }
    }

    /// The time from here on, where there is one.
    pub(crate) fn set_time(&mut self, time: Option<Timestamp>) {
        if let Some(time) = time {
            self.time = time;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.iter().all(|message| message.parts.is_empty())
    }

    /// Adds a message. One without parts changes the time only.
    pub(crate) fn say(&mut self, said: Said) {
        self.set_time(said.time);
        let Said { role, id, model, parts, .. } = said;
        let mut parts: Vec<Part> = parts.into_iter().flat_map(without_inline_images).collect();
        if role == Role::User {
            for part in &mut parts {
                if let Part::Text { text } = part {
                    *text = text.trim().to_owned();
                }
            }
        }
        parts.retain(|part| !matches!(part, Part::Text { text } | Part::Reasoning { text } if text.trim().is_empty()));
        if parts.is_empty() {
            return;
        }
        let at = self.messages.len();
        for (index, part) in parts.iter().enumerate() {
            if let Part::ToolCall { id, output: None, .. } = part {
                self.open.entry(id.clone()).or_default().push_back((at, index));
            }
        }
        self.messages.push(Message { id, role, created_at: self.time, model, parts });
    }

    /// Puts a result into the first call of its id that has none. Says whether there was one.
    pub(crate) fn result(&mut self, result: ToolResult) -> bool {
        let call = self.open.get_mut(&result.call_id).and_then(VecDeque::pop_front);
        let place = call.and_then(|(message, part)| Some((self.messages.get_mut(message)?, part)));
        let Some((message, part)) = place else {
            self.leave_out(
                "orphan-tool-result",
                None,
                "tool results whose call is not in the conversation were left out",
            );
            return false;
        };
        if let Some(Part::ToolCall { output, failed, .. }) = message.parts.get_mut(part) {
            *output = result.output;
            *failed = result.failed;
        }
        // At the end, so that the places of the other calls stay what they are.
        message.parts.extend(result.images);
        true
    }

    /// Whether a call of this id has no result yet.
    pub(crate) fn awaits(&self, call_id: &str) -> bool {
        self.open.get(call_id).is_some_and(|places| !places.is_empty())
    }

    /// Counts something that is left out, or is to be known: `what` is a sentence on one or several.
    pub(crate) fn leave_out(&mut self, code: &'static str, line: Option<u64>, what: &'static str) {
        self.left_out.entry(code).or_insert((0, line, what)).0 += 1;
    }

    /// A row, message or part of a kind that this version does not know.
    pub(crate) fn unknown(&mut self, line: Option<u64>) {
        self.leave_out("unknown-row-type", line, "rows or parts of a kind that is not known were skipped");
    }

    /// The conversation; `None` if nobody said anything. `warnings` are those of the file.
    pub(crate) fn conversation(
        self,
        harness: Harness,
        head: Head,
        options: &ParseOptions,
        warnings: &[Warning],
    ) -> Option<Conversation> {
        let turns = assemble(self.messages, options.grain, |tool, input| {
            steps::summarise(tool, input, head.cwd.as_deref(), options.home.as_deref())
        });
        let first = turns.first()?;
        let own_title = head.title.and_then(|title| fold_title(&title)).and_then(|title| title_of(&title));
        let title_is_prompt = own_title.is_none();
        let prompts = || turns.iter().filter(|turn| turn.role == Role::User);
        let title = own_title.or_else(|| prompts().find_map(|turn| title_of(&turn.text)));
        let mut warnings = warnings.to_vec();
        warnings.extend(self.left_out.into_iter().map(|(code, (count, line, what))| Warning {
            line,
            code,
            message: if count > 1 { format!("{what} ({count})") } else { what.to_owned() },
        }));
        Some(Conversation {
            source: Source {
                harness,
                id: head.id.filter(|id| !id.is_empty()).unwrap_or_else(|| options.fallback_id.clone()),
                path: options.path.clone(),
                version: head.version,
                cwd: head.cwd,
                parent: head.parent,
            },
            title,
            title_is_prompt,
            created_at: first.created_at,
            turns,
            warnings,
        })
    }
}

/// A text whose images stand in it as data, as chat apps keep them, with the images as parts of their own behind it.
fn without_inline_images(part: Part) -> Vec<Part> {
    const START: &str = "](data:";
    let Part::Text { text } = part else { return vec![part] };
    if !text.contains(START) {
        return vec![Part::Text { text }];
    }
    let mut kept = String::new();
    let mut images = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(START) {
        let image = after.split_once(')').and_then(|(url, after)| Some((data_url(&format!("data:{url}"))?, after)));
        let label = before.rfind("![").filter(|at| !before.get(*at..).unwrap_or_default().contains('\n'));
        let (Some(((mime_type, bytes), behind)), Some(label)) = (image, label) else {
            kept.push_str(before);
            kept.push_str(START);
            rest = after;
            continue;
        };
        kept.push_str(before.get(..label).unwrap_or_default());
        images.push(Part::Image { mime_type, bytes });
        rest = behind;
    }
    kept.push_str(rest);
    images.insert(0, Part::Text { text: kept });
    images
}

/// What a file with one conversation gives. `bytes` is its length and `recognised` whether anything in it is the harness's.
pub(crate) fn one(
    thread: Thread,
    harness: Harness,
    head: Head,
    options: &ParseOptions,
    warnings: Warnings,
    (bytes, recognised): (u64, bool),
) -> Result<Parsed, Error> {
    if bytes == 0 {
        return Err(Error::Empty);
    }
    if !recognised {
        return Err(Error::NotThisFormat { harness });
    }
    if let Some(branch) = &options.branch {
        return Err(Error::UnknownBranch(branch.clone()));
    }
    let warnings = warnings.finish();
    let conversation = thread.conversation(harness, head, options, &warnings).ok_or(Error::Empty)?;
    Ok(Parsed { conversations: vec![conversation], warnings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_within_a_text_become_parts() {
        let text =
            "See ![plan](data:image/png;base64,aGVsbG8=) and [a link](data: x) and ![](data:image/gif;base64,aGk=)!";
        let parts = without_inline_images(Part::Text { text: text.to_owned() });
        let image = |kind: &str, bytes| Part::Image { mime_type: kind.to_owned(), bytes };
        let text = "See  and [a link](data: x) and !".to_owned();
        assert_eq!(parts, [Part::Text { text }, image("image/png", 5), image("image/gif", 2)]);
    }

    #[test]
    fn calls_of_one_id_get_their_results_in_turn_and_a_result_without_a_call_is_counted() {
        let call = || Part::ToolCall {
            id: "x".to_owned(),
            name: "t".to_owned(),
            input: serde_json::json!({}),
            output: None,
            failed: false,
        };
        let mut thread = Thread::new(Timestamp::UNIX_EPOCH);
        thread.say(Said::agent(None, vec![call(), call()]));
        for output in ["one", "two", "three"] {
            thread.result(ToolResult {
                call_id: "x".to_owned(),
                output: Some(output.to_owned()),
                ..ToolResult::default()
            });
        }
        let outputs: Vec<_> = thread.messages[0]
            .parts
            .iter()
            .map(|part| if let Part::ToolCall { output, .. } = part { output.clone() } else { None })
            .collect();
        assert_eq!(outputs, [Some("one".to_owned()), Some("two".to_owned())]);
        assert_eq!(thread.left_out["orphan-tool-result"].0, 1);
    }
}
