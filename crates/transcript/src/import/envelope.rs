//! Elements that programs wrap around what a person typed, or put beside it.

use super::claude_code::without;

/// What stands inside the elements of this name, one after the other; `None` if there is none.
pub(crate) fn inside(text: &str, name: &str) -> Option<String> {
    let (opening, closing) = (format!("<{name}"), format!("</{name}>"));
    let mut found: Option<String> = None;
    let mut rest = text;
    while let Some((_, after)) = rest.split_once(opening.as_str()) {
        let Some((attributes, after)) = after.split_once('>') else { break };
        if !(attributes.is_empty() || attributes.starts_with(' ')) {
            rest = after;
            continue;
        }
        let (content, after) = after.split_once(closing.as_str()).unwrap_or((after, ""));
        let found = found.get_or_insert_default();
        if !found.is_empty() {
            found.push_str("\n\n");
        }
        found.push_str(content.trim());
        rest = after;
    }
    found
}

/// `text` without the elements of these names.
pub(crate) fn without_elements(text: &str, names: &[&str]) -> String {
    if !text.contains('<') {
        return text.to_owned();
    }
    let kept = names.iter().fold(text.to_owned(), |text, name| without(&text, name));
    if kept.len() == text.len() { kept } else { kept.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_inside_is_what_was_typed() {
        assert_eq!(inside("x <task>\na\n</task> y <task>b</task>", "task").as_deref(), Some("a\n\nb"));
        assert_eq!(inside("<user_input mode=\"act\">a</user_input>", "user_input").as_deref(), Some("a"));
        assert_eq!(inside("<tasks>a</tasks>", "task"), None);
        assert_eq!(inside("<task>cut off", "task").as_deref(), Some("cut off"));
    }

    #[test]
    fn what_was_put_beside_goes() {
        let text = "fix it\n<environment_details>\nx\n</environment_details>";
        assert_eq!(without_elements(text, &["environment_details"]), "fix it");
        assert_eq!(without_elements("a < b", &["environment_details"]), "a < b");
    }
}
