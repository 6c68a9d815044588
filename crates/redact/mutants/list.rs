//! The list of deliberate faults, for the program that tries them and for the test that they still apply.

use serde::Deserialize;

/// Faults, as they are written in the files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub fault: Vec<Fault>,
}

/// One fault: a piece of a file, and what stands in its place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What is wrong then.
    pub name: String,
    /// What a reader would see that must not be seen, or what else would be lost.
    pub harm: String,
    /// Below the crate's folder.
    pub file: String,
    /// Stands exactly once in the file.
    pub find: String,
    pub replace: String,
    /// The cheapest test that fails then: `lib` or the name of a file in `tests`, `::`, and the test's path in it.
    pub caught_by: String,
}

impl List {
    pub fn read() -> Result<Self, String> {
        let mut all = Self { fault: Vec::new() };
        for text in [include_str!("finding.toml"), include_str!("covering.toml")] {
            all.fault.append(&mut toml::from_str::<Self>(text).map_err(|e| e.to_string())?.fault);
        }
        Ok(all)
    }
}

impl Fault {
    /// The text of the file with the fault in it.
    pub fn apply(&self, text: &str) -> Result<String, String> {
        match text.match_indices(self.find.as_str()).count() {
            1 if self.find != self.replace => Ok(text.replacen(&self.find, &self.replace, 1)),
            1 => Err(format!("{}: nothing is changed", self.name)),
            count => Err(format!("{}: its text stands {count} times in {}", self.name, self.file)),
        }
    }

    /// The test that must fail: the target, and its path there.
    pub fn test(&self) -> Result<(&str, &str), String> {
        self.caught_by.split_once("::").ok_or_else(|| format!("{}: which target is its test in?", self.name))
    }
}
