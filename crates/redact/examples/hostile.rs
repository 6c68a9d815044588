//! What hostile texts cost at full size: each is scanned, covered, sealed and gated in a process of its own.
//!
//! `cargo run --release -p onrecord-redact --example hostile [-- WORDS]`; with words only the texts that have one in their name.
//!
//! For each stage: seconds on a processor, and the most memory beyond the texts themselves (what is scanned; with sealing also
//! what is sealed; with the gate also the request), in MB of 10⁶ bytes. The program and its rules are in it, about 10 MB.
//! Linux only. The same texts, smaller, are in `tests/hostile.rs`.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::cast_precision_loss, reason = "a program that prints")]

use std::{env, error::Error, fs, process::Command};

use onrecord_redact::{Decision, Decisions, Draft, DraftTurn, Engine, FingerprintKey, Role, scan, seal};

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// A text, and the words that are covered in it beforehand.
struct Case {
    name: &'static str,
    texts: fn() -> Vec<String>,
    words: &'static [&'static str],
}

const fn case(name: &'static str, texts: fn() -> Vec<String>) -> Case {
    Case { name, texts, words: &[] }
}

const MB: usize = 1_000_000;

const PARAGRAPH: &str = "The scheduler keeps a list of reminders per user and wakes up once a minute; since the clocks changed, \
    `next_run` is computed in local time and then stored as UTC, so everything fires an hour late.\n\n```rust\n\
    fn next_run(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {\n    let local = now.with_timezone(&self.zone);\n    \
    self.rule.after(local).map(|t| t.with_timezone(&Utc))\n}\n```\n\n- the `full-text-only` mode stays as it is\n- see \
    https://docs.example.org/scheduler#time-zones and src/schedule/next_run.rs:42\n\n| case | before | after |\n|---|---|---|\n\
    | spring | 03:00 | 02:00 |\n\nאחרי השינוי הכול עובד. \u{1f980}\n\n";

const CASES: &[Case] = &[
    Case {
        name: "ordinary, 5,000 turns",
        texts: || (0..5_000).map(|n| format!("Turn {n}. {}", repeated(PARAGRAPH, 2_000))).collect(),
        words: &["Project Nightingale", "Dana"],
    },
    Case {
        name: "ordinary, one turn",
        texts: || vec![repeated(PARAGRAPH, 10 * MB)],
        words: &["Project Nightingale", "Dana"],
    },
    case("a line of 50 MB", || {
        let unit = "the quick brown fox jumps over the lazy dog and 17 other things (see section 4), ";
        let mut line = repeated(unit, 50 * MB);
        line.insert_str(unit.len() * 600_000, &format!("{} ", token(1)));
        vec![line]
    }),
    case("a word of 50 MB", || vec![repeated("Lz4Kq9_x-T", 50 * MB)]),
    case("a million findings of one value", || vec![format!("{}\n", token(2)).repeat(1_000_000)]),
    case("a million findings of many values", || vec![(0..1_000_000).map(|n| token(n) + "\n").collect()]),
    case("100,000 covered values", || vec![(0..100_000).map(|n| token(n) + "\n").collect()]),
    case("base64 of base64, 40 MB", || {
        let mut deep = token(3);
        while deep.len() < 30 * MB {
            deep = base64(deep.as_bytes());
        }
        vec![deep]
    }),
    case("base64, 10 MB", || vec![made(4, 10 * MB)]),
    case("short pieces of base64", || vec![repeated("aGVsbG8gd29ybGQ= ", 10 * MB)]),
    case("wrapped base64", || vec![repeated(&format!("{}\n", made(5, 76)), 10 * MB)]),
    case("bars", || vec![repeated("█", 10 * MB)]),
    case("bars and letters", || vec![repeated("█a", 10 * MB)]),
    case("bars in tokens", || vec![repeated("ghp_█n0tA█", 10 * MB)]),
    Case { name: "equal covered backslashes", texts: || vec!["\\".repeat(200_000)], words: &["\\"] },
    Case { name: "equal covered letters", texts: || vec!["a".repeat(200_000)], words: &["a"] },
    Case { name: "letters apart", texts: || vec![repeated("a b c d ", 10 * MB)], words: &["Nightingale"] },
    Case { name: "escaped line ends", texts: || vec![repeated("a\\nb\\n", 10 * MB)], words: &["Nightingale"] },
    case("names of secrets", || vec![repeated("secret:", 10 * MB)]),
    case("names and values", || vec![repeated("password=", 10 * MB)]),
    case("control characters", || vec![repeated("\u{8}", 10 * MB)]),
    case("zero-width characters", || vec![repeated("a\u{200b}", 10 * MB)]),
    case("marks", || vec![format!("e{}", repeated("\u{301}", 10 * MB))]),
    case("terminal codes", || vec![repeated("g\u{1b}[0mhp_", 10 * MB)]),
    case("terminal codes without end", || vec![repeated("\u{1b}]0;", 10 * MB)]),
    case("escapes", || vec![repeated("\\u0041", 10 * MB)]),
    case("escaped escapes", || vec![repeated("\\\\u005cu0041", 10 * MB)]),
    case("percent signs", || vec![repeated("%2525", 10 * MB)]),
    case("wide letters", || vec![repeated("ｇｈｐ＿", 10 * MB)]),
    case("prefixes", || vec![repeated("ghp_", 10 * MB)]),
    case("prefixes in words", || vec![repeated("xoxb-sk-ant-api03-glpat-npm_AKIA", 10 * MB)]),
    case("almost tokens", || vec![repeated("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ", 10 * MB)]),
    case("key blocks without end", || vec![repeated("-----BEGIN PRIVATE KEY-----\\n", 10 * MB)]),
    case("addresses", || vec![repeated("://a:", 10 * MB)]),
    case("at-signs", || vec![repeated("@", 10 * MB)]),
    case("mail addresses", || vec![repeated("a.b.c.d.e-f@x.", 10 * MB)]),
    case("quotes", || vec![repeated("\"'`\"'`", 10 * MB)]),
    case("headers", || vec![repeated("Authorization: Bearer ", 10 * MB)]),
    case("tokens in three parts", || vec![repeated("eyJhbGciOiJIUzI1NiJ9.", 10 * MB)]),
    case("app passwords", || vec![repeated("abcd-efgh-", 10 * MB)]),
    case("numbers", || vec![repeated("4111 1111 1111 1111 ", 10 * MB)]),
    case("lists of bytes", || vec![repeated("67 68 70 5f ", 10 * MB)]),
    case("crypt hashes", || vec![repeated("$2b$10$", 10 * MB)]),
    case("home folders", || vec![repeated("/home/", 10 * MB)]),
    case("words of a mnemonic", || vec![repeated("abandon ability able about ", 10 * MB)]),
    case("assignments", || vec![repeated("a=b=c=d:e:=f=>", 10 * MB)]),
    case("private members", || vec![repeated("\"d\":\"\",\"kty\":\"EC\",", 10 * MB)]),
    case("soft line ends", || vec![repeated("a=\n=5F", 10 * MB)]),
    case("line ends", || vec![repeated("\n", 10 * MB)]),
];

fn repeated(unit: &str, size: usize) -> String {
    unit.repeat(size / unit.len() + 1)
}

/// Made-up characters, the same ones for the same `seed`.
fn made(seed: usize, length: usize) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as usize % ALPHABET.len()
    };
    (0..length).filter_map(|_| ALPHABET.get(next()).copied().map(char::from)).collect()
}

/// A made-up GitHub token.
fn token(seed: usize) -> String {
    ["gh", "p_", &made(seed, 36)].concat()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_usize, |n, b| n << 8 | usize::from(*b)) << (8 * (3 - chunk.len()));
        let digit = |i: usize| DIGITS.get(n >> (18 - 6 * i) & 63).copied().map_or('=', char::from);
        out.extend((0..4).map(|i| if i <= chunk.len() { digit(i) } else { '=' }));
    }
    out
}

fn main() -> Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    if let [first, name] = args.as_slice()
        && first == "--only"
    {
        let case = CASES.iter().find(|c| c.name == name).ok_or("no such text")?;
        return measure(case);
    }
    println!("{:34} {:>5}   scan s    MB   seal s    MB   gate s    MB", "text", "MB");
    for case in CASES.iter().filter(|c| args.is_empty() || args.iter().any(|word| c.name.contains(word.as_str()))) {
        let status = Command::new(env::current_exe()?).args(["--only", case.name]).status()?;
        if !status.success() {
            println!("{:34} ended with {status}", case.name);
        }
    }
    Ok(())
}

fn measure(case: &Case) -> Result<()> {
    let turn = |(n, mut text): (usize, String)| {
        text.shrink_to_fit();
        DraftTurn {
            id: n.to_string(),
            index: n,
            role: Role::User,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            model: None,
            text,
            reasoning: Vec::new(),
            steps: Vec::new(),
        }
    };
    let draft = Draft {
        title: None,
        description: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
        turns: (1..).zip((case.texts)()).map(turn).collect(),
    };
    let text: usize = draft.turns.iter().map(|t| t.text.len()).sum();
    print!("{:34} {:>5.1}", case.name, text as f64 / MB as f64);
    let key = FingerprintKey::from_bytes([5; 32]);
    let engine = Engine::builtin()?;
    let mut decisions = Decisions::default();
    for word in case.words {
        decisions.cover_word(&key, word)?;
    }

    let stage = Stage::begin()?;
    let found = match scan(&draft, &engine, &decisions, &key) {
        Ok(found) => found.findings,
        Err(error) => {
            println!("{}   refused: {error}", stage.end(text)?);
            return Ok(());
        }
    };
    print!("{}", stage.end(text)?);
    let count = found.len();
    for finding in &found {
        decisions.decide(finding, Decision::Cover, None)?;
    }
    drop(found);

    let stage = Stage::begin()?;
    let reviewed = match seal(&draft, &engine, &decisions, &key) {
        Ok(reviewed) => reviewed,
        Err(error) => {
            println!("{}   {count} found; refused: {error}", stage.end(text)?);
            return Ok(());
        }
    };
    let sealed: Vec<&str> =
        reviewed.turns().iter().filter_map(|t| t.content()).map(onrecord_redact::ReviewedContent::text).collect();
    let sealed_size: usize = sealed.iter().map(|s| s.len()).sum();
    print!("{}", stage.end(text + sealed_size)?);

    // What a request holds.
    let body = serde_json::to_vec(&sealed)?;
    let stage = Stage::begin()?;
    let passed = reviewed.gate(&body);
    print!("{}", stage.end(text + sealed_size + body.len())?);
    match passed {
        Ok(()) => println!("   {count} found"),
        Err(hit) => println!("   {count} found; stopped: {hit}"),
    }
    Ok(())
}

/// What is measured from its beginning to its end.
struct Stage {
    cpu_ns: u64,
}

impl Stage {
    fn begin() -> Result<Self> {
        // Resets the peak of the resident set.
        fs::write("/proc/self/clear_refs", "5")?;
        Ok(Self { cpu_ns: cpu_ns()? })
    }

    /// Two columns: seconds, and MB at the peak beyond `texts` bytes.
    fn end(&self, texts: usize) -> Result<String> {
        let status = fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
        let kib: usize = line.trim().trim_end_matches(" kB").parse()?;
        let above = (kib * 1024).saturating_sub(texts) as f64 / MB as f64;
        Ok(format!("  {:>7.2} {above:>5.0}", (cpu_ns()? - self.cpu_ns) as f64 / 1e9))
    }
}

/// What this thread has run, in nanoseconds.
fn cpu_ns() -> Result<u64> {
    let stat = fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(stat.split(' ').next().ok_or("no time")?.parse()?)
}
