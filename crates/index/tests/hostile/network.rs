//! A network of one server that may do anything: it is the directory of accounts, their PDS, and the stream that is followed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::derive_accept_key,
        protocol::{Role, WebSocketConfig},
    },
};

/// What the server does when it is asked for something.
#[derive(Debug, Clone)]
pub enum Answer {
    /// JSON.
    Json(String),
    /// These bytes, with these headers beside the usual ones.
    Bytes(&'static str, Vec<u8>),
    /// A success whose body has no end.
    Endless(Vec<u8>),
    /// A success that begins with these bytes, and then comes one byte at a time, for ever.
    Drip(Vec<u8>),
    /// Nothing at all, until there is another answer.
    Silence,
    /// Somewhere else.
    Redirect(String),
    /// No.
    Status(u16, &'static str),
}

#[derive(Default)]
struct State {
    /// By path and query.
    answers: HashMap<String, Answer>,
    /// How often each was asked for.
    asked: BTreeMap<String, usize>,
    /// What the stream sends, each message once.
    script: Vec<Message>,
    sent: usize,
    /// With what the stream was asked for.
    followed: Vec<String>,
    /// What was said to it by who follows.
    heard: Vec<String>,
}

/// The server. Ends with the runtime.
#[derive(Clone)]
pub struct Network {
    address: std::net::SocketAddr,
    state: Arc<Mutex<State>>,
    news: watch::Sender<()>,
}

impl Network {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let network =
            Self { address: listener.local_addr().unwrap(), state: Arc::default(), news: watch::Sender::new(()) };
        let server = network.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(server.clone().serve(stream));
            }
        });
        network
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> std::net::SocketAddr {
        self.address
    }

    pub fn socket(&self) -> String {
        format!("ws://{}", self.address)
    }

    /// What is answered to this path and query from now on.
    pub fn answer(&self, target: &str, answer: Answer) {
        self.state.lock().unwrap().answers.insert(target.to_owned(), answer);
        self.news.send_replace(());
    }

    /// How often it was asked for.
    pub fn asked(&self, target: &str) -> usize {
        self.state.lock().unwrap().asked.get(target).copied().unwrap_or_default()
    }

    /// With what the stream was asked for, each time.
    pub fn followed(&self) -> Vec<String> {
        self.state.lock().unwrap().followed.clone()
    }

    /// What who follows has said.
    pub fn heard(&self) -> Vec<String> {
        self.state.lock().unwrap().heard.clone()
    }

    /// What the stream sends next.
    pub fn send(&self, messages: impl IntoIterator<Item = Message>) {
        self.state.lock().unwrap().script.extend(messages);
        self.news.send_replace(());
    }

    async fn serve(self, mut stream: TcpStream) {
        loop {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                match stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return,
                }
            }
            let head = String::from_utf8(head).unwrap();
            let target = head.split(' ').nth(1).unwrap().to_owned();
            let header = |name: &str| {
                head.lines().find_map(|line| {
                    let (key, value) = line.split_once(':')?;
                    key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
                })
            };
            if let Some(key) = header("sec-websocket-key") {
                return self.stream(stream, &target, &key, header("sec-websocket-protocol")).await;
            }
            *self.state.lock().unwrap().asked.entry(target.clone()).or_default() += 1;
            let mut news = self.news.subscribe();
            let answer = loop {
                let answer = self.state.lock().unwrap().answers.get(&target).cloned();
                match answer {
                    Some(Answer::Silence) => news.changed().await.unwrap(),
                    answer => break answer,
                }
            };
            let answer = answer.unwrap_or(Answer::Status(404, r#"{"error":"NotFound","message":"no"}"#));
            if respond(&mut stream, answer).await.is_none() {
                return;
            }
        }
    }

    /// Sends what is in the script and was not sent before; goes on until the other side ends it.
    async fn stream(self, mut stream: TcpStream, target: &str, key: &str, protocol: Option<String>) {
        self.state.lock().unwrap().followed.push(target.to_owned());
        let accept = derive_accept_key(key.as_bytes());
        let protocol = protocol.map(|name| format!("sec-websocket-protocol: {name}\r\n")).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: {accept}\r\n{protocol}\r\n"
        );
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        // It may send what nobody may.
        let limits = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(limits)).await;
        let mut news = self.news.subscribe();
        loop {
            let next = {
                let mut state = self.state.lock().unwrap();
                let next = state.script.get(state.sent).cloned();
                state.sent += usize::from(next.is_some());
                next
            };
            match next {
                Some(message) => {
                    if socket.send(message).await.is_err() {
                        return;
                    }
                }
                None => tokio::select! {
                    changed = news.changed() => changed.unwrap(),
                    heard = socket.next() => match heard {
                        Some(Ok(message)) => {
                            let text = message.into_text().unwrap_or_default().to_string();
                            self.state.lock().unwrap().heard.push(text);
                        }
                        _ => return,
                    },
                },
            }
        }
    }
}

/// None where the connection is over.
async fn respond(stream: &mut TcpStream, answer: Answer) -> Option<()> {
    let whole = |status: &str, headers: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        [head.as_bytes(), body].concat()
    };
    let endless = b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.ipld.car\r\nconnection: close\r\n\r\n";
    match answer {
        Answer::Json(json) => {
            stream.write_all(&whole("200 OK", "content-type: application/json\r\n", json.as_bytes())).await.ok()
        }
        Answer::Bytes(headers, body) => stream.write_all(&whole("200 OK", headers, &body)).await.ok(),
        Answer::Status(status, body) => {
            let headers = "content-type: application/json\r\n";
            stream.write_all(&whole(&format!("{status} Refused"), headers, body.as_bytes())).await.ok()
        }
        Answer::Redirect(to) => stream.write_all(&whole("302 Found", &format!("location: {to}\r\n"), b"")).await.ok(),
        Answer::Endless(chunk) => {
            stream.write_all(endless).await.ok()?;
            loop {
                stream.write_all(&chunk).await.ok()?;
            }
        }
        Answer::Drip(start) => {
            stream.write_all(endless).await.ok()?;
            stream.write_all(&start).await.ok()?;
            loop {
                tokio::time::sleep(Duration::from_millis(100)).await;
                stream.write_all(b"x").await.ok()?;
            }
        }
        Answer::Silence => unreachable!("another answer was waited for"),
    }
}
