//! Reading a conversation from its author's repository, whatever family it is of.

use onrecord_atproto::{Client, Identity, Record, Repo};
use onrecord_lexicon::{AtUri, Catalog, Nsid, Rkey};
use onrecord_record::{
    Original, RecordAt,
    aligned::{MESSAGE, SESSION, Unreadable},
    sharedcomputer,
    tiles::{self, LinkSecret, Snapshot},
};
use serde_json::Value;

use crate::Error;

/// Reads the conversation that the record `collection`/`rkey` of `identity` is or belongs to; an encrypted one is opened with
/// `secret`. Records of it that cannot be understood are reported.
///
/// # Errors
/// The server cannot be read; [`Error::NotOnRecord`] if there is no such record; see also [`onrecord_record::Error`].
pub async fn fetch(
    client: &Client,
    identity: &Identity,
    collection: &Nsid,
    rkey: &Rkey,
    secret: Option<&LinkSecret>,
    catalog: &Catalog,
) -> Result<(Original, Vec<Unreadable>), Error> {
    let repo = client.repo(identity);
    let uri = AtUri::of_record(&identity.did, collection, rkey);
    let original = match collection.as_str() {
        SESSION => return aligned(&repo, identity, uri).await,
        MESSAGE => {
            // One turn is nothing without the others.
            let message = get(&repo, &uri, collection, rkey).await?;
            let session = message.value.get("session").and_then(Value::as_str).and_then(|uri| AtUri::parse(uri).ok());
            match session {
                Some(session)
                    if session.authority() == identity.did.as_str() && session.collection() == Some(SESSION) =>
                {
                    return aligned(&repo, identity, session).await;
                }
                _ => Original::generic(MESSAGE, uri.as_str(), &message.value, catalog),
            }
        }
        tiles::SNAPSHOT | tiles::LEGACY => {
            let record = get(&repo, &uri, collection, rkey).await?;
            Original::tiles(Snapshot::open(collection.as_str(), record.value, secret)?, uri.as_str())
        }
        sharedcomputer::MESSAGE => {
            let mut messages = Vec::new();
            let mut pages = repo.list_records(collection, true);
            while let Some(page) = pages.next().await? {
                for record in page {
                    messages.push((record.rkey.clone(), at(record)?.value));
                }
            }
            let reading = sharedcomputer::read(&messages, rkey, uri.as_str());
            Original::SharedComputer(Box::new(reading.ok_or_else(|| Error::NotOnRecord { what: uri.to_string() })?))
        }
        other => Original::generic(other, uri.as_str(), &get(&repo, &uri, collection, rkey).await?.value, catalog),
    };
    Ok((original, Vec::new()))
}

async fn get(repo: &Repo, uri: &AtUri, collection: &Nsid, rkey: &Rkey) -> Result<RecordAt, Error> {
    let record = repo.get_record(collection, rkey).await?;
    at(record.ok_or_else(|| Error::NotOnRecord { what: uri.to_string() })?)
}

fn at(record: Record) -> Result<RecordAt, Error> {
    Ok(RecordAt { uri: record.uri, cid: record.cid, value: serde_json::from_str(record.value.get())? })
}

async fn aligned(repo: &Repo, identity: &Identity, uri: AtUri) -> Result<(Original, Vec<Unreadable>), Error> {
    let rkey = Rkey::parse(uri.rkey().unwrap_or_default())?;
    let session = get(repo, &uri, &Nsid::parse(SESSION)?, &rkey).await?;
    let mut messages = Vec::new();
    let mut pages = repo.list_records(&Nsid::parse(MESSAGE)?, true);
    while let Some(page) = pages.next().await? {
        for record in page {
            messages.push(at(record)?);
        }
    }
    Ok(Original::aligned(&identity.did, identity.handle.clone(), session, messages)?)
}
