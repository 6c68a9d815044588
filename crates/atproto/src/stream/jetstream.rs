//! Jetstream: events as JSON. Two versions of the format, and compressed frames of both.
//! Sources: the server's README (version 1) and its lexicons `network.bsky.jetstream.*` (version 2).

use std::{
    borrow::Cow,
    io::Read,
    sync::{Mutex, PoisonError},
};

use onrecord_lexicon::{Cid, Did, Handle, Nsid, Rkey, Tid};
use serde::Deserialize;
use serde_json::value::RawValue;
use url::Url;

use super::{
    AccountStatus, Body, Commit, Cursor, Event, Flaw, Frame, Operation, Options, Pattern, endpoint,
    event::{Unfit, parse},
    socket::{Content, MAX_JSON_FRAME, Socket},
};
use crate::{Action, Client, Error, Result};

const V1_PATH: &str = "/subscribe";
const V2_METHOD: &str = "network.bsky.jetstream.subscribeEvents";
const V2_PROTOCOL: &str = "xrpc.v1.json";
const DICTIONARY_METHOD: &str = "network.bsky.jetstream.getZstdDictionary";
/// No dictionary is larger.
const MAX_DICTIONARY: usize = 4_000_000;

/// A frame may ask for a window of two to the so-manieth bytes, which is more than any frame has; by itself the library allows
/// eight times as much.
const MAX_WINDOW: u32 = 24;

/// How a server is talked to.
pub(super) struct Wire {
    version: Version,
    unpack: Option<Box<Unpack>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Connects by the second version, and by the first to a server that does not know it, or where the address names it.
pub(super) async fn connect(client: &Client, url: &Url, options: &Options) -> Result<(Socket, Wire)> {
    if url.path() != V1_PATH {
        match connect_two(client, url, options).await {
            Err(Error::NotAnXrpcServer { status: 404 | 405 | 426, .. }) => {}
            // A method that a server does not know.
            Err(Error::StreamRefused { name, .. }) if matches!(name.as_str(), "NotFound" | "MethodNotImplemented") => {}
            done => return done,
        }
    }
    let compressed = options.dictionary.is_some();
    let socket = Socket::connect(client, &address_one(url, options, compressed), MAX_JSON_FRAME, None, None).await?;
    let unpack = options.dictionary.as_deref().map(|dictionary| Unpack::new(dictionary).map(Box::new)).transpose()?;
    Ok((socket, Wire { version: Version::One, unpack }))
}

async fn connect_two(client: &Client, url: &Url, options: &Options) -> Result<(Socket, Wire)> {
    let dictionary = dictionary(client, url).await;
    let number = dictionary.as_deref().and_then(dictionary_id);
    let address = address_two(url, options, number);
    let socket = Socket::connect(client, &address, MAX_JSON_FRAME, Some(V2_PROTOCOL), None).await?;
    let unpack = dictionary.filter(|_| number.is_some()).map(|bytes| Unpack::new(&bytes).map(Box::new)).transpose()?;
    Ok((socket, Wire { version: Version::Two, unpack }))
}

/// The dictionary that the server packs frames with now; without one they come as they are.
async fn dictionary(client: &Client, url: &Url) -> Option<Vec<u8>> {
    let address = endpoint(url, &format!("/xrpc/{DICTIONARY_METHOD}"));
    let http = &client.inner.http;
    let answer = http.exchange(http.get(address).ok()?, MAX_DICTIONARY).await.ok()?;
    answer.status.is_success().then_some(answer.body)
}

/// The number in a dictionary's head. Source: RFC 8878, section 5.
fn dictionary_id(bytes: &[u8]) -> Option<u32> {
    let rest = bytes.strip_prefix(&[0x37, 0xa4, 0x30, 0xec])?;
    rest.first_chunk().map(|id| u32::from_le_bytes(*id)).filter(|id| *id != 0)
}

fn address_one(url: &Url, options: &Options, compressed: bool) -> Url {
    let mut address = endpoint(url, V1_PATH);
    {
        let mut query = address.query_pairs_mut();
        for collection in &options.collections {
            query.append_pair("wantedCollections", collection.as_str());
        }
        if let Some(cursor) = options.cursor {
            query.append_pair("cursor", &cursor.number().to_string());
        }
        if compressed {
            query.append_pair("compress", "true");
        }
    }
    address
}

fn address_two(url: &Url, options: &Options, dictionary: Option<u32>) -> Url {
    let mut address = endpoint(url, &format!("/xrpc/{V2_METHOD}"));
    {
        let mut query = address.query_pairs_mut();
        for collection in &options.collections {
            query.append_pair("collections", collection.as_str());
        }
        if let Some(cursor) = options.cursor {
            query.append_pair("cursor", &cursor.number().to_string());
        }
        if let Some(id) = dictionary {
            query.append_pair("zstdDictionary", &id.to_string());
        }
    }
    // A query without a pair is still a question mark.
    if address.query() == Some("") {
        address.set_query(None);
    }
    address
}

impl Wire {
    pub(super) fn new(is_second_version: bool, dictionary: Option<&[u8]>) -> Result<Self> {
        let unpack = dictionary.map(|dictionary| Unpack::new(dictionary).map(Box::new)).transpose()?;
        Ok(Self { version: if is_second_version { Version::Two } else { Version::One }, unpack })
    }

    pub(super) fn decode(&self, message: &Content, wanted: &[Pattern]) -> Frame {
        match message {
            Content::Text(text) => self.decode_text(text.as_str(), wanted),
            Content::Binary(bytes) => self.decode_packed(bytes, wanted),
        }
    }

    pub(super) fn decode_text(&self, text: &str, wanted: &[Pattern]) -> Frame {
        match self.version {
            Version::One => decode_one(text, wanted),
            Version::Two => decode_two(text, wanted),
        }
    }

    pub(super) fn decode_packed(&self, bytes: &[u8], wanted: &[Pattern]) -> Frame {
        match self.unpack.as_ref().map(|unpack| unpack.frame(bytes)) {
            Some(Ok(text)) => self.decode_text(&text, wanted),
            Some(Err(why)) => Unfit::new(Flaw::Packing, why).frame(None),
            None => Unfit::new(Flaw::Packing, "it is compressed, and no dictionary is known").frame(None),
        }
    }
}

/// Frames that were packed with a dictionary, each by itself.
pub(super) struct Unpack {
    dictionary: zstd::dict::DecoderDictionary<'static>,
    /// For frames that say how long they are, as servers write them: it is made once, and not for each.
    whole: Mutex<zstd::bulk::Decompressor<'static>>,
}

impl Unpack {
    pub(super) fn new(dictionary: &[u8]) -> Result<Self> {
        let broken = || Error::Setup { why: "the Jetstream dictionary is no zstd dictionary".into() };
        if dictionary_id(dictionary).is_none() {
            return Err(broken());
        }
        let whole = zstd::bulk::Decompressor::with_dictionary(dictionary).map_err(|_| broken())?;
        Ok(Self { dictionary: zstd::dict::DecoderDictionary::copy(dictionary), whole: Mutex::new(whole) })
    }

    pub(super) fn frame(&self, bytes: &[u8]) -> Result<String, &'static str> {
        const BROKEN: &str = "it cannot be unpacked";
        const TOO_LARGE: &str = "it is larger unpacked than any frame may be";
        match zstd::zstd_safe::get_frame_content_size(bytes) {
            Ok(Some(size)) => {
                let size = usize::try_from(size).ok().filter(|size| *size <= MAX_JSON_FRAME).ok_or(TOO_LARGE)?;
                let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
                String::from_utf8(whole.decompress(bytes, size).map_err(|_| BROKEN)?).map_err(|_| BROKEN)
            }
            Ok(None) => {
                let mut text = String::new();
                let decoder = zstd::stream::read::Decoder::with_prepared_dictionary(bytes, &self.dictionary);
                let most = MAX_JSON_FRAME as u64 + 1;
                let read = decoder.and_then(|mut decoder| {
                    decoder.window_log_max(MAX_WINDOW)?;
                    decoder.take(most).read_to_string(&mut text)
                });
                if read.map_err(|_| BROKEN)? > MAX_JSON_FRAME { Err(TOO_LARGE) } else { Ok(text) }
            }
            Err(_) => Err(BROKEN),
        }
    }
}

/// What is wrong with a message's JSON, without the parser's own words: those quote what they did not expect.
pub(super) fn misfit(error: &serde_json::Error) -> Unfit {
    let (flaw, what) = match error.classify() {
        serde_json::error::Category::Data => (Flaw::Fields, "its fields are not those of such a message"),
        serde_json::error::Category::Io | serde_json::error::Category::Syntax | serde_json::error::Category::Eof => {
            (Flaw::Encoding, "it is not JSON")
        }
    };
    Unfit::new(flaw, format!("{what} (line {}, column {})", error.line(), error.column()))
}

#[derive(Deserialize)]
struct One<'a> {
    #[serde(borrow)]
    did: Cow<'a, str>,
    time_us: i64,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    commit: Option<Write<'a>>,
    #[serde(borrow)]
    identity: Option<Identity<'a>>,
    #[serde(borrow)]
    account: Option<Account<'a>>,
}

#[derive(Deserialize)]
struct Write<'a> {
    #[serde(borrow)]
    rev: Cow<'a, str>,
    #[serde(borrow)]
    operation: Cow<'a, str>,
    #[serde(borrow)]
    collection: Cow<'a, str>,
    #[serde(borrow)]
    rkey: Cow<'a, str>,
    #[serde(borrow)]
    record: Option<&'a RawValue>,
    #[serde(borrow)]
    cid: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Identity<'a> {
    #[serde(borrow)]
    handle: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Account<'a> {
    active: bool,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    time: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Sync<'a> {
    #[serde(borrow)]
    rev: Option<Cow<'a, str>>,
}

/// The envelope of the second version.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "$type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Two<'a> {
    #[serde(rename = "$type", borrow)]
    kind: Cow<'a, str>,
    seq: Option<i64>,
    #[serde(borrow)]
    did: Option<Cow<'a, str>>,
    #[serde(borrow)]
    identity: Option<Identity<'a>>,
    #[serde(borrow)]
    account: Option<Account<'a>>,
    #[serde(borrow)]
    sync: Option<Sync<'a>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Cow<'a, str>>,
}

pub(super) fn decode_one(text: &str, wanted: &[Pattern]) -> Frame {
    let frame: One<'_> = match serde_json::from_str(text) {
        Ok(frame) => frame,
        Err(error) => return misfit(&error).frame(None),
    };
    let cursor = Some(Cursor::from_number(frame.time_us));
    let event = match &*frame.kind {
        "commit" => match frame.commit {
            Some(write) if is_wanted(wanted, &write.collection) => commit(&frame.did, &write),
            Some(_) => return Frame::Passed { cursor, acknowledge: None },
            None => Err(Unfit::fields("a commit without its content")),
        },
        "identity" => identity(&frame.did, frame.identity.as_ref()),
        "account" => account(&frame.did, frame.account.as_ref()),
        // Kinds to come are none of ours.
        _ => return Frame::Passed { cursor, acknowledge: None },
    };
    finish(event, cursor)
}

pub(super) fn decode_two(text: &str, wanted: &[Pattern]) -> Frame {
    let read = |text| serde_json::from_str::<Envelope<'_>>(text).map_err(|error| misfit(&error));
    let envelope = match read(text) {
        Ok(envelope) => envelope,
        Err(unfit) => return unfit.frame(None),
    };
    let word = |word: Option<Cow<'_, str>>| crate::error::quote(&word.unwrap_or_default());
    if envelope.kind == "error" {
        return Frame::Ended { name: word(envelope.error), message: word(envelope.message) };
    }
    let Some(payload) = envelope.payload else { return Unfit::fields("a message without its content").frame(None) };
    let frame: Two<'_> = match serde_json::from_str(payload.get()) {
        Ok(frame) => frame,
        Err(error) => return misfit(&error).frame(None),
    };
    let kind = frame.kind.strip_prefix(V2_METHOD).unwrap_or_default();
    if kind == "#info" {
        return Frame::Notice { name: word(frame.name), message: word(frame.message) };
    }
    let cursor = match frame.seq.map(|seq| Cursor::sequence(seq.saturating_add(1))).transpose() {
        Ok(cursor) => cursor,
        Err(unfit) => return unfit.frame(None),
    };
    let Some(did) = &frame.did else { return Unfit::fields("an event of no account").frame(None) };
    let event = match kind {
        "#commit" => match serde_json::from_str::<Write<'_>>(payload.get()) {
            Ok(write) if is_wanted(wanted, &write.collection) => commit(did, &write),
            Ok(_) => return Frame::Passed { cursor, acknowledge: None },
            Err(error) => Err(misfit(&error)),
        },
        "#identity" => identity(did, frame.identity.as_ref()),
        "#account" => account(did, frame.account.as_ref()),
        "#sync" => parse(did, Did::parse).and_then(|did| {
            let rev = frame.sync.and_then(|sync| sync.rev);
            Ok(Event::Sync { did, rev: rev.as_deref().map(|rev| parse(rev, Tid::parse)).transpose()? })
        }),
        _ => return Frame::Passed { cursor, acknowledge: None },
    };
    finish(event, cursor)
}

fn finish(event: Result<Event, Unfit>, cursor: Option<Cursor>) -> Frame {
    match event {
        Ok(event) => Frame::Event { event, cursor, acknowledge: None },
        Err(unfit) => unfit.frame(None),
    }
}

pub(super) fn is_wanted(wanted: &[Pattern], collection: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|pattern| pattern.matches(collection))
}

fn identity(did: &str, identity: Option<&Identity<'_>>) -> Result<Event, Unfit> {
    let handle = identity.and_then(|i| i.handle.as_deref());
    // A handle that cannot be one is as good as none: the account is resolved in any case.
    Ok(Event::Identity { did: parse(did, Did::parse)?, handle: handle.and_then(|h| Handle::parse(h).ok()) })
}

fn account(did: &str, account: Option<&Account<'_>>) -> Result<Event, Unfit> {
    let account = account.ok_or_else(|| Unfit::fields("an account event without its content"))?;
    let status = AccountStatus::of(account.active, account.status.as_deref());
    let at = account.time.as_deref().and_then(|time| time.parse().ok());
    Ok(Event::Account { did: parse(did, Did::parse)?, status, at })
}

fn commit(did: &str, write: &Write<'_>) -> Result<Event, Unfit> {
    let operations =
        vec![operation(&write.operation, &write.collection, &write.rkey, write.cid.as_deref(), write.record)?];
    Ok(Event::Commit(Commit {
        did: parse(did, Did::parse)?,
        rev: parse(&write.rev, Tid::parse)?,
        operations,
        proof: None,
        is_history: false,
    }))
}

pub(super) fn operation(
    action: &str,
    collection: &str,
    rkey: &str,
    cid: Option<&str>,
    record: Option<&RawValue>,
) -> Result<Operation, Unfit> {
    let action = match action {
        "create" => Action::Create,
        "update" => Action::Update,
        "delete" => Action::Delete,
        _ => return Err(Unfit::fields("an operation that is no create, update or delete")),
    };
    let cid = cid.map(|cid| parse(cid, Cid::parse)).transpose()?;
    let record = record.map(|record| Body(record.get().to_owned()));
    let (cid, record) = match action {
        // Whatever else is said of it: nothing is there afterwards.
        Action::Delete => (None, None),
        _ if cid.is_none() || record.is_none() => {
            return Err(Unfit::fields("a record without its CID or its content"));
        }
        _ => (cid, record),
    };
    Ok(Operation {
        action,
        collection: parse(collection, Nsid::parse)?,
        rkey: parse(rkey, Rkey::parse)?,
        cid,
        previous: None,
        record,
    })
}
