//! `onrecord lexicon check-dns`: who speaks for lexicons.

use onrecord_lexicon::Nsid;
use serde_json::json;

use crate::{
    config,
    error::{PROBLEMS, Result},
    output::{Out, columns, printable},
};

pub async fn run(nsids: &[Nsid], out: &mut Out) -> Result<u8> {
    let client = config::client()?;
    let (mut rows, mut is_good) = (Vec::new(), true);
    for nsid in nsids {
        let name = format!("_lexicon.{}", nsid.domain());
        // Named apart from what is there: it may be set up before anything is published.
        let authority = client.lexicon_authority(nsid).await;
        let found = match &authority {
            Ok(_) => client.resolve_lexicon(nsid).await.map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        is_good &= found.is_ok();
        let did = authority.ok();
        if out.json {
            out.json(&json!({
                "nsid": nsid,
                "name": name,
                "did": did,
                "handle": found.as_ref().ok().and_then(|found| found.publisher.handle.clone()),
                "uri": found.as_ref().ok().map(|found| &found.uri),
                "cid": found.as_ref().ok().map(|found| &found.cid),
                "authoritative": found.is_ok(),
                "why": found.as_ref().err(),
            }))?;
        } else {
            let (mark, words) = match &found {
                Ok(found) => ("ok", format!("{} {}", found.publisher.name(), found.cid)),
                Err(why) => ("no", printable(why)),
            };
            rows.push(vec![mark.to_owned(), nsid.to_string(), name, words]);
        }
    }
    for line in columns(&rows) {
        out.line(line)?;
    }
    Ok(if is_good { 0 } else { PROBLEMS })
}
