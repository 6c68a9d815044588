//! Labels: what a labeler says of accounts and records, live (`com.atproto.label.subscribeLabels`) and asked for
//! (`com.atproto.label.queryLabels`).
//!
//! Nothing is believed but what the labeler signed: each label is held against the key that its DID document names for labels.
//! Source: the protocol's label specification.

use jiff::Timestamp;
use onrecord_lexicon::{
    Cid, Did,
    data::{Object, Value},
};
use onrecord_repo::PublicKey;
use serde::Deserialize;
use url::Url;

use super::socket::Socket;
use crate::{Client, Error, Result, error::quote, http::host_of, xrpc::Call};

/// Most labels of a frame or a page that are looked at.
const MAX_LABELS: usize = 5_000;
/// Most bytes of a frame.
const MAX_FRAME: usize = 5_000_000;
/// Most values of a frame: what fits into the most labels, each of ten fields.
const MAX_VALUES: usize = 60_000;
/// Most bytes of a page of labels.
const MAX_PAGE: usize = 4_000_000;
/// How many labels a page is asked for.
const PAGE: &str = "250";
/// How long a label's value may be, in bytes, as its lexicon has it.
const MAX_VALUE: usize = 128;
/// The longest at-uri.
const MAX_URI: usize = 8_192;
/// How far clocks may differ, in seconds.
const MAX_SKEW_S: i64 = 300;

/// A labeler, as its DID document describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labeler {
    /// The account.
    pub did: Did,
    /// Its server.
    pub url: Url,
    /// The key that signs its labels.
    pub key: PublicKey,
}

/// What a labeler says, and signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedLabel {
    /// On what: a DID, or an at-uri.
    pub uri: String,
    /// On this version of it alone.
    pub cid: Option<Cid>,
    /// The word.
    pub value: String,
    /// The word is taken back.
    pub negated: bool,
    /// When it was said.
    pub created_at: Timestamp,
    /// Until when it holds.
    pub expires_at: Option<Timestamp>,
}

/// Why a label is not believed. Its name is stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LabelFlaw {
    /// It is no label of the first version.
    Form,
    /// It is said to be another labeler's.
    Source,
    /// It is not signed by the labeler's key.
    Signature,
    /// It is of the future.
    Future,
}

impl LabelFlaw {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Form, Self::Source, Self::Signature, Self::Future];

    /// Its name, e.g. `label-signature`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Form => "label-form",
            Self::Source => "label-source",
            Self::Signature => "label-signature",
            Self::Future => "label-future",
        }
    }
}

/// Labels that came together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Those that are believed, in their order.
    pub labels: Vec<SignedLabel>,
    /// Why others are not.
    pub refused: Vec<LabelFlaw>,
}

/// Labels as they came, each as a block, or nothing of what is no object. Nothing of it is believed yet: see
/// [`Labeler::believe`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unchecked(Vec<Option<Vec<u8>>>);

impl Unchecked {
    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds those that came later.
    pub fn append(&mut self, later: Self) {
        self.0.extend(later.0);
    }
}

/// What one message of a labeler is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelFrame {
    /// Labels, and where to go on after them.
    Labels {
        /// The labels.
        labels: Unchecked,
        /// Where to go on.
        cursor: i64,
    },
    /// A word of the server about the stream.
    Notice {
        /// Its name, e.g. `OutdatedCursor`.
        name: String,
        /// The server's words.
        message: String,
    },
    /// Not what such a server sends.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
}

/// A page of labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelPage {
    /// The labels.
    pub labels: Unchecked,
    /// Where the next page begins, if there is one.
    pub cursor: Option<String>,
}

/// A connection that yields frames of labels.
pub struct LabelStream {
    socket: Socket,
    host: String,
}

impl Labeler {
    /// Holds each label against the labeler's key, on a thread that may think for longer.
    pub async fn believe(&self, unchecked: Unchecked) -> Labels {
        let (labeler, now) = (self.clone(), Timestamp::now());
        let think = move || {
            let mut labels = Labels::default();
            for block in unchecked.0 {
                match block.ok_or(LabelFlaw::Form).and_then(|block| check(&block, &labeler, now)) {
                    Ok(label) => labels.labels.push(label),
                    Err(flaw) => labels.refused.push(flaw),
                }
            }
            labels
        };
        // It panics at nothing, and is not given up.
        tokio::task::spawn_blocking(think).await.unwrap_or_default()
    }
}

impl Client {
    /// Who a labeler is, by DID or handle, asked of the network whatever was answered before.
    ///
    /// # Errors
    /// Those of identities; [`Error::NoLabeler`] if its document names no service and key for labels.
    pub async fn labeler(&self, who: &str) -> Result<Labeler> {
        let did = match Did::parse(who) {
            Ok(did) => did,
            Err(_) => self.resolve_afresh(who).await?.did,
        };
        self.labeler_of(&did).await
    }

    /// Follows what a labeler says, from after `cursor` on; without one, from now on. 0 stands before the first label.
    ///
    /// # Errors
    /// The guard's and the connection's; [`Error::StreamRefused`] where the server says no.
    pub async fn follow_labels(&self, labeler: &Labeler, cursor: Option<i64>) -> Result<LabelStream> {
        let mut url = labeler.url.clone();
        url.set_path("/xrpc/com.atproto.label.subscribeLabels");
        if let Some(cursor) = cursor {
            url.query_pairs_mut().append_pair("cursor", &cursor.to_string());
        }
        let socket = Socket::connect(self, &url, MAX_FRAME, None, None).await?;
        Ok(LabelStream { socket, host: host_of(&labeler.url) })
    }

    /// What a labeler says now of subjects: DIDs, at-uris, or beginnings of these that end in `*`.
    ///
    /// # Errors
    /// Those of a read.
    pub async fn query_labels(&self, labeler: &Labeler, of: &[String], cursor: Option<&str>) -> Result<LabelPage> {
        #[derive(Deserialize)]
        struct Wire {
            #[serde(default)]
            cursor: Option<String>,
            labels: Vec<serde_json::Value>,
        }
        let mut params = vec![("sources", labeler.did.as_str()), ("limit", PAGE)];
        params.extend(of.iter().map(|of| ("uriPatterns", of.as_str())));
        params.extend(cursor.map(|cursor| ("cursor", cursor)));
        let call =
            Call { params: &params, limit: MAX_PAGE, ..Call::new(&labeler.url, "com.atproto.label.queryLabels") };
        let page: Wire = self.query(&call).await?;
        let blocks =
            page.labels.iter().take(MAX_LABELS).map(|label| Value::from_json(label).ok().map(|v| v.to_dag_cbor()));
        Ok(LabelPage { labels: Unchecked(blocks.collect()), cursor: page.cursor })
    }
}

impl LabelStream {
    /// The next frame.
    ///
    /// # Errors
    /// The connection ended, or was silent for longer than any living one; or the server ends it with a reason. Connect
    /// again, from the last cursor.
    pub async fn next(&mut self) -> Result<LabelFrame> {
        let message = self.socket.next().await?;
        match read(message.bytes()) {
            Ok(Read::Frame(frame)) => Ok(frame),
            Ok(Read::Ended { name, message }) => Err(Error::StreamRefused { host: self.host.clone(), name, message }),
            Err(why) => Ok(LabelFrame::Unreadable { why }),
        }
    }
}

/// A frame, or the server's last word.
enum Read {
    Frame(LabelFrame),
    Ended { name: String, message: String },
}

fn read(bytes: &[u8]) -> Result<Read, String> {
    let fault = |error: onrecord_lexicon::data::DataError| quote(&error.to_string());
    let (head, rest) = Value::split_dag_cbor(bytes, MAX_VALUES).map_err(fault)?;
    let head = head.as_object().ok_or("a head that is no object")?;
    let (body, rest) = Value::split_dag_cbor(rest, MAX_VALUES).map_err(fault)?;
    if !rest.is_empty() {
        return Err("something follows the body".into());
    }
    let body = body.as_object().ok_or("a body that is no object")?;
    let word = |field: &str| quote(text(body, field).unwrap_or_default());
    match (head.get("op").and_then(Value::as_integer), text(head, "t")) {
        (Some(-1), _) => Ok(Read::Ended { name: word("error"), message: word("message") }),
        (Some(1), Some("#info")) => {
            Ok(Read::Frame(LabelFrame::Notice { name: word("name"), message: word("message") }))
        }
        (Some(1), Some("#labels")) => {
            let cursor = body.get("seq").and_then(Value::as_integer).filter(|seq| *seq >= 0);
            let cursor = cursor.ok_or("labels without their place in the stream")?;
            let labels = body.get("labels").and_then(Value::as_array).ok_or("a frame without its labels")?;
            if labels.len() > MAX_LABELS {
                return Err(format!("a frame of {} labels", labels.len()));
            }
            let blocks = labels.iter().map(|label| label.as_object().map(|_| label.to_dag_cbor())).collect();
            Ok(Read::Frame(LabelFrame::Labels { labels: Unchecked(blocks), cursor }))
        }
        _ => Err("a head of no known kind".into()),
    }
}

fn text<'a>(object: &'a Object<'_>, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str)
}

/// The label in a block, if the labeler signed it.
fn check(block: &[u8], labeler: &Labeler, now: Timestamp) -> Result<SignedLabel, LabelFlaw> {
    let value = Value::from_dag_cbor(block).map_err(|_| LabelFlaw::Form)?;
    let mut label = value.into_object().map_err(|_| LabelFlaw::Form)?;
    let word = |field: &str| text(&label, field).map(str::to_owned);
    let time = |field: &str| match label.get(field) {
        None => Ok(None),
        Some(time) => time.as_str().and_then(|time| time.parse::<Timestamp>().ok()).map(Some).ok_or(LabelFlaw::Form),
    };
    if word("src").as_deref() != Some(labeler.did.as_str()) {
        return Err(LabelFlaw::Source);
    }
    // The first version is the first that is signed.
    if label.get("ver").and_then(Value::as_integer) != Some(1) {
        return Err(LabelFlaw::Form);
    }
    let negated = match label.get("neg") {
        None => false,
        Some(Value::Bool(negated)) => *negated,
        Some(_) => return Err(LabelFlaw::Form),
    };
    let cid = match word("cid") {
        None if label.get("cid").is_some() => return Err(LabelFlaw::Form),
        cid => cid.map(|cid| Cid::parse(&cid).map_err(|_| LabelFlaw::Form)).transpose()?,
    };
    let signed = SignedLabel {
        uri: word("uri").filter(|uri| uri.len() <= MAX_URI).ok_or(LabelFlaw::Form)?,
        cid,
        value: word("val").filter(|value| (1..=MAX_VALUE).contains(&value.len())).ok_or(LabelFlaw::Form)?,
        negated,
        created_at: time("cts")?.ok_or(LabelFlaw::Form)?,
        expires_at: time("exp")?,
    };
    let Some(Value::Bytes(signature)) = label.remove("sig") else { return Err(LabelFlaw::Signature) };
    // Names the kind of object within a frame or an answer, and is no part of the label.
    label.remove("$type");
    let signature = signature.into_owned();
    labeler.key.verify(&Value::Object(label).to_dag_cbor(), &signature).map_err(|_| LabelFlaw::Signature)?;
    // Later than all others for long: nothing could take it back.
    if signed.created_at.as_second() > now.as_second() + MAX_SKEW_S {
        return Err(LabelFlaw::Future);
    }
    Ok(signed)
}

#[cfg(test)]
#[path = "labels/tests.rs"]
mod tests;
