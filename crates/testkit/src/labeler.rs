//! A labeler: its DID document, its stream, and what it answers, signed with a real key.
//! Source: the protocol's label and event stream specifications.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use onrecord_lexicon::data::{Value, base64};
use serde_json::{Value as Json, json};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::repo::SigningKey;

/// A labeler on loopback. Ends with its connections when dropped.
#[derive(Debug)]
pub struct Labeler {
    port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    key: Mutex<SigningKey>,
    /// Frames of the stream, as they go out; the place of each is its number, from 1.
    frames: Mutex<Vec<Vec<u8>>>,
    /// What it answers when it is asked.
    labels: Mutex<Vec<Json>>,
    /// Changes when all connections are to end.
    ended: AtomicBool,
    cut: Mutex<u64>,
}

impl Labeler {
    /// Starts one that signs with `key`.
    #[must_use]
    pub fn start(key: SigningKey) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let state = Arc::new(State {
            key: Mutex::new(key),
            frames: Mutex::default(),
            labels: Mutex::default(),
            ended: AtomicBool::new(false),
            cut: Mutex::new(0),
        });
        let of = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if of.ended.load(Ordering::Relaxed) {
                    break;
                }
                let of = Arc::clone(&of);
                std::thread::spawn(move || {
                    // Who goes away is gone.
                    let _ = serve(&of, stream, port);
                });
            }
        });
        Self { port, state }
    }

    /// Its DID.
    #[must_use]
    pub fn did(&self) -> String {
        did(self.port)
    }

    /// A label with `more` in it, signed.
    #[must_use]
    pub fn label(&self, uri: &str, value: &str, at: &str, more: &Json) -> Json {
        self.signed(&self.state.key.lock().unwrap(), uri, value, at, more)
    }

    /// The same, signed with another key.
    #[must_use]
    pub fn forged(&self, key: &SigningKey, uri: &str, value: &str, at: &str) -> Json {
        self.signed(key, uri, value, at, &json!({}))
    }

    fn signed(&self, key: &SigningKey, uri: &str, value: &str, at: &str, more: &Json) -> Json {
        let mut label = json!({"ver": 1, "src": self.did(), "uri": uri, "val": value, "cts": at});
        for (name, value) in more.as_object().into_iter().flatten() {
            label[name] = value.clone();
        }
        let signature = key.sign(&Value::from_json(&label).unwrap().to_dag_cbor());
        label["sig"] = json!({"$bytes": base64::encode(&signature)});
        label
    }

    /// Sends labels together, to those who listen and those who will.
    pub fn say(&self, labels: &[Json]) {
        let mut frames = self.state.frames.lock().unwrap();
        let body = json!({"seq": frames.len() + 1, "labels": labels});
        frames.push(frame(&json!({"op": 1, "t": "#labels"}), &body));
    }

    /// Sends bytes that may be no frame.
    pub fn send(&self, bytes: Vec<u8>) {
        self.state.frames.lock().unwrap().push(bytes);
    }

    /// Answers with these labels from now on, whatever is asked for.
    pub fn answer(&self, labels: Vec<Json>) {
        *self.state.labels.lock().unwrap() = labels;
    }

    /// Signs with another key from now on, as its document says at once.
    pub fn change_key(&self, key: SigningKey) {
        *self.state.key.lock().unwrap() = key;
    }

    /// Ends all connections.
    pub fn cut(&self) {
        *self.state.cut.lock().unwrap() += 1;
    }
}

impl Drop for Labeler {
    fn drop(&mut self) {
        self.state.ended.store(true, Ordering::Relaxed);
        self.cut();
        // Wakes the one who accepts.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn did(port: u16) -> String {
    format!("did:web:localhost%3A{port}")
}

fn frame(head: &Json, body: &Json) -> Vec<u8> {
    [head, body].into_iter().flat_map(|part| Value::from_json(part).unwrap().to_dag_cbor()).collect()
}

fn serve(state: &State, mut stream: TcpStream, port: u16) -> std::io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < 20_000 {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let header = |name: &str| {
        let line = head.lines().find_map(|line| line.split_once(": ").filter(|(n, _)| n.eq_ignore_ascii_case(name)));
        line.map(|(_, value)| value.trim().to_owned())
    };
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    match path {
        "/.well-known/did.json" => {
            let (did, key) = (did(port), state.key.lock().unwrap().did_key());
            let key = key.trim_start_matches("did:key:");
            let document = json!({
                "id": did,
                "verificationMethod": [{"id": format!("{did}#atproto_label"), "type": "Multikey", "controller": did, "publicKeyMultibase": key}],
                "service": [{"id": "#atproto_labeler", "type": "AtprotoLabeler", "serviceEndpoint": format!("http://localhost:{port}")}],
            });
            answer(&mut stream, &document)
        }
        "/xrpc/com.atproto.label.queryLabels" => {
            let labels = state.labels.lock().unwrap().clone();
            answer(&mut stream, &json!({"labels": labels}))
        }
        "/xrpc/com.atproto.label.subscribeLabels" => {
            let cursor = query.split('&').find_map(|part| part.strip_prefix("cursor=")?.parse::<usize>().ok());
            let mut sent = cursor.unwrap_or_else(|| state.frames.lock().unwrap().len());
            let key = header("sec-websocket-key").unwrap_or_default();
            let accept = derive_accept_key(key.as_bytes());
            write!(
                stream,
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
            )?;
            let cut = *state.cut.lock().unwrap();
            while *state.cut.lock().unwrap() == cut {
                let next: Vec<Vec<u8>> = state.frames.lock().unwrap().iter().skip(sent).cloned().collect();
                for bytes in &next {
                    let mut frame = vec![0x82, 127];
                    frame.extend((bytes.len() as u64).to_be_bytes());
                    frame.extend(bytes);
                    stream.write_all(&frame)?;
                }
                sent += next.len();
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(())
        }
        _ => write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    }
}

fn answer(stream: &mut TcpStream, body: &Json) -> std::io::Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
