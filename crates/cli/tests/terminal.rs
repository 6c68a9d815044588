//! What is printed, where to, and when not; help, completions and manual pages.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use common::{Machine, claude_code, contains, files, finished, harmless, refused, with_secret};

// Output.

#[test]
fn a_closed_output_ends_it_quietly() {
    let machine = Machine::new();
    // More than a pipe holds, and less.
    for args in [&["show", "examples/pi.jsonl", "--json"][..], &["completions", "zsh"], &["accounts", "--json"]] {
        let mut child = machine.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}

#[test]
fn a_reader_that_takes_one_line_is_enough() {
    let machine = Machine::new();
    let mut child =
        machine.command(&["show", "examples/pi.jsonl"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "Docs build from nine minutes to forty seconds\n");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn publishing_goes_on_when_nobody_reads_its_output() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let args = ["publish", &file, "--local", "--yes", "--json"];
    let mut child = machine.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    assert_eq!(machine.ok(&["published", "--json"]).json()["published"][0]["records"], 5);
}

/// Text with every control character, the sequences that a terminal obeys among them.
fn with_controls() -> String {
    let all: String = (0..0xA0).filter_map(char::from_u32).filter(|c| c.is_control()).collect();
    let said = format!("red: \u{1b}[31m title: \u{1b}]0;owned\u{7} all: {all} end\r\nof it");
    claude_code(
        "\u{1b}[2J-id",
        &[("user", &said), ("assistant", &said), ("user", "Take it back."), ("assistant", &said)],
    )
}

#[track_caller]
fn without_controls(out: &str) {
    let found = out.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
    assert_eq!(found, None, "{out:?}");
}

#[test]
fn control_characters_of_a_transcript_never_reach_the_terminal() {
    let machine = Machine::new();
    let file = machine.file("home/.claude/projects/-work/controls.jsonl", with_controls());
    for args in [
        &["show", &file][..],
        &["show", &file, "--format", "markdown"],
        &["show", &file, "--turn", "1"],
        &["sessions"],
        &["scan", &file],
        &["decide", &file],
        &["publish", &file, "--local", "--dry-run"],
        &["publish", &file, "--local", "--yes"],
        &["published"],
        &["unpublish", &file, "--yes"],
    ] {
        let run = machine.ok(args);
        without_controls(&run.out);
        without_controls(&run.err);
    }
    assert!(machine.ok(&["show", &file]).out.contains("end\nof it"), "a line break of Windows is a line break");
    // JSON escapes them, and gives them whole.
    let shown = machine.ok(&["show", &file, "--json"]);
    without_controls(&shown.out);
    assert!(shown.json()["turns"][0]["text"].as_str().unwrap().contains("\u{1b}]0;owned\u{7}"));
}

#[test]
fn control_characters_of_names_never_reach_the_terminal() {
    let machine = Machine::new();
    let name = "a\u{1b}[31m\u{7}b";
    for args in [["show", name], ["unpublish", name], ["lexicon", "validate"]] {
        let rest: &[&str] = if args[0] == "lexicon" { &[name] } else { &[] };
        let run = machine.run(&[&args[..], rest].concat());
        assert!(run.code != 0);
        without_controls(&run.err);
    }
    let file = machine.file(&format!("{name}.jsonl"), "nothing");
    let run = machine.run(&["show", &file]).ends_with(1);
    without_controls(&run.err);
}

#[test]
fn there_is_no_colour_in_a_pipe() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    for args in [
        &["show", &file][..],
        &["scan", &file],
        &["publish", &file, "--local", "--dry-run"],
        &["show", "nothing"],
        &["--help"],
        &["show"],
    ] {
        let run = machine.run(args);
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{args:?}: {:?}", run.out);
    }
}

#[test]
fn on_a_terminal_there_is_colour_unless_it_is_not_wanted() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let command = format!("{} show {file}", env!("CARGO_BIN_EXE_onrecord"));
    let on_terminal = |no_color: Option<&str>| {
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env_clear().stdin(Stdio::null());
        script.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("TERM", "xterm").env("SHELL", "/bin/sh");
        script.env("HOME", machine.path("home")).env("ONRECORD_HOME", machine.data()).env("TZ", "UTC");
        if let Some(value) = no_color {
            script.env("NO_COLOR", value);
        }
        script.output()
    };
    match on_terminal(None) {
        Ok(output) if output.status.success() => assert!(contains(&output.stdout, "\u{1b}[1m"), "{output:?}"),
        other => {
            eprintln!("skipped: no `script` to make a terminal with ({other:?})");
            return;
        }
    }
    let plain = on_terminal(Some("1")).unwrap();
    assert!(!contains(&plain.stdout, "\u{1b}["), "{plain:?}");
    assert!(contains(&plain.stdout, "Which of the two is older?"));
    assert!(contains(&on_terminal(Some("")).unwrap().stdout, "\u{1b}[1m"), "an empty NO_COLOR says nothing");
}

#[test]
fn quiet_leaves_data_and_errors() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", harmless());
    let whole = harmless();
    let damaged = machine.file("damaged.jsonl", &whole[..whole.len() - 40]);
    for args in [
        &["show", &damaged][..],
        &["sessions"],
        &["decide", &file, "--cover-findings"],
        &["preview", &file],
        &["publish", &file, "--dry-run"],
        &["publish", &file, "--local", "--yes"],
        &["published"],
        &["accounts"],
        &["unpublish", "--all", "--yes"],
        &["unpublish", "--all", "--yes"],
    ] {
        let run = machine.ok(&[args, &["--quiet"]].concat());
        assert_eq!(run.err, "", "{args:?}");
        let loud = machine.ok(&["show", &damaged]);
        assert_ne!(loud.err, "", "there would be something to say");
    }
    let run = machine.run(&["show", "nothing", "-q"]).ends_with(1);
    assert!(run.err.starts_with("error: "), "an error is said all the same");
}

// Usage.

#[test]
fn wrong_usage_ends_with_2_and_says_so_on_standard_error() {
    let machine = Machine::new();
    for args in [
        &[][..],
        &["nonsense"],
        &["show"],
        &["show", "a", "b"],
        &["show", "a", "--format", "yaml"],
        &["show", "a", "--harness", "nobody"],
        &["show", "a", "--nonsense"],
        &["publish", "a", "--as", "nonsense"],
        &["publish", "a", "--grain", "word"],
        &["unpublish"],
        &["unpublish", "a", "--all"],
        &["sessions", "--since", "yesterday"],
        &["serve", "--listen", "here"],
        &["completions", "nonsense"],
        &["lexicon"],
        &["lexicon", "validate"],
        &["login"],
        &["decide", "a", "--allow", "x"],
    ] {
        let run = machine.run(args).ends_with(2);
        assert!(run.out.is_empty(), "{args:?}: {}", run.out);
        assert!(!run.err.is_empty(), "{args:?}");
    }
    assert!(machine.stored().is_empty(), "wrong usage leaves no data folder behind");
}

#[test]
fn bad_values_in_the_environment_are_named() {
    let machine = Machine::new();
    let run = |variable: &str, value: &str, args: &[&str]| finished(machine.command(args).env(variable, value));
    let login = ["login", "dana.example", "--app-password"];
    refused(run("ONRECORD_PLC_URL", "not a url", &login), 2, "ONRECORD_PLC_URL is not usable");
    refused(run("ONRECORD_RESOLVER_URL", "::", &login), 2, "ONRECORD_RESOLVER_URL is not usable");
    refused(run("ONRECORD_LOG", "[[[", &["accounts"]), 2, "ONRECORD_LOG is not usable");
}

#[test]
fn help_and_version_are_data() {
    let machine = Machine::new();
    for args in
        [&["--help"][..], &["-h"], &["show", "--help"], &["lexicon", "validate", "--help"], &["--version"], &["-V"]]
    {
        let run = machine.ok(args);
        assert!(!run.out.is_empty() && run.err.is_empty(), "{args:?}");
    }
    assert_eq!(machine.ok(&["--version"]).out, format!("onrecord {}\n", env!("CARGO_PKG_VERSION")));
    assert!(machine.stored().is_empty(), "asking for help leaves no data folder behind");
}

#[test]
fn completions_know_every_command() {
    let machine = Machine::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = machine.ok(&["completions", shell]).out;
        for word in ["publish", "unpublish", "cover-findings", "lexicon", "validate"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn a_manual_page_is_written_for_every_command() {
    let machine = Machine::new();
    let folder = machine.path("man");
    machine.ok(&["man", "--out", folder.to_str().unwrap()]);
    let names: Vec<_> = files(&folder).into_iter().map(|(p, _)| p.file_name().unwrap().to_owned()).collect();
    for name in ["onrecord.1", "onrecord-show.1", "onrecord-publish.1", "onrecord-lexicon-validate.1"] {
        assert!(names.iter().any(|n| n == name), "{name} is not among {names:?}");
    }
    for (path, page) in files(&folder) {
        assert!(contains(&page, ".TH"), "{}", path.display());
    }
    let in_the_way = machine.file("in-the-way", "a file");
    refused(machine.run(&["man", "--out", &in_the_way]), 1, "in-the-way");
}
