//! `onrecord lexicon pull`: lexicons in a folder, each as its authority has it on record, and a file that says which versions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use onrecord_atproto::{Client, LEXICON_COLLECTION, PublishedLexicon};
use onrecord_lexicon::{AtUri, Cid, Nsid, data::record_cid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fetch;
use crate::{
    cli::Pull,
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns, counted},
};

/// The lock file's name, in the folder.
const LOCK: &str = "lexicons.lock.json";
/// The lock file's form.
const VERSION: u32 = 1;

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Lock {
    version: u32,
    lexicons: BTreeMap<Nsid, Locked>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Locked {
    uri: AtUri,
    cid: Cid,
}

/// What became of a lexicon's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Same,
    New,
    Updated,
    /// It was changed here, and is left alone.
    Edited,
    /// It is not the published version; with `--locked`.
    Outdated,
}

pub async fn run(args: &Pull, out: &mut Out) -> Result<u8> {
    let before = read_lock(&args.out)?;
    let client = config::client()?;
    let wanted = named(&client, &args.names).await?;
    let fetched = fetch::with_references(&client, wanted).await?;
    // All of them or none: a folder with half of what it refers to is of no use.
    let mut found = Vec::new();
    let mut missing = Vec::new();
    for (nsid, result) in fetched {
        match result {
            Ok(lexicon) => found.push(lexicon),
            Err(error) => missing.push(format!("{nsid}: {error}")),
        }
    }
    if !missing.is_empty() {
        let count = counted(missing.len(), "lexicon");
        return Err(Error::Lexicon(format!("{count} cannot be had, and nothing was written: {}", missing.join("; "))));
    }
    // Those pulled before by another name stay.
    let mut lock = Lock { version: VERSION, lexicons: before.lexicons.clone() };
    let (mut rows, mut is_good) = (Vec::new(), true);
    for lexicon in found {
        let known = before.lexicons.get(&lexicon.nsid);
        let path = path_of(&args.out, &lexicon.nsid);
        let change =
            if args.locked { compared(&path, &lexicon, known)? } else { written(&path, &lexicon, known, args.force)? };
        is_good &= match change {
            Change::Same => true,
            Change::New | Change::Updated => !args.locked,
            Change::Edited | Change::Outdated => false,
        };
        let PublishedLexicon { nsid, uri, cid, .. } = lexicon;
        if out.json {
            out.json(&json!({ "nsid": nsid, "uri": uri, "cid": cid, "path": path, "change": change }))?;
        } else {
            let word = match change {
                Change::Same => "same",
                Change::New => "new",
                Change::Updated => "updated",
                Change::Edited => "changed here, left as it is (--force writes over it)",
                Change::Outdated => "another version is published",
            };
            rows.push(vec![nsid.to_string(), cid.to_string(), word.to_owned()]);
        }
        // The file's own version, where it is left alone.
        let entry = known.filter(|_| change == Change::Edited).cloned().unwrap_or(Locked { uri, cid });
        lock.lexicons.insert(nsid, entry);
    }
    for line in columns(&rows) {
        out.line(line)?;
    }
    if !args.locked && lock != before {
        let mut text = serde_json::to_string_pretty(&lock)?;
        text.push('\n');
        write(&args.out.join(LOCK), text.as_bytes())?;
    }
    Ok(if is_good { 0 } else { PROBLEMS })
}

/// The lexicons that are named, those of `authority.*` among them.
async fn named(client: &Client, names: &[String]) -> Result<BTreeSet<Nsid>> {
    let mut wanted = BTreeSet::new();
    for name in names {
        let wrong =
            |error| Error::Usage(format!("{name:?} is neither a lexicon's name nor an authority with .*: {error}"));
        let Some(authority) = name.strip_suffix(".*") else {
            wanted.insert(Nsid::parse(name).map_err(wrong)?);
            continue;
        };
        // Any name of the authority leads to who speaks for it.
        let any = Nsid::parse(&format!("{authority}.any")).map_err(wrong)?;
        let did = client.lexicon_authority(&any).await?;
        let publisher = client.resolve(did.as_str()).await?;
        let collection = Nsid::parse(LEXICON_COLLECTION)?;
        let records = client.repo(&publisher).list_records(&collection, false).all().await?;
        let names = records.iter().filter_map(|record| Nsid::parse(record.rkey.as_str()).ok());
        let count = wanted.len();
        wanted.extend(names.filter(|nsid| nsid.authority() == authority));
        if wanted.len() == count {
            return Err(Error::Lexicon(format!("{} has no lexicon of {authority} on record", publisher.name())));
        }
    }
    Ok(wanted)
}

/// Where a lexicon is kept: a folder for each part of its authority.
fn path_of(folder: &Path, nsid: &Nsid) -> PathBuf {
    let mut path: PathBuf = folder.to_owned();
    path.extend(nsid.as_str().split('.'));
    path.as_mut_os_string().push(".json");
    path
}

/// A lexicon as a file: the record without what makes it one.
fn text_of(record: &Value) -> Result<String> {
    let mut document = record.clone();
    if let Some(fields) = document.as_object_mut() {
        fields.remove("$type");
    }
    let mut text = serde_json::to_string_pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// The version of the record that a file makes; none if there is no file, or it is no record.
fn version_of(path: &Path) -> Result<Option<Cid>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::File { path: path.to_owned(), source }),
    };
    let Ok(mut record) = serde_json::from_slice::<Value>(&text) else { return Ok(None) };
    if let Some(fields) = record.as_object_mut() {
        fields.insert("$type".to_owned(), LEXICON_COLLECTION.into());
    }
    Ok(record_cid(&record).ok().map(|(_, cid)| cid))
}

fn written(path: &Path, lexicon: &PublishedLexicon, known: Option<&Locked>, force: bool) -> Result<Change> {
    let here = version_of(path)?;
    if here.as_ref() == Some(&lexicon.cid) {
        return Ok(Change::Same);
    }
    let is_there = path.symlink_metadata().is_ok();
    // What was written by an earlier call may be written over; what somebody changed may not.
    let is_own = here.is_some() && here.as_ref() == known.map(|known| &known.cid);
    if is_there && !is_own && !force {
        return Ok(Change::Edited);
    }
    write(path, text_of(&lexicon.record)?.as_bytes())?;
    Ok(if is_there { Change::Updated } else { Change::New })
}

fn compared(path: &Path, lexicon: &PublishedLexicon, known: Option<&Locked>) -> Result<Change> {
    let here = version_of(path)?;
    Ok(match known {
        None => Change::New,
        Some(known) if here.as_ref() != Some(&known.cid) => Change::Edited,
        Some(known) if known.cid != lexicon.cid => Change::Outdated,
        Some(_) => Change::Same,
    })
}

/// Writes a file whole, or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let at = |source| Error::File { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(at)?;
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(at)?;
    file.write_all(bytes).map_err(at)?;
    file.persist(path).map_err(|error| at(error.error))?;
    Ok(())
}

fn read_lock(folder: &Path) -> Result<Lock> {
    let path = folder.join(LOCK);
    let text = match fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Lock::default()),
        Err(source) => return Err(Error::File { path, source }),
    };
    let wrong = |why: String| Error::Lexicon(format!("{}: {why}", path.display()));
    let lock: Lock = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    if lock.version != VERSION {
        return Err(wrong(format!("version {} of a lock file is not known here", lock.version)));
    }
    Ok(lock)
}
