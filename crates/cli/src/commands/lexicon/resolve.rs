//! `onrecord lexicon resolve`: the definition that counts.

use onrecord_atproto::PublishedLexicon;
use serde_json::json;

use super::fetch;
use crate::{
    cli::Resolve,
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, counted},
};

pub async fn run(args: &Resolve, out: &mut Out) -> Result<u8> {
    let client = config::client()?;
    if !args.deps {
        let found = client.resolve_lexicon(&args.nsid).await?;
        if let Some(wanted) = args.at.as_ref().filter(|wanted| **wanted != found.cid) {
            let why = format!("{} is at version {} now; its repository no longer has {wanted}", args.nsid, found.cid);
            return Err(Error::Lexicon(why));
        }
        tell(&found, out)?;
        return Ok(0);
    }
    let fetched = fetch::with_references(&client, [args.nsid.clone()].into()).await?;
    let (count, mut missing) = (fetched.len(), 0);
    for (nsid, found) in fetched {
        match found {
            Ok(found) => tell(&found, out)?,
            // Without the one that was asked for there is nothing to tell.
            Err(error) if nsid == args.nsid => return Err(error.into()),
            Err(error) => {
                missing += 1;
                out.note(format_args!("{nsid}: {error}"));
            }
        }
    }
    out.note(format_args!("{}, {missing} of them without a definition that counts", counted(count, "lexicon")));
    Ok(if missing == 0 { 0 } else { PROBLEMS })
}

fn tell(found: &PublishedLexicon, out: &mut Out) -> Result<()> {
    let PublishedLexicon { nsid, uri, cid, rev, publisher, record } = found;
    if out.json {
        return out.json(&json!({
            "nsid": nsid,
            "authoritative": true,
            "did": publisher.did,
            "handle": publisher.handle,
            "uri": uri,
            "cid": cid,
            "rev": rev,
            "schema": record,
        }));
    }
    out.note(format_args!("{uri}"));
    out.note(format_args!(
        "authoritative: _lexicon.{} names {}, whose signature proves version {cid}",
        nsid.domain(),
        publisher.name()
    ));
    out.json_for_people(record)
}
