//! Readers at a steady rate, while another process publishes and deletes.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use onrecord_index::{Address, Change, Index, open};
use onrecord_lexicon::Did;
use serde_json::json;

use crate::{
    client::Client,
    corpus::{ACCOUNTS, Dice, MESSAGE, SESSION, did, tid, time},
    fill::{address, apply, path, put},
    measure::Times,
    pages::any,
    server::Server,
};

const READERS: u64 = 16;
/// Of so many questions of readers, one is for a conversation that was published just now, or deleted.
const NEWS: u64 = 20;
/// How often something is published, and something deleted.
const EVERY: Duration = Duration::from_millis(200);
/// How many of those published stand at once.
const STANDING: usize = 25;

/// A conversation of this run.
struct News {
    author: Did,
    us: u64,
    path: String,
    /// A word of each of its turns, found nowhere else.
    words: Vec<String>,
    /// The deletion was acknowledged.
    is_gone: AtomicBool,
}

struct Run {
    conversations: u64,
    began: Instant,
    lasts: Duration,
    news: Mutex<VecDeque<std::sync::Arc<News>>>,
    /// Pages served after the acknowledgement of their deletion.
    stale: AtomicU64,
    /// Answers that are none.
    errors: AtomicU64,
}

impl Run {
    fn is_over(&self) -> bool {
        self.began.elapsed() >= self.lasts
    }
}

pub fn bear(db: &Path, conversations: u64, seconds: u64, rate: u64) {
    let server = Server::start(db);
    let run = Run {
        conversations,
        began: Instant::now(),
        lasts: Duration::from_secs(seconds),
        news: Mutex::default(),
        stale: AtomicU64::new(0),
        errors: AtomicU64::new(0),
    };
    let mut times = Times::default();
    let mut deleted = 0;
    thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS)
            .map(|n| {
                let (run, server) = (&run, &server);
                scope.spawn(move || read(run, server, n, rate))
            })
            .collect();
        let author = scope.spawn(|| author(&run, &server, db));
        let watch = scope.spawn(|| {
            while !run.is_over() {
                thread::sleep(Duration::from_secs(30).min(run.lasts.saturating_sub(run.began.elapsed())));
                let (now, most) = server.memory_mb();
                println!("after {:.0} s: {now} MB, at most {most} MB", run.began.elapsed().as_secs_f64());
            }
        });
        for reader in readers {
            times.0.extend(reader.join().unwrap().0);
        }
        deleted = author.join().unwrap();
        watch.join().unwrap();
    });
    let took = run.began.elapsed().as_secs_f64();
    println!(
        "\n{:.0} pages/s for {took:.0} s, {rate} asked for: p50 {} ms, p99 {} ms, p99.9 {} ms; {:.2} cores",
        times.0.len() as f64 / took,
        times.at(0.5),
        times.at(0.99),
        times.at(0.999),
        server.cpu_s() / took
    );
    let (stale, errors) = (run.stale.into_inner(), run.errors.into_inner());
    println!("{deleted} conversations published and deleted; {stale} stale answers, {errors} errors");
    assert!(stale == 0 && errors == 0, "every answer is right");
}

/// Asks when its time comes, however late the last answer was: the time of an answer counts from then.
fn read(run: &Run, server: &Server, n: u64, rate: u64) -> Times {
    let mut dice = Dice((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (mut client, mut times) = (Client::new(server.address), Times::default());
    let every = Duration::from_secs_f64(READERS as f64 / rate as f64);
    let mut due = run.began + every.mul_f64(n as f64 / READERS as f64);
    while !run.is_over() {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let news = if dice.below(NEWS) == 0 {
            let news = run.news.lock().unwrap();
            news.get(dice.below(news.len().max(1) as u64) as usize).cloned()
        } else {
            None
        };
        let status = match &news {
            Some(news) => {
                let was_gone = news.is_gone.load(Ordering::SeqCst);
                let status = client.get(&news.path, "gzip, deflate, br, zstd");
                if was_gone && status != 410 {
                    run.stale.fetch_add(1, Ordering::Relaxed);
                }
                status
            }
            None => client.get(&any(&mut dice, run.conversations), "gzip, deflate, br, zstd"),
        };
        // One that is deleted as it is asked for may be gone already.
        if status != 200 && !(status == 410 && news.is_some()) {
            run.errors.fetch_add(1, Ordering::Relaxed);
        }
        times.push(due.elapsed());
        due += every;
    }
    times
}

/// Publishes, takes single turns out, and deletes; after each acknowledgement nobody may be served what went.
fn author(run: &Run, server: &Server, db: &Path) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let index = runtime.block_on(open(db.to_str().unwrap(), None)).unwrap();
    let mut client = Client::new(server.address);
    let (mut dice, mut deleted) = (Dice(Timestamp::now().as_microsecond().cast_unsigned()), 0);
    while !run.is_over() {
        let start = Instant::now();
        let news = publish(&runtime, &*index, &mut dice);
        expect(run, "a published conversation is there", is_shown(&mut client, &news));
        run.news.lock().unwrap().push_back(std::sync::Arc::new(news));
        let standing = run.news.lock().unwrap().len();
        if standing > STANDING {
            let oldest = run.news.lock().unwrap()[standing - STANDING - 1].clone();
            // So that all of it is kept.
            let _ = is_shown(&mut client, &oldest);
            let turn = address(&oldest.author, MESSAGE, oldest.us + 2);
            runtime.block_on(apply(&*index, vec![delete(turn)]));
            expect(run, "a deleted turn is in nothing", !is_word_shown(&mut client, &oldest, &oldest.words[1]));
            let all = (0..=oldest.words.len() as u64)
                .rev()
                .map(|n| delete(address(&oldest.author, if n == 0 { SESSION } else { MESSAGE }, oldest.us + n)));
            runtime.block_on(apply(&*index, all.collect()));
            oldest.is_gone.store(true, Ordering::SeqCst);
            expect(run, "a deleted conversation is in nothing", is_gone(&mut client, &oldest));
            deleted += 1;
        }
        // Those that went are asked for still, for a while.
        if standing > 2 * STANDING {
            run.news.lock().unwrap().pop_front();
        }
        thread::sleep(EVERY.saturating_sub(start.elapsed()));
    }
    deleted
}

fn expect(run: &Run, what: &str, holds: bool) {
    if !holds {
        println!("after {:.1} s it is not so that {what}", run.began.elapsed().as_secs_f64());
        run.stale.fetch_add(1, Ordering::Relaxed);
    }
}

fn publish(runtime: &tokio::runtime::Runtime, index: &dyn Index, dice: &mut Dice) -> News {
    let author = did(dice.below(ACCOUNTS));
    // Its keys are so many microseconds apart.
    let us = Timestamp::now().as_microsecond().cast_unsigned();
    let uri = address(&author, SESSION, us).uri();
    let words: Vec<String> = (1..=20).map(|n| format!("w{us}x{n}z")).collect();
    let mut changes = vec![put(
        address(&author, SESSION, us),
        us,
        &json!({"$type": SESSION, "title": dice.words(5), "createdAt": time(us)}),
    )];
    for (n, word) in (1..).zip(&words) {
        let role = if n % 2 == 1 { "user" } else { "assistant" };
        let text = format!("{} {word}", dice.words(60));
        let record = json!({"$type": MESSAGE, "session": uri, "role": role, "text": text, "createdAt": time(us + n)});
        changes.push(put(address(&author, MESSAGE, us + n), us + n, &record));
    }
    runtime.block_on(apply(index, changes));
    News { path: path(&author, us), author, us, words, is_gone: AtomicBool::new(false) }
}

fn delete(address: Address) -> Change {
    Change::Delete { address, rev: tid(Timestamp::now().as_microsecond().cast_unsigned()) }
}

/// Where else it stands while it is there, or what of it.
fn lists(news: &News) -> [(String, String); 4] {
    let key = tid(news.us).to_string();
    let word = news.words[2].clone();
    [
        ("/".to_owned(), key.clone()),
        ("/feed.atom".to_owned(), key.clone()),
        (format!("/at/{}", news.author), key.clone()),
        (format!("/search?q={word}"), key),
    ]
}

fn is_shown(client: &mut Client, news: &News) -> bool {
    let word = &news.words[2];
    let is_page = ["", ".json", ".md"].into_iter().all(|end| {
        let (status, text) = client.text(&format!("{}{end}", news.path));
        status == 200 && text.contains(word.as_str())
    });
    // What is new stands in front, but others come after it.
    let is_found = lists(news).into_iter().skip(2).all(|(path, what)| client.text(&path).1.contains(&what));
    let card = client.get(&card(news), "identity");
    is_page && is_found && card == 200
}

fn is_word_shown(client: &mut Client, news: &News, word: &str) -> bool {
    let is_page = ["", ".json", ".md"].into_iter().any(|end| {
        let (status, text) = client.text(&format!("{}{end}", news.path));
        status != 200 || text.contains(word)
    });
    is_page || client.text(&format!("/search.json?q={word}")).1.contains(&tid(news.us + 2).to_string())
}

fn is_gone(client: &mut Client, news: &News) -> bool {
    let are_pages = ["", ".json", ".md", ".txt"]
        .into_iter()
        .all(|end| client.get(&format!("{}{end}", news.path), "identity") == 410);
    let are_lists = lists(news).into_iter().all(|(path, what)| {
        let (status, text) = client.text(&path);
        status == 200 && !text.contains(&format!("/{what}"))
    });
    let feed = client.text(&format!("/search.atom?q={}", news.words[3])).1;
    let query = format!("/xrpc/dev.onrecord.getConversation?uri={}", address(&news.author, SESSION, news.us).uri());
    let (asked, said) = client.text(&query);
    are_pages
        && are_lists
        && !feed.contains(&tid(news.us).to_string())
        && asked >= 400
        && !said.contains(&news.words[3])
        && client.get(&card(news), "identity") != 200
}

fn card(news: &News) -> String {
    format!("/card/{}/{SESSION}/{}.png", news.author, tid(news.us))
}
