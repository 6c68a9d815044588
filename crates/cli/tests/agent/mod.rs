//! An agent that writes its transcript for a while: rows in pieces, pauses, and now and then the whole file anew.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

/// Numbers that look random; the seed is printed, and shown when the test fails.
pub struct Dice(u64);

impl Dice {
    pub fn new() -> Self {
        let seed = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap() | 1;
        println!("seed {seed}");
        Self(seed)
    }

    /// A number below `most`.
    pub fn below(&mut self, most: u64) -> u64 {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most.max(1)
    }
}

/// Writes `rows` to `path` over about that time.
pub fn write_slowly(path: &Path, rows: &str, time: Duration) -> JoinHandle<()> {
    let (path, rows) = (path.to_owned(), rows.to_owned());
    thread::spawn(move || {
        let mut dice = Dice::new();
        let count = u64::try_from(rows.lines().count()).unwrap();
        let pause = u64::try_from(time.as_millis()).unwrap() * 2 / count;
        fs::write(&path, "").unwrap();
        let mut written = String::new();
        for row in rows.split_inclusive('\n') {
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            let mut half = usize::try_from(dice.below(u64::try_from(row.len()).unwrap())).unwrap();
            while !row.is_char_boundary(half) {
                half -= 1;
            }
            file.write_all(&row.as_bytes()[..half]).unwrap();
            thread::sleep(Duration::from_millis(dice.below(pause / 2)));
            file.write_all(&row.as_bytes()[half..]).unwrap();
            written.push_str(row);
            match dice.below(20) {
                // Replaced by a copy, as some harnesses do.
                0 => {
                    let copy = PathBuf::from(format!("{}.new", path.display()));
                    fs::write(&copy, &written).unwrap();
                    fs::rename(&copy, &path).unwrap();
                }
                // Emptied and written anew.
                1 => {
                    fs::write(&path, "").unwrap();
                    thread::sleep(Duration::from_millis(dice.below(40)));
                    fs::write(&path, &written).unwrap();
                }
                _ => {}
            }
            thread::sleep(Duration::from_millis(dice.below(pause)));
        }
    })
}

/// How long the agent writes: some seconds; with `ONRECORD_LIVE_SECONDS`, as long as that says.
pub fn writing_time() -> Duration {
    let seconds = std::env::var("ONRECORD_LIVE_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(seconds.unwrap_or(8))
}

/// A program that follows, once it says that it does. What it says goes on to be read.
pub struct Following {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Following {
    /// Starts `command`, which is `onrecord live … --json`.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut following = Self { child, lines };
        following.next("follow");
        following
    }

    /// The next line of that kind.
    pub fn next(&mut self, step: &str) -> Value {
        loop {
            let line: Value = serde_json::from_str(&self.lines.next().expect("a line").unwrap()).unwrap();
            if line["step"] == step || (step == "done" && line["done"] == true) {
                return line;
            }
        }
    }

    /// Asks it to end, as Ctrl-C or a service manager does; its last words and its exit code.
    pub fn end(mut self, signal: &str) -> (Value, i32) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let done = self.next("done");
        (done, self.child.wait().unwrap().code().unwrap_or(-1))
    }
}

/// Waits until `is_so`, and fails the test after a minute.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} does not come");
        thread::sleep(Duration::from_millis(100));
    }
}
