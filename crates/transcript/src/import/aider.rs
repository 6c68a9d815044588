//! Aider: one text for all conversations of a project. `docs/formats/aider.md` says more.

use std::io::BufRead;

use jiff::Timestamp;
use serde_json::json;

use super::{
    Error, ParseOptions, Parsed,
    model_name::named,
    pick::{Listed, Pick},
    thread::{Said, Thread},
};
use crate::{
    Harness, Part,
    input::documents::read_whole,
    rows::{Warnings, clean, parse_time},
};

/// What each run begins with.
pub(crate) const STARTED: &str = "# aider chat started at ";
/// What each line of a prompt begins with.
const PROMPT: &str = "#### ";
/// What Aider ends each line of a prompt with; headings in answers have it by accident only.
const BREAK: &str = "  ";
/// The longest history that is read, in bytes.
const MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Reads the run that the options name, else the last one in which something was said.
///
/// # Errors
/// As [`super::parse`].
pub fn parse(reader: &mut dyn BufRead, options: &ParseOptions) -> Result<Parsed, Error> {
    let mut pick = Pick::one(options);
    let mut warnings = Warnings::default();
    let (bytes, recognised) = runs(reader, options, &mut pick, &mut warnings)?;
    if bytes == 0 {
        return Err(Error::Empty);
    }
    if let Some(branch) = &options.branch {
        return Err(Error::UnknownBranch(branch.clone()));
    }
    pick.finish(Harness::Aider, options, recognised, warnings.finish())
}

/// Goes through the runs.
pub(crate) fn runs(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    pick: &mut Pick<'_>,
    warnings: &mut Warnings,
) -> Result<(u64, bool), Error> {
    let mut bytes = read_whole(reader, MAX_BYTES)?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let text = clean(&mut bytes, None, warnings);
    let marks_breaks = text.lines().any(|line| line.starts_with(PROMPT) && line.ends_with(BREAK));
    let project = options.path.as_deref().and_then(|path| path.parent()).map(|p| p.to_string_lossy().into_owned());
    let mut recognised = false;
    let mut rest = text.as_ref();
    if !rest.starts_with(STARTED) {
        rest = rest.split_once(&format!("\n{STARTED}")).map_or("", |(_, after)| after);
    } else {
        rest = rest.get(STARTED.len()..).unwrap_or_default();
    }
    let separator = format!("\n{STARTED}");
    for run in rest.split(separator.as_str()).filter(|run| !run.is_empty()) {
        let (when, said) = run.split_once('\n').unwrap_or((run, ""));
        recognised = true;
        // Local time, and nobody says where: taken as it stands.
        let started = parse_time(when.trim());
        let mut listed = Listed::new(when.trim().replace(' ', "T"), None, started);
        listed.cwd.clone_from(&project);
        let mut thread = Thread::new(started.unwrap_or(options.fallback_time));
        let is_wanted = pick.wants(&listed);
        if !is_wanted {
            continue;
        }
        read(&mut thread, said, marks_breaks, started);
        let head = listed.head();
        let conversation = thread.conversation(Harness::Aider, head, options, &[]);
        pick.offer(&listed, conversation);
    }
    Ok((length, recognised))
}

/// One run: prompts, answers, and Aider's own lines, which begin with `> `.
fn read(thread: &mut Thread, text: &str, marks_breaks: bool, started: Option<Timestamp>) {
    let mut prompt: Vec<&str> = Vec::new();
    let mut answer: Vec<&str> = Vec::new();
    let mut edits: Vec<Part> = Vec::new();
    let mut model: Option<String> = None;
    // Whether Aider itself has spoken since the answer, or nobody has.
    let mut may_prompt = true;
    thread.set_time(started);
    for line in text.lines() {
        let is_prompt = line.starts_with(PROMPT)
            && (!prompt.is_empty() || if marks_breaks { line.ends_with(BREAK) } else { may_prompt });
        if let Some(words) = line.strip_prefix(PROMPT).filter(|_| is_prompt) {
            if prompt.is_empty() {
                answered(thread, &mut answer, &mut edits, model.as_deref());
            }
            prompt.push(words.trim_end());
            continue;
        }
        if !prompt.is_empty() {
            prompted(thread, &mut prompt);
            may_prompt = false;
        }
        if let Some(notice) = line.strip_prefix("> ") {
            may_prompt = true;
            let named_model = ["Main model: ", "Model: "].iter().find_map(|start| notice.strip_prefix(start));
            if let Some(name) = named_model.and_then(|name| name.split_whitespace().next()) {
                model = named(None, name, None);
            } else if let Some(path) = notice.trim_end().strip_prefix("Applied edit to ") {
                let input = json!({ "path": path });
                edits.push(Part::ToolCall {
                    id: String::new(),
                    name: "edit".to_owned(),
                    input,
                    output: None,
                    failed: false,
                });
            }
        } else {
            if !line.trim().is_empty() {
                may_prompt = false;
            }
            answer.push(line);
        }
    }
    prompted(thread, &mut prompt);
    answered(thread, &mut answer, &mut edits, model.as_deref());
}

/// A command to Aider is the person's act, but no prompt; those that carry a question do.
fn prompted(thread: &mut Thread, prompt: &mut Vec<&str>) {
    let text = prompt.join("\n");
    prompt.clear();
    let asked = ["/ask ", "/code ", "/architect ", "/help "].iter().find_map(|command| text.strip_prefix(command));
    let text = match asked {
        Some(words) => words,
        None if text.starts_with('/') || text.starts_with('!') || text == "<blank>" => {
            thread.leave_out("slash-command", None, "commands to the program are no prompts, and were left out");
            return;
        }
        None => &text,
    };
    thread.say(Said::user(vec![Part::Text { text: text.to_owned() }]));
}

fn answered(thread: &mut Thread, answer: &mut Vec<&str>, edits: &mut Vec<Part>, model: Option<&str>) {
    let text = answer.join("\n").trim().to_owned();
    answer.clear();
    let mut parts = vec![Part::Text { text }];
    parts.append(edits);
    // Nothing answers before something was asked.
    if !thread.is_empty() {
        thread.say(Said::agent(model.map(str::to_owned), parts));
    }
}
