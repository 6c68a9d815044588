//! A stand-in for what a relay has beside its stream: who holds records of a collection. The reference PDS does not answer that.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use onrecord_lexicon::Did;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use url::Url;

/// How many repositories it names at once, however many are asked for.
const PAGE: usize = 2;

/// A running relay that answers `com.atproto.sync.listReposByCollection`. Ends when dropped.
#[derive(Debug)]
pub struct Relay {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

impl Relay {
    /// Starts one that knows these repositories, by collection. It names two at once.
    pub async fn start(repos: HashMap<String, Vec<Did>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on loopback");
        let port = listener.local_addr().expect("a bound socket has an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, repos) = (Arc::clone(&asked), Arc::new(repos));
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(answer(client, Arc::clone(&noted), Arc::clone(&repos)));
            }
        });
        Self { url: format!("http://localhost:{port}"), asked, accepting }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What it was asked, as `collection cursor`, in order.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn answer(mut client: TcpStream, asked: Arc<Mutex<Vec<String>>>, repos: Arc<HashMap<String, Vec<Did>>>) {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        if client.read_buf(&mut request).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request);
    let target = request.split(' ').nth(1).unwrap_or_default();
    let url = Url::parse(&format!("http://localhost{target}")).expect("a target");
    let param = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let (collection, cursor) = (param("collection").unwrap_or_default(), param("cursor").unwrap_or_default());
    asked.lock().unwrap().push(format!("{collection} {cursor}"));
    let of: &[Did] = repos.get(&collection).map_or(&[], Vec::as_slice);
    let from = cursor.parse().unwrap_or(0);
    let page: Vec<_> = of.iter().skip(from).take(PAGE).map(|did| json!({ "did": did })).collect();
    let mut body = json!({ "repos": page });
    if from + PAGE < of.len() {
        body["cursor"] = (from + PAGE).to_string().into();
    }
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    // The client may have gone.
    let _ = client.write_all((head + &body).as_bytes()).await;
    let _ = client.shutdown().await;
}
