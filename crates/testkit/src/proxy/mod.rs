//! A proxy in front of a PDS that follows a script of faults.
//!
//! One address stands in for the PDS, for the did:plc directory and for a handle resolver. The DID documents that pass name
//! the proxy as the account's server, so a client that starts with the proxy's address stays with it through ordinary
//! identity resolution, and several proxies can stand before one PDS.

mod exchange;
mod fault;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use self::exchange::{Answer, Request};
pub use self::fault::Fault;
use crate::{Pds, PdsOptions};

/// A running proxy. Ends when dropped.
#[derive(Debug)]
pub struct FaultProxy {
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    url: String,
    pds: String,
    plc: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    scripts: HashMap<String, VecDeque<Fault>>,
    counts: HashMap<String, usize>,
}

impl FaultProxy {
    /// Starts one before `pds`, with nothing to do but pass on.
    pub async fn start(pds: &Pds) -> Self {
        let (listener, url) = listen().await;
        Self::serve_on(listener, url, pds)
    }

    /// Starts one, and behind it a PDS that calls itself by the proxy's URL. Signing in through the browser needs it so: the
    /// proofs that a client sends are for the URL it talks to, and the server knows its own alone.
    pub async fn start_with_pds(options: PdsOptions) -> (Pds, Self) {
        let (listener, url) = listen().await;
        let pds = Pds::start_as(options, Some(url.clone())).await;
        let proxy = Self::serve_on(listener, url, &pds);
        (pds, proxy)
    }

    fn serve_on(listener: TcpListener, url: String, pds: &Pds) -> Self {
        let shared =
            Arc::new(Shared { url, pds: pds.url().to_owned(), plc: pds.plc_url().to_owned(), state: Mutex::default() });
        let accepting = tokio::spawn({
            let shared = Arc::clone(&shared);
            async move {
                while let Ok((client, _)) = listener.accept().await {
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move { shared.serve(client).await });
                }
            }
        });
        Self { shared, accepting }
    }

    /// Where it is: give it as the PLC directory's and as the resolver's URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// What is to happen to the next requests of an XRPC method, one fault each, after those already in its script. Later
    /// requests pass. Here and below, requests that call no method go by their path, e.g. `/oauth/token`.
    pub fn script(&self, method: &str, faults: impl IntoIterator<Item = Fault>) {
        self.shared.state.lock().unwrap().scripts.entry(method.to_owned()).or_default().extend(faults);
    }

    /// Faults of a method's script that have not happened yet.
    #[must_use]
    pub fn pending(&self, method: &str) -> usize {
        self.shared.state.lock().unwrap().scripts.get(method).map_or(0, VecDeque::len)
    }

    /// Requests of an XRPC method since the start or the last [`FaultProxy::reset`], failed ones included.
    #[must_use]
    pub fn count(&self, method: &str) -> usize {
        self.shared.state.lock().unwrap().counts.get(method).copied().unwrap_or(0)
    }

    /// Waits until so many requests of an XRPC method have come.
    ///
    /// # Panics
    /// If they do not within two minutes.
    pub async fn wait_for(&self, method: &str, count: usize) {
        let start = Instant::now();
        while self.count(method) < count {
            assert!(start.elapsed() < FORWARD_TIMEOUT, "{} of {count} requests of {method}", self.count(method));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Forgets scripts and counts.
    pub fn reset(&self) {
        *self.shared.state.lock().unwrap() = State::default();
    }
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port on loopback");
    let port = listener.local_addr().expect("a bound socket has an address").port();
    (listener, format!("http://localhost:{port}"))
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    /// One request, one answer, and the connection is closed: simple, and a cut is a cut.
    async fn serve(&self, mut client: TcpStream) {
        let Ok(request) = Request::read(&mut client).await else {
            return;
        };
        let path = request.path();
        let fault = self.next_fault(path.strip_prefix("/xrpc/").unwrap_or(path));
        let answer = match &fault {
            Fault::Answer { status, headers, body } => Ok(Answer::new(*status, headers, body)),
            Fault::CutBefore => return,
            Fault::DelayBefore(delay) => {
                tokio::time::sleep(*delay).await;
                self.forward(&request).await
            }
            _ => self.forward(&request).await,
        };
        let answer = answer
            .unwrap_or_else(|error| Answer::new(502, &[], &format!("the fault proxy cannot reach the PDS: {error}")));
        match fault {
            Fault::CutAfter => {}
            Fault::CutMidway => {
                let bytes = answer.to_bytes();
                // The client may have gone; so much for it. Here and below.
                let _ = client.write_all(&bytes[..bytes.len() - answer.body.len() / 2 - 1]).await;
            }
            Fault::DelayAfter(delay) => {
                tokio::time::sleep(delay).await;
                let _ = client.write_all(&answer.to_bytes()).await;
            }
            Fault::After(hook) => {
                hook();
                let _ = client.write_all(&answer.to_bytes()).await;
            }
            Fault::Rewrite(rewrite) => {
                let mut answer = answer;
                if let Ok(mut json) = serde_json::from_slice(&answer.body) {
                    rewrite(&mut json);
                    answer.body = json.to_string().into_bytes();
                }
                let _ = client.write_all(&answer.to_bytes()).await;
            }
            Fault::Tamper(tamper) => {
                let mut answer = answer;
                tamper(&mut answer.body);
                let _ = client.write_all(&answer.to_bytes()).await;
            }
            Fault::Pass | Fault::Answer { .. } | Fault::CutBefore | Fault::DelayBefore(_) => {
                let _ = client.write_all(&answer.to_bytes()).await;
            }
        }
        let _ = client.shutdown().await;
    }

    fn next_fault(&self, method: &str) -> Fault {
        let mut state = self.state.lock().unwrap();
        *state.counts.entry(method.to_owned()).or_default() += 1;
        state.scripts.get_mut(method).and_then(VecDeque::pop_front).unwrap_or(Fault::Pass)
    }

    /// A DID's document comes from the directory, everything else from the PDS.
    async fn forward(&self, request: &Request) -> std::io::Result<Answer> {
        if !request.path().starts_with("/did:") {
            return request.forward(&self.pds, FORWARD_TIMEOUT).await;
        }
        let mut answer = request.forward(&self.plc, FORWARD_TIMEOUT).await?;
        answer.body = String::from_utf8_lossy(&answer.body).replace(&self.pds, &self.url).into_bytes();
        Ok(answer)
    }
}

const FORWARD_TIMEOUT: Duration = Duration::from_secs(120);
