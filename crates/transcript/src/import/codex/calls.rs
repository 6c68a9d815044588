//! Tool calls: what came back, and whether the call failed.

use serde_json::Value;

use super::json::{Object, array_of, string_of};
use crate::Part;

/// What came back from a call.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) output: Option<String>,
    pub(super) failed: bool,
    pub(super) images: Vec<Part>,
}

/// Beginnings of an output that is not the tool's but Codex's own account of why there is none.
const FAILURES: [&str; 12] = [
    "apply_patch verification failed",
    "apply_patch handler received",
    "exec_command failed",
    "execution error:",
    "failed to parse function arguments",
    "failed in sandbox",
    "unsupported call:",
    "unsupported custom tool call:",
    "aborted by user",
    "command timed out",
    "tool call error:",
    "err: ",
];

/// Lines that stand above a command's output.
const HEADER: [&str; 7] = [
    "Chunk ID:",
    "Wall time:",
    "Exit code:",
    "Process exited with code",
    "Process running with",
    "Original token count:",
    "Total output lines:",
];

/// An output as a response item gives it: a string, which may hold JSON; an object; or blocks.
pub(super) fn outcome_of(raw: &str) -> Outcome {
    if let Some(text) = string_of(raw) {
        return outcome_of_text(text.into_owned());
    }
    if let Some(blocks) = array_of(raw) {
        return outcome_of_blocks(&blocks);
    }
    let Some(object) = Object::of(raw) else {
        return Outcome::default();
    };
    let mut outcome =
        match object.get("content").or_else(|| object.get("output")).or_else(|| object.get("content_items")) {
            Some(inner) if string_of(inner).is_some() || array_of(inner).is_some() => outcome_of(inner),
            _ => Outcome { output: Some(raw.to_owned()), ..Outcome::default() },
        };
    outcome.failed |= object.bool("success") == Some(false)
        || object.is_true("isError")
        || object.is_true("is_error")
        || object.object("metadata").and_then(|metadata| metadata.i64("exit_code")).is_some_and(|code| code != 0);
    outcome
}

fn outcome_of_text(text: String) -> Outcome {
    if text.starts_with("{\"output\"")
        && let Ok(Value::Object(mut wrapped)) = serde_json::from_str::<Value>(&text)
    {
        let code = wrapped.get("metadata").and_then(|metadata| metadata.get("exit_code")).and_then(Value::as_i64);
        if let Some(Value::String(output)) = wrapped.remove("output") {
            let failed = code.map_or_else(|| text_fails(&output), |code| code != 0);
            return Outcome { output: Some(output), failed, images: Vec::new() };
        }
    }
    let failed = text_fails(&text);
    Outcome { output: Some(text), failed, images: Vec::new() }
}

fn outcome_of_blocks(blocks: &[&str]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut text = String::new();
    for block in blocks.iter().filter_map(|raw| Object::of(raw)) {
        if let Some(piece) = block.str("text") {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&piece);
        } else if let Some(image) = image_of(&block) {
            outcome.images.push(image);
        }
    }
    outcome.failed = text_fails(&text);
    if !text.is_empty() || outcome.images.is_empty() {
        outcome.output = Some(text);
    }
    outcome
}

fn text_fails(text: &str) -> bool {
    header_fails(text) || FAILURES.iter().any(|start| text.starts_with(start))
}

/// Whether the lines above a command's output tell of a failure. The output itself is not looked
/// at: a program may well print `Exit code: 1`.
pub(super) fn header_fails(text: &str) -> bool {
    for line in text.lines() {
        if line.starts_with("Script failed") || line.starts_with("Script error") {
            return true;
        }
        let code = line.strip_prefix("Exit code:").or_else(|| line.strip_prefix("Process exited with code"));
        if let Some(code) = code {
            return code.trim().parse::<i64>().is_ok_and(|code| code != 0);
        }
        if !HEADER.iter().any(|start| line.starts_with(start)) {
            return false;
        }
    }
    false
}

/// An image block: `image_url` is a string, or an object holding one under `url`.
pub(super) fn image_of(block: &Object<'_>) -> Option<Part> {
    let raw = block.get("image_url").or_else(|| block.get("url"))?;
    if raw.starts_with('{') {
        return Object::of(raw)?.get("url").and_then(image_at);
    }
    image_at(raw)
}

/// The image at a `data:` or other URL. The base64 is measured where it stands, never decoded.
pub(super) fn image_at(raw: &str) -> Option<Part> {
    let url = string_of(raw)?;
    let Some(data) = url.strip_prefix("data:") else {
        return Some(image_named(&url));
    };
    let (kind, data) = data.split_once(',')?;
    let mime_type = kind.split(';').next().filter(|mime| !mime.is_empty()).unwrap_or("image/png").to_owned();
    let bytes = if kind.ends_with(";base64") { decoded_length(data) } else { data.len() };
    Some(Part::Image { mime_type, bytes: u64::try_from(bytes).unwrap_or(u64::MAX) })
}

/// An image known by its name only: its bytes are elsewhere.
pub(super) fn image_named(name: &str) -> Part {
    let extension = name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mime_type = match extension.as_str() {
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        _ => "image/png",
    };
    Part::Image { mime_type: mime_type.to_owned(), bytes: 0 }
}

/// How many bytes a base64 text stands for (RFC 4648, section 4).
pub(crate) fn decoded_length(base64: &str) -> usize {
    let digits = base64.trim_end().trim_end_matches('=').len();
    digits / 4 * 3 + (digits % 4 * 3) / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(json: &str) -> bool {
        outcome_of(json).failed
    }

    #[test]
    fn an_exit_code_is_read_in_each_form_it_has_had() {
        assert!(fails(r#""{\"output\":\"no\",\"metadata\":{\"exit_code\":2,\"duration_seconds\":0.1}}""#));
        assert!(!fails(r#""{\"output\":\"yes\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}""#));
        assert!(fails(r#""Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno""#));
        assert!(fails(r#""Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 127\nOutput:\nno""#));
        assert!(!fails(r#""Chunk ID: 1f\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nyes""#));
        assert!(fails(r#"{"output":"no","metadata":{"exit_code":1}}"#));
        assert!(fails(r#"{"content":"no","success":false}"#));
        assert!(!fails(r#"{"content":"yes","success":true}"#));
        assert!(fails(r#"[{"type":"input_text","text":"Script failed\nWall time 0.2 seconds"}]"#));
    }

    #[test]
    fn an_exit_code_that_a_program_prints_is_not_the_calls() {
        assert!(!fails(r#""Exit code: 0\nOutput:\nExit code: 1\nProcess exited with code 3""#));
        assert!(!fails(r#""all fine\nExit code: 1""#));
    }

    #[test]
    fn wrapped_output_is_unwrapped() {
        let outcome = outcome_of(r#""{\"output\":\"a\\nb\",\"metadata\":{\"exit_code\":0}}""#);
        assert_eq!(outcome.output.as_deref(), Some("a\nb"));
    }

    #[test]
    fn an_image_is_measured_and_not_kept() {
        let block = r#"{"type":"input_image","image_url":"data:image/jpeg;base64,AAAAAA=="}"#;
        let image = Object::of(block).and_then(|block| image_of(&block));
        assert_eq!(image, Some(Part::Image { mime_type: "image/jpeg".to_owned(), bytes: 4 }));
    }

    #[test]
    fn base64_lengths() {
        assert_eq!(["", "AA==", "AAA=", "AAAA", "AA"].map(decoded_length), [0, 1, 2, 3, 1]);
    }
}
