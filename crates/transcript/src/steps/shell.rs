//! Shell commands: as a string, as an argument vector, and behind `bash -lc`.

use serde_json::Value;

use super::line::first_line;

/// The command's one line, or the files it patches.
pub(super) fn describe_command(command: &Value) -> Option<String> {
    let script = script_of(command)?;
    let starts_patch = script.trim_start().starts_with("apply_patch") || script.contains("*** Begin Patch");
    if starts_patch && let Some(files) = patched_files(&script) {
        return Some(files);
    }
    Some(first_line(&script))
}

/// What the shell is to run.
fn script_of(command: &Value) -> Option<String> {
    match command {
        Value::String(text) => Some(unwrap_shell(text)),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [] => None,
                [shell, flag, script, ..] if is_shell(shell) && is_command_flag(flag) => Some((*script).to_owned()),
                [program, patch] if *program == "apply_patch" => Some(format!("apply_patch {patch}")),
                words => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
            }
        }
        _ => None,
    }
}

fn is_shell(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    matches!(
        name,
        "bash"
            | "sh"
            | "zsh"
            | "dash"
            | "fish"
            | "pwsh"
            | "pwsh.exe"
            | "powershell"
            | "powershell.exe"
            | "cmd"
            | "cmd.exe"
    )
}

fn is_command_flag(word: &str) -> bool {
    matches!(word, "-c" | "-lc" | "-ic" | "-lic" | "-Command" | "-NoProfile" | "/c" | "/C")
}

/// `bash -lc 'script'` as `script`.
fn unwrap_shell(text: &str) -> String {
    let unwrapped = || {
        let (shell, rest) = text.trim().split_once(' ')?;
        let (flag, script) = rest.trim_start().split_once(' ')?;
        (is_shell(shell) && is_command_flag(flag)).then_some(())?;
        let script = script.trim();
        for quote in ['\'', '"'] {
            if let Some(inner) = script.strip_prefix(quote).and_then(|script| script.strip_suffix(quote)) {
                return Some(inner);
            }
        }
        Some(script)
    };
    unwrapped().unwrap_or(text).to_owned()
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains([' ', '\n', '\t', '"', '\'']) { format!("'{word}'") } else { word.to_owned() }
}

/// The files that a patch in the `*** Update File:` form touches.
pub(super) fn patched_files(patch: &str) -> Option<String> {
    const MARKS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    let mut files: Vec<&str> = Vec::new();
    for line in patch.lines() {
        let line = line.trim();
        if let Some(file) = MARKS.iter().find_map(|mark| line.strip_prefix(mark)) {
            let file = file.trim();
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    (!files.is_empty()).then(|| files.join(", "))
}
