//! A WebSocket through the guard: the HTTP client connects, and its connection becomes the socket.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::{
    StatusCode, Upgraded,
    header::{
        CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
        SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use serde::Deserialize;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        handshake::{client::generate_key, derive_accept_key},
        protocol::{Role, WebSocketConfig},
    },
};
use url::Url;

use crate::{
    Client, Error, Result, Secret,
    error::quote,
    http::{host_of, transport_error},
};

/// No frame that the protocol allows is larger: five megabytes, and room for what goes around them.
pub(super) const MAX_FRAME: usize = 6_000_000;
/// A record is at most two megabytes, those of the blocks of a commit; as JSON each byte of it may become six, and then
/// some. One author's record must not end everybody's stream.
pub(super) const MAX_JSON_FRAME: usize = 12_500_000;
/// A handshake takes no longer.
const HANDSHAKE: Duration = Duration::from_secs(20);
/// Most bytes of a refusal.
const REFUSAL: usize = 10_000;

pub(super) struct Socket {
    stream: WebSocketStream<Upgraded>,
    host: String,
    /// Most bytes of a message.
    limit: usize,
    patience: Patience,
}

/// How long silence is borne.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Before asking whether anyone is there. Servers that ping do so every half minute, and need no asking: some close on
    /// whatever a client sends.
    pub(super) quiet: Duration,
    /// For the answer.
    pub(super) answer: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { quiet: Duration::from_secs(45), answer: Duration::from_secs(20) }
    }
}

/// A message with content.
pub(super) enum Content {
    Text(tungstenite::Utf8Bytes),
    Binary(tungstenite::Bytes),
}

impl Content {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }
}

/// A server's no before the stream begins.
#[derive(Deserialize)]
struct Refusal {
    error: String,
    #[serde(default)]
    message: String,
}

impl Socket {
    /// Connects for messages of at most `limit` bytes, asking for `protocol` where one is named, with `password` as that of
    /// `admin`.
    pub(super) async fn connect(
        client: &Client,
        url: &Url,
        limit: usize,
        protocol: Option<&'static str>,
        password: Option<&Secret>,
    ) -> Result<Self> {
        let host = host_of(url);
        let key = generate_key();
        let mut request = client
            .inner
            .http
            .get(url.clone())?
            .timeout(HANDSHAKE)
            .header(CONNECTION, "Upgrade")
            .header(UPGRADE, "websocket")
            .header(SEC_WEBSOCKET_VERSION, "13")
            .header(SEC_WEBSOCKET_KEY, &key);
        if let Some(protocol) = protocol {
            request = request.header(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
        }
        if let Some(password) = password {
            request = request.basic_auth("admin", Some(password.expose()));
        }
        let failed = |error: reqwest::Error| transport_error(&host, &error);
        let mut response = request.send().await.map_err(failed)?;
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            let status = response.status().as_u16();
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(failed)? {
                if body.len() + chunk.len() > REFUSAL {
                    break;
                }
                body.extend_from_slice(&chunk);
            }
            return Err(match serde_json::from_slice::<Refusal>(&body) {
                Ok(refusal) => {
                    Error::StreamRefused { host, name: quote(&refusal.error), message: quote(&refusal.message) }
                }
                Err(_) => Error::NotAnXrpcServer { host, status },
            });
        }
        let accepted = response.headers().get(SEC_WEBSOCKET_ACCEPT).and_then(|value| value.to_str().ok());
        if accepted != Some(derive_accept_key(key.as_bytes()).as_str()) {
            return Err(Error::Interrupted { host, why: "its handshake is not that of a WebSocket server".into() });
        }
        let upgraded = response.upgrade().await.map_err(failed)?;
        let limits = WebSocketConfig::default().max_message_size(Some(limit)).max_frame_size(Some(limit));
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(limits)).await;
        Ok(Self { stream, host, limit, patience: Patience::default() })
    }

    /// The next message with content. Pings are answered on the way, and one is sent where nothing is heard.
    pub(super) async fn next(&mut self) -> Result<Content> {
        let mut asked = false;
        loop {
            let patience = if asked { self.patience.answer } else { self.patience.quiet };
            let Ok(message) = tokio::time::timeout(patience, self.stream.next()).await else {
                if asked {
                    return Err(self.broken("nothing is heard from it any more".into()));
                }
                asked = true;
                let sent = self.stream.send(Message::Ping(tungstenite::Bytes::new())).await;
                sent.map_err(|error| self.broken(quote(&error.to_string())))?;
                continue;
            };
            asked = false;
            match message {
                Some(Ok(Message::Text(text))) => return Ok(Content::Text(text)),
                Some(Ok(Message::Binary(bytes))) => return Ok(Content::Binary(bytes)),
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(reason))) => {
                    let why = reason.map(|r| quote(&format!("{} {}", r.code, r.reason))).unwrap_or_default();
                    return Err(self.broken(format!("it was closed: {why}")));
                }
                Some(Err(tungstenite::Error::Capacity(_))) => {
                    return Err(Error::FrameTooLarge { host: self.host.clone(), limit: self.limit });
                }
                Some(Err(error)) => return Err(self.broken(quote(&error.to_string()))),
                None => return Err(self.broken("it was closed".into())),
            }
        }
    }

    pub(super) async fn send(&mut self, text: String) -> Result<()> {
        let sent = self.stream.send(Message::text(text)).await;
        sent.map_err(|error| self.broken(quote(&error.to_string())))
    }

    fn broken(&self, why: String) -> Error {
        Error::Interrupted { host: self.host.clone(), why }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;
    use tokio_tungstenite::accept_async;

    use super::*;
    use crate::Config;

    const SHORT: Patience = Patience { quiet: Duration::from_millis(50), answer: Duration::from_millis(300) };

    async fn connect(listener: &TcpListener) -> Socket {
        let client = Client::new(Config { allow_local: true, ..Config::default() }).unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let mut socket = Socket::connect(&client, &url, MAX_FRAME, None, None).await.unwrap();
        socket.patience = SHORT;
        socket
    }

    #[tokio::test]
    async fn a_quiet_server_that_answers_is_waited_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = async {
            let mut stream = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            // Its pongs are sent while it reads.
            let _ = tokio::time::timeout(Duration::from_millis(500), stream.next()).await;
            for _ in 0..4 {
                let _ = tokio::time::timeout(Duration::from_millis(100), stream.next()).await;
            }
            stream.send(Message::text("late")).await.unwrap();
            stream
        };
        let reader = async { connect(&listener).await.next().await };
        let (message, _server) = tokio::join!(reader, server);
        assert_eq!(message.unwrap().bytes(), b"late");
    }

    #[tokio::test]
    async fn a_server_that_answers_nothing_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = async { accept_async(listener.accept().await.unwrap().0).await.unwrap() };
        let (mut socket, _silent) = tokio::join!(connect(&listener), server);
        assert!(matches!(socket.next().await, Err(Error::Interrupted { .. })));
    }

    #[tokio::test]
    async fn a_message_larger_than_any_frame_ends_the_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = async {
            let mut stream = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            let _ = stream.send(Message::binary(vec![0; MAX_FRAME + 1])).await;
        };
        let reader = async { connect(&listener).await.next().await };
        let (message, ()) = tokio::join!(reader, server);
        assert!(matches!(message, Err(Error::FrameTooLarge { .. })));
    }
}
