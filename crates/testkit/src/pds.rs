//! A PDS and its did:plc directory, in one process of their own.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use onrecord_lexicon::{Did, Handle};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{free_port, require_pds, setup, temp_dir};

/// How the PDS is to behave.
#[derive(Debug, Clone, Default)]
pub struct PdsOptions {
    /// The production rate limits. They are off otherwise.
    pub rate_limits: bool,
    /// Look for firehose events this often, in milliseconds. By itself a PDS is up to a second late.
    pub firehose_poll_ms: Option<u32>,
}

/// A running PDS. Ends when dropped, and its data with it.
#[derive(Debug)]
pub struct Pds {
    url: String,
    /// What it calls itself.
    public_url: String,
    plc_url: String,
    // In this order: the process ends before its folder goes.
    _process: Process,
    data: TempDir,
}

/// An account on it.
#[derive(Debug, Clone)]
pub struct Account {
    /// Its DID.
    pub did: Did,
    /// Its handle.
    pub handle: Handle,
    /// Its own password.
    pub password: String,
    /// An app password.
    pub app_password: String,
}

/// An account with a did:web identity, and the server of its DID document. That ends when dropped.
#[derive(Debug)]
pub struct DidWebAccount {
    /// The account.
    pub account: Account,
    _process: Process,
}

/// A server that tells what a PDS's firehose tells in the formats of Jetstream (both versions) and of Tap. Ends when dropped.
#[derive(Debug)]
pub struct Streams {
    url: String,
    _process: Process,
}

/// How a server of streams is to misbehave.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamsOptions {
    /// Events of different accounts come in another order than the PDS's, each up to so much later.
    pub reorder_ms: u32,
    /// Readers are sent things twice, kept waiting and left, now and then, by this seed.
    pub faults: Option<u32>,
    /// ... and some are left without a sign.
    pub silences: bool,
    /// After how many seconds a Tap sends again what was not acknowledged; 0 for its usual minute.
    pub retry_s: u32,
}

impl Streams {
    /// Starts one beside `pds`.
    pub async fn start(pds: &Pds) -> Self {
        Self::start_with(pds, StreamsOptions::default()).await
    }

    /// Starts one beside `pds` that misbehaves.
    pub async fn start_with(pds: &Pds, options: StreamsOptions) -> Self {
        #[derive(Deserialize)]
        struct Ready {
            port: u16,
        }
        let port = free_port();
        let mut args = vec![
            "streams.mjs".to_owned(),
            format!("--pds={}", pds.url),
            format!("--plc={}", pds.plc_url),
            format!("--port={port}"),
            format!("--reorder={}", options.reorder_ms),
        ];
        args.extend(options.faults.map(|seed| format!("--faults={seed}")));
        args.extend(options.silences.then(|| "--silences".to_owned()));
        args.extend((options.retry_s > 0).then(|| format!("--retry={}", options.retry_s)));
        let errors = pds.data.path().join(format!("streams-{port}.log"));
        match Process::start::<Ready>(&args, &errors).await {
            Ok((process, ready)) => Self { url: format!("ws://127.0.0.1:{}", ready.port), _process: process },
            Err(why) => panic!("no streams: {why}"),
        }
    }

    /// Where it listens, e.g. `ws://127.0.0.1:6008`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

/// A child that is killed and waited for when dropped. Its standard input is a pipe of ours, so that it ends even if we are
/// killed ourselves.
#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // Nothing to do about a process that has ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starting takes two seconds on an idle machine.
const START_TIMEOUT: Duration = Duration::from_secs(90);
const STARTS: usize = 3;

impl Process {
    /// Starts a script and reads the JSON line that it prints when ready; its standard error if it ends before that.
    async fn start<T: DeserializeOwned + Send + 'static>(args: &[String], errors: &Path) -> Result<(Self, T), String> {
        let mut child = Command::new(setup::node())
            .args(args)
            .current_dir(setup::scripts())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(errors).expect("a file for the errors"))
            .spawn()
            .expect("Node starts");
        let stdout = child.stdout.take().expect("a piped standard output");
        let process = Self(child);
        let line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).map(|_| line)
        });
        let line = match tokio::time::timeout(START_TIMEOUT, line).await {
            Ok(line) => line.expect("reading does not panic").map_err(|error| error.to_string())?,
            Err(_) => return Err(format!("not ready after {START_TIMEOUT:?}")),
        };
        match serde_json::from_str(&line) {
            Ok(ready) => Ok((process, ready)),
            Err(_) => Err(std::fs::read_to_string(errors).unwrap_or_default()),
        }
    }
}

impl Pds {
    /// Starts one, on ports and in a folder of its own.
    pub async fn start(options: PdsOptions) -> Self {
        Self::start_as(options, None).await
    }

    /// Starts one that calls itself by another URL than its own: that of a proxy before it.
    pub(crate) async fn start_as(options: PdsOptions, public_url: Option<String>) -> Self {
        #[derive(Deserialize)]
        struct Ready {
            pds: String,
            plc: String,
        }
        tokio::task::spawn_blocking(require_pds).await.expect("the PDS is installed");
        let mut failure = String::new();
        // Another process may take the port before the PDS does.
        for _ in 0..STARTS {
            let data = temp_dir("onrecord-pds-");
            let mut args = vec![
                "start.mjs".to_owned(),
                "--die-with-stdin".into(),
                "--plc-port=0".into(),
                format!("--pds-port={}", free_port()),
                format!("--data={}", data.path().display()),
            ];
            if options.rate_limits {
                args.push("--rate-limits".into());
            }
            args.extend(public_url.iter().map(|url| format!("--public-url={url}")));
            args.extend(options.firehose_poll_ms.map(|ms| format!("--firehose-poll={ms}")));
            match Process::start::<Ready>(&args, &data.path().join("errors.log")).await {
                Ok((process, ready)) => {
                    let public_url = public_url.unwrap_or_else(|| ready.pds.clone());
                    return Self { url: ready.pds, public_url, plc_url: ready.plc, _process: process, data };
                }
                Err(why) => failure = why,
            }
        }
        panic!("the PDS does not start: {failure}");
    }

    /// Where the PDS is, e.g. `http://localhost:2583`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where its did:plc directory is.
    #[must_use]
    pub fn plc_url(&self) -> &str {
        &self.plc_url
    }

    /// Makes an account. The handle is a name under `.test` whose first label has 3 to 18 characters.
    pub async fn create_account(&self, handle: &str) -> Account {
        let password = format!("password of {handle}");
        let body = json!({ "handle": handle, "email": format!("{handle}@example.com"), "password": password });
        let created = self.post("com.atproto.server.createAccount", None, &body).await;
        let did = created["did"].as_str().expect("a DID");
        self.account(did, handle, password, created["accessJwt"].as_str().expect("a token")).await
    }

    /// Makes an account whose identity is a `did:web:localhost%3APORT`, and serves its document.
    pub async fn create_did_web_account(&self, handle: &str) -> DidWebAccount {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Ready {
            access_jwt: String,
        }
        let (password, port) = (format!("password of {handle}"), free_port());
        let did = format!("did:web:localhost%3A{port}");
        let args = ["didweb.mjs", &self.public_url, handle, &password, &did, &port.to_string()].map(str::to_owned);
        let errors = self.data.path().join(format!("didweb-{port}.log"));
        let (process, ready) = match Process::start::<Ready>(&args, &errors).await {
            Ok(started) => started,
            Err(why) => panic!("no did:web account: {why}"),
        };
        DidWebAccount { account: self.account(&did, handle, password, &ready.access_jwt).await, _process: process }
    }

    async fn account(&self, did: &str, handle: &str, password: String, token: &str) -> Account {
        let made = self.post("com.atproto.server.createAppPassword", Some(token), &json!({ "name": "test" })).await;
        Account {
            did: Did::parse(did).expect("a DID"),
            handle: Handle::parse(handle).expect("a handle"),
            password,
            app_password: made["password"].as_str().expect("an app password").to_owned(),
        }
    }

    /// Runs one SQL statement on the database of accounts, for what no request can bring about, e.g. that a week has passed.
    /// The rows, or how many were changed.
    pub fn sql(&self, statement: &str) -> Vec<Value> {
        let database = self.data.path().join("account.sqlite");
        let script = Command::new(setup::node())
            .args(["sql.mjs".as_ref(), database.as_os_str(), statement.as_ref()])
            .current_dir(setup::scripts())
            .output()
            .expect("Node starts");
        assert!(script.status.success(), "{statement}: {}", String::from_utf8_lossy(&script.stderr));
        serde_json::from_slice(&script.stdout).expect("rows")
    }

    /// Takes the account down, as the server's moderators do.
    pub async fn take_down(&self, did: &Did) {
        self.set_taken_down(did, true).await;
    }

    /// Takes the account down, or lets it be again.
    pub async fn set_taken_down(&self, did: &Did, is_down: bool) {
        let body = json!({
            "subject": { "$type": "com.atproto.admin.defs#repoRef", "did": did },
            "takedown": { "applied": is_down },
        });
        self.administer("com.atproto.admin.updateSubjectStatus", &body).await;
    }

    /// Deletes the account and its repository.
    pub async fn delete_account(&self, did: &Did) {
        self.administer("com.atproto.admin.deleteAccount", &json!({ "did": did })).await;
    }

    async fn administer(&self, method: &str, body: &Value) {
        let request = reqwest::Client::new().post(self.method(method)).basic_auth("admin", Some("admin")).json(body);
        let answer = request.send().await.expect("the PDS answers");
        assert!(answer.status().is_success(), "{method}: {}", answer.text().await.unwrap_or_default());
    }

    /// Calls a method with a JSON body, past the rate limits and past the code under test.
    pub async fn post(&self, method: &str, token: Option<&str>, body: &Value) -> Value {
        let mut request =
            reqwest::Client::new().post(self.method(method)).header("x-ratelimit-bypass", "bypass").json(body);
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        let answer = request.send().await.expect("the PDS answers");
        let status = answer.status();
        let text = answer.text().await.expect("the PDS answers in full");
        assert!(status.is_success(), "{method}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    fn method(&self, method: &str) -> String {
        format!("{}/xrpc/{method}", self.url)
    }
}
