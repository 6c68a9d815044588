//! `onrecord lexicon new`: the beginning of a lexicon.

use std::{fs::File, io::Write as _};

use onrecord_lexicon::Scaffold;
use serde_json::json;

use crate::{
    cli::New,
    error::{Error, Result},
    output::Out,
};

pub fn run(args: &New, out: &mut Out) -> Result<u8> {
    let kind = args.kind.map_or_else(|| Scaffold::of(&args.nsid), Scaffold::from);
    let document = kind.document(&args.nsid);
    let Some(path) = &args.out else {
        out.raw(document.as_bytes())?;
        return Ok(0);
    };
    let at = |source| Error::File { path: path.clone(), source };
    // What is there may be somebody's work.
    let mut file = File::create_new(path).map_err(at)?;
    file.write_all(document.as_bytes()).map_err(at)?;
    if out.json {
        out.json(&json!({"nsid": args.nsid, "file": path}))?;
    } else {
        out.note(format_args!("wrote {}; fill it in, then `onrecord lexicon lint {0}`", path.display()));
    }
    Ok(0)
}
