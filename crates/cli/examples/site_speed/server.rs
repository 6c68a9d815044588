//! The real `onrecord serve`, from where this program was built.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
};

pub struct Server {
    process: Child,
    pub address: SocketAddr,
    _home: tempfile::TempDir,
}

impl Server {
    pub fn start(db: &Path) -> Self {
        let own = std::env::current_exe().unwrap();
        let onrecord = own.parent().unwrap().parent().unwrap().join("onrecord");
        let home = tempfile::tempdir().unwrap();
        let mut process = Command::new(&onrecord)
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--public-url", "https://record.example", "--db"])
            .arg(db)
            .env("ONRECORD_HOME", home.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}; build it with this profile", onrecord.display()));
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let first: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = first["url"].as_str().unwrap().trim_start_matches("http://").parse().unwrap();
        Self { process, address, _home: home }
    }

    /// Resident memory now and at most, in megabytes.
    pub fn memory_mb(&self) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
        };
        (field("VmRSS:"), field("VmHWM:"))
    }

    /// The seconds of processors it used.
    pub fn cpu_s(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
