//! Small files beside a transcript that say more about it.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

/// The largest side file that is read, in bytes.
pub(crate) const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// The text of a side file; `None` if there is none, or it is no text, or too large, or no file.
pub(crate) fn read(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (u64::try_from(bytes.len()).ok()? <= MAX_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// The side file of this name in the transcript's own folder.
pub(crate) fn sibling(transcript: Option<&Path>, name: &str) -> Option<String> {
    read(&transcript?.parent()?.join(name))
}

/// The files of a folder whose names end so, in the order of their names.
pub(crate) fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    paths.sort();
    paths
}
