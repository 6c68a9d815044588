//! The person's own rules and words, and what `decide` makes of findings.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::fs;

use common::{Machine, claude_code, contains, github_token, refused, with_secret};
use serde_json::{Value, json};

const RULES: &str = "[[rules]]\nid = 'ticket'\ndescription = 'Ticket'\nregex = '''AC-[0-9]+'''\n";

fn tickets(machine: &Machine) -> String {
    let text = "See AC-17 and AC-18 for Halvorsen.";
    machine.file("tickets.jsonl", claude_code("tickets", &[("user", text), ("assistant", "AC-17 is done.")]))
}

fn rules_found(scan: &Value) -> Vec<&str> {
    scan["findings"].as_array().unwrap().iter().map(|f| f["rule"].as_str().unwrap()).collect()
}

#[test]
fn a_rules_file_and_denied_patterns_add_to_what_is_found() {
    let machine = Machine::new();
    let file = tickets(&machine);
    machine.ok(&["scan", &file]);
    let rules = machine.file("org.toml", RULES);
    let scan = machine.run(&["scan", &file, "--rules", &rules, "--deny", "Halvorsen", "--json"]).ends_with(3).json();
    assert_eq!(rules_found(&scan), ["ticket", "ticket", "deny", "ticket"]);
    machine.run(&["preview", &file, "--deny", "Halvorsen"]).ends_with(3);
    machine.run(&["publish", &file, "--local", "--yes", "--deny", "Halvorsen"]).ends_with(3);
    let run = machine.run(&["decide", &file, "--deny", "Halvorsen", "--allow", "1"]).ends_with(1);
    assert!(run.err.contains("never allowed"), "{}", run.err);
    machine.ok(&["decide", &file, "--rules", &rules, "--deny", "Halvorsen", "--cover-findings"]);
    let plan = machine.ok(&["publish", &file, "--deny", "Halvorsen", "--local", "--dry-run", "--json"]).json();
    assert_eq!(
        plan["writes"][1]["record"]["text"], "See AC-17 and AC-18 for ███.",
        "what only a rules file finds is gone with it"
    );
}

#[test]
fn rules_and_words_of_the_configuration_folder_are_always_used() {
    let machine = Machine::new();
    let file = tickets(&machine);
    fs::create_dir_all(machine.data()).unwrap();
    fs::write(machine.data().join("words"), "# clients\nhalvorsen\n").unwrap();
    fs::write(machine.data().join("rules.toml"), RULES).unwrap();
    let scan = machine.run(&["scan", &file, "--json"]).ends_with(3).json();
    assert_eq!(rules_found(&scan), ["ticket", "ticket", "deny-word", "ticket"]);
    fs::write(machine.data().join("words"), "# none\n").unwrap();
    refused(machine.run(&["scan", &file]), 1, "the list of words cannot be read");
    fs::write(machine.data().join("words"), "x\n").unwrap();
    fs::write(machine.data().join("rules.toml"), "title = 'none'\n").unwrap();
    refused(machine.run(&["publish", &file, "--local", "--yes"]), 1, "the rules are empty");
}

#[test]
fn nothing_is_read_from_where_the_conversation_is_or_where_one_stands() {
    let machine = Machine::new();
    let file = tickets(&machine);
    for name in ["rules.toml", "words", ".gitleaks.toml", "home/.gitleaks.toml"] {
        machine.file(name, "not even TOML [");
    }
    let run = common::finished(machine.command(&["scan", &file]).current_dir(machine.path("")));
    run.ends_with(0);
}

#[test]
fn rules_that_cannot_be_used_stop_everything() {
    let machine = Machine::new();
    let file = tickets(&machine);
    let absent = machine.path("absent.toml");
    refused(machine.run(&["scan", &file, "--rules", absent.to_str().unwrap()]), 1, "absent.toml");
    for (text, why) in
        [("", "the rules are empty"), ("x = [", "line 1"), ("[[rules]]\nid='a'\nregex='(?=x)'\n", "rule a")]
    {
        let rules = machine.file("bad.toml", text);
        refused(machine.run(&["publish", &file, "--local", "--yes", "--rules", &rules]), 1, why);
    }
    refused(machine.run(&["scan", &file, "--deny", "a("]), 2, "--deny");
    refused(machine.run(&["scan", &file, "--deny", "x*"]), 2, "the empty text");
}

#[test]
fn a_rules_file_may_extend_one_beside_it() {
    let machine = Machine::new();
    let file = tickets(&machine);
    machine.file("org/base.toml", RULES);
    let rules = machine.file("org/team.toml", "[extend]\npath = 'base.toml'\n[[rules]]\nid='p'\npath='x'\n");
    let run = machine.run(&["scan", &file, "--rules", &rules, "--json"]).ends_with(3);
    assert_eq!(rules_found(&run.json()), ["ticket", "ticket", "ticket"]);
    assert!(run.err.contains("rule p looks at paths only"), "{}", run.err);
    let quiet = machine.run(&["scan", &file, "--rules", &rules, "--quiet"]).ends_with(3);
    assert_eq!(quiet.err, "");
}

#[test]
fn a_pattern_covers_what_it_matches_now() {
    let machine = Machine::new();
    let file = tickets(&machine);
    let run = machine.ok(&["decide", &file, "--cover-pattern", "AC-[0-9]+"]);
    assert!(run.err.contains("2 different texts covered"), "{}", run.err);
    assert!(run.out.contains("2 covered by you") && run.out.contains("2 places"), "{}", run.out);
    for (_, bytes) in machine.stored() {
        assert!(!contains(&bytes, "AC-1") && !contains(&bytes, "AC-["), "neither pattern nor match is kept");
    }
    let plan = machine.ok(&["publish", &file, "--local", "--dry-run", "--json"]).json();
    assert_eq!(plan["writes"][1]["record"]["text"], "See ███ and ███ for Halvorsen.");
    refused(machine.run(&["decide", &file, "--cover-pattern", "nothing like it"]), 1, "nothing in this conversation");
    refused(machine.run(&["decide", &file, "--cover-pattern", "a("]), 2, "the pattern to cover");
}

#[test]
fn words_and_findings_are_uncovered_by_name_and_number() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    let stand = machine.ok(&["decide", &file, "--cover", "branch", "--cover-findings", "--json"]).json();
    assert_eq!(stand["undecided"], 0);
    let word = stand["words"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!((word.len(), &stand["words"][0]["places"]), (8, &json!(1)));
    let stand = machine.ok(&["decide", &file, "--uncover", &word, "--uncover", "1", "--json"]).json();
    assert_eq!((&stand["coveredWords"], &stand["undecided"]), (&json!(0), &json!(2)));
    refused(machine.run(&["decide", &file, "--uncover", "1"]), 2, "finding 1 is not covered");
    refused(
        machine.run(&["decide", &file, "--uncover", &word]),
        2,
        if word.bytes().all(|b| b.is_ascii_digit()) { "finding" } else { "no word" },
    );
    refused(machine.run(&["decide", &file, "--uncover", "9"]), 2, "there is no finding 9");
    machine.ok(&["decide", &file, "--allow", "1"]);
    let run = machine.ok(&["decide", &file]);
    assert!(run.out.contains("because: none given"), "{}", run.out);
    assert_eq!(machine.ok(&["decide", &file, "--reopen", "1", "--json"]).json()["undecided"], 2);
    refused(machine.run(&["decide", &file, "--reopen", "1"]), 2, "was not decided about");
}

#[test]
fn turns_are_withheld_by_what_was_found_in_them() {
    let machine = Machine::new();
    let file = machine.file("session.jsonl", with_secret());
    for rule in ["github-token", "b"] {
        let stand = machine.ok(&["decide", &file, "--withhold-turns-with", rule, "--json"]).json();
        assert_eq!((&stand["withheld"], &stand["undecided"]), (&json!([3, 4]), &json!(0)), "{rule}");
        machine.ok(&["decide", &file, "--publish", "1-4"]);
    }
    refused(
        machine.run(&["decide", &file, "--withhold-turns-with", "nonsense"]),
        2,
        "no turn has a finding of nonsense",
    );
}

#[test]
fn a_title_with_a_secret_is_refused_and_one_with_a_covered_word_is_kept_with_its_bar() {
    let machine = Machine::new();
    let file = tickets(&machine);
    let token = github_token();
    for option in ["--title", "--description"] {
        let error = refused(
            machine.run(&["decide", &file, option, &format!("On {token}"), "--withhold", "1"]),
            1,
            "github-token",
        );
        assert!(!error.contains(&token), "{error}");
    }
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["withheld"], json!([]), "all of it or nothing");
    machine.ok(&["decide", &file, "--cover", "Halvorsen", "--title", "For Halvorsen"]);
    for (path, bytes) in machine.stored() {
        assert!(!contains(&bytes, &token) && !contains(&bytes, "Halvorsen"), "{}", path.display());
    }
    assert_eq!(machine.ok(&["decide", &file, "--json"]).json()["title"], "For ███");
}

#[test]
fn a_changed_text_or_rule_reopens_what_was_allowed() {
    let machine = Machine::new();
    let turns = |text: &str| claude_code("c", &[("user", text), ("assistant", "Well.")]);
    let rules = machine.file("org.toml", RULES);
    let file = machine.file("c.jsonl", turns("See AC-17."));
    let undecided =
        |rules: &str| machine.run(&["scan", &file, "--rules", rules, "--json"]).json()["undecided"].as_u64().unwrap();
    machine.ok(&["decide", &file, "--rules", &rules, "--allow", "1", "--because", "public"]);
    assert_eq!(undecided(&rules), 0);
    let wider = machine.file("wider.toml", RULES.replace("[0-9]+", "[0-9a-f]+"));
    assert_eq!(undecided(&wider), 1);
    machine.file("c.jsonl", turns("See AC-17, or not."));
    assert_eq!(undecided(&rules), 1);
}

#[test]
fn a_scan_lists_few_places_of_many_and_says_what_to_do() {
    let machine = Machine::new();
    let rules = machine.file("org.toml", RULES);
    let text: String = (0..50).map(|n| format!("AC-{n} ")).collect();
    let file = machine.file("many sessions.jsonl", claude_code("m", &[("user", &text), ("assistant", "AC-1 it is.")]));
    let run = machine.run(&["scan", &file, "--rules", &rules]).ends_with(3);
    assert!(run.out.contains("Ticket  51 times in 2 turns\n") && run.out.contains("and 43 more"), "{}", run.out);
    assert!(run.out.contains(&format!("onrecord decide '{file}' --cover-findings")), "{}", run.out);
    assert!(run.out.contains("--allow 1 --because WHY") && run.out.contains("--withhold 1,2"), "{}", run.out);
    assert!(run.out.lines().count() < 20, "{}", run.out);
    assert!(!run.out.contains("AC-"), "no value is printed: {}", run.out);

    let suggestion = machine.file("s.toml", "[[rule]]\nid='s'\nname='Maybe'\ntier='E'\npattern='AC-[0-9]+'\n");
    let run = machine.run(&["scan", &file, "--rules", &suggestion]).ends_with(0);
    assert!(run.out.starts_with("\nSuggestions") || run.out.starts_with("Suggestions"), "{}", run.out);
    assert!(run.out.contains("Everything that must be decided is decided."), "{}", run.out);
}
