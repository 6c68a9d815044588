//! A tool call in one line: what a published step says beside the tool's name.
//!
//! Never the output, never the contents of a file, never the path of somebody's home folder.

mod line;
mod paths;
mod shell;
#[cfg(test)]
mod tests;
mod tools;

use serde_json::Value;

/// The longest summary, in graphemes and in UTF-8 bytes, ellipsis included.
pub const MAX_GRAPHEMES: usize = 250;
/// See [`MAX_GRAPHEMES`].
pub const MAX_BYTES: usize = 1000;

/// What `tool` was called for, in one line; empty where the arguments say nothing short.
///
/// Knows the tools of Claude Code, Codex and pi by name; of any other tool it shows the short scalar
/// arguments. Paths below `cwd` become relative to it, those below `home`, or below anybody's home
/// folder, begin with `~/`; inside commands too. At most [`MAX_GRAPHEMES`] and [`MAX_BYTES`].
#[must_use]
pub fn summarise(tool: &str, input: &Value, cwd: Option<&str>, home: Option<&str>) -> String {
    let said = tools::describe(tool, input).unwrap_or_default();
    let folded = line::fold(&said);
    let shortened = paths::Folders::new(cwd, home).shorten(&folded);
    line::truncate(shortened, MAX_GRAPHEMES, MAX_BYTES)
}
