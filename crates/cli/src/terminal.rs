//! Asking, and showing progress.

use std::{
    io::{self, BufRead as _, IsTerminal as _, Write as _},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use onrecord_atproto::Secret;
use onrecord_workspace::publish::Event;
use serde_json::json;
use tokio::signal;

use crate::{
    error::{Error, Result},
    output::Out,
};

/// Ends when the program is asked to end: by Ctrl-C, or by SIGTERM. From this call on, neither ends it by itself.
pub fn ended() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let asked = {
        use signal::unix::{Signal, SignalKind, signal};
        async fn next(signal: &mut Option<Signal>) {
            match signal {
                Some(signal) => drop(signal.recv().await),
                None => std::future::pending().await,
            }
        }
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt()).ok(), signal(SignalKind::terminate()).ok());
        async move {
            tokio::select! {
                () = next(&mut interrupt) => {}
                () = next(&mut terminate) => {}
            }
        }
    };
    #[cfg(not(unix))]
    let asked = async {
        let _ = signal::ctrl_c().await;
    };
    asked
}

/// Whether there is a terminal to ask on.
pub fn can_ask() -> bool {
    io::stdin().is_terminal()
}

/// Asks for a yes. Without a terminal to ask on it refuses and names the flag to add.
pub fn confirm(question: &str, flag: &'static str) -> Result<()> {
    if !can_ask() {
        return Err(Error::NoTerminal { what: question.to_owned(), flag });
    }
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Error::Stdin)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") { Ok(()) } else { Err(Error::Declined) }
}

/// A password: asked for without echo on a terminal, else the first line of standard input.
pub fn password(prompt: &str) -> Result<Secret> {
    let password = if io::stdin().is_terminal() {
        rpassword::prompt_password(prompt).map_err(Error::Stdin)?
    } else {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map_err(Error::Stdin)?;
        line
    };
    let password = password.trim();
    if password.is_empty() {
        return Err(Error::Usage(
            "no password was given; type it, or pass it on standard input's first line".to_owned(),
        ));
    }
    Ok(Secret::new(password))
}

/// A progress bar, where somebody sees it.
pub fn bar(out: &Out) -> Option<ProgressBar> {
    (!out.quiet && io::stderr().is_terminal()).then(|| {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    })
}

/// Shows what a run of writes does: a bar on a terminal, else a line now and then; with `--json` an object each.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    said: Option<String>,
}

impl Progress {
    pub fn new(out: &Out) -> Self {
        Self { bar: bar(out), quiet: out.quiet, said: None }
    }

    pub fn show(&mut self, event: &Event, out: &mut Out) {
        if out.json {
            // Nobody reading any more is no reason to stop half-way.
            let _ = out.json_now(&object(event));
        }
        match event {
            Event::Progress { done, total } => {
                if let Some(bar) = &self.bar {
                    bar.set_length(u64::try_from(*total).unwrap_or(u64::MAX));
                    bar.set_position(u64::try_from(*done).unwrap_or(u64::MAX));
                    bar.set_message("");
                }
            }
            Event::Waiting { seconds } => {
                let text = "the server's limit is reached; waiting for it".to_owned();
                match &self.bar {
                    Some(bar) => bar.set_message(format!("limit reached, going on in {}", clock(*seconds))),
                    None => self.say(text, *seconds),
                }
            }
            Event::LookingAgain { why, seconds } => {
                let text = format!("{why}; looking at what is there and going on");
                match &self.bar {
                    Some(bar) => {
                        bar.suspend(|| crate::output::line_on_stderr(format_args!("{text}")));
                        bar.set_message(format!("trying again in {}", clock(*seconds)));
                    }
                    None => self.say(text, *seconds),
                }
            }
        }
    }

    /// A line without a terminal: once for each thing, not once a second.
    fn say(&mut self, text: String, seconds: u64) {
        if !self.quiet && self.said.as_ref() != Some(&text) {
            crate::output::line_on_stderr(format_args!("{text} ({} to wait)", clock(seconds)));
            self.said = Some(text);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn object(event: &Event) -> serde_json::Value {
    match event {
        Event::Progress { done, total } => json!({"step": "write", "written": done, "total": total}),
        Event::Waiting { seconds } => json!({"step": "wait", "seconds": seconds}),
        Event::LookingAgain { why, seconds } => json!({"step": "retry", "why": why, "seconds": seconds}),
    }
}
