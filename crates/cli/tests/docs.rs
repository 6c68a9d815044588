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
| `ONRECORD_NAMESERVER` | the name server to ask, as `IP` or `IP:PORT`, in place of the system's |
| `ONRECORD_ALLOW_LOCAL` | `1` lets identities and servers have addresses on this machine |
| `ONRECORD_LOG` | what to log on standard error, e.g. `debug` |
| `ONRECORD_LOG_FORMAT` | `json` for a log of one object a line; `text` by default |
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
    for command in ["show", "publish", "unpublish", "verify", "lexicon validate", "serve", "completions"] {
        assert!(manual.contains(&format!("\n## onrecord {command}\n")), "{command}");
    }
    expect_file(&root().join("docs/cli.md"), &manual);
}

const VERIFY: &str = "\
<!-- Made from the rules themselves by crates/cli/tests/docs.rs; UPDATE_EXPECTED=1 writes it anew. -->

# Verifying

`onrecord verify` tells whether what is on record is what its author signed. It takes

- an at-uri or a link of a **conversation**: its session record and every message that names it,
- an at-uri of any other **record**,
- a handle or a DID: the **whole repository**,
- a **CAR file**, whose key is that of the account it is of, or the one given with `--key`; then nothing is asked of the network.

It believes no server. The account's DID document names the key, and handle and document must name each other. The key must
have signed the commit; the commit names the root of a tree; the tree leads to each record. Every block is held against its
CID, every key against its place in the tree, every record against the one encoding there is, its lexicon where that is known
here, and the rules of the record. Up to 64 messages are proven one by one, together with both ends of their collection, so
that one which is not listed shows; of more the whole repository is fetched.

The exit code is 0 if nothing is wrong, 3 if anything is, and 1 if it could not be told: an account that does not resolve, a
server that does not answer, a file that cannot be read.

## On a site

At the head of a conversation stands **Check the signature**, which has the site do the same now: the page `…/verify`, also as
`…/verify.json`. Afterwards what was found stands there, and when, as long as the records that are shown are the very ones that
were seen in the signed tree: their CIDs are compared, and what changed has to be checked anew. The page says it too when the site
shows other records than the author signs (`shown`). Whoever does not believe the site runs the command.

## The report

`--json` prints one document. `ok`: nothing is wrong. `authentic`: the author signed this, whatever else is wrong.
`complete`: `proven` if the signed tree shows that there is no more, `as-listed` if that is the server's word, `no` if it is
damaged. `scope` is `record`, `session` or `repository`; `way` is `proofs`, `repository` or `file`; `keySource` is
`did-document`, `given` or `none`. `commit` has the state that was looked at, `counts` what was seen, `records` (not of whole
repositories) the at-uri and CID of each. Each of `failures` and `notices` has a `code`, a place `at`, a `message` and its
`meaning`; a failure also has a `kind`: `proof` (it is not proven that the author signed this), `record` (signed, and against
the rules) or `pin` (signed; what it points at is not what it was). Of very many, the first hundred of a sort are listed;
`failureCount` counts all.

**Pins.** A turn's `refs` name records at one version. One that has been changed or deleted since is a failure of the kind
`pin`: the author's words stand, and what they are about cannot be seen as it was. It leaves `authentic` as it is. One that
cannot be reached is told, and is no failure: nothing is known of it. Whether a pin still holds is the word of the server that
has the record; its content is held against the CID.

**Bars** are held to their form in `click.aligned.chat` records only: exactly three U+2588, so that no bar tells how long the
covered words are. A run that touches other block elements (U+2580 to U+259F) is a drawing, as terminals make them.

**Order** is that of the keys. A message that says it happened before the one it follows is told; it is a failure if the other
one's key is older than the time it gives itself, for nobody files a turn before it happens.

## Memory and size

A file that holds its blocks in the order of the tree is read once, through a window of 1 MiB, whatever its size. In any other
order an index of 16 bytes a block is made, 384 MiB at most for twelve million blocks; a file of more in no order is refused.
Files up to 256 MiB are held in memory. A block may have 4 MiB, a repository fetched from a server 16 GiB.

## Rules

| code | what it means |
|---|---|
";

#[test]
fn every_rule_of_verifying_is_explained() {
    let repositories = onrecord_repo::Rule::ALL.iter().map(|rule| (rule.as_str(), rule.meaning()));
    let records = onrecord_record::verify::Rule::ALL.iter().map(|rule| (rule.as_str(), rule.meaning()));
    let mut doc = VERIFY.to_owned();
    for (code, meaning) in repositories.chain(records) {
        doc.push_str(&format!("| `{code}` | {meaning} |\n"));
    }
    expect_file(&root().join("docs/verify.md"), &doc);
}
