//! Hosts that follow: processes of their own, each with an index, and what befalls them.

use std::{
    fs::File,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use onrecord_index::{Index, PostgresIndex, SqliteIndex};
use onrecord_testkit::Postgres;
use tokio::time::sleep;

use super::{Rng, authors::Authors, model::Model};
use crate::pds_support::Machine;

/// How long an index may take to have what there is, after everybody is quiet.
const CATCH_UP: Duration = Duration::from_secs(150);

/// What befalls a host.
#[derive(Clone)]
pub enum Fate {
    /// Its process is killed at random moments.
    Killed,
    /// ... and its database server too, now and then.
    KilledWithItsDatabase(Arc<Postgres>),
    /// ... and halfway the primary of its two database servers, for good; the standby is promoted some time later.
    FailedOver(Arc<Postgres>, Arc<Postgres>),
    /// It has two processes, one of which stands still for a while, again and again.
    Frozen,
}

/// A host.
pub struct Host {
    pub name: &'static str,
    /// The path of a file, or the URL of a database.
    pub db: String,
    pub source: String,
    pub fate: Fate,
    machine: Machine,
    log: PathBuf,
    processes: Mutex<Vec<Child>>,
}

impl Host {
    /// One with its index in PostgreSQL.
    pub fn on_postgres(
        name: &'static str,
        (plc, pds): (&str, &str),
        server: &Postgres,
        source: String,
        fate: Fate,
    ) -> Self {
        let database = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        server.sql(&format!("CREATE DATABASE {database}"));
        let (at, _) = server.url().rsplit_once('/').unwrap();
        Self::new(name, (plc, pds), format!("{at}/{database}"), source, fate)
    }

    /// One with its index in the first of two servers, as long as it lives.
    pub fn on_two_servers(
        name: &'static str,
        at: (&str, &str),
        servers: (Arc<Postgres>, Arc<Postgres>),
        source: String,
    ) -> Self {
        let db = format!(
            "postgres://postgres@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
            servers.0.port(),
            servers.1.port()
        );
        Self::new(name, at, db, source, Fate::FailedOver(servers.0, servers.1))
    }

    /// One with its index in a file.
    pub fn on_sqlite(name: &'static str, (plc, pds): (&str, &str), source: String, fate: Fate) -> Self {
        Self::new(name, (plc, pds), String::new(), source, fate)
    }

    fn new(name: &'static str, (plc, pds): (&str, &str), db: String, source: String, fate: Fate) -> Self {
        let machine = Machine::on(plc, pds);
        let db = if db.is_empty() { machine.path("index.db").to_str().unwrap().to_owned() } else { db };
        let log = machine.path("log");
        Self { name, db, source, fate, machine, log, processes: Mutex::default() }
    }

    /// The index, read by this process.
    pub async fn index(&self) -> Arc<dyn Index> {
        if self.db.starts_with("postgres") {
            Arc::new(PostgresIndex::open(&self.db, None).await.unwrap())
        } else {
            Arc::new(SqliteIndex::open(PathBuf::from(&self.db)).await.unwrap())
        }
    }

    /// Starts a process that follows.
    pub fn start(&self) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        let args = ["serve", "--listen", "127.0.0.1:0", "--db", &self.db, "--follow", &self.source];
        let mut command: Command = self.machine.command(&args);
        command.env("ONRECORD_LOG", "info,hyper=warn").stdout(Stdio::null()).stderr(log);
        self.processes.lock().unwrap().push(command.spawn().unwrap());
    }

    /// SIGKILL to its processes. Whether all were alive.
    pub fn kill(&self) -> bool {
        let mut were_alive = true;
        for mut process in self.processes.lock().unwrap().drain(..) {
            were_alive &= process.try_wait().unwrap().is_none();
            let _ = process.kill();
            let _ = process.wait();
        }
        were_alive
    }

    /// Starts it, and lets befall it what is its fate, so many times; ends with it running.
    pub async fn suffer(&self, times: usize, mut rng: Rng) {
        for n in 0..times {
            match &self.fate {
                Fate::Killed => {
                    // A lease in a file is waited for, by the next process too: most have it when they are killed.
                    let wait = if self.db.starts_with("postgres") || rng.is(25) { 300 } else { 4_800 };
                    sleep(Duration::from_millis(wait + rng.below(3_500))).await;
                }
                Fate::KilledWithItsDatabase(server) => {
                    sleep(Duration::from_millis(300 + rng.below(2_500))).await;
                    if n % 3 == 1 {
                        server.kill();
                        sleep(Duration::from_millis(rng.below(2_000))).await;
                        server.start_again();
                        sleep(Duration::from_millis(1_000 + rng.below(3_000))).await;
                        continue;
                    }
                }
                Fate::FailedOver(primary, standby) => {
                    sleep(Duration::from_millis(300 + rng.below(2_500))).await;
                    if n == times / 2 {
                        primary.kill();
                        sleep(Duration::from_millis(500 + rng.below(2_000))).await;
                        standby.promote();
                        sleep(Duration::from_millis(1_000 + rng.below(3_000))).await;
                        continue;
                    }
                }
                Fate::Frozen => {
                    self.freeze_one(&mut rng).await;
                    continue;
                }
            }
            assert!(self.kill(), "{}: it had ended by itself\n{}", self.name, self.said());
            sleep(Duration::from_millis(rng.below(800))).await;
            self.start();
        }
    }

    async fn freeze_one(&self, rng: &mut Rng) {
        let id = {
            let processes = self.processes.lock().unwrap();
            processes[rng.place(processes.len())].id().to_string()
        };
        signal("STOP", &id);
        // Longer than a lease lasts.
        sleep(Duration::from_millis(6_000 + rng.below(4_000))).await;
        signal("CONT", &id);
        sleep(Duration::from_millis(rng.below(3_000))).await;
    }

    /// The end of what it said.
    pub fn said(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }

    /// Waits until it has a place in the stream to go on from. What happened before is not its business, unless it follows a
    /// Tap, which tells everything.
    pub async fn wait_until_it_follows(&self, authors: &Authors) {
        let began = Instant::now();
        let index = self.index().await;
        loop {
            authors.beacon().await;
            for _ in 0..20 {
                if self.source.starts_with("tap:") || !index.status().await.unwrap().cursors.is_empty() {
                    return;
                }
                sleep(Duration::from_millis(100)).await;
            }
            assert!(began.elapsed() < CATCH_UP, "{}: it does not follow\n{}", self.name, self.said());
        }
    }

    /// Waits until its index is as the repositories have it.
    pub async fn agrees(&self, model: &Model) {
        let began = Instant::now();
        let index = self.index().await;
        loop {
            let found = model.differences(&*index).await;
            if found.is_empty() {
                eprintln!("{}: equal after {:.1} s", self.name, began.elapsed().as_secs_f64());
                return;
            }
            let some = found.iter().take(12).map(String::as_str).collect::<Vec<_>>().join("\n");
            assert!(began.elapsed() < CATCH_UP, "{}: {} differences\n{some}\n{}", self.name, found.len(), self.said());
            sleep(Duration::from_secs(1)).await;
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}

fn signal(name: &str, id: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), id]).status().unwrap().success());
}
