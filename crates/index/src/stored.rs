//! Stored columns back to what they stand for.

use onrecord_lexicon::{Cid, Did, Handle, Nsid, Rkey, Tid};

use crate::{
    account::{Author, Profile},
    admit::derive_stored,
    change::{Address, rev_of_number},
    error::{Error, Result},
    query::{RecordJson, Turn},
    row::Row,
    terms::Mark,
};

pub(crate) fn corrupt<E>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |_| Error::Corrupt { what }
}

pub(crate) fn address(did: &str, collection: &str, rkey: &str) -> Result<Address> {
    Ok(Address {
        did: Did::parse(did).map_err(corrupt("an address"))?,
        collection: Nsid::parse(collection).map_err(corrupt("an address"))?,
        rkey: Rkey::parse(rkey).map_err(corrupt("an address"))?,
    })
}

pub(crate) fn author(did: &str, handle: Option<&str>, profile: Option<&str>) -> Result<Author> {
    let profile: Option<Profile> = profile.map(serde_json::from_str).transpose().map_err(corrupt("a profile"))?;
    Ok(Author {
        did: Did::parse(did).map_err(corrupt("a DID"))?,
        handle: handle.map(Handle::parse).transpose().map_err(corrupt("a handle"))?,
        profile: profile.unwrap_or_default(),
    })
}

pub(crate) fn rev(number: i64) -> Result<Tid> {
    rev_of_number(number).ok_or(Error::Corrupt { what: "a revision" })
}

pub(crate) fn corrupt_cursor<E>(_: E) -> Error {
    Error::Cursor
}

/// What follows from a stored record.
pub(crate) fn row_of(address: &Address, rev: i64, json: &str) -> Result<Row> {
    let row = rev_of_number(rev).and_then(|rev| derive_stored(address, &rev, json));
    row.ok_or(Error::Corrupt { what: "a record" })
}

/// All terms of a record.
pub(crate) fn terms(did: &Did, row: &Row) -> String {
    let mut terms = Mark::Author.term(did.as_str());
    if !row.terms.as_str().is_empty() {
        terms.push(' ');
        terms.push_str(row.terms.as_str());
    }
    terms
}

/// A record from its columns.
pub(crate) fn turn(
    address: Address,
    conversation: Option<Address>,
    cid: &[u8],
    rev_number: i64,
    json: String,
) -> Result<Turn> {
    Ok(Turn {
        address,
        cid: Cid::from_bytes(cid).map_err(corrupt("a CID"))?,
        rev: rev(rev_number)?,
        conversation,
        record: RecordJson::new(json),
    })
}
