//! A review that is going on, and what is looked at in it.
#![allow(dead_code, reason = "each test binary uses its part")]

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use onrecord_testkit::Chromium;
use serde_json::Value;

/// The binary, serving the author's pages; ended with this value.
pub struct Reviewing {
    child: Child,
    /// The address that opens once.
    pub url: String,
    /// Scheme, host and port.
    pub origin: String,
}

impl Reviewing {
    /// `command` is `onrecord review … --json`.
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: Value = serde_json::from_str(&line).expect("the first line is JSON");
        assert_eq!(first.as_object().unwrap().len(), 1, "{first}");
        let url = first["url"].as_str().unwrap().to_owned();
        let origin = url.split("/open").next().unwrap().to_owned();
        Self { child, url, origin }
    }

    /// Ends it as a crash does.
    pub fn crash(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Reviewing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the pages of the review are, in a browser.
pub trait Look {
    fn text(&mut self, selector: &str) -> String;
    fn count(&mut self, selector: &str) -> u64;
    /// Chooses what stands between two points, each a text within the element of a selector and how far into that, in UTF-16.
    fn choose(&mut self, from: (&str, &str, usize), to: (&str, &str, usize));
    /// Waits until the page says so.
    fn wait_for_words(&mut self, selector: &str, words: &str);
}

impl Look for Chromium {
    fn text(&mut self, selector: &str) -> String {
        let found = self.evaluate(&format!("document.querySelector({})?.innerText ?? '(none)'", Value::from(selector)));
        found.as_str().unwrap().to_owned()
    }

    fn count(&mut self, selector: &str) -> u64 {
        self.evaluate(&format!("document.querySelectorAll({}).length", Value::from(selector))).as_u64().unwrap()
    }

    fn choose(&mut self, from: (&str, &str, usize), to: (&str, &str, usize)) {
        let point = |(selector, text, offset): (&str, &str, usize)| {
            format!(
                "(() => {{ const walker = document.createTreeWalker(document.querySelector({}), NodeFilter.SHOW_TEXT); let node; \
                 while ((node = walker.nextNode())) {{ const at = node.data.indexOf({}); if (at >= 0) return [node, at + {offset}]; }} \
                 throw new Error('not there'); }})()",
                Value::from(selector),
                Value::from(text)
            )
        };
        self.evaluate(&format!(
            "(() => {{ const from = {}, to = {}, range = document.createRange(); range.setStart(...from); range.setEnd(...to); \
             getSelection().removeAllRanges(); getSelection().addRange(range); \
             document.dispatchEvent(new MouseEvent('mouseup', {{bubbles: true}})); }})()",
            point(from),
            point(to)
        ));
        self.wait_until("!document.querySelector('#choose').hidden");
    }

    fn wait_for_words(&mut self, selector: &str, words: &str) {
        self.wait_until(&format!(
            "(document.querySelector({})?.innerText ?? '').includes({})",
            Value::from(selector),
            Value::from(words)
        ));
    }
}
