//! `onrecord review`: the author's own pages, in the browser, on this machine.
//!
//! The pages themselves are [`onrecord_web::review`]'s; what they show and do is here.

mod act;
mod desk;
mod job;
mod library;
mod page;
mod pages;
mod plan;
mod routes;

use std::{
    collections::HashMap,
    io::{self, IsTerminal as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use onrecord_web::{
    Limits,
    review::{Around, Door},
};
use onrecord_workspace::random_name;
use serde_json::json;
use tokio::net::TcpListener;

use self::{desk::Desk, job::Running, library::Library};
use crate::{
    cli::{Review, RulesArgs, SessionArg},
    config,
    error::{Error, Result},
    output::Out,
    source::{self, Found, Input},
    terminal,
};

/// How many conversations are kept in memory with all that was found in them.
const DESKS: usize = 4;

/// A review that is going on.
struct Session {
    door: Arc<Door>,
    rules: RulesArgs,
    /// The reading site that links lead to.
    site: String,
    library: Arc<Library>,
    /// The last used comes last.
    desks: Mutex<Vec<(String, Arc<Mutex<Desk>>)>>,
    /// The runs that publish or take back, by conversation.
    jobs: Mutex<HashMap<String, Running>>,
}

/// One that panicked left nothing half done: decisions are kept in one transaction.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub async fn run(args: &Review, out: &mut Out) -> Result<u8> {
    if !args.listen.ip().is_loopback() {
        let why = "the review shows what is not published: it listens on loopback addresses alone, e.g. 127.0.0.1:0";
        return Err(Error::Usage(why.to_owned()));
    }
    let library = Arc::new(Library::new(args.rules.clone()));
    let first = match &args.session {
        Some(session) => format!("/c/{}", library.add(&asked_for(session, args)?)?),
        None => "/".to_owned(),
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .map_err(|source| Error::Listen { address: args.listen.to_string(), source })?;
    let door = Arc::new(Door::new(listener.local_addr()?, first, [random_name()?, random_name()?, random_name()?]));
    let url = door.url();
    if out.json {
        out.json_now(&json!({"url": url}))?;
    } else {
        out.line(&url)?;
        out.finish()?;
        out.note(
            "The address opens once, in one browser. Ctrl-C ends the review; what you decide is kept as you decide it.",
        );
    }
    library.start();
    if !args.no_open && !out.json && io::stderr().is_terminal() {
        // The address stands above for whoever has no browser here.
        let _ = opener::open_browser(&url);
    }
    let session = Session {
        door,
        rules: args.rules.clone(),
        site: args.site.clone(),
        library,
        desks: Mutex::default(),
        jobs: Mutex::default(),
    };
    let limits = Limits { requests_per_s: None, ..Limits::default() };
    onrecord_web::serve(listener, routes::router(Arc::new(session)), &limits, terminal::ended()).await?;
    Ok(0)
}

/// The transcript that is named on the command line.
fn asked_for(name: &str, args: &Review) -> Result<Input> {
    if name == "-" {
        let why = "standard input can be read once, and a review looks again and again: write it into a file first";
        return Err(Error::Usage(why.to_owned()));
    }
    let arg = SessionArg { session: name.to_owned(), harness: args.harness };
    match source::find(&arg, &config::open_workspace()?)? {
        Found::Transcript(input) => Ok(input),
        Found::Gone { path, uris, .. } => Err(Error::TranscriptGone { name: name.to_owned(), path, uris }),
        Found::Record(link) => Err(Error::IsARecord { name: link.uri.to_string() }),
    }
}

impl Session {
    fn around(&self) -> Around<'_> {
        Around { csrf: self.door.csrf() }
    }

    /// The conversation of that name, opened.
    fn desk(&self, key: &str) -> Result<Arc<Mutex<Desk>>> {
        let mut desks = lock(&self.desks);
        let known = desks.iter().position(|(known, _)| known == key).map(|at| desks.remove(at));
        let (key, desk) = match known {
            Some(known) => known,
            None => {
                let input = self.library.input(key).ok_or_else(|| no_such(key))?;
                (key.to_owned(), Arc::new(Mutex::new(Desk::open(key, input, &self.rules)?)))
            }
        };
        if desks.len() >= DESKS {
            desks.remove(0);
        }
        desks.push((key, Arc::clone(&desk)));
        Ok(desk)
    }
}

fn no_such(key: &str) -> Error {
    Error::NoSuchSession { name: key.to_owned(), left_out: Vec::new() }
}

/// The name of a transcript in addresses: the same as long as it stays where it is. Of a file that may hold several, each
/// conversation has its own.
fn key_of(found: &onrecord_transcript::discover::Found) -> String {
    let path = std::path::absolute(&found.path).unwrap_or_else(|_| found.path.clone());
    let path = path.to_string_lossy();
    let number = if found.harness.may_hold_several() { number_of(&(path, &found.id)) } else { number_of(&path) };
    format!("{number:016x}")
}

/// A number that names a text within this run.
fn number_of(text: &(impl std::hash::Hash + ?Sized)) -> u64 {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
