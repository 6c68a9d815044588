//! Reading files within bounds: so large, so many, and none that a link leads to elsewhere.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use super::{
    Places,
    sources::{Base, Place},
};

/// Files over this are skipped, in bytes.
pub(super) const LARGEST: u64 = 1024 * 1024;

/// The most files read in all.
pub(super) const MOST_FILES: usize = 200;

/// The most entries of a folder looked at for files of a pattern.
const MOST_ENTRIES: usize = 5000;

/// How far the project's folder is looked for its repository's root above.
const HIGHEST: usize = 32;

/// What a file holds.
pub(super) enum Contents {
    /// It is not there.
    Missing,
    /// It was not read, and why.
    Refused(String),
    Text(Zeroizing<String>),
}

/// A file to look at.
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// Where a link may lead.
    bound: Bound,
    /// Found by a pattern: what is no file there is nobody's concern.
    by_pattern: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// The home folder and the project.
    Ours,
    /// Only files of the person's, in the home folder and the project.
    Project,
    /// Anywhere: the person's own environment names it.
    Anywhere,
}

pub(super) struct Reader {
    left: usize,
    home: Option<PathBuf>,
    /// The project's folder and those above it up to the repository's root, as they really are.
    project: Vec<PathBuf>,
    owner: Option<u32>,
}

impl Reader {
    pub(super) fn new(places: &Places) -> Self {
        let home = places.home.as_deref().and_then(|home| home.canonicalize().ok());
        let current = places.current_dir.as_deref().and_then(|dir| dir.canonicalize().ok());
        let owner = home.as_deref().and_then(|home| fs::metadata(home).ok()).and_then(|meta| owner(&meta));
        let project = project(places, home.as_deref(), current.as_deref(), owner);
        Self { left: MOST_FILES, home, project, owner }
    }

    /// The files that may lie at `place`.
    pub(super) fn candidates(&self, place: &Place, places: &Places) -> Vec<Candidate> {
        let bound = match place.base {
            Base::Variable(_) => Bound::Anywhere,
            Base::Project => Bound::Project,
            _ => Bound::Ours,
        };
        let folders = if place.base == Base::Project { self.project.clone() } else { place.base.folders(places) };
        let by_pattern = place.path.contains('*');
        let paths = folders.into_iter().flat_map(|folder| expand(folder, place.path));
        paths.map(|path| Candidate { path, bound, by_pattern }).collect()
    }

    pub(super) fn read(&mut self, candidate: &Candidate) -> Contents {
        match self.try_read(candidate) {
            Ok(Some(text)) => Contents::Text(text),
            Ok(None) => Contents::Missing,
            Err(why) => Contents::Refused(why),
        }
    }

    fn try_read(&mut self, candidate: &Candidate) -> Result<Option<Zeroizing<String>>, String> {
        let unreadable = |e: std::io::Error| format!("cannot be read ({})", e.kind());
        let real = match candidate.path.canonicalize() {
            Ok(real) => real,
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(e) => return Err(unreadable(e)),
        };
        let within = self.home.iter().chain(&self.project).any(|folder| real.starts_with(folder));
        if candidate.bound != Bound::Anywhere && !within {
            return Err("a link leads out of the home folder".to_owned());
        }
        // Looked at before it is opened: opening a pipe would wait for its other end.
        let meta = fs::metadata(&real).map_err(unreadable)?;
        if !meta.is_file() {
            return if candidate.by_pattern || meta.is_dir() { Ok(None) } else { Err("is no file".to_owned()) };
        }
        if candidate.bound == Bound::Project && owner(&meta) != self.owner {
            return Err("belongs to someone else".to_owned());
        }
        if meta.len() > LARGEST {
            return Err("is over 1 MB".to_owned());
        }
        if self.left == 0 {
            return Err(format!("was left out: {MOST_FILES} files were read already"));
        }
        self.left -= 1;
        // Room for all of it from the start: a buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default() + 1));
        File::open(&real).map_err(unreadable)?.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Some(text(&bytes)))
    }
}

/// The bytes as text; what Windows programs write in UTF-16 too.
fn text(bytes: &[u8]) -> Zeroizing<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return Zeroizing::new(String::from_utf8_lossy(bytes).into_owned()),
    };
    let units = bytes.chunks_exact(2).skip(1).filter_map(|pair| pair.try_into().ok()).map(unit);
    Zeroizing::new(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// The project's folder and those above it up to the repository's root, if the person's files may be read there at all: a
/// transcript can name any folder.
fn project(places: &Places, home: Option<&Path>, current: Option<&Path>, owner_of_home: Option<u32>) -> Vec<PathBuf> {
    let Some(folder) = places.project.as_deref().filter(|p| p.is_absolute()).and_then(|p| p.canonicalize().ok()) else {
        return Vec::new();
    };
    let within_home = home.is_some_and(|home| folder.starts_with(home));
    let allowed = |folder: &Path| {
        let within =
            if within_home { home.is_some_and(|home| folder.starts_with(home)) } else { folder != Path::new("/") };
        within && fs::metadata(folder).is_ok_and(|meta| meta.is_dir() && owner(&meta) == owner_of_home)
    };
    if !(within_home || current == Some(&folder)) || !allowed(&folder) {
        return Vec::new();
    }
    let mut folders = Vec::new();
    for above in folder.ancestors().take(HIGHEST).take_while(|above| allowed(above)) {
        folders.push(above.to_owned());
        if above.join(".git").exists() {
            return folders;
        }
    }
    // In no repository: then nothing above it belongs to the project.
    vec![folder]
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems tell no owner")]
fn owner(meta: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::MetadataExt::uid(meta))
}

#[cfg(not(unix))]
fn owner(_: &fs::Metadata) -> Option<u32> {
    None
}

/// The paths below `folder` that a pattern means: `*` stands for any part of one name.
fn expand(folder: PathBuf, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let Some((start, end)) = part.split_once('*') else {
            paths.iter_mut().for_each(|path| path.push(part));
            continue;
        };
        let mut matching = Vec::new();
        for path in paths {
            let names =
                fs::read_dir(&path).into_iter().flatten().take(MOST_ENTRIES).flatten().map(|entry| entry.file_name());
            matching.extend(names.filter_map(|name| {
                let name = name.to_str()?;
                let fits = name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
                (fits && !is_template(name)).then(|| path.join(name))
            }));
        }
        matching.sort();
        paths = matching;
    }
    paths
}

/// Files that lie beside the real ones and hold nothing: examples, and the public halves of keys.
fn is_template(name: &str) -> bool {
    let templates = ["example", "sample", "template", "dist", "defaults", "schema", "pub", "tpl"];
    let lists = ["known_hosts", "authorized_keys"];
    name.split('.').any(|part| templates.contains(&part)) || lists.iter().any(|list| name.starts_with(list))
}
