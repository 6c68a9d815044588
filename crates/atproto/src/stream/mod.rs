//! Following the network: what repositories do, as it happens, from three kinds of servers.
//!
//! A stream yields one frame at a time. What cannot be understood is a frame as well, so that no foreign word stops a
//! follower; only the connection's end is an error. Nothing here is believed: Jetstream and Tap vouch for what they say
//! themselves, and a firehose's commits carry their proof, which is checked elsewhere.
//!
//! Sources: the protocol's event stream and synchronisation specifications; Jetstream's and Tap's published formats.

mod event;
mod firehose;
mod jetstream;
mod labels;
mod reader;
mod socket;
mod source;
mod tap;

pub use event::{AccountStatus, Body, Commit, Cursor, Event, Flaw, Frame, Operation, Proof};
pub use labels::{LabelFlaw, LabelFrame, LabelPage, LabelStream, Labeler, Labels, SignedLabel, Unchecked};
pub use reader::Reader;
pub use source::{BadSource, Kind, Pattern, Source};

use std::sync::Arc;

use onrecord_lexicon::Did;
use url::Url;

use self::{
    jetstream::Wire,
    socket::{MAX_FRAME, MAX_JSON_FRAME, Socket},
};
use crate::{Client, Error, Result, http::host_of};

/// What to ask a server for.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The collections wanted; none means all. Firehoses and Tap send what they have, whatever is wanted: see
    /// [`Stream::next`].
    pub collections: Vec<Pattern>,
    /// Where to go on.
    pub cursor: Option<Cursor>,
    /// The dictionary of Jetstream's first version, if frames are to come compressed from such a server. Later versions
    /// give their own.
    pub dictionary: Option<Vec<u8>>,
    /// Accounts of which a firehose's commits are told whatever they touch.
    pub watched: Watched,
}

/// Says of an account whether it is watched. By itself none is.
#[derive(Clone, Default)]
pub struct Watched(Option<Arc<IsWatched>>);

type IsWatched = dyn Fn(&Did) -> bool + Send + Sync;

impl Watched {
    /// Those of which `is_watched` says so, each time anew.
    #[must_use]
    pub fn new(is_watched: impl Fn(&Did) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_watched)))
    }

    fn has(&self, did: &Did) -> bool {
        self.0.as_ref().is_some_and(|is_watched| is_watched(did))
    }
}

impl std::fmt::Debug for Watched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Watched(some)" } else { "Watched(none)" })
    }
}

/// A connection that yields frames.
pub struct Stream {
    socket: Socket,
    wire: Protocol,
    host: String,
    /// Those that are wanted; none means all.
    collections: Vec<Pattern>,
    watched: Watched,
}

enum Protocol {
    Jetstream(Wire),
    Firehose,
    Tap,
}

impl Client {
    /// Connects to a source.
    ///
    /// # Errors
    /// The guard's and the connection's; [`Error::StreamRefused`] where the server says no, e.g. to an old cursor.
    pub async fn follow(&self, source: &Source, options: &Options) -> Result<Stream> {
        let (socket, wire) = match source.kind() {
            Kind::Jetstream => {
                let (socket, wire) = jetstream::connect(self, source.url(), options).await?;
                (socket, Protocol::Jetstream(wire))
            }
            Kind::Firehose => {
                let url = firehose::address(source.url(), options.cursor.as_ref());
                (Socket::connect(self, &url, MAX_FRAME, None, None).await?, Protocol::Firehose)
            }
            Kind::Tap => {
                let url = tap::address(source.url());
                (Socket::connect(self, &url, MAX_JSON_FRAME, None, source.password()).await?, Protocol::Tap)
            }
        };
        let (collections, watched) = (options.collections.clone(), options.watched.clone());
        Ok(Stream { socket, wire, host: host_of(source.url()), collections, watched })
    }
}

impl Stream {
    /// The next frame. Of commits that touch no wanted collection only the cursor is told. A firehose's commit is told
    /// whole if it touches one, since its proof covers all of it, or if its account is watched.
    ///
    /// # Errors
    /// The connection ended, or was silent for longer than any living one; or the server ends it with a reason. Connect
    /// again, from the last cursor. [`Error::FrameTooLarge`] if what came next is larger than any frame may be: it will come
    /// again.
    pub async fn next(&mut self) -> Result<Frame> {
        let message = self.socket.next().await?;
        let frame = match &self.wire {
            Protocol::Jetstream(wire) => wire.decode(&message, &self.collections),
            Protocol::Firehose => firehose::decode(message.bytes(), &self.collections, &self.watched),
            Protocol::Tap => tap::decode(message.bytes(), &self.collections),
        };
        match frame {
            Frame::Ended { name, message } => Err(Error::StreamRefused { host: self.host.clone(), name, message }),
            frame => Ok(frame),
        }
    }

    /// Tells a Tap server that the frame with this number is kept; others need no telling.
    ///
    /// # Errors
    /// The connection ended: the server will send again what was not acknowledged.
    pub async fn acknowledge(&mut self, number: u64) -> Result<()> {
        match self.wire {
            Protocol::Tap => self.socket.send(tap::acknowledgement(number)).await,
            Protocol::Jetstream(_) | Protocol::Firehose => Ok(()),
        }
    }
}

/// `path` on the server of `url`, as a web address.
fn endpoint(url: &Url, path: &str) -> Url {
    let mut address = url.clone();
    // The scheme was checked when the source was read; these are always allowed for one another.
    let _ = address.set_scheme(if url.scheme() == "ws" { "http" } else { "https" });
    address.set_path(path);
    address.set_query(None);
    address.set_fragment(None);
    address
}

#[cfg(test)]
mod tests;
