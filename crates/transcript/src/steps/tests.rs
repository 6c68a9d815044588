//! One case per tool, and the laws of a summary.

use proptest::prelude::*;
use serde_json::{Value, json};
use unicode_segmentation::UnicodeSegmentation;

use super::{MAX_BYTES, MAX_GRAPHEMES, summarise};

const CWD: &str = "/home/mira/code/kiln";
const HOME: &str = "/home/mira";

fn line(tool: &str, input: &Value) -> String {
    summarise(tool, input, Some(CWD), Some(HOME))
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "the cases read better")]
fn check(tool: &str, input: Value, want: &str) {
    assert_eq!(line(tool, &input), want, "{tool} {input}");
}

#[test]
fn tools_of_claude_code() {
    check("Bash", json!({"command":"cargo test\necho done","description":"Run the tests"}), "Run the tests");
    check("Bash", json!({"command":"\n  cargo test\necho done"}), "cargo test …");
    check("Read", json!({"file_path":"/home/mira/code/kiln/src/main.rs","offset":10}), "src/main.rs");
    check("Read", json!({"file_path":"/home/mira/notes.md"}), "~/notes.md");
    check("Read", json!({"file_path":"/etc/hosts"}), "/etc/hosts");
    check("Write", json!({"file_path":"/home/mira/code/kiln/a.txt","content":"secret text"}), "a.txt");
    check("Edit", json!({"file_path":"src/a.rs","old_string":"x","new_string":"y"}), "src/a.rs");
    check("MultiEdit", json!({"file_path":"src/a.rs","edits":[{"old_string":"x"}]}), "src/a.rs");
    check("NotebookEdit", json!({"notebook_path":"n.ipynb","new_source":"x"}), "n.ipynb");
    check("Grep", json!({"pattern":"fn \\w+","path":"/home/mira/code/kiln/src"}), "fn \\w+ in src");
    check("Grep", json!({"pattern":"TODO"}), "TODO");
    check("Glob", json!({"pattern":"**/*.rs","path":"/home/mira/code/kiln"}), "**/*.rs in .");
    check("WebFetch", json!({"url":"https://example.org/home/guide/","prompt":"x"}), "https://example.org/home/guide/");
    check("WebSearch", json!({"query":"glaze chemistry"}), "glaze chemistry");
    check("Task", json!({"description":"Find usages","prompt":"long","subagent_type":"Explore"}), "Find usages");
    check("Agent", json!({"prompt":"Look at it\nclosely"}), "Look at it …");
    check(
        "TodoWrite",
        json!({"todos":[{"content":"a","status":"completed"},{"content":"Write b","status":"in_progress"}]}),
        "Write b (1 of 2 done)",
    );
    check("TodoWrite", json!({"todos":[{"content":"a","status":"completed"}]}), "1 of 1 done");
    check("Skill", json!({"skill":"pdf","args":"form.pdf"}), "pdf form.pdf");
    check("SlashCommand", json!({"command":"/review 12"}), "/review 12");
    check(
        "AskUserQuestion",
        json!({"questions":[{"question":"Which glaze?"},{"question":"When?"}]}),
        "Which glaze? (and 1 more)",
    );
    check("ExitPlanMode", json!({"plan":"# Plan: fire twice\n\n1. bisque"}), "Plan: fire twice …");
    check("mcp__tracker__get_issue", json!({"id":12,"full":true,"note":"x"}), "full=true, id=12, note=x");
}

#[test]
fn tools_of_codex() {
    check("shell", json!({"command":["bash","-lc","cargo test -p kiln\necho"]}), "cargo test -p kiln …");
    check("shell", json!({"command":["git","commit","-m","two words"]}), "git commit -m 'two words'");
    check("shell", json!({"command":"bash -lc 'ls /home/mira/code/kiln/src'"}), "ls src");
    check("exec_command", json!({"cmd":"rg glaze","workdir":"/x"}), "rg glaze");
    check(
        "shell",
        json!({"command":["apply_patch","*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch"]}),
        "src/a.rs",
    );
    check(
        "shell",
        json!({"command":["bash","-lc","apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.rs\n+z\n*** End Patch\nEOF"]}),
        "b.rs",
    );
    check(
        "apply_patch",
        json!("*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n+x\n*** Delete File: c.rs\n*** End Patch"),
        "a.rs, b.rs, c.rs",
    );
    check("apply_patch", json!({"input":"*** Begin Patch\n*** Add File: d.rs\n+x"}), "d.rs");
    check(
        "update_plan",
        json!({"plan":[{"step":"Mix","status":"in_progress"},{"step":"Fire","status":"pending"}]}),
        "Mix (0 of 2 done)",
    );
    check("update_plan", json!({"explanation":"Kiln is cold","plan":[]}), "Kiln is cold");
    check("view_image", json!({"path":"/home/mira/pot.png"}), "~/pot.png");
    check("web_search", json!({"action":{"type":"search","query":"cone 6"}}), "cone 6");
    check("write_stdin", json!({"session_id":3,"chars":"q\n"}), "q");
}

#[test]
fn tools_of_pi() {
    check("bash", json!({"command":"ls -la"}), "ls -la");
    check("read", json!({"path":"/home/mira/code/kiln/README.md"}), "README.md");
    check("edit", json!({"path":"a.rs","oldText":"x","newText":"y"}), "a.rs");
    check("write", json!({"path":"a.rs","content":"x"}), "a.rs");
    check("grep", json!({"pattern":"x","path":"src"}), "x in src");
    check("find", json!({"pattern":"*.md","path":"docs"}), "*.md in docs");
    check("ls", json!({"path":"/home/mira/code/kiln"}), ".");
}

#[test]
fn other_tools_show_short_scalars_only() {
    check(
        "deploy",
        json!({"env":"test","retries":2,"dry":false,"list":[1],"x":null}),
        "dry=false, env=test, retries=2",
    );
    check("store", json!({"content":"short","path":"a","blob":"x".repeat(200),"lines":"a\nb"}), "path=a");
    check("note", json!("one line"), "one line");
    check("note", json!("two\nlines"), "");
    check("nothing", json!({}), "");
    check("nothing", json!(null), "");
}

#[test]
fn arguments_of_the_wrong_kind_do_no_harm() {
    check("Bash", json!({"command":7}), "command=7");
    check("Read", json!({"file_path":["a"]}), "");
    check("TodoWrite", json!({"todos":"none"}), "todos=none");
    check("__proto__", json!({}), "");
    check("shell", json!({"command":[]}), "");
}

#[test]
fn paths_are_shortened_inside_commands() {
    let run = |command: &str| line("bash", &json!({"command": command}));
    assert_eq!(run("cd /home/mira/code/kiln && ls"), "cd . && ls");
    assert_eq!(run("cat /home/mira/code/kiln/a.txt /home/mira/b.txt"), "cat a.txt ~/b.txt");
    assert_eq!(run("cat '/home/mira/code/kiln/a b.txt'"), "cat 'a b.txt'");
    assert_eq!(run("ls /home/mira/code/kiln-old/x"), "ls ~/code/kiln-old/x");
    assert_eq!(run("ls /home/mira"), "ls ~");
    assert_eq!(run("FOO=/home/mira/x:/home/olga/y z"), "FOO=~/x:~/y z");
    assert_eq!(run("scp /Users/olga/k.pem host:"), "scp ~/k.pem host:");
    assert_eq!(run("ls /Users/Shared/x /home /home/"), "ls /Users/Shared/x /home /home/");
    assert_eq!(run(r"type C:\Users\olga\a.txt"), r"type ~/a.txt");
    assert_eq!(run(r"type C:\\Users\\olga\\a.txt"), r"type ~/a.txt");
    assert_eq!(run(r#"type "C:\Users\Olga Berg\a.txt""#), r#"type "~/a.txt""#);
    assert_eq!(run("cat '/mnt/c/Users/Olga Berg/a.txt'"), "cat '~/a.txt'");
    assert_eq!(run("cp /home/olga b/c host:d"), "cp ~ b/c host:d");
    assert_eq!(run("ls /c/Users/olga/x /mnt/c/Users/olga/y"), "ls ~/x ~/y");
    assert_eq!(run("ls /var/home/olga/x"), "ls /var/home/~/x");
    assert_eq!(run("open file:///home/olga/x"), "open file:///~/x");
    assert_eq!(run("cat /root/.bashrc /rootfs/x"), "cat ~/.bashrc /rootfs/x");
    assert_eq!(run("ls ~/.claude/projects/-home-mira-code-kiln/x.jsonl"), "ls ~/.claude/projects/-~-code-kiln/x.jsonl");
    assert_eq!(run("ls ~/.claude/projects/-Users-olga-code/x"), "ls ~/.claude/projects/-~-code/x");
    assert_eq!(run("curl https://example.org/Users/7/x"), "curl https://example.org/Users/7/x");
}

#[test]
fn windows_project_paths_become_relative() {
    let read = |path: &str| summarise("Read", &json!({"file_path": path}), Some(r"C:\work\kiln"), None);
    assert_eq!(read(r"C:\work\kiln\src\a.rs"), r"src\a.rs");
    assert_eq!(read("C:/work/kiln/src/a.rs"), "src/a.rs");
}

#[test]
fn white_space_and_control_characters_fold() {
    check("Task", json!({"description":"a\t\u{1b}[31m  b\u{2028}c\u{202e}d"}), "a [31m b cd");
}

#[test]
fn long_lines_are_cut_between_graphemes() {
    let family = "👨‍👩‍👧‍👦";
    let cut = line("Task", &json!({"description": family.repeat(300)}));
    assert!(cut.ends_with(&format!("{family}…")) && cut.len() <= MAX_BYTES, "{cut}");
    let cut = line("Task", &json!({"description": "é".repeat(400)}));
    assert_eq!(cut.graphemes(true).count(), MAX_GRAPHEMES);
    let whole = "x".repeat(MAX_GRAPHEMES);
    assert_eq!(line("Task", &json!({"description": whole})), whole);
}

#[test]
fn a_patch_that_names_no_file_shows_nothing() {
    check("apply_patch", json!("-let key = 1;"), "");
    check("apply_patch", json!({"input":"-let key = 1;"}), "");
    check("apply_patch", json!({"patch":"+x", "path":"a.rs"}), "a.rs");
}

#[test]
fn a_word_is_never_cut_in_two_however_long() {
    let password = "Pq7".repeat(50);
    let command = format!("{}psql postgres://kiln:{password}@db.example.org/x now", "x ".repeat(60));
    assert_eq!(line("Bash", &json!({"command": command})), format!("{}psql…", "x ".repeat(60)));
    let token = format!("eyJ{}", "a".repeat(400));
    assert_eq!(line("Bash", &json!({"command": format!("run {token} now")})), "run…");
    assert_eq!(line("Bash", &json!({"command": token})), "…");
}

proptest! {
    #[test]
    fn every_word_of_a_cut_summary_stood_in_the_text(words in prop::collection::vec("[!-~&&[^/\\\\]]{1,160}", 1..12)) {
        let said = summarise("Bash", &json!({"command": words.join(" ")}), None, None);
        for word in said.trim_end_matches('…').split_whitespace() {
            prop_assert!(words.iter().any(|whole| whole == word), "{} in {}", word, said);
        }
    }

    #[test]
    fn a_summary_is_one_bounded_line_without_anybodys_home(
        tool in "Bash|shell|Read|apply_patch|[a-z_]{1,12}",
        key in "command|description|file_path|input|query|[a-z]{1,8}",
        text in "([ -~\n\t\u{1f600}\u{e9}]|/home/[a-z]{3,8}/|/Users/[a-z]{3,8}|C:\\\\Users\\\\[a-z]{3,8}\\\\){0,120}",
    ) {
        let said = line(&tool, &json!({ key: text }));
        prop_assert!(said.graphemes(true).count() <= MAX_GRAPHEMES && said.len() <= MAX_BYTES);
        prop_assert!(!said.contains(char::is_control) && !said.contains("  "));
        prop_assert_eq!(said.trim(), said.as_str());
        prop_assert!(!said.contains("/home/mira"), "{}", said);
    }

    #[test]
    fn no_path_below_a_home_folder_keeps_its_owner(
        before in "[ =:'\"(]{0,2}", user in "zq[a-z]{3,8}", after in "(/[a-z.]{0,6}){0,3}[ '\")]{0,1}", form in 0usize..6,
    ) {
        let above = ["/home/", "/Users/", "C:\\Users\\", "c:/users/", "/var/home/", "/mnt/d/Users/"][form];
        let said = line("Bash", &json!({"command": format!("ls{before} {above}{user}{after}")}));
        prop_assert!(!said.contains(&user), "{}", said);
    }
}
