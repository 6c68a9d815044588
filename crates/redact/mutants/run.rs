//! Tries every deliberate fault: the test that it names must fail. See README.md.
//!
//! `cargo run -p onrecord-redact --example mutants [-- WORDS]`; with words only the faults that have one in their name or file.
//!
//! It works on a copy of the crate in the target folder. The sources themselves are not touched.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program that prints")]

mod list;

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use list::{Fault, List};
use serde_json::Value;

/// A test that runs longer does not end.
const LONGEST: Duration = Duration::from_secs(180);

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every fault was caught.
fn run() -> Result<bool, String> {
    let words: Vec<String> = env::args().skip(1).collect();
    let chosen = |f: &Fault| words.is_empty() || words.iter().any(|w| f.name.contains(w) || f.file.contains(w));
    let faults: Vec<Fault> = List::read()?.fault.into_iter().filter(chosen).collect();
    let copy = Copy::make()?;
    let started = Instant::now();

    for fault in &faults {
        copy.faulty(fault)?;
    }
    println!("{} faults; first their tests without any", faults.len());
    let mut binaries = BTreeMap::new();
    for fault in &faults {
        let (target, test) = fault.test()?;
        if !binaries.contains_key(target) {
            binaries.insert(target, copy.build(target)?);
        }
        let outcome = binaries.get(target).map(|binary| copy.test(binary, test)).transpose()?;
        if outcome != Some(Outcome::Passed) {
            return Err(format!("{} does not pass on the sources as they are: {outcome:?}", fault.caught_by));
        }
    }

    let mut survivors = Vec::new();
    for (number, fault) in (1..).zip(&faults) {
        let begun = Instant::now();
        let (target, test) = fault.test()?;
        let file = copy.crate_folder.join(&fault.file);
        let (sound, faulty) = copy.faulty(fault)?;
        fs::write(&file, faulty).map_err(at(&file))?;
        let outcome = copy.build(target).and_then(|binary| copy.test(&binary, test));
        fs::write(&file, sound).map_err(at(&file))?;
        let said = match outcome {
            Ok(Outcome::Failed) => "caught",
            Ok(Outcome::Endless) => "caught (the test did not end)",
            Ok(Outcome::Passed | Outcome::None) => {
                survivors.push(fault);
                "SURVIVED"
            }
            Err(error) => {
                eprintln!("{error}");
                survivors.push(fault);
                "NOT TRIED"
            }
        };
        println!("{number:3} {said}: {} ({}, {:.0?})", fault.name, fault.file, begun.elapsed());
    }
    println!("{} of {} caught, {:.0?}", faults.len() - survivors.len(), faults.len(), started.elapsed());
    for fault in &survivors {
        println!("SURVIVED: {} ({}). {} Not caught by {}", fault.name, fault.file, fault.harm, fault.caught_by);
    }
    Ok(survivors.is_empty())
}

/// What became of a test.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Endless,
    /// There is none of that name.
    None,
}

/// The crate, alone in a workspace of its own.
struct Copy {
    workspace: PathBuf,
    crate_folder: PathBuf,
}

impl Copy {
    fn make() -> Result<Self, String> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = sources.ancestors().nth(2).ok_or("the crate is in no workspace")?;
        // This program is in `debug/examples` of the target folder.
        let own = env::current_exe().map_err(|e| e.to_string())?;
        let target = own.ancestors().nth(3).ok_or("this program is in no target folder")?;
        let workspace = target.join("mutants");
        let crate_folder = workspace.join("redact");
        if crate_folder.exists() {
            fs::remove_dir_all(&crate_folder).map_err(at(&crate_folder))?;
        }
        copy_folder(sources, &crate_folder)?;
        let manifest = root.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(at(&manifest))?;
        let members = "members = [\"crates/*\"]";
        if !text.contains(members) {
            return Err(format!("{}: the members of the workspace are written otherwise", manifest.display()));
        }
        let copied = workspace.join("Cargo.toml");
        fs::write(&copied, text.replace(members, "members = [\"redact\"]")).map_err(at(&copied))?;
        let lock = root.join("Cargo.lock");
        fs::copy(&lock, workspace.join("Cargo.lock")).map_err(at(&lock))?;
        Ok(Self { workspace, crate_folder })
    }

    /// The fault's file as it is, and with the fault.
    fn faulty(&self, fault: &Fault) -> Result<(String, String), String> {
        let file = self.crate_folder.join(&fault.file);
        let sound = fs::read_to_string(&file).map_err(at(&file))?;
        let faulty = fault.apply(&sound)?;
        Ok((sound, faulty))
    }

    /// Builds the tests of a target, and says where they are.
    fn build(&self, target: &str) -> Result<PathBuf, String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["test", "--no-run", "--quiet", "--message-format=json", "-p", "onrecord-redact"]);
        if target == "lib" {
            cargo.arg("--lib")
        } else {
            cargo.args(["--test", target])
        };
        cargo.arg("--manifest-path").arg(self.workspace.join("Cargo.toml"));
        cargo.arg("--target-dir").arg(self.workspace.join("target"));
        // Linked in half the time.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "false").env("CARGO_INCREMENTAL", "1");
        let output = cargo.stderr(Stdio::null()).output().map_err(|e| e.to_string())?;
        let messages: Vec<Value> =
            output.stdout.split(|b| *b == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        if !output.status.success() {
            let errors = messages.iter().filter_map(|m| m.pointer("/message/rendered")?.as_str());
            return Err(format!("it does not compile:\n{}", errors.collect::<String>()));
        }
        let binary = messages.iter().filter_map(|m| m.get("executable")?.as_str()).next_back();
        binary.map(PathBuf::from).ok_or_else(|| format!("there are no tests {target}"))
    }

    /// Runs one test of those that were built.
    fn test(&self, binary: &Path, test: &str) -> Result<Outcome, String> {
        let log = self.workspace.join("test.log");
        let file = fs::File::create(&log).map_err(at(&log))?;
        let mut child = Command::new(binary)
            .args(["--exact", test])
            .current_dir(&self.crate_folder)
            .stdout(file)
            .stderr(Stdio::null())
            .spawn()
            .map_err(at(binary))?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(at(binary))? {
                break status;
            }
            if begun.elapsed() > LONGEST {
                child.kill().and_then(|()| child.wait()).map_err(at(binary))?;
                return Ok(Outcome::Endless);
            }
            thread::sleep(Duration::from_millis(20));
        };
        let said = fs::read_to_string(&log).map_err(at(&log))?;
        Ok(match (said.contains("running 1 test\n"), status.success()) {
            (false, _) => Outcome::None,
            (true, true) => Outcome::Passed,
            (true, false) => Outcome::Failed,
        })
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    fs::create_dir_all(to).map_err(at(to))?;
    for entry in fs::read_dir(from).map_err(at(from))? {
        let entry = entry.map_err(at(from))?;
        let (path, into) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &into)?;
        } else {
            fs::copy(&path, &into).map_err(at(&path))?;
        }
    }
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> String {
    let path = path.display().to_string();
    move |error| format!("{path}: {error}")
}
