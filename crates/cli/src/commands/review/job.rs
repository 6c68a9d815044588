//! Runs that publish or take back: on a thread of their own, so that closing the page ends nothing.

use std::sync::{Arc, Mutex};

use onrecord_web::review::{Job, LinkView};
use onrecord_workspace::publish::Event;

use super::lock;
use crate::{commands::block_on, error::Error};

/// A run and what is known of it.
#[derive(Clone, Default)]
pub struct Running(Arc<Mutex<Job>>);

impl Running {
    pub fn new(what: String) -> Self {
        Self(Arc::new(Mutex::new(Job { what, ..Job::default() })))
    }

    pub fn state(&self) -> Job {
        lock(&self.0).clone()
    }

    pub fn goes_on(&self) -> bool {
        lock(&self.0).ended.is_none()
    }

    /// Shows how far it is.
    pub fn show(&self, event: &Event) {
        let mut job = lock(&self.0);
        match event {
            Event::Progress { done, total } => (job.done, job.total, job.waits) = (*done, *total, None),
            Event::Waiting { seconds } => {
                job.waits = Some(format!("The server's limit is reached; it goes on in {seconds} seconds."));
            }
            Event::LookingAgain { why, seconds } => {
                job.waits = Some(format!("{why}; what is there is looked at again in {seconds} seconds."));
            }
        }
    }

    /// Runs it to its end. What it gives is what is said then, and where it can be seen.
    pub fn start<F, T>(&self, run: F)
    where
        F: FnOnce(Self) -> T + Send + 'static,
        T: Future<Output = Result<(String, Vec<LinkView>), Error>>,
    {
        let running = self.clone();
        std::thread::spawn(move || {
            let ended = block_on(run(running.clone()));
            let mut job = lock(&running.0);
            job.ended = Some(match ended {
                Ok((words, links)) => {
                    job.links = links;
                    Ok(words)
                }
                Err(error) => Err((error.to_string(), error.hint().unwrap_or_default())),
            });
        });
    }
}
