//! A PostgreSQL server of one's own.

use std::process::{Command, Output};

use tempfile::TempDir;

use crate::{free_port, setup, temp_dir};

/// A running server with an empty database. Ends when dropped, and its data with it.
#[derive(Debug)]
pub struct Postgres {
    url: String,
    data: TempDir,
}

impl Postgres {
    /// Starts one: under a second.
    ///
    /// # Panics
    /// If it cannot be, with what to install.
    #[must_use]
    pub fn start() -> Self {
        let data = temp_dir("onrecord-postgres-");
        let output = script(&["start", &data.path().display().to_string(), &free_port().to_string()]);
        assert!(
            output.status.success(),
            "These tests need PostgreSQL (Debian's postgresql-15 or later), and it does not start: {}",
            String::from_utf8_lossy(&output.stderr),
        );
        Self { url: String::from_utf8_lossy(&output.stdout).trim().to_owned(), data }
    }

    /// Its address, e.g. `postgres://postgres@127.0.0.1:5433/postgres`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        script(&["stop", &self.data.path().display().to_string()]);
    }
}

fn script(args: &[&str]) -> Output {
    Command::new("bash").arg(setup::scripts().join("postgres.sh")).args(args).output().expect("bash, to run PostgreSQL")
}
