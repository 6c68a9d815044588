//! Reading a conversation from its author's repository.

use onrecord_atproto::{Client, Identity};
use onrecord_lexicon::{Nsid, Rkey};
use onrecord_record::{
    Published,
    aligned::{self, MESSAGE, SESSION, Unreadable},
};
use serde_json::Value;

use crate::Error;

/// Reads the session record with that key and the messages that name it; a message that cannot be understood is reported.
///
/// # Errors
/// The server cannot be read; [`Error::NotOnRecord`] if there is no such session record.
pub async fn fetch(client: &Client, identity: &Identity, rkey: &Rkey) -> Result<(Published, Vec<Unreadable>), Error> {
    let repo = client.repo(identity);
    let uri = format!("at://{}/{SESSION}/{rkey}", identity.did);
    let Some(session) = repo.get_record(&Nsid::parse(SESSION)?, rkey).await? else {
        return Err(Error::NotOnRecord { what: uri });
    };
    let mut messages = Vec::new();
    let mut pages = repo.list_records(&Nsid::parse(MESSAGE)?, true);
    while let Some(page) = pages.next().await? {
        for record in page {
            let value: Value = serde_json::from_str(record.value.get())?;
            if value.get("session").and_then(Value::as_str) == Some(uri.as_str()) {
                messages.push((record.rkey, record.cid, value));
            }
        }
    }
    let session_value: Value = serde_json::from_str(session.value.get())?;
    let session = (session.rkey, session.cid, &session_value);
    Ok(aligned::published(&identity.did, identity.handle.clone(), session, messages)?)
}
