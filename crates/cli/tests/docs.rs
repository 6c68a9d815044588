//! `docs/cli.md` is what the program says of itself. `UPDATE_EXPECTED=1` writes it anew.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use common::{Machine, expect_file, root};

const HEAD: &str = "\
<!-- Made from `onrecord --help` by crates/cli/tests/docs.rs; UPDATE_EXPECTED=1 writes it anew. -->

# The command line

Data goes to standard output, everything else to standard error. `--json` prints data for other programs: one document,
or one object a line. Nothing is asked where standard input is no terminal: the refusal names the option to add.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed |
| 2 | used wrongly |
| 3 | findings are undecided, or a check found problems |
| 4 | not signed in |

| variable | meaning |
|---|---|
| `ONRECORD_HOME` | the folder for data, and for your own `rules.toml` and `words`; the platform's folders by default |
| `ONRECORD_PLC_URL` | the directory of `did:plc` identities; the public one by default |
| `ONRECORD_RESOLVER_URL` | a host to resolve handles with |
| `ONRECORD_ALLOW_LOCAL` | `1` lets identities and servers have addresses on this machine |
| `ONRECORD_LOG` | what to log on standard error, e.g. `debug` |
| `NO_COLOR` | no colour |
";

/// The names under `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description that goes on in a second line is indented further.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn describe(machine: &Machine, command: &[String], out: &mut String) {
    let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let help = machine.ok(&args).out;
    let title = ["onrecord"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    out.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", help.trim_end()));
    for name in commands(&help) {
        describe(machine, &[command, &[name]].concat(), out);
    }
}

#[test]
fn the_manual_of_the_command_line_is_what_the_program_says() {
    let mut manual = HEAD.to_owned();
    describe(&Machine::new(), &[], &mut manual);
    for command in ["show", "publish", "unpublish", "lexicon validate", "serve", "completions"] {
        assert!(manual.contains(&format!("\n## onrecord {command}\n")), "{command}");
    }
    expect_file(&root().join("docs/cli.md"), &manual);
}
