mod collecting;
mod formats;
mod worth;

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use super::{Places, sink::Sink};

/// Letters and digits that stand in no text by chance, the same for the same seed.
fn made_up(seed: u64, length: usize) -> String {
    const SIGNS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(length as u64);
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(SIGNS[(state >> 33) as usize % SIGNS.len()])
        })
        .collect()
}

/// A JWT's shape.
fn jwt(seed: u64) -> String {
    ["ey", "J", &made_up(seed, 30), ".ey", "J", &made_up(seed + 1, 60), ".", &made_up(seed + 2, 43)].concat()
}

/// A private key's shape: its lines, and the whole.
fn private_key(seed: u64) -> (Vec<String>, String) {
    let lines: Vec<String> = (0..4).map(|n| made_up(seed + n, 64)).collect();
    let dashes = "-".repeat(5);
    let kind = ["PRIVATE", "KEY"].join(" ");
    let whole = format!("{dashes}BEGIN {kind}{dashes}\n{}\nabc=\n{dashes}END {kind}{dashes}\n", lines.join("\n"));
    (lines, whole)
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let n = chunk.iter().fold(0_u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let sign = SIGNS[(n >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= chunk.len() { char::from(sign) } else { '=' });
        }
    }
    out
}

/// What a parser hands on of a text, by name.
fn taken(fill: impl FnOnce(&mut Sink)) -> Vec<(String, String)> {
    let mut sink = Sink::default();
    fill(&mut sink);
    sink.finish().into_iter().map(|mut found| (found.name, std::mem::take::<String>(&mut found.value))).collect()
}

/// A made-up home.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Writes a file below the home folder.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.home().join(name), content)
    }

    fn places(&self) -> Places {
        Places::new(Some(self.home()), None, None, Vec::new())
    }
}

fn write(path: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    path.to_owned()
}
