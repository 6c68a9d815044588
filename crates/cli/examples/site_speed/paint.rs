//! What a browser does with 200 turns of ordinary text.

use std::path::Path;

use onrecord_testkit::{Chromium, View};

use crate::{client::Client, fill::ordinary_path, server::Server};

const BROWSERS: usize = 5;
const OPENED: usize = 5;

pub fn all(db: &Path) {
    let server = Server::start(db);
    let mut client = Client::new(server.address);
    let path = ordinary_path();
    for encoding in ["identity", "gzip", "zstd"] {
        assert_eq!(client.get(&path, encoding), 200);
        println!("200 turns of ordinary text, {encoding}: {} bytes", client.body.len());
    }
    let url = format!("http://{}{path}", server.address);
    let (mut first, mut again) = (Vec::new(), Vec::new());
    for _ in 0..BROWSERS {
        let mut browser = Chromium::start(View::default());
        for n in 0..OPENED {
            browser.open(&url);
            let painted = browser.evaluate(
                "new Promise(done => new PerformanceObserver(list => done(list.getEntriesByName('first-contentful-paint')[0].startTime)).observe({type: 'paint', buffered: true}))",
            );
            if n == 0 { &mut first } else { &mut again }.push(painted.as_f64().unwrap());
        }
    }
    for (what, mut times) in [("the first page of a new browser", first), ("opened again", again)] {
        times.sort_by(f64::total_cmp);
        println!(
            "first contentful paint, {what}: {:.0} ms, at most {:.0} ms",
            times[times.len() / 2],
            times[times.len() - 1]
        );
    }
}
