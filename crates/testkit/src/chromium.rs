//! A real browser: Chromium without a window, driven through its debugging pipe.
//!
//! The pipe's messages are JSON, each ended by a zero byte. Source: the Chrome DevTools Protocol.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::temp_dir;

/// What a page is opened with.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Width of the viewport, in CSS pixels.
    pub width: u32,
    /// Height of the viewport, in CSS pixels. Pictures are as high as the page.
    pub height: u32,
    /// Whether the reader prefers dark pages.
    pub dark: bool,
    /// Whether the page's scripts run.
    pub scripts: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { width: 1200, height: 800, dark: false, scripts: true }
    }
}

/// A running browser with one page. Ends when dropped. Its methods block: call them from a test that is not async, or through
/// `spawn_blocking`.
#[derive(Debug)]
pub struct Chromium {
    process: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Value,
    last_id: u64,
    /// Addresses that were asked for.
    asked_for: Vec<String>,
    /// What the browser complained of: refused by a policy, not found, thrown.
    complaints: Vec<String>,
    // Goes after the process has ended.
    _profile: TempDir,
}

const PATIENCE: Duration = Duration::from_secs(60);

impl Chromium {
    /// Starts one: two seconds.
    ///
    /// # Panics
    /// If there is no Chromium, or it does not answer.
    #[must_use]
    pub fn start(view: View) -> Self {
        let profile = temp_dir("onrecord-chromium-");
        // The pipe is on descriptors 3 and 4; the shell puts our standard input and output there.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, "chromium"])
            .args([
                "--remote-debugging-pipe",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let requests = process.stdin.take().expect("a piped standard input");
        let messages = read_messages(process.stdout.take().expect("a piped standard output"));
        let mut browser = Self {
            process,
            requests,
            messages,
            session: Value::Null,
            last_id: 0,
            asked_for: Vec::new(),
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", &target)["sessionId"].clone();
        for domain in ["Page", "Network", "Log", "Runtime"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.set_view(view);
        browser
    }

    /// Changes the view of the page; what is open is laid out anew.
    pub fn set_view(&mut self, view: View) {
        let scheme = if view.dark { "dark" } else { "light" };
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({ "width": view.width, "height": view.height, "deviceScaleFactor": 1, "mobile": false }),
        );
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] }),
        );
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": !view.scripts }));
    }

    /// Puts the reader into a time zone, e.g. `America/New_York`; what is open is not made anew.
    pub fn set_time_zone(&mut self, id: &str) {
        self.call("Emulation.setTimezoneOverride", &json!({ "timezoneId": id }));
    }

    /// Opens `url` and waits until it is loaded.
    ///
    /// # Panics
    /// If it cannot be.
    pub fn open(&mut self, url: &str) {
        let opened = self.call("Page.navigate", &json!({ "url": url }));
        assert!(opened.get("errorText").is_none(), "Chromium cannot open {url}: {}", opened["errorText"]);
        self.wait_for(url, |message| message["method"] == "Page.loadEventFired");
    }

    /// The value of a JavaScript expression in the page, promises awaited. Works where the page's own scripts do not run.
    ///
    /// # Panics
    /// If it throws.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let request =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true });
        let mut answer = self.call("Runtime.evaluate", &request);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    /// Types into the element of that CSS selector, as a keyboard does.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn type_into(&mut self, selector: &str, text: &str) {
        self.evaluate(&format!("document.querySelector({}).focus()", Value::from(selector)));
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Clicks the first element of that CSS selector that has this text, if one is given.
    ///
    /// # Panics
    /// If there is none within half a minute.
    pub fn click(&mut self, selector: &str, text: &str) {
        let (selector, text) = (Value::from(selector), Value::from(text));
        let found = format!(
            "[...document.querySelectorAll({selector})].find(e => !e.disabled && ({text} == '' || e.innerText.trim() == {text}))"
        );
        self.wait_until(&found);
        self.evaluate(&format!("{found}.click()"));
    }

    /// Waits until a JavaScript expression is true, also in the page that comes next.
    ///
    /// # Panics
    /// If it does not become true within half a minute.
    pub fn wait_until(&mut self, expression: &str) {
        let start = Instant::now();
        let request = json!({ "expression": format!("!!({expression})"), "returnByValue": true });
        // On the way from one page to the next there is none to ask.
        while self.try_call("Runtime.evaluate", &request).is_none_or(|answer| answer["result"]["value"] != true) {
            assert!(start.elapsed() < Duration::from_secs(30), "never true: {expression}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Takes a picture of the whole page, as a PNG file at `path`.
    pub fn screenshot(&mut self, path: &Path) {
        self.screenshot_of(path, None);
    }

    /// Takes a picture of part of the page: from so many pixels below its top, so many high.
    pub fn screenshot_of(&mut self, path: &Path, part: Option<(u32, u32)>) {
        let mut request = json!({ "format": "png", "captureBeyondViewport": true });
        if let Some((from, height)) = part {
            let width = self.evaluate("document.documentElement.clientWidth");
            request["clip"] = json!({ "x": 0, "y": from, "width": width, "height": height, "scale": 1 });
        }
        let picture = self.call("Page.captureScreenshot", &request);
        let picture = decode_base64(picture["data"].as_str().expect("a picture"));
        std::fs::write(path, picture).expect("the picture can be written");
    }

    /// Presses a key that writes one character, as a keyboard does.
    pub fn press(&mut self, key: char) {
        let key = key.to_string();
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": key, "text": key }));
        }
    }

    /// What was asked for and complained of since the last call: addresses, and sentences of the browser.
    pub fn happened(&mut self) -> (Vec<String>, Vec<String>) {
        // What was on its way is read with the next answer.
        std::thread::sleep(Duration::from_millis(50));
        self.evaluate("1");
        (std::mem::take(&mut self.asked_for), std::mem::take(&mut self.complaints))
    }

    /// Looks at the page as a printer does, or as a screen again.
    pub fn print_view(&mut self, is_print: bool) {
        self.call("Emulation.setEmulatedMedia", &json!({ "media": if is_print { "print" } else { "" } }));
    }

    fn note(&mut self, message: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match message["method"].as_str() {
            Some("Network.requestWillBeSent") => self.asked_for.push(text(&message["params"]["request"]["url"])),
            Some("Log.entryAdded") => self.complaints.push(text(&message["params"]["entry"]["text"])),
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(message["params"]["exceptionDetails"].to_string());
            }
            _ => {}
        }
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "Chromium refuses {method}: {}", answer["error"]);
        answer["result"].clone()
    }

    fn try_call(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.ask(method, params).get("result").cloned()
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut request = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_null() {
            request["sessionId"] = self.session.clone();
        }
        let mut request = request.to_string().into_bytes();
        request.push(0);
        self.requests.write_all(&request).expect("These tests need Chromium (Debian's chromium) on the PATH");
        self.wait_for(method, |message| message["id"] == id)
    }

    fn wait_for(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) if wanted(&message) => return message,
                Ok(message) => self.note(&message),
                Err(RecvTimeoutError::Timeout) => panic!("Chromium does not answer: {what}"),
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("These tests need Chromium (Debian's chromium) on the PATH; it ended: {what}")
                }
            }
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Asked, it ends its own child processes too, and lets go of the profile. It may have ended already.
        let _ = self.requests.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let start = Instant::now();
        while matches!(self.process.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn read_messages(pipe: ChildStdout) -> Receiver<Value> {
    let (send, messages) = channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut bytes = Vec::new();
        while pipe.read_until(0, &mut bytes).is_ok_and(|length| length > 0) {
            bytes.pop();
            let Ok(message) = serde_json::from_slice(&bytes) else { break };
            if send.send(message).is_err() {
                break;
            }
            bytes.clear();
        }
    });
    messages
}

fn decode_base64(text: &str) -> Vec<u8> {
    let value = |symbol: u8| match symbol {
        b'A'..=b'Z' => symbol - b'A',
        b'a'..=b'z' => symbol - b'a' + 26,
        b'0'..=b'9' => symbol - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("no base64: {other}"),
    };
    let symbols: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0, |bits, &value| bits << 6 | u32::from(value)) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    symbols.chunks(4).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_of_every_length() {
        let cases: [(&str, &[u8]); 6] = [
            ("", b""),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg==", b"foob"),
            ("+/8=", &[0xfb, 0xff]),
        ];
        for (text, bytes) in cases {
            assert_eq!(super::decode_base64(text), bytes);
        }
    }
}
