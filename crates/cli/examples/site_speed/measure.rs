//! How long pages take, and how many there are a second.

use std::{
    net::SocketAddr,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::{
    client::Client,
    corpus::Dice,
    fill::ordinary_path,
    pages::{any, card, long, search, short},
    server::Server,
};

/// Connections at once, where many ask.
const CONNECTIONS: u64 = 8;
const MANY_FOR: Duration = Duration::from_secs(10);

/// Times, in microseconds.
#[derive(Default)]
pub struct Times(pub Vec<u32>);

impl Times {
    pub fn push(&mut self, took: Duration) {
        self.0.push(took.as_micros() as u32);
    }

    /// In milliseconds, which so large a part of them does not exceed.
    pub fn at(&mut self, part: f64) -> String {
        self.0.sort_unstable();
        let place = ((self.0.len() - 1) as f64 * part) as usize;
        format!("{:.2}", f64::from(self.0[place]) / 1000.0)
    }
}

pub fn all(db: &Path, conversations: u64) {
    let server = Server::start(db);
    let at = server.address;
    println!("| page, one after the other | n | p50 ms | p99 ms |\n|---|---|---|---|");
    let mut dice = Dice(7);
    let home = |_: u64| "/".to_owned();
    one(at, "home", 1_000, home);
    one(at, "200 turns, made", 300, |n| format!("{}?n={n}", long(&mut Dice(n * 2_654_435_761 + 1), conversations)));
    one(at, "200 turns of ordinary text, made", 100, |n| format!("{}?n={n}", ordinary_path()));
    // Each of them once, so that all are kept.
    let mut client = Client::new(at);
    for n in 0..2_000 {
        client.get(&long(&mut Dice(n * 7_919 + 1), conversations), "zstd, gzip");
    }
    one(at, "200 turns, kept", 2_000, |_| long(&mut dice, conversations));
    let mut dice = Dice(11);
    one(at, "20 turns, made", 500, |_| short(&mut dice, conversations));
    let mut dice = Dice(13);
    one(at, "search", 500, |_| search(&mut dice));
    let mut dice = Dice(17);
    one(at, "card, drawn", 100, |_| card(&mut dice, conversations));
    let first = card(&mut Dice(17), conversations);
    one(at, "card, kept", 500, |_| first.clone());
    println!(
        "\n| {CONNECTIONS} connections | pages/s | p50 ms | p99 ms | cores the server had |\n|---|---|---|---|---|"
    );
    many(&server, "home", |_| "/".to_owned());
    many(&server, "200 turns, kept", |dice| long(dice, conversations));
    many(&server, "200 turns, made", |dice| format!("{}?n={}", long(dice, conversations), dice.below(1 << 40)));
    many(&server, "20 turns, made", |dice| short(dice, conversations));
    many(&server, "search", search);
    many(&server, "what readers ask for", |dice| any(dice, conversations));
    let (now, most) = server.memory_mb();
    println!("\nmemory of the server: {now} MB, at most {most} MB");
}

fn one(at: SocketAddr, what: &str, n: u64, mut page: impl FnMut(u64) -> String) {
    let (mut client, mut times) = (Client::new(at), Times::default());
    for n in 0..n {
        let page = page(n);
        let start = Instant::now();
        let status = client.get(&page, "gzip, deflate, br, zstd");
        times.push(start.elapsed());
        assert_eq!(status, 200, "{page}");
    }
    println!("| {what} | {n} | {} | {} |", times.at(0.5), times.at(0.99));
}

fn many(server: &Server, what: &str, page: impl Fn(&mut Dice) -> String + Sync) {
    let (at, page, seeds) = (server.address, &page, AtomicU64::new(1));
    let (start, cpu) = (Instant::now(), server.cpu_s());
    let mut times = Times::default();
    thread::scope(|scope| {
        let asking: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut dice = Dice(seeds.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                scope.spawn(move || {
                    let (mut client, mut times) = (Client::new(at), Times::default());
                    while start.elapsed() < MANY_FOR {
                        let page = page(&mut dice);
                        let asked = Instant::now();
                        assert_eq!(client.get(&page, "gzip, deflate, br, zstd"), 200, "{page}");
                        times.push(asked.elapsed());
                    }
                    times
                })
            })
            .collect();
        for asking in asking {
            times.0.extend(asking.join().unwrap().0);
        }
    });
    let took = start.elapsed().as_secs_f64();
    println!(
        "| {what} | {:.0} | {} | {} | {:.2} |",
        times.0.len() as f64 / took,
        times.at(0.5),
        times.at(0.99),
        (server.cpu_s() - cpu) / took
    );
}
