//! What of a user-role text a person said.

/// A user-role text, told apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// A person's words, without what the IDE put around them.
    Words(String),
    /// A command a person ran themselves, with its result.
    Command { command: String, output: String, failed: bool },
    /// Context that the program put there.
    Nothing,
}

/// How the texts begin that Codex sends in the user's name. Most are an element of their own kind;
/// the rest are sentences.
const INJECTED: [&str; 32] = [
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<environment_context>",
    "<environments_instructions>",
    "<user_instructions>",
    "<recommended_plugins>",
    "<turn_aborted>",
    "<turn_context>",
    "<skill>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<multi_agent_mode>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<personality_spec>",
    "<model_switch>",
    "<context_window",
    "<token_budget>",
    "<rollout_budget>",
    "<goal_context>",
    "<additional_context>",
    "<subagent_notification>",
    "<user_action>",
    "<hook_prompt",
    "<codex_internal_context",
    "<internal_model_context",
    "<realtime_conversation>",
    "Warning: apply_patch was requested via",
    "Warning: The maximum number of unified exec processes",
    "Another language model started to solve this problem",
    "<system-reminder>",
];

const IDE_CONTEXT: &str = "# Context from my IDE setup:";
const IDE_REQUEST: &str = "## My request for Codex:";
const QUESTION_REPLY: &str = "<send_user_message_question_reply>";

pub(super) fn said(text: &str) -> Said {
    let trimmed = text.trim();
    if trimmed.is_empty() || INJECTED.iter().any(|start| trimmed.starts_with(start)) {
        return Said::Nothing;
    }
    if let Some(command) = user_shell_command(trimmed) {
        return command;
    }
    if trimmed.starts_with(IDE_CONTEXT) || trimmed.starts_with(IDE_REQUEST) {
        return match trimmed.split_once(IDE_REQUEST) {
            Some((_, request)) => words(request),
            None => Said::Nothing,
        };
    }
    if let Some(reply) = trimmed.strip_prefix(QUESTION_REPLY) {
        let reply = reply.split("</send_user").next().unwrap_or_default();
        let answers: Vec<serde_json::Value> = serde_json::from_str(reply.trim()).unwrap_or_default();
        let answers: Vec<&str> = answers.iter().filter_map(|answer| answer.get("answer")?.as_str()).collect();
        return words(&answers.join("\n"));
    }
    words(text)
}

fn words(text: &str) -> Said {
    let trimmed = text.trim();
    if trimmed.is_empty() { Said::Nothing } else { Said::Words(trimmed.to_owned()) }
}

fn user_shell_command(text: &str) -> Option<Said> {
    let inner = text.strip_prefix("<user_shell_command>")?;
    let (_, after) = inner.split_once("<command>")?;
    let (command, after) = after.split_once("</command>")?;
    let result = after.split_once("<result>").map_or("", |(_, result)| result);
    let result = result.rsplit_once("</result>").map_or(result, |(result, _)| result).trim();
    let output = result.split_once("Output:\n").map_or(result, |(_, output)| output);
    Some(Said::Command {
        command: command.trim().to_owned(),
        output: output.to_owned(),
        failed: super::calls::header_fails(result),
    })
}

/// Whether a text block only marks the place of an image, naming a file on the person's disk.
pub(super) fn is_image_marker(text: &str) -> bool {
    let trimmed = text.trim();
    trimmed == "</image>" || (trimmed.starts_with("<image") && trimmed.ends_with('>') && !trimmed.contains('\n'))
}

/// A prompt's words for comparison: no white space, and no `[Image #1]`, which the screen and the
/// model are given at different places.
pub(super) fn fingerprint(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[Image #") {
        out.extend(before.chars().filter(|c| !c.is_whitespace()));
        match after.split_once(']') {
            Some((number, after)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => rest = after,
            _ => {
                out.push_str("[Image#");
                rest = after;
            }
        }
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_context_is_nobodys_words() {
        for text in [
            "# AGENTS.md instructions for /home/lin/work\n\n<INSTRUCTIONS>be brief</INSTRUCTIONS>",
            "<environment_context>\n<cwd>/x</cwd></environment_context>",
            "  <user_instructions>x</user_instructions>",
            "<recommended_plugins>\nlist",
            "<turn_aborted>\nThe user interrupted</turn_aborted>",
            "<skill>\n<name>plans</name></skill>",
            "# Context from my IDE setup:\n\n## Active file: a.rs\n",
            " \n ",
        ] {
            assert_eq!(said(text), Said::Nothing, "{text}");
        }
    }

    #[test]
    fn an_ide_envelope_leaves_the_request() {
        let text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nrename it\n";
        assert_eq!(said(text), Said::Words("rename it".to_owned()));
        assert_eq!(said("## My request for Codex:\nlist files"), Said::Words("list files".to_owned()));
    }

    #[test]
    fn markup_of_a_persons_own_stays() {
        assert_eq!(said("<div>why is this red?</div>"), Said::Words("<div>why is this red?</div>".to_owned()));
    }

    #[test]
    fn a_command_of_the_persons_is_told_with_its_failure() {
        let text = "<user_shell_command>\n<command>\ncargo test\n</command>\n<result>\nExit code: 101\nDuration: 2.0 seconds\nOutput:\n1 failed\n</result>\n</user_shell_command>";
        let expected = Said::Command { command: "cargo test".to_owned(), output: "1 failed".to_owned(), failed: true };
        assert_eq!(said(text), expected);
    }

    #[test]
    fn answers_to_a_question_are_the_persons_words() {
        let text = "<send_user_message_question_reply>\n[{\"answer\":\"the blue one\",\"question\":\"Which?\"}]";
        assert_eq!(said(text), Said::Words("the blue one".to_owned()));
    }

    #[test]
    fn an_image_placeholder_does_not_tell_two_prompts_apart() {
        assert_eq!(fingerprint("[Image #1] see here"), fingerprint("see here\n\n[Image #1]"));
        assert_ne!(fingerprint("[Image #x] see"), fingerprint("see"));
    }
}
