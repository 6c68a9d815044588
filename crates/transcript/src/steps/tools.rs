//! What each tool's arguments say in one line.

use serde_json::{Map, Value};

use super::{line::first_line, shell};

/// The longest string argument that is shown of a tool that is not known, in bytes.
const SHORT_BYTES: usize = 120;

/// What the call is for; `None` where the arguments say nothing short.
pub(super) fn describe(tool: &str, input: &Value) -> Option<String> {
    // What onrecord wrote into another format in place of the arguments: the line itself.
    if let Some(Value::String(line)) = input.as_object().filter(|a| a.len() == 1).and_then(|a| a.get("summary")) {
        return Some(line.clone());
    }
    let name = tool.to_ascii_lowercase();
    let known = match input {
        Value::Object(arguments) => of_known_tool(&name, arguments),
        Value::String(text) if name == "apply_patch" => shell::patched_files(text),
        Value::String(text) if is_shell_tool(&name) => shell::describe_command(&Value::String(text.clone())),
        _ => None,
    };
    // A patch that names no file is contents alone.
    let says_nothing = name == "apply_patch" || is_spoken(&name);
    known.filter(|said| !said.trim().is_empty()).or_else(|| generic(input).filter(|_| !says_nothing))
}

/// Tools by which an agent speaks: their arguments are shown as its words.
fn is_spoken(tool: &str) -> bool {
    matches!(
        tool,
        "attempt_completion"
            | "plan_mode_respond"
            | "act_mode_respond"
            | "ask_followup_question"
            | "submit_and_exit"
            | "finish"
    )
}

fn is_shell_tool(tool: &str) -> bool {
    matches!(
        tool,
        "bash"
            | "shell"
            | "exec_command"
            | "shell_command"
            | "local_shell"
            | "local_shell_call"
            | "container.exec"
            | "exec"
            | "powershell"
            | "unified_exec"
            | "run_shell_command"
            | "run_in_terminal"
            | "run_terminal_cmd"
            | "run_terminal_command"
            | "run_terminal_command_v2"
            | "run_command"
            | "execute_command"
            | "execute"
            | "execute_bash"
            | "terminal"
            | "developer__shell"
            | "run"
    )
}

fn of_known_tool(tool: &str, arguments: &Map<String, Value>) -> Option<String> {
    let text = |key: &str| arguments.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(key)).map(first_line);
    match tool {
        tool if is_shell_tool(tool) => first(&["description", "justification"])
            .filter(|_| matches!(tool, "bash" | "powershell" | "run_shell_command"))
            .or_else(|| {
                ["command", "cmd", "input"].iter().find_map(|key| shell::describe_command(arguments.get(*key)?))
            }),
        "write_stdin" => first(&["chars"]),
        "apply_patch" => first_files(arguments, &["input", "patch"]).or_else(|| first(&["path", "file_path"])),
        "read"
        | "write"
        | "edit"
        | "multiedit"
        | "notebookedit"
        | "notebookread"
        | "view_image"
        | "ls"
        | "list_dir"
        | "read_file"
        | "read_file_v2"
        | "write_file"
        | "edit_file"
        | "edit_file_v2"
        | "create_file"
        | "replace"
        | "write_to_file"
        | "replace_in_file"
        | "apply_diff"
        | "insert_content"
        | "search_replace"
        | "insert_edit_into_file"
        | "replace_string_in_file"
        | "list_directory"
        | "list_files"
        | "view"
        | "create"
        | "copilot_readfile"
        | "copilot_createfile"
        | "copilot_listdirectory"
        | "str_replace_editor"
        | "file_editor"
        | "text_editor"
        | "developer__text_editor"
        | "delete_file"
        | "delete_path"
        | "multi_edit"
        | "readfile"
        | "writefile"
        | "strreplacefile" => first(&[
            "file_path",
            "notebook_path",
            "path",
            "filePath",
            "dir_path",
            "absolute_path",
            "target_file",
            "targetFile",
            "relativeWorkspacePath",
            "effectiveUri",
            "filepath",
        ]),
        "grep"
        | "glob"
        | "find"
        | "grep_files"
        | "grep_search"
        | "search_file_content"
        | "search_files"
        | "codebase_search"
        | "file_search"
        | "semantic_search"
        | "ripgrep_raw_search"
        | "glob_file_search" => {
            let pattern = first(&["pattern", "query", "regex", "glob", "globPattern", "glob_pattern"])?;
            Some(match first(&["path", "include", "glob"]).filter(|place| *place != pattern) {
                Some(place) => format!("{pattern} in {place}"),
                None => pattern,
            })
        }
        "webfetch" | "web_fetch" | "fetch_webpage" | "fetch" => {
            first(&["url", "prompt"]).or_else(|| first_of(arguments, "urls", None))
        }
        "websearch" | "web_search" | "google_web_search" | "web_search_call" | "toolsearch" | "tool_search" => {
            first(&["query"])
                .or_else(|| {
                    let action = arguments.get("action")?.as_object()?;
                    ["query", "url", "pattern"].iter().find_map(|key| action.get(*key)?.as_str()).map(first_line)
                })
                .or_else(|| first_of(arguments, "queries", None))
        }
        "task" | "agent" => first(&["description", "subagent_type", "prompt"]),
        "taskcreate" => first(&["subject", "description"]),
        "todowrite" | "todo_write" => plan(arguments.get("todos")?.as_array()?, "content"),
        "update_plan" => first(&["explanation"]).or_else(|| plan(arguments.get("plan")?.as_array()?, "step")),
        "skill" => {
            let skill = first(&["skill", "command", "name"])?;
            Some(match first(&["args"]) {
                Some(args) => format!("{skill} {args}"),
                None => skill,
            })
        }
        "slashcommand" => first(&["command"]),
        "askuserquestion" | "request_user_input" => first_of(arguments, "questions", Some("question")),
        "exitplanmode" | "exit_plan_mode" => {
            first(&["plan"]).map(|plan| plan.trim_start_matches(['#', ' ']).to_owned())
        }
        _ => None,
    }
}

fn first_files(arguments: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| shell::patched_files(arguments.get(*key)?.as_str()?))
}

/// The first item of a list, itself or its `field`, and how many follow.
fn first_of(arguments: &Map<String, Value>, key: &str, field: Option<&str>) -> Option<String> {
    let items = arguments.get(key)?.as_array()?;
    let item = items.first()?;
    let said = match field {
        Some(field) => item.get(field)?.as_str()?,
        None => item.as_str()?,
    };
    let said = first_line(said);
    Some(match items.len() {
        0 | 1 => said,
        more => format!("{said} (and {} more)", more - 1),
    })
}

/// A to-do list by the item in hand and how far it has got.
fn plan(items: &[Value], field: &str) -> Option<String> {
    let status = |item: &&Value, wanted: &str| item.get("status").and_then(Value::as_str) == Some(wanted);
    let done = items.iter().filter(|item| status(item, "completed")).count();
    let progress = format!("{done} of {} done", items.len());
    let in_hand = items
        .iter()
        .find(|item| status(item, "in_progress"))
        .and_then(|item| item.get(field)?.as_str())
        .map(first_line);
    match in_hand {
        Some(in_hand) => Some(format!("{in_hand} ({progress})")),
        None if items.is_empty() => None,
        None => Some(progress),
    }
}

/// Short scalar arguments as `name=value`. What is long, or is named like a file's contents, is not shown.
fn generic(input: &Value) -> Option<String> {
    let short = |text: &str| text.len() <= SHORT_BYTES && !text.trim().contains('\n');
    match input {
        Value::String(text) if short(text) => Some(text.clone()),
        Value::Object(arguments) => {
            let shown: Vec<String> = arguments
                .iter()
                .filter(|(name, _)| name.len() <= SHORT_BYTES && !is_content(name))
                .filter_map(|(name, value)| match value {
                    Value::String(text) if short(text) && !text.trim().is_empty() => {
                        Some(format!("{name}={}", text.trim()))
                    }
                    Value::Number(number) => Some(format!("{name}={number}")),
                    Value::Bool(flag) => Some(format!("{name}={flag}")),
                    _ => None,
                })
                .collect();
            (!shown.is_empty()).then(|| shown.join(", "))
        }
        _ => None,
    }
}

fn is_content(name: &str) -> bool {
    let name: String = name.chars().filter(|c| *c != '_' && *c != '-').collect::<String>().to_ascii_lowercase();
    matches!(
        name.as_str(),
        "content"
            | "contents"
            | "filecontent"
            | "filetext"
            | "oldstring"
            | "newstring"
            | "oldstr"
            | "newstr"
            | "oldtext"
            | "newtext"
            | "newsource"
            | "insertline"
            | "inserttext"
            | "data"
            | "base64"
            | "body"
            | "patch"
            | "diff"
            | "code"
            | "codeedit"
            | "source"
    )
}
