//! Model identifiers in plain words.

use std::borrow::Cow;

/// The name people use for `id`, e.g. `anthropic/claude-opus-4-5` → “Claude Opus 4.5”; the id itself where no
/// plain name follows from it.
///
/// Only three vendors' naming schemes are understood; a guess at another's would be a name nobody uses.
#[must_use]
pub fn model_name(id: &str) -> Cow<'_, str> {
    let last = id.rsplit('/').next().unwrap_or(id);
    let parts: Vec<&str> = last.split('-').collect();
    let named = match parts.split_first() {
        Some((&"claude", rest)) => claude(rest),
        Some((&"gpt", rest)) => gpt(rest),
        Some((&"gemini", rest)) => words("Gemini", rest),
        Some((first, _)) if is_o_series(first) => Some(last.to_owned()),
        _ => None,
    };
    named.map_or(Cow::Borrowed(id), Cow::Owned)
}

/// `claude-opus-4-5-20251101`, `claude-3-5-sonnet-20241022`, `claude-sonnet-4`: neighbouring numbers are one version.
fn claude(parts: &[&str]) -> Option<String> {
    let mut out = String::from("Claude");
    let mut after_number = false;
    for part in parts {
        if is_date(part) || *part == "latest" {
            continue;
        }
        let number = is_number(part);
        if !number && !is_word(part) {
            return None;
        }
        out.push(if number && after_number { '.' } else { ' ' });
        push_capitalised(&mut out, part);
        after_number = number;
    }
    (out.len() > "Claude".len()).then_some(out)
}

/// `gpt-5-codex`, `gpt-5.1-codex-max`, `gpt-4o-mini`.
fn gpt(parts: &[&str]) -> Option<String> {
    let (version, rest) = parts.split_first()?;
    if !version.starts_with(|c: char| c.is_ascii_digit()) || !is_token(version) {
        return None;
    }
    words(&format!("GPT-{version}"), rest)
}

fn words(head: &str, parts: &[&str]) -> Option<String> {
    let mut out = head.to_owned();
    for part in parts {
        if !is_token(part) {
            return None;
        }
        out.push(' ');
        push_capitalised(&mut out, part);
    }
    Some(out)
}

fn push_capitalised(out: &mut String, part: &str) {
    let mut chars = part.chars();
    if let Some(first) = chars.next() {
        out.push(first.to_ascii_uppercase());
        out.push_str(chars.as_str());
    }
}

fn is_o_series(part: &str) -> bool {
    part.strip_prefix('o').is_some_and(is_number)
}

fn is_date(part: &str) -> bool {
    part.len() == 8 && is_number(part)
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase())
}

fn is_token(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
}

#[cfg(test)]
mod tests {
    use super::model_name;

    #[test]
    fn known_schemes_become_plain_words() {
        for (id, name) in [
            ("anthropic/claude-opus-4-5", "Claude Opus 4.5"),
            ("anthropic/claude-opus-4-5-20251101", "Claude Opus 4.5"),
            ("openrouter/anthropic/claude-sonnet-4", "Claude Sonnet 4"),
            ("anthropic/claude-3-5-sonnet-20241022", "Claude 3.5 Sonnet"),
            ("claude-haiku-4-5", "Claude Haiku 4.5"),
            ("openai/gpt-5-codex", "GPT-5 Codex"),
            ("openai/gpt-5.1-codex-max", "GPT-5.1 Codex Max"),
            ("openai/gpt-4o-mini", "GPT-4o Mini"),
            ("openai/o3", "o3"),
            ("google/gemini-2.5-pro", "Gemini 2.5 Pro"),
        ] {
            assert_eq!(model_name(id), name, "{id}");
        }
    }

    #[test]
    fn everything_else_stays_the_id() {
        for id in [
            "greenpt/minimax-m2.5",
            "anthropic/claude",
            "amazon-bedrock/us.anthropic.claude-opus-4-5-20251101-v1:0",
            "x/gpt-oss-120b",
            "claude-<b>",
            "",
        ] {
            assert_eq!(model_name(id), id);
        }
    }
}
