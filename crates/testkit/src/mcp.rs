//! The reference client of the Model Context Protocol, from npm: installed once, driven with a list of calls.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

/// The folder of the client.
fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/mcp"))
}

/// Makes sure that the client can be started, installing its packages if they are missing (some 30 seconds, once).
fn require() {
    let sdk = folder().join("node_modules/@modelcontextprotocol/sdk/package.json");
    if sdk.exists() {
        return;
    }
    // Tests run in many processes: one installs, the others wait for it.
    let lock = File::create(std::env::temp_dir().join("onrecord-testkit-mcp.lock")).expect("a lock file");
    lock.lock().expect("a lock");
    if sdk.exists() {
        return;
    }
    let setup = folder().join("setup.sh");
    let output = Command::new("bash").arg(&setup).output().expect("bash, to install the client");
    assert!(
        output.status.success() && sdk.exists(),
        "These tests need the reference client of the Model Context Protocol, and installing it failed. Run {} and see what it \
         lacks: Node 18 or later with npm, and the npm registry (or a filled npm cache).\n{}",
        setup.display(),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// What the client saw of a server that it starts as `command` and talks to over its standard input and output: `server`,
/// `instructions`, `tools`, and a result for each of `calls` (`[{"name": …, "arguments": …}]`).
///
/// # Panics
/// If the client or the server fails.
#[must_use]
pub fn mcp_over_stdio(command: &Command, calls: &Value) -> Value {
    let mut client = start(&["stdio"]);
    client.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            client.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        client.current_dir(folder);
    }
    finish(client, calls)
}

/// The same of a server at `url`.
///
/// # Panics
/// If the client or the server fails.
#[must_use]
pub fn mcp_over_http(url: &str, calls: &Value) -> Value {
    finish(start(&["http", url]), calls)
}

fn start(args: &[&str]) -> Command {
    require();
    let mut client = Command::new("node");
    client.arg(folder().join("client.mjs")).args(args);
    client
}

fn finish(mut client: Command, calls: &Value) -> Value {
    client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = client.spawn().expect("Node 18 or later, to run the client");
    child.stdin.take().unwrap().write_all(calls.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the client failed: {out}\n{err}");
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}\n{err}"))
}
