//! A PostgreSQL server of one's own; or two, of which one stands by.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use tempfile::TempDir;

use crate::{free_port, setup, temp_dir};

/// How a server is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct PostgresOptions {
    /// What it acknowledges outlives [`Postgres::kill`]. It is faster otherwise.
    pub acknowledges: bool,
    /// What it acknowledges outlives its machine's end, as with any server outside of tests: for measuring.
    pub durable: bool,
    /// It encrypts, with a certificate for `localhost` of the authority in [`Postgres::authority`]; and the role `dana`, which
    /// a test has to make, must come encrypted and with a password.
    pub tls: bool,
}

/// A running server with an empty database. Ends when dropped, and its data with it.
#[derive(Debug)]
pub struct Postgres {
    url: String,
    port: u16,
    options: PostgresOptions,
    data: TempDir,
}

impl Postgres {
    /// Starts one: under a second.
    ///
    /// # Panics
    /// If it cannot be, with what to install.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(PostgresOptions::default())
    }

    /// Starts one.
    ///
    /// # Panics
    /// As [`Postgres::start`].
    #[must_use]
    pub fn start_with(options: PostgresOptions) -> Self {
        let server = Self::new(options);
        server.script("start", &[&server.port.to_string()]);
        server
    }

    /// Starts another that stands by for this one: from then on this one acknowledges only what the other has too. The
    /// servers must acknowledge what they have.
    ///
    /// # Panics
    /// As [`Postgres::start`].
    #[must_use]
    pub fn standby(&self) -> Self {
        assert!(self.options.acknowledges, "a primary that acknowledges");
        let standby = Self::new(self.options);
        standby.script("standby", &[&standby.port.to_string(), &self.port.to_string()]);
        standby
    }

    fn new(options: PostgresOptions) -> Self {
        let port = free_port();
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres");
        Self { url, port, options, data: temp_dir("onrecord-postgres-") }
    }

    /// Its address, e.g. `postgres://postgres@127.0.0.1:5433/postgres`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The file with the certificate of its authority, if it encrypts.
    #[must_use]
    pub fn authority(&self) -> PathBuf {
        self.data.path().join("ca.crt")
    }

    /// Ends all of its processes at once (SIGKILL).
    pub fn kill(&self) {
        self.script("kill", &[]);
    }

    /// Lets all of its processes stand still (SIGSTOP).
    pub fn freeze(&self) {
        self.script("freeze", &[]);
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        self.script("thaw", &[]);
    }

    /// Starts it again after [`Postgres::kill`].
    pub fn start_again(&self) {
        self.script("again", &[&self.port.to_string()]);
    }

    /// Makes a primary of a standby.
    pub fn promote(&self) {
        self.script("promote", &[]);
    }

    /// Runs statements on it as its superuser, and gives what they print.
    #[allow(clippy::must_use_candidate, reason = "many print nothing")]
    pub fn sql(&self, statements: &str) -> String {
        let output = Command::new("psql").args([&self.url, "-qAt", "-c", statements]).output().expect("psql");
        assert!(output.status.success(), "{statements}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn script(&self, what: &str, args: &[&str]) {
        let output = script(what, self.data.path(), args, self.options);
        assert!(
            output.status.success(),
            "These tests need PostgreSQL (Debian's postgresql-15 or later), and {what} fails: {}",
            String::from_utf8_lossy(&output.stderr),
        );
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // One that stands still cannot end.
        script("thaw", self.data.path(), &[], self.options);
        script("stop", self.data.path(), &[], self.options);
    }
}

fn script(what: &str, folder: &Path, args: &[&str], options: PostgresOptions) -> Output {
    let mut command = Command::new("bash");
    command.arg(setup::scripts().join("postgres.sh")).arg(what).arg(folder).args(args);
    if options.acknowledges {
        command.env("ACKNOWLEDGE", "1");
    }
    if options.durable {
        command.env("DURABLE", "1");
    }
    if options.tls {
        command.env("TLS", "1");
    }
    command.output().expect("bash, to run PostgreSQL")
}
