//! What of a user message a person said.

/// A person's words in a prompt as pi and Tiles keep it, without what was put around them: the history of a resumed chat, the
/// text of a skill, the contents of files.
#[must_use]
pub fn words(text: &str) -> String {
    let trimmed = text.trim();
    if trimmed.starts_with("user_chat_history:") {
        // A resume by Tiles: the history is in the file already or was said elsewhere.
        if let Some((_, question)) = trimmed.rsplit_once("[Followup question] - ") {
            return question.trim().to_owned();
        }
    }
    if let Some(said) = skill(trimmed) {
        return said;
    }
    files(trimmed)
}

/// A `/skill:name words` prompt is sent with the skill's text in place of its name.
fn skill(text: &str) -> Option<String> {
    let rest = text.strip_prefix("<skill name=\"")?;
    let (name, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once('>')?;
    let (_, said) = rest.split_once("</skill>")?;
    let said = said.trim();
    Some(if said.is_empty() { format!("/skill:{name}") } else { said.to_owned() })
}

/// Files named on the command line (`@file`) are sent in front of the prompt, contents and all;
/// what is left of each is its name, as it was typed.
fn files(text: &str) -> String {
    let mut rest = text;
    let mut names = String::new();
    while let Some((path, after)) = rest.strip_prefix("<file name=\"").and_then(|rest| rest.split_once("\">")) {
        let Some((_, after)) = after.split_once("</file>") else { break };
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        if !names.is_empty() {
            names.push(' ');
        }
        names.push('@');
        names.push_str(name);
        rest = after.trim_start();
    }
    match (names.is_empty(), rest.is_empty()) {
        (true, _) => rest.to_owned(),
        (false, true) => names,
        (false, false) => format!("{names}\n\n{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn a_resumed_chat_leaves_the_new_question() {
        let text = "user_chat_history:\nUser: a\n[Followup question] - old\n.\nUse the history as context.\n[Followup question] - and now?";
        assert_eq!(words(text), "and now?");
    }

    #[test]
    fn a_skill_leaves_what_was_typed_after_it_or_its_name() {
        assert_eq!(words("<skill name=\"plan\" location=\"/x\">\nlong\n</skill>\n\nfor Friday"), "for Friday");
        assert_eq!(words("<skill name=\"plan\" location=\"/x\">\nlong\n</skill>"), "/skill:plan");
    }

    #[test]
    fn a_file_leaves_its_name() {
        assert_eq!(words("<file name=\"/home/dana/a.rs\">\nfn\n</file>\nwhat is this?"), "@a.rs\n\nwhat is this?");
    }

    #[test]
    fn ordinary_words_stay() {
        assert_eq!(words("  the <file> tag is wrong "), "the <file> tag is wrong");
    }
}
