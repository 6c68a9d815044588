//! The person's own rules, words and patterns.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::{collections::HashMap, time::Instant};

use common::{draft, github_token, key};
use onrecord_redact::{
    Decision, Decisions, Engine, EngineBuilder, Error, Finding, RulesFile, Tier, WordList, scan, seal,
};

fn engine(rules: &str) -> Engine {
    Engine::builder().rules(RulesFile::parse(rules).unwrap()).build().unwrap()
}

fn findings(engine: &Engine, text: &str) -> Vec<Finding> {
    scan(&draft(&[text]), engine, &Decisions::default(), &key()).unwrap().findings
}

/// Rule and value of each finding of the person's own rules.
fn found(engine: &Engine, text: &str) -> Vec<(String, String)> {
    let own = findings(engine, text).into_iter().filter(|f| f.tier == Tier::G);
    own.map(|f| (f.rule.to_string(), text[f.start..f.end].to_owned())).collect()
}

/// The values that one rule of gitleaks' format finds.
fn values(rule: &str, text: &str) -> Vec<String> {
    let engine = engine(&format!("[[rules]]\nid = 'acme-x1'\n{rule}\n"));
    found(&engine, text).into_iter().map(|(_, value)| value).collect()
}

fn refused(text: &str) -> String {
    RulesFile::parse(text).and_then(|file| Engine::builder().rules(file).build()).unwrap_err().to_string()
}

fn building(builder: EngineBuilder) -> Engine {
    builder.build().unwrap()
}

// Our own format.

#[test]
fn a_rule_of_our_format_needs_only_id_name_and_pattern() {
    let engine = engine("[[rule]]\nid = 'ticket'\nname = 'Ticket'\npattern = 'ACME-[0-9]{4,}'\n");
    let all = findings(&engine, "see ACME-12345, and ACME-77777.");
    assert_eq!(all.len(), 2);
    assert_eq!((all[0].rule.as_str(), all[0].name.as_str(), all[0].tier), ("ticket", "Ticket", Tier::G));
    assert!(all[0].blocking && all[0].allowable);
    assert_eq!((all[1].start, all[1].end), (20, 30));
}

#[test]
fn a_rule_of_our_format_with_keywords_is_tried_where_they_stand() {
    let rule =
        "[[rule]]\nid = 'acme-key'\nname = 'Key'\ntier = 'B'\npattern = 'acme_([a-z0-9]{8,})'\nkeywords = ['acme_']\n";
    let all = findings(&engine(rule), "key acme_a1b2c3d4e5 and xacme_a1b2c3d4");
    assert_eq!(all.iter().map(|f| (f.start, f.end, f.tier)).collect::<Vec<_>>(), [(9, 19, Tier::B)]);
}

#[test]
fn what_a_rule_of_our_format_says_of_its_value_holds_without_keywords_too() {
    let rule = "[[rule]]\nid = 'p'\nname = 'P'\npattern = 'pin ([0-9a-z]+)'\nstop = ['none']\nchecks = ['digit']\n";
    assert_eq!(
        found(&engine(rule), "pin none, pin abcd, pin ab12-rest, spin x9y8"),
        [("p".to_owned(), "ab12-rest".to_owned())]
    );
}

#[test]
fn a_suggestion_of_ones_own_never_blocks() {
    let rule = "[[rule]]\nid = 's'\nname = 'S'\ntier = 'E'\nblocking = true\npattern = 'maybe[0-9]+'\n";
    let all = findings(&engine(rule), "maybe77");
    assert!(!all[0].blocking);
}

#[test]
fn unknown_fields_of_our_format_are_refused_by_name() {
    let error = refused("[[rule]]\nid = 'x'\nname = 'X'\npattern = 'x'\nentropie = 3\n");
    assert!(error.contains("entropie"), "{error}");
}

#[test]
fn no_rule_may_claim_to_be_the_persons_own_secrets() {
    assert!(refused("[[rule]]\nid = 'x'\nname = 'X'\ntier = 'A'\npattern = 'x'\n").contains("tier A"));
}

// Files that must not be used.

#[test]
fn files_without_a_rule_are_refused() {
    for text in ["", "# nothing\n", "title = 'x'\n", "rule = []\n", "rules = []\n", "[extend]\nuseDefault = true\n"] {
        assert!(matches!(RulesFile::parse(text), Err(Error::NoRules)), "{text:?}");
    }
    let only_paths = "[[rules]]\nid = 'p'\npath = 'x'\n";
    assert!(matches!(RulesFile::parse(only_paths), Err(Error::NoRules)));
}

#[test]
fn a_file_that_is_no_toml_is_refused_with_its_line() {
    let error = refused("[[rules]]\nid = 'x'\nregex = 'never closed\n");
    assert!(error.contains("line 3"), "{error}");
}

#[test]
fn all_of_toml_1_can_be_read() {
    let text = "rules = [\n  { id = \"a\", regex = '''(?i)x\n{3}''', keywords = [\"x\",\n ], },\n]\n";
    assert_eq!(RulesFile::parse(text).unwrap().rule_count(), 1);
}

#[test]
fn a_file_too_long_or_of_too_many_rules_is_refused() {
    assert!(refused(&format!("#{}\n", "x".repeat(2_000_000))).contains("longer than 2 MB"));
    let many: String = (0..5001).map(|n| format!("[[rules]]\nid='r{n}'\nregex='a{n}b'\n")).collect();
    assert!(refused(&many).contains("5001"));
}

#[test]
fn rules_that_cannot_be_compiled_are_refused_by_id() {
    for (regex, why) in [
        ("a(?=b)", "looks ahead"),
        ("(a)\\1", "refers back"),
        ("a(b", "unclosed"),
        ("((a{500}){500}){500}", "size"),
        ("[z-a]", "range"),
    ] {
        let error = refused(&format!("[[rules]]\nid = 'mine'\nregex = '''{regex}'''\n"));
        assert!(error.starts_with("rule mine: ") && error.contains(why), "{regex}: {error}");
    }
    assert!(refused("[[rules]]\nid = 'mine'\nregex = '(a)'\nsecretGroup = 2\n").contains("no group 2"));
    assert!(refused("[[rules]]\nid = 'mine'\ndescription = 'x'\n").contains("rule mine: it has no regex"));
    assert!(refused("[[rules]]\nid = 'mine'\nregex = 7\n").contains("`regex` is no string"));
    assert!(refused("[[rules]]\nid='mine'\nregex='a'\n[[rules]]\nid='mine'\nregex='b'\n").contains("two rules"));
    assert!(refused("[[rules]]\nregex = 'a'\n").contains("no id"));
}

#[test]
fn files_from_the_network_are_refused() {
    let error = refused("[extend]\nurl = 'https://rules.example/x.toml'\n[[rules]]\nid='a'\nregex='a'\n");
    assert!(error.contains("not fetched"), "{error}");
}

// What gitleaks' fields mean.

#[test]
fn the_secret_is_the_group_asked_for_or_the_first_that_is_not_empty_or_all() {
    let text = "acme: k1-AbCdEf12 (k2=)";
    assert_eq!(values("regex = 'k1-[A-Za-z0-9]+'", text), ["k1-AbCdEf12"]);
    assert_eq!(values("regex = 'k(x)?1-([A-Za-z0-9]+)'", text), ["AbCdEf12"]);
    assert_eq!(values("regex = '(acme): (k1)-([A-Za-z0-9]+)'\nsecretGroup = 3", text), ["AbCdEf12"]);
    assert_eq!(values("regex = '\\s(k1-[A-Za-z0-9]+)'\nSecretGroup = 1", text), ["k1-AbCdEf12"]);
}

#[test]
fn the_entropy_must_be_above_the_threshold() {
    let rule = "regex = 'acme_([a-z0-9]{8})'\nentropy = 2.0";
    // Four different bytes, twice each: exactly two bits.
    assert_eq!(values(rule, "acme_abcdabcd acme_aaaabbbb"), Vec::<String>::new());
    assert_eq!(values(rule, "acme_abcdefgh"), ["abcdefgh"]);
}

#[test]
fn a_rule_is_tried_only_where_one_of_its_keywords_stands_in_any_case() {
    let rule = "regex = '''[0-9]{6,}'''\nkeywords = ['Acme', 'other']";
    assert_eq!(values(rule, "number 1234567"), Vec::<String>::new());
    assert_eq!(values(rule, "number 1234567\n\n\nof ACME"), ["1234567"]);
    assert_eq!(values("regex = '''[0-9]{6,}'''\nkeywords = ['', 'acme']", "number 1234567"), ["1234567"]);
}

#[test]
fn matches_over_several_lines_are_found() {
    let rule = "regex = '''(?s)BEGIN ACME(.{10,}?)END ACME'''\nkeywords = ['begin acme']";
    assert_eq!(values(rule, "x\nBEGIN ACME\nline one\nline two\nEND ACME"), ["line one\nline two"]);
}

#[test]
fn a_tail_of_the_token_belongs_to_it() {
    assert_eq!(values("regex = '''acme_[a-z]{4}'''", "acme_abcdefgh-9 end"), ["acme_abcdefgh-9"]);
}

#[test]
fn a_rules_allowlist_allows_by_regex_and_by_stopword() {
    let rule = |list: &str| format!("regex = '''key=([a-z0-9]+)'''\n{list}");
    let text = "key=abc1 key=sample9 key=real77";
    assert_eq!(values(&rule("[rules.allowlist]\nregexes = ['^abc']"), text), ["sample9", "real77"]);
    assert_eq!(values(&rule("[[rules.allowlists]]\nstopwords = ['SAMPLE']"), text), ["abc1", "real77"]);
    let both = "[[rules.allowlists]]\ncondition = 'AND'\nregexes = ['9$', '1$']\nstopwords = ['sample']";
    assert_eq!(values(&rule(both), text), ["abc1", "real77"]);
    let either = "[[rules.allowlists]]\ncondition = '||'\nregexes = ['1$']\nstopWords = ['sample']";
    assert_eq!(values(&rule(either), text), ["real77"]);
    let two = "[[rules.allowlists]]\nregexes = ['1$']\n[[rules.allowlists]]\nstopwords = ['real']";
    assert_eq!(values(&rule(two), text), ["sample9"]);
}

#[test]
fn an_allowlist_looks_at_secret_match_or_line() {
    let rule = |target: &str, regex: &str| {
        format!("regex = '''key=([a-z0-9]+)'''\n[[rules.allowlists]]\nregexTarget = '{target}'\nregexes = ['{regex}']")
    };
    let text = "test key=abc1\nkey=abc2";
    assert_eq!(values(&rule("secret", "^key"), text), ["abc1", "abc2"]);
    assert_eq!(values(&rule("match", "^key"), text), Vec::<String>::new());
    assert_eq!(values(&rule("line", "^test"), text), ["abc2"]);
}

#[test]
fn allowlists_of_paths_and_commits_allow_nothing_and_say_so() {
    for list in ["paths = ['x']", "commits = ['abc']", "condition = 'AND'\npaths = ['x']\nregexes = ['.']"] {
        let text = format!("[[rules]]\nid = 'a'\nregex = 'acme[0-9]+'\n[[rules.allowlists]]\n{list}\n");
        let file = RulesFile::parse(&text).unwrap();
        assert!(file.notices().iter().any(|n| n.contains("paths or commits")), "{:?}", file.notices());
        assert_eq!(found(&building(Engine::builder().rules(file)), "acme77").len(), 1, "{list}");
    }
    let or = "[[rules]]\nid = 'a'\nregex = 'acme[0-9]+'\n[[rules.allowlists]]\npaths = ['x']\nregexes = ['77']\n";
    assert_eq!(found(&engine(or), "acme77 acme88").len(), 1);
}

#[test]
fn a_global_allowlist_bears_on_all_rules_of_its_file_and_on_no_other() {
    let token = github_token();
    let text = format!("acme77 corp77 corp78 {token}");
    let rules = "[allowlist]\nregexes = ['77', '^gh']\nstopwords = ['ghp']\n[[rules]]\nid='a'\nregex='acme[0-9]+'\n\
                 [[rules]]\nid='c'\nregex='corp[0-9]+'\n";
    let engine = engine(rules);
    assert_eq!(found(&engine, &text), [("c".to_owned(), "corp78".to_owned())]);
    assert!(
        findings(&engine, &text).iter().any(|f| f.tier == Tier::B && f.blocking),
        "the token is found all the same"
    );
}

#[test]
fn a_global_allowlist_with_targets_bears_on_those() {
    let rules = |target: &str| {
        format!(
            "[[allowlists]]\ntargetRules = ['{target}']\nregexes = ['77']\n[[rules]]\nid='a'\nregex='acme[0-9]+'\n\
             [[rules]]\nid='c'\nregex='corp[0-9]+'\n"
        )
    };
    assert_eq!(found(&engine(&rules("a")), "acme77 corp77"), [("c".to_owned(), "corp77".to_owned())]);
    assert!(refused(&rules("nobody")).contains("nobody"));
}

#[test]
fn rules_of_paths_alone_are_left_out_with_a_notice() {
    let file = RulesFile::parse("[[rules]]\nid='p'\npath='x'\n[[rules]]\nid='a'\nregex='a9+'\n").unwrap();
    assert_eq!(file.rule_count(), 1);
    assert!(file.notices()[0].contains("rule p looks at paths only"));
}

#[test]
fn what_only_another_program_can_do_is_named() {
    let text = "filter = 'x'\n[[rules]]\nid = 'a'\nregex = 'acme[0-9]+'\nfilter = 'y'\ntokenEfficiency = true\n\
                severity = 'high'\ntags = ['x']\n[[rules.required]]\nid = 'b'\n";
    let notices = RulesFile::parse(text).unwrap().notices().join("\n");
    for name in ["`filter`", "`tokenefficiency`", "`severity`", "`required`"] {
        assert!(notices.contains(name), "{name}: {notices}");
    }
    assert!(!notices.contains("tags"));
}

#[test]
fn an_id_that_is_taken_does_not_take_the_place_of_ours() {
    let engine = engine("[[rules]]\nid = 'private-key'\nregex = 'acme[0-9]+'\n");
    assert_eq!(found(&engine, "acme77"), [("user:private-key".to_owned(), "acme77".to_owned())]);
}

#[test]
fn files_may_extend_each_other_twice() {
    let files = HashMap::from([
        (
            "base/one.toml",
            "[extend]\npath = 'two.toml'\n[[rules]]\nid='a'\ndescription='Base'\nregex='one[0-9]+'\nkeywords=['one']\nentropy=9\n",
        ),
        (
            "base/two.toml",
            "[extend]\npath = '/three.toml'\n[[rules]]\nid='b'\nregex='two[0-9]+'\n[[rules]]\nid='off'\nregex='off[0-9]+'\n",
        ),
    ]);
    let mut asked = Vec::new();
    let top =
        "[extend]\npath = 'base/one.toml'\ndisabledRules = ['off', 'github-token']\n[[rules]]\nid='a'\nentropy=0.5\n";
    let file = RulesFile::parse_with(top, &mut |path| {
        asked.push(path.to_owned());
        files.get(path).map(|t| (*t).to_owned()).ok_or_else(|| "absent".to_owned())
    })
    .unwrap();
    assert_eq!(asked, ["base/one.toml", "base/two.toml"]);
    let notices = file.notices().join("\n");
    assert!(notices.contains("/three.toml is not read") && notices.contains("github-token"), "{notices}");
    let engine = building(Engine::builder().rules(file));
    let token = github_token();
    let text = format!("one123 two45 off67 {token}");
    let own = found(&engine, &text);
    assert_eq!(own, [("a".to_owned(), "one123".to_owned()), ("b".to_owned(), "two45".to_owned())]);
    let all = findings(&engine, &text);
    assert_eq!(all[0].name, "Base");
    assert!(all.iter().any(|f| f.tier == Tier::B), "no file disables a rule of ours");
    let error = RulesFile::parse_with(top, &mut |_| Err("it is not there".to_owned())).unwrap_err().to_string();
    assert!(error.contains("base/one.toml: it is not there"), "{error}");
}

#[test]
fn use_default_leaves_our_rules_as_they_are() {
    let text = "[extend]\nuseDefault = true\ndisabledRules = ['generic-api-key']\n[[rules]]\nid='generic-api-key'\n\
                [[rules.allowlists]]\nstopwords=['x']\n[[rules]]\nid='a'\nregex='acme[0-9]+'\n";
    let file = RulesFile::parse(text).unwrap();
    let notices = file.notices().join("\n");
    assert!(notices.contains("the rules that come with onrecord stay"), "{notices}");
    assert!(notices.contains("generic-api-key only changes a rule that comes with gitleaks"), "{notices}");
    assert_eq!(file.rule_count(), 1);
}

#[test]
fn many_rules_without_keywords_find_what_each_of_them_finds() {
    let rules: String = (0..250).map(|n| format!("[[rules]]\nid='r{n}'\nregex='''k{n}x([a-z]+)'''\n")).collect();
    let engine = engine(&rules);
    let own = found(&engine, "k7xabc k249xdef é k100xghi k250xjkl");
    let expected = [("r7", "abc"), ("r249", "def"), ("r100", "ghi")];
    assert_eq!(own, expected.map(|(rule, value)| (rule.to_owned(), value.to_owned())));
}

// Denied patterns.

#[test]
fn a_denied_pattern_blocks_and_cannot_be_allowed() {
    let engine = building(Engine::builder().deny(r"(?i)project\s+m[uü]nster"));
    let text = "the Project\nMÜNSTER and project Munster";
    let all = findings(&engine, text);
    assert_eq!(all.iter().map(|f| &text[f.start..f.end]).collect::<Vec<_>>(), ["Project\nMÜNSTER", "project Munster"]);
    assert!(all.iter().all(|f| f.rule == "deny" && f.tier == Tier::G && f.undecided() && !f.allowable));
    let mut decisions = Decisions::default();
    assert!(matches!(decisions.decide(&all[0], Decision::Allow, Some("why")), Err(Error::NotAllowable { .. })));
    for finding in &all {
        decisions.decide(finding, Decision::Cover, None).unwrap();
    }
    let reviewed = seal(&draft(&[text]), &engine, &decisions, &key()).unwrap();
    assert_eq!(common::texts(&reviewed), ["the ███ and ███"]);
}

#[test]
fn a_denied_pattern_is_named_by_its_number_and_not_by_its_words() {
    let engine = building(Engine::builder().deny("nothing9").deny("Halvorsen"));
    let all = findings(&engine, "to Halvorsen");
    assert_eq!(all[0].name, "Denied by pattern 2");
    assert!(!format!("{all:?}{engine:?}").contains("Halvorsen"));
}

#[test]
fn denied_patterns_that_cannot_be_used_are_refused() {
    for pattern in ["a(", "x*", "", "(?=a)"] {
        assert!(matches!(Engine::builder().deny(pattern).build(), Err(Error::Rule { .. })), "{pattern:?}");
    }
}

#[test]
fn what_is_covered_is_not_denied_again() {
    let engine = building(Engine::builder().deny("name: .*").deny("[^ ]{3}b?"));
    let mut decisions = Decisions::default();
    let draft = draft(&["name: Dana Ngo", "and xyzb ███"]);
    for finding in &scan(&draft, &engine, &decisions, &key()).unwrap().findings {
        decisions.decide(finding, Decision::Cover, None).unwrap();
    }
    let reviewed = seal(&draft, &engine, &decisions, &key()).unwrap();
    let again = common::reopened(&reviewed);
    assert!(scan(&again, &engine, &Decisions::default(), &key()).unwrap().findings.is_empty(), "{again:?}");
}

// Words.

fn with_words(list: &str) -> Engine {
    building(Engine::builder().words(WordList::parse(list).unwrap()))
}

#[test]
fn a_listed_word_is_found_whole_and_in_any_case() {
    let engine = with_words("# clients\nacme\nHalvorsen & Sons\n\n  Zürich  \n4711\nΟΔΟΣ\n東京\n");
    for (text, expected) in [
        ("ACME, Acme's, acme_corp and acme2", vec!["ACME", "Acme", "acme", "acme"]),
        ("acmes and xacme are others", vec![]),
        ("by halvorsen  &\nsons.", vec!["halvorsen  &\nsons"]),
        ("ZÜRICH zürich Zürich zürichs", vec!["ZÜRICH", "zürich", "Zürich"]),
        ("no. 147112", vec!["4711"]),
        ("οδός is not οδος", vec!["οδος"]),
        ("in 東京都", vec![]),
        ("in 東京!", vec!["東京"]),
        ("a line\\nAcme", vec!["Acme"]),
        ("# clients", vec![]),
    ] {
        let own: Vec<_> = found(&engine, text).into_iter().map(|(_, value)| value).collect();
        assert_eq!(own, expected, "{text}");
    }
}

#[test]
fn a_listed_word_blocks_until_it_is_covered_or_allowed() {
    let engine = with_words("acme");
    let all = findings(&engine, "for Acme");
    assert_eq!(
        (all[0].rule.as_str(), all[0].tier, all[0].blocking, all[0].allowable),
        ("deny-word", Tier::G, true, true)
    );
    let mut decisions = Decisions::default();
    decisions.decide(&all[0], Decision::Allow, Some("they agreed")).unwrap();
    assert_eq!(scan(&draft(&["for Acme"]), &engine, &decisions, &key()).unwrap().undecided(), 0);
}

#[test]
fn lists_that_hold_no_word_or_a_bar_are_refused() {
    for list in ["", "\n# a\n", "a\nb█\n"] {
        assert!(matches!(WordList::parse(list), Err(Error::Words(_))), "{list:?}");
    }
    assert!(WordList::parse(&"x\n".repeat(1_000_001)).is_err());
    assert!(!format!("{:?}", WordList::parse("Halvorsen").unwrap()).contains("alvorsen"));
}

#[test]
fn neither_words_nor_their_number_change_the_rules_hash() {
    assert_eq!(with_words("a1").rules_hash(), with_words("b2\nc3").rules_hash());
    let deny = |pattern: &str| building(Engine::builder().deny(pattern)).rules_hash().to_owned();
    assert_ne!(deny("a1"), deny("b2"));
}

// Hostile text.

#[test]
fn text_made_to_slow_own_rules_down_does_not() {
    let rules = "[[rules]]\nid='a'\nregex='''x(?:[\\s\\S]*never)?'''\n[[rules]]\nid='b'\nregex='''x+y'''\n\
                 [[rules]]\nid='c'\nregex='''key=(\\S+)'''\n[[rules.allowlists]]\nregexTarget='line'\nregexes=['never']\n\
                 [[rule]]\n";
    let own = "[[rule]]\nid='o'\nname='O'\npattern='x(?:.*never)?'\nleft=false\n";
    let rules = rules.trim_end_matches("[[rule]]\n");
    let engine = building(
        Engine::builder()
            .rules(RulesFile::parse(rules).unwrap())
            .rules(RulesFile::parse(own).unwrap())
            .words(WordList::parse("x y\nxx").unwrap())
            .without_views(),
    );
    for text in ["x".repeat(60_000), "key=a".repeat(12_000), "x ".repeat(30_000), "█x".repeat(20_000)] {
        let start = Instant::now();
        findings(&engine, &text);
        assert!(start.elapsed().as_secs() < 60, "{:?}: {:?}", &text[..5.min(text.len())], start.elapsed());
    }
}
