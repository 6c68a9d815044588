//! ChatGPT, from its export. `docs/formats/chatgpt.md` says more.

use std::{borrow::Cow, io::BufRead};

use serde_json::{Value, json};

use super::{
    Error, ParseOptions, Parsed,
    blocks::ToolResult,
    model_name::named,
    nodes::Nodes,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Conversation, Harness, Part,
    input::documents::read_values,
    rows::{Object, Warnings, string_of},
};

/// Reads the conversation that the options name, else the one that changed last.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    super::export::parse(Harness::ChatGpt, reader, options)
}

/// Goes through the conversations of a file.
pub(crate) fn conversations(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let mut recognised = false;
    let mut failed = None;
    let bytes = read_values(reader, warnings, |raw, warnings| {
        let Some(object) = Object::from_raw(raw) else { return };
        let id = object.str("conversation_id").or_else(|| object.str("id")).map(Cow::into_owned);
        if !object.has("mapping") {
            // Deleted, or damaged when it was exported.
            if id.is_some() && object.has("title") {
                warnings.push(None, "no-messages", "a conversation without its messages was skipped".to_owned());
            }
            return;
        }
        recognised = true;
        let title = object.str("title").map(Cow::into_owned).filter(|title| title != "New chat");
        let modified = object.time("update_time").or_else(|| object.time("create_time"));
        let listed = Listed::new(id.unwrap_or_else(|| options.fallback_id.clone()), title, modified);
        if pick.wants(&listed) {
            match read(&object, &listed, options) {
                Ok(conversation) => pick.offer(&listed, conversation),
                Err(error) => failed = Some(error),
            }
        }
    })?;
    failed.map_or(Ok((bytes, recognised)), Err)
}

fn read(object: &Object<'_>, listed: &Listed, options: &ParseOptions) -> Result<Option<Conversation>, Error> {
    let mapping = object.object("mapping").unwrap_or_default();
    let mut nodes = Nodes::default();
    for (id, raw) in mapping.members() {
        let Some(node) = Object::from_raw(raw) else { continue };
        nodes.push(id.to_owned(), node.str("parent").map(Cow::into_owned), node.object("message"));
    }
    let (branch, others) = nodes.branch(object.str("current_node").as_deref(), options.branch.as_deref())?;
    let mut chat = Chat {
        thread: Thread::new(object.time("create_time").or(listed.modified).unwrap_or(options.fallback_time)),
        usual: object.str("default_model_slug").map(Cow::into_owned),
        open: Vec::new(),
    };
    for _ in 0..others {
        chat.thread.leave_out(
            "other-branch",
            None,
            "other branches were left out; --branch with the id of a message reads one",
        );
    }
    for (id, message) in branch.into_iter().filter_map(|(id, message)| Some((id, message?))) {
        chat.message(&id, &message);
    }
    let head = listed.head();
    Ok(chat.thread.conversation(Harness::ChatGpt, head, options, &[]))
}

struct Chat {
    thread: Thread,
    usual: Option<String>,
    /// Calls without a result: id, and whom they were addressed to.
    open: Vec<(String, String)>,
}

impl Chat {
    fn message(&mut self, node: &str, message: &Object<'_>) {
        let metadata = message.object("metadata").unwrap_or_default();
        let content = message.object("content").unwrap_or_default();
        let author = message.object("author").unwrap_or_default();
        let id = message.str("id").map_or_else(|| node.to_owned(), Cow::into_owned);
        self.thread.set_time(message.time("create_time"));
        if metadata.is_true("is_visually_hidden_from_conversation") {
            return;
        }
        match author.str("role").as_deref() {
            Some("user") => {
                let mut parts = self.parts(&content);
                for file in metadata.array("attachments").unwrap_or_default().into_iter().filter_map(Object::from_raw) {
                    let mime_type = super::blocks::first_str(&file, &["mime_type", "mimeType"]).unwrap_or_default();
                    // Images stand among the parts as well.
                    if !mime_type.starts_with("image/") {
                        let bytes = file.i64("size").and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
                        parts.push(Part::Image { mime_type: mime_type.into_owned(), bytes });
                    }
                }
                self.thread.say(Said::user(parts).id(Some(id)));
            }
            Some("assistant") => self.assistant(id, message, &metadata, &content),
            Some("tool") => self.tool(id, &author, &metadata, &content),
            Some("system") => {}
            _ => self.thread.unknown(None),
        }
    }

    fn model(&self, metadata: &Object<'_>) -> Option<String> {
        let own = metadata.str("model_slug").map(Cow::into_owned);
        own.or_else(|| self.usual.clone()).and_then(|model| named(None, &model, Some("openai")))
    }

    fn assistant(&mut self, id: String, message: &Object<'_>, metadata: &Object<'_>, content: &Object<'_>) {
        let recipient = message.str("recipient").filter(|to| !matches!(to.as_ref(), "all" | "" | "assistant"));
        let mut parts = self.parts(content);
        if let Some(recipient) = recipient {
            let texts: Vec<&str> = parts
                .iter()
                .filter_map(|part| if let Part::Text { text } = part { Some(text.as_str()) } else { None })
                .collect();
            let input = input_of(&texts.join("\n"), content.str("language").as_deref());
            self.open.push((id.clone(), recipient.to_string()));
            let name = recipient.into_owned();
            parts = vec![Part::ToolCall { id: id.clone(), name, input, output: None, failed: false }];
        } else if message.str("channel").as_deref() == Some("analysis") {
            parts = parts
                .into_iter()
                .map(|part| if let Part::Text { text } = part { Part::Reasoning { text } } else { part })
                .collect();
        }
        self.thread.say(Said::agent(self.model(metadata), parts).id(Some(id)));
    }

    /// What a tool gave back goes into the last call that was addressed to it, or stands as a call of its own.
    fn tool(&mut self, id: String, author: &Object<'_>, metadata: &Object<'_>, content: &Object<'_>) {
        let kind = content.str("content_type").unwrap_or_default();
        let usual = if kind.starts_with("tether") { "browser" } else { "tool" };
        let name = author.str("name").filter(|name| !name.is_empty()).unwrap_or(Cow::Borrowed(usual)).into_owned();
        let (texts, images): (Vec<Part>, Vec<Part>) =
            self.parts(content).into_iter().partition(|part| matches!(part, Part::Text { .. }));
        let texts: Vec<String> = texts
            .into_iter()
            .filter_map(|part| if let Part::Text { text } = part { Some(text) } else { None })
            .collect();
        let text = texts.join("\n");
        if kind == "code" {
            self.open.push((id.clone(), name.clone()));
            let input = input_of(&text, content.str("language").as_deref());
            let call = Part::ToolCall { id: id.clone(), name, input, output: None, failed: false };
            self.thread.say(Said::agent(self.model(metadata), vec![call]).id(Some(id)));
            return;
        }
        let run = metadata.object("aggregate_result").unwrap_or_default();
        let failed = kind == "system_error"
            || run.has("in_kernel_exception")
            || run.has("system_exception")
            || run.str("status").is_some_and(|status| status.starts_with("failed"));
        let space = |to: &str| to.split('.').next().unwrap_or_default().to_owned();
        let place = self.open.iter().rposition(|(_, to)| *to == name || space(to) == space(&name));
        let output = (!text.is_empty()).then_some(text);
        if let Some(place) = place {
            let (call_id, _) = self.open.remove(place);
            self.thread.result(ToolResult { call_id, output, failed, images });
        } else {
            let mut parts = vec![Part::ToolCall { id: id.clone(), name, input: json!({}), output, failed }];
            parts.extend(images);
            self.thread.say(Said::agent(self.model(metadata), parts).id(Some(id)));
        }
    }

    fn parts(&mut self, content: &Object<'_>) -> Vec<Part> {
        let text = |key: &str| content.str(key).map(Cow::into_owned).unwrap_or_default();
        match content.str("content_type").as_deref() {
            Some("text" | "multimodal_text") => {
                let mut parts = Vec::new();
                for raw in content.array("parts").unwrap_or_default() {
                    if let Some(text) = string_of(raw) {
                        parts.push(Part::Text { text: without_marks(&text) });
                    } else if let Some(part) = Object::from_raw(raw) {
                        parts.extend(self.part(&part));
                    }
                }
                parts
            }
            Some("code" | "execution_output" | "tether_quote" | "system_error") => {
                vec![Part::Text { text: text("text") }]
            }
            Some("tether_browsing_display") => vec![Part::Text { text: text("result") }],
            Some("thoughts") => content
                .array("thoughts")
                .unwrap_or_default()
                .into_iter()
                .filter_map(Object::from_raw)
                .filter_map(|thought| {
                    let said: Vec<_> = ["summary", "content"]
                        .iter()
                        .filter_map(|key| thought.str(key))
                        .filter(|t| !t.is_empty())
                        .collect();
                    (!said.is_empty()).then(|| Part::Reasoning { text: said.join("\n\n") })
                })
                .collect(),
            // "Thought for 5 seconds"; what the person told about themselves in the settings.
            Some("reasoning_recap" | "user_editable_context" | "model_editable_context" | "app_pairing_content") => {
                Vec::new()
            }
            _ => {
                self.thread.unknown(None);
                Vec::new()
            }
        }
    }

    fn part(&mut self, part: &Object<'_>) -> Option<Part> {
        let size =
            |holder: &Object<'_>| holder.i64("size_bytes").and_then(|size| u64::try_from(size).ok()).unwrap_or(0);
        match part.str("content_type").as_deref() {
            Some("image_asset_pointer") => Some(Part::Image { mime_type: "image/png".to_owned(), bytes: size(part) }),
            Some("audio_transcription") => Some(Part::Text { text: part.str("text").unwrap_or_default().into_owned() }),
            Some("audio_asset_pointer" | "real_time_user_audio_video_asset_pointer") => None,
            _ => {
                self.thread.unknown(None);
                None
            }
        }
    }
}

/// What was sent to a tool: JSON as it is, code as code.
fn input_of(text: &str, language: Option<&str>) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => value,
        _ if language.is_some_and(|language| !matches!(language, "unknown" | "json")) => {
            json!({ "language": language, "code": text })
        }
        _ => json!({ "input": text }),
    }
}

/// `text` without the marks, in characters of private use, that stand for references to what was looked up.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{e200}') {
        out.push_str(before);
        rest = after.split_once('\u{e201}').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}
