//! `onrecord convert`: a conversation in another format, decided about, sealed and looked at like one that is published.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use jiff::Timestamp;
use onrecord_lexicon::AtUri;
use onrecord_record::{
    Family, Loss, Original, RecordAt, aligned,
    convert::{Document, Head, atif, pi, sts},
    tiles,
};
use onrecord_redact::Reviewed;
use onrecord_transcript::Harness;
use onrecord_web::{ConversationView, Standing, conversation_markdown};
use onrecord_workspace::{Error as WorkspaceError, publish};
use serde_json::{Value, json};

use crate::{
    cli::{Convert, SessionArg, Target},
    error::{Error, Result},
    output::{Out, line_on_stderr},
    source::Opened,
};

pub async fn run(args: &Convert, out: &mut Out) -> Result<u8> {
    let mut opened = match Opened::open(&args.session, &args.rules, args.grain.into(), out).await {
        // Its records say what is on record of it.
        Err(Error::TranscriptGone { name, path, uris }) => {
            let gone = || Error::TranscriptGone { name, path: path.clone(), uris: uris.clone() };
            let session = uris.first().ok_or_else(gone)?.to_string();
            out.note(format_args!("Its transcript is gone from {}: this is what is on record.", path.display()));
            let arg = SessionArg { session, harness: None };
            Opened::open(&arg, &args.rules, args.grain.into(), out).await?
        }
        opened => opened?,
    };
    // A record written again as what it is keeps what its models thought too: it is there already.
    if matches!((&opened.original, args.to), (Some(Original::Tiles { .. }), Target::Tiles)) {
        opened.keep_reasoning();
    }
    let reviewed = opened.seal()?;
    if reviewed.turns().iter().all(|turn| turn.content().is_none()) {
        return Err(WorkspaceError::NothingToPublish.into());
    }
    let document = document(args.to, &opened, &reviewed)?;
    gate(args.to, &reviewed, &document.text)?;
    match &args.out {
        Some(path) => write(path, document.text.as_bytes())?,
        None => out.raw(document.text.as_bytes())?,
    }
    out.finish()?;
    tell(&document.lost, out);
    Ok(0)
}

fn document(to: Target, opened: &Opened, reviewed: &Reviewed) -> Result<Document> {
    let same = match (&opened.original, to) {
        (Some(original @ Original::Aligned { .. }), Target::ClickAligned)
        | (Some(original @ Original::Tiles { .. }), Target::Tiles) => original.reissue(reviewed),
        _ => None,
    };
    if let Some(value) = same {
        return Ok(Document { text: pretty(&value?), lost: Vec::new() });
    }
    let (repo, source) = (onrecord_workspace::shelf_did()?, &opened.conversation.source);
    let (now, start) = (Timestamp::now(), reviewed.created_at());
    let keyed = |family| tiles::record_uri(&repo, family, &source.id, start, None, now, |_| false);
    let id = keyed(Family::Tiles)?;
    let head = Head {
        // Not what the transcript is called: that may say more than its author wants to.
        id: id.rkey().unwrap_or_default(),
        harness: if source.harness == Harness::Atproto { "onrecord" } else { source.harness.as_str() },
        version: source.version.as_deref(),
    };
    let mut document = match to {
        Target::Pi => pi(reviewed, &head),
        Target::Atif => atif(reviewed, &head),
        Target::Sts => sts(reviewed, &head),
        Target::Tiles => {
            let (value, lost) = tiles::snapshot(reviewed, head.id);
            Document { text: pretty(&value), lost }
        }
        Target::ClickAligned | Target::Markdown => {
            let none = aligned::KnownKeys::default();
            let encoded =
                publish::encode_unlisted(&repo, &source.id, reviewed, &none, &onrecord_record::About::default(), now)?;
            let records = encoded.records.iter().map(|record| {
                let uri = AtUri::parse(&format!("at://{repo}/{}/{}", record.collection, record.rkey))?;
                Ok(RecordAt { uri, cid: record.cid.clone(), value: serde_json::from_str(record.json.get())? })
            });
            let mut records = records.collect::<Result<Vec<_>>>()?;
            let text = if to == Target::ClickAligned {
                pretty(&Original::to_document(&records))
            } else {
                let session = records.remove(0);
                let (original, _) = Original::aligned(&repo, None, session, records)?;
                let Original::Aligned { published, .. } = original else {
                    return Err(WorkspaceError::NothingToPublish.into());
                };
                conversation_markdown(&ConversationView::new(&published, Standing::Preview))?
            };
            Document { text, lost: encoded.lost }
        }
    };
    document.lost = opened.lost.iter().chain(&document.lost).cloned().collect();
    Ok(document)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The last look at the exact bytes. A page has words of its own; a document of lines is looked at line by line, as each is a
/// document.
fn gate(to: Target, reviewed: &Reviewed, text: &str) -> Result<()> {
    let looked_at = match to {
        Target::Markdown => reviewed.gate_page(text.as_bytes()),
        Target::Pi | Target::Sts => text.lines().try_for_each(|line| reviewed.gate(line.as_bytes())),
        Target::ClickAligned | Target::Tiles | Target::Atif => reviewed.gate(text.as_bytes()),
    };
    Ok(looked_at.map_err(WorkspaceError::Gate)?)
}

/// Writes the file whole: a crash leaves what was there or what is to be there, never half of it.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let at = |source| Error::File { path: path.to_owned(), source };
    if path.is_dir() {
        return Err(at(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // As any file: what the person's own mask leaves of it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".onrecord-").tempfile_in(folder).map_err(at)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(at)?;
    if let Ok(meta) = fs::metadata(path) {
        // One that is there keeps its mode.
        let _ = file.as_file().set_permissions(meta.permissions());
    }
    file.persist(path).map_err(|e| at(e.error))?;
    Ok(())
}

/// Says what the format does not carry: on standard error, as the document stands on the other.
fn tell(lost: &[Loss], out: &Out) {
    if out.json {
        line_on_stderr(format_args!("{}", json!({ "lost": lost })));
    } else if !lost.is_empty() {
        let list: Vec<_> = lost.iter().map(|loss| format!("{} {}", loss.count, loss.what)).collect();
        out.note(format_args!("lost: {}", list.join(", ")));
    }
}
