//! Texts made to be slow, large or confusing: each is done with in time that grows with its size, or refused by name.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "tests fail loudly, and say what they measured"
)]

mod common;

use std::time::{Duration, Instant};

use common::{
    draft, key, rules, scanned, step,
    story::{ALNUM, BASE64, HEX, base64, body, github, made},
    texts, try_sealed,
};
use onrecord_redact::{BAR, Decision, Decisions, Draft, Error, scan};

/// How much smaller the largest texts are where nothing is optimised; `--release` tries them whole.
const SMALLER: usize = if cfg!(debug_assertions) { 20 } else { 1 };
/// Nothing here may take longer, whatever the machine.
const LIMIT: Duration = Duration::from_secs(120);
/// Four times the text may take this many times as long: quadratic work takes sixteen.
const RATIO: f64 = 9.0;
/// Below this, what is measured is not the text.
const NOISE: Duration = Duration::from_millis(60);

/// What this thread has worked since it was started: time on a processor where the system counts it, since a busy machine
/// is not slow code, else time.
struct Work {
    began: Instant,
    on_processor: Option<Duration>,
}

impl Work {
    fn start() -> Self {
        Self { began: Instant::now(), on_processor: Self::on_processor() }
    }

    fn on_processor() -> Option<Duration> {
        let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(stat.split_whitespace().next()?.parse().ok()?)).filter(|work| !work.is_zero())
    }

    fn elapsed(&self) -> Duration {
        let since = |before| Self::on_processor().map(|now| now - before);
        self.on_processor.and_then(since).unwrap_or_else(|| self.began.elapsed())
    }
}

/// Scans, covers what is found, seals, and passes the gate; what was refused is said by name.
fn done_with(draft: &Draft, mut decisions: Decisions) -> Result<Vec<String>, Error> {
    let found = scanned(draft, &decisions);
    for finding in &found.findings {
        decisions.decide(finding, Decision::Cover, None)?;
    }
    let reviewed = try_sealed(draft, &decisions)?;
    let shown: Vec<String> = common::everything(&reviewed);
    for said in &shown {
        reviewed.gate(&body(said)).unwrap_or_else(|hit| panic!("the gate stops what was sealed: {}", hit.rule));
    }
    Ok(shown)
}

/// The work on four times as much is about four times the work.
#[track_caller]
fn grows_with_the_text(what: &str, size: usize, make: impl Fn(usize) -> (Draft, Decisions)) {
    let measure = |size: usize| {
        let (draft, decisions) = make(size);
        let started = Work::start();
        if let Err(error) = done_with(&draft, decisions) {
            assert!(matches!(error, Error::Unsettled | Error::Matcher(_)), "{what}: {error}");
        }
        let took = started.elapsed();
        assert!(took < LIMIT, "{what}: {size} took {took:?}");
        took
    };
    measure(size / 8);
    // A busy machine is slow at times; slow code is slow each time.
    let mut measured = Vec::new();
    for _ in 0..3 {
        let (small, large) = (measure(size), measure(size * 4));
        eprintln!("{what}: {size} {small:?}, {} {large:?}", size * 4);
        if large.as_secs_f64() < RATIO * small.max(NOISE).as_secs_f64() {
            return;
        }
        measured.push((small, large));
    }
    panic!("{what}: {measured:?}");
}

/// The same of one text, with nothing decided before.
#[track_caller]
fn text_grows(what: &str, size: usize, make: impl Fn(usize) -> String) {
    grows_with_the_text(what, size, |size| (draft(&["Go on.", &make(size)]), Decisions::default()));
}

fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len() + 1)
}

/// The most memory this process had, in bytes; none where the system does not say.
fn most_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<usize>().ok()? * 1024)
}

#[test]
fn a_line_of_50_megabytes() {
    let (token, token_body) = github(1);
    let unit = "the quick brown fox jumps over the lazy dog and 17 other things (see section 4), ";
    let mut line = repeated(unit, 50_000_000 / SMALLER);
    let near_its_end = unit.len() * (49_000_000 / SMALLER / unit.len());
    line.insert_str(near_its_end, &format!("{token} "));
    let size = line.len();
    let all = draft(&[&line]);
    drop(line);
    let before = most_memory();
    let started = Work::start();
    let shown = done_with(&all, Decisions::default()).unwrap();
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    assert_eq!(shown.len(), 1);
    assert!(!shown[0].contains(&token_body) && shown[0].matches(BAR).count() == 1);
    // The text, its sealed copy, its JSON, and what they are searched in: never many times the text.
    if let (Some(before), Some(after)) = (before, most_memory()) {
        eprintln!("50 MB: {:?}, {} MB more", started.elapsed(), (after - before) / 1_000_000);
        assert!(after - before < size * 8 + (64 << 20), "{} MB", (after - before) / 1_000_000);
    }
}

#[test]
fn a_million_findings() {
    // One value, and as many places: a fifth of a million is listed, more is refused by name.
    let (token, token_body) = github(2);
    let said = |many: usize| format!("{token}\n").repeat(many);
    let mut held = draft(&[&said(1_000_000 / SMALLER.min(4)), "Go on."]);
    let error = scan(&held, &rules(), &Decisions::default(), &key()).unwrap_err();
    assert!(matches!(error, Error::TooManyFindings { most: 200_000, turn: Some(1), .. }), "{error}");
    assert!(error.to_string().contains("turn 1"), "{error}");
    // Held back, it is no hindrance, and what is in it is covered elsewhere.
    let mut decisions = Decisions::default();
    decisions.withhold(&held.turns[0].id);
    held.turns[0].text = said(1_000_000 / SMALLER / SMALLER);
    held.turns[1].text = format!("Not {token}.");
    let found = scanned(&held, &decisions).findings;
    assert!(found.len() <= 1_001, "{}", found.len());
    decisions.decide(&found[found.len() - 1], Decision::Cover, None).unwrap();
    assert_eq!(texts(&try_sealed(&held, &decisions).unwrap())[1], "Not ███.");
    drop(held);

    let many = 200_000 / SMALLER;
    let all = draft(&[&said(many)]);
    let started = Work::start();
    let found = scanned(&all, &Decisions::default());
    assert_eq!(found.findings.len(), many);
    assert_eq!(found.undecided(), many);
    let error = try_sealed(&all, &Decisions::default()).unwrap_err();
    assert!(error.to_string().len() < 1000, "the message names the first of them");
    let mut decisions = Decisions::default();
    decisions.decide(&found.findings[0], Decision::Cover, None).unwrap();
    let reviewed = try_sealed(&all, &decisions).unwrap();
    assert!(!texts(&reviewed)[0].contains(&token_body[..8]));
    reviewed.gate(&body(texts(&reviewed)[0])).unwrap();
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    eprintln!("a million findings: {:?}", started.elapsed());
}

#[test]
fn more_different_values_take_more_time_in_proportion() {
    let values = |count: usize| {
        let lines: Vec<String> = (0..count).map(|n| github(u64::try_from(n).unwrap()).0).collect();
        lines.join("\n")
    };
    text_grows("different values", 500, values);
}

#[test]
fn a_hundred_thousand_different_covered_values() {
    let lines: Vec<String> = (0..100_000 / SMALLER).map(|n| github(u64::try_from(n).unwrap()).0).collect();
    let all = draft(&[&lines.join("\n"), &format!("the last was {}", lines.last().unwrap())]);
    let started = Work::start();
    match done_with(&all, Decisions::default()) {
        Ok(shown) => assert_eq!(shown[1], "the last was ███"),
        Err(error) => assert!(matches!(error, Error::Matcher(_)), "{error}"),
    }
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    eprintln!("100,000 values: {:?}, {:?} MB", started.elapsed(), most_memory().map(|m| m / 1_000_000));
}

#[test]
fn ten_thousand_covered_words() {
    let mut decisions = Decisions::default();
    let words: Vec<String> =
        (0..10_000 / SMALLER).map(|n| format!("{}{n}", made(u64::try_from(n).unwrap(), ALNUM, 6))).collect();
    let started = Work::start();
    for word in &words {
        decisions.cover_word(&key(), word).unwrap();
    }
    let said = words.join(" and ");
    let shown = done_with(&draft(&[&said]), decisions).unwrap();
    assert!(words.iter().all(|word| !shown[0].contains(word.as_str())));
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    eprintln!("10,000 words: {:?}", started.elapsed());
}

#[test]
fn bait_for_every_kind_of_rule() {
    for (what, unit) in [
        ("prefixes", "ghp_"),
        ("prefixes in words", "xoxb-sk-ant-api03-glpat-npm_AKIA"),
        ("prefixes of one kind", "sk-ant-api03-"),
        ("almost tokens", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "),
        ("key blocks without end", "-----BEGIN PRIVATE KEY-----\\n"),
        ("key blocks of escapes", "-----BEGIN RSA PRIVATE KEY-----\\nAAAAAAAAAAAAAAAAAAAAAAAA\\n"),
        ("dashes", "-----BEGIN "),
        ("addresses", "://a:"),
        ("addresses and signs", "://a:b@://c:"),
        ("at-signs", "@"),
        ("names of secrets", "password="),
        ("names without values", "api_key = \""),
        ("quotes", "\"'`\"'`"),
        ("headers", "Authorization: Bearer "),
        ("headers in a row", "Cookie: a=b; Cookie: c=d; "),
        ("tokens in three parts", "eyJhbGciOiJIUzI1NiJ9."),
        ("private members", "\"d\":\"\",\"kty\":\"EC\","),
        ("app passwords", "abcd-efgh-"),
        ("numbers", "4111 1111 1111 1111 "),
        ("mail addresses", "a.b.c.d.e-f@x."),
        ("private networks", "10.0.0.10.0.0."),
        ("home folders", "/home/"),
        ("words of a mnemonic", "abandon ability able about "),
        ("crypt hashes", "$2b$10$"),
        ("netrc", "machine x login y password "),
        ("assignments", "a=b=c=d:e:=f=>"),
        ("dots and slashes", "../"),
        ("percent signs", "%2"),
        ("entities", "&#x67;&amp;"),
    ] {
        text_grows(what, 10_000, |size| repeated(unit, size));
    }
}

#[test]
fn base64_of_base64() {
    let (token, token_body) = github(3);
    let nested = |depth: usize| {
        let mut said = format!("export GITHUB_TOKEN={token}");
        for _ in 0..depth {
            said = base64(said.as_bytes());
        }
        said
    };
    // Twice is found.
    for depth in 0..=2 {
        let all = draft(&["Go on.", &format!("it was {} so", nested(depth))]);
        assert!(scanned(&all, &Decisions::default()).undecided() > 0, "{depth} deep");
        let shown = done_with(&all, Decisions::default()).unwrap();
        assert!(shown.iter().all(|s| !s.contains(&nested(depth)) && !s.contains(&token_body)), "{depth} deep");
    }
    // Each time a third longer: fifty times would be more than a billion bytes, so as often as it fits a megabyte, and
    // then fifty different layers of other encodings around each other.
    let mut deep = nested(2);
    while deep.len() < 1_000_000 {
        deep = base64(deep.as_bytes());
    }
    let started = Work::start();
    done_with(&draft(&[&deep]), Decisions::default()).unwrap();
    assert!(started.elapsed() < LIMIT, "{:?}", started.elapsed());
    let mut said = token;
    for _ in 0..50 {
        // Only its first bytes are encoded anew, so that it stays short.
        let head = said.chars().take(60).collect::<String>();
        said = format!("{}.{}", base64(head.as_bytes()), said.chars().skip(60).collect::<String>());
    }
    done_with(&draft(&[&said]), Decisions::default()).unwrap();
    text_grows("base64", 60_000, |size| made(4, BASE64, size));
    text_grows("short pieces of base64", 40_000, |size| repeated("aGVsbG8gd29ybGQ= ", size));
    text_grows("hexadecimal", 60_000, |size| made(5, HEX, size));
}

#[test]
fn bars_everywhere() {
    text_grows("bars", 40_000, |size| repeated("█", size));
    text_grows("bars and letters", 40_000, |size| repeated("█a", size));
    text_grows("tokens, one a line", 20_000, |size| repeated(&format!("{}\n", github(9).0), size));
    text_grows("bars in tokens", 40_000, |size| repeated("ghp_█n0tA█", size));
    let (token, token_body) = github(6);
    text_grows("tokens and bars", 20_000, |size| repeated(&format!("█{token}█"), size));
    let all = draft(&[&format!("█{token}█ {}", token.replace("A", "█A"))]);
    let shown = done_with(&all, Decisions::default()).unwrap();
    assert!(!shown[0].contains(&token_body[..8]));
    assert!(!shown[0].contains("████"), "bars never touch");
}

#[test]
fn many_backslashes_and_a_covered_backslash() {
    let covered = |word: &str| {
        let mut decisions = Decisions::default();
        decisions.cover_word(&key(), word).unwrap();
        decisions
    };
    for word in ["\\", "\\n", "a\\", "n"] {
        grows_with_the_text(&format!("backslashes and {word:?}"), 10_000, |size| {
            (draft(&["Go on.", &"\\".repeat(size)]), covered(word))
        });
        grows_with_the_text(&format!("escapes and {word:?}"), 10_000, |size| {
            (draft(&["Go on.", &repeated("\\n\\\\\"", size)]), covered(word))
        });
    }
    let shown = done_with(&draft(&[&"\\".repeat(200_000 / SMALLER)]), covered("\\")).unwrap();
    assert_eq!(shown, [BAR]);
}

#[test]
fn only_characters_that_take_no_room() {
    text_grows("zero-width spaces", 40_000, |size| repeated("\u{200b}", size));
    text_grows("joiners", 40_000, |size| repeated("\u{200d}\u{200c}\u{feff}\u{2060}", size));
    text_grows("soft hyphens and letters", 40_000, |size| repeated("a\u{ad}", size));
    text_grows("prefixes with nothing between", 40_000, |size| repeated("g\u{200b}h\u{200b}p\u{200b}_\u{200b}", size));
}

#[test]
fn only_codes_of_a_terminal() {
    text_grows("colours", 40_000, |size| repeated("\u{1b}[31m", size));
    text_grows("colours without end", 40_000, |size| repeated("\u{1b}[3", size));
    text_grows("titles without end", 40_000, |size| repeated("\u{1b}]0;", size));
    text_grows("escape characters", 40_000, |size| repeated("\u{1b}", size));
    text_grows("colours in words", 40_000, |size| repeated("g\u{1b}[0mhp_", size));
    text_grows("progress bars", 40_000, |size| repeated("\r\u{1b}[K[████░░] 40%", size));
}

#[test]
fn a_megabyte_of_escapes() {
    text_grows("\\u escapes", 60_000, |size| repeated("\\u0041", size));
    text_grows("percent signs", 60_000, |size| repeated("%41", size));
    text_grows("escaped escapes", 40_000, |size| repeated("\\\\u005cu0041", size));
    text_grows("percent of percent", 40_000, |size| repeated("%2525", size));
    text_grows("\\x escapes", 40_000, |size| repeated("\\x41", size));
}

#[test]
fn deep_combining_marks() {
    text_grows("marks", 40_000, |size| format!("e{}", repeated("\u{301}", size)));
    text_grows("marks on a token", 10_000, |size| format!("{}{}", github(7).0, repeated("\u{301}\u{323}", size)));
    text_grows("letters with many marks", 40_000, |size| repeated(&format!("e{}", "\u{301}".repeat(50)), size));
    text_grows("ligatures", 40_000, |size| repeated("\u{fdfa}", size));
    text_grows("wide letters", 40_000, |size| repeated("ｇｈｐ＿", size));
    text_grows("flags", 40_000, |size| repeated("🇩🇪", size));
    text_grows("families", 40_000, |size| repeated("👩\u{200d}", size));
}

#[test]
fn many_turns_and_many_steps() {
    let many = |turns: usize, said: &str| {
        let texts: Vec<&str> = (0..turns).map(|_| said).collect();
        (draft(&texts), Decisions::default())
    };
    let (token, _) = github(8);
    grows_with_the_text("turns", 2_500, |turns| many(turns, "short"));
    grows_with_the_text("turns with a token", 500, |turns| many(turns, &token));
    grows_with_the_text("turns with lines", 300, |turns| many(turns, &repeated("line\n", 500)));
    grows_with_the_text("steps", 1_000, |steps| {
        let mut all = draft(&["Go on.", "Going on."]);
        all.turns[1].steps.extend((0..steps).map(|n| step("Bash", &format!("echo {n} {token}…"))));
        (all, Decisions::default())
    });
    grows_with_the_text("shortened summaries and different values", 200, |steps| {
        let values: Vec<String> = (0..steps).map(|n| github(u64::try_from(n).unwrap()).0).collect();
        let mut all = draft(&["Go on.", &values.join("\n")]);
        all.turns[1].steps.extend(values.iter().map(|v| step("Bash", &format!("echo {}…", &v[..9]))));
        (all, Decisions::default())
    });
}
