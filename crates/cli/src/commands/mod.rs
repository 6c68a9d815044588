//! One command per file.

mod about;
pub mod accounts;
mod convert;
pub mod decide;
mod index;
mod lexicon;
mod live;
mod login;
mod manual;
mod mcp;
mod members;
mod moderate;
mod preview;
mod publish;
mod published;
mod review;
mod scan;
mod serve;
mod sessions;
mod show;
mod sources;
mod unpublish;
mod verify;

use std::future::Future;

use tracing_subscriber::EnvFilter;

use crate::{
    cli::{Cli, Command},
    config,
    error::{Error, Result},
    memory,
    output::Out,
};

/// Runs the command; the number is the exit code of a command that did what it should.
pub fn run(cli: Cli, out: &mut Out) -> Result<u8> {
    if let Some(filter) = config::log_filter() {
        let filter = EnvFilter::try_new(filter)
            .map_err(|e| Error::Environment { variable: "ONRECORD_LOG", why: e.to_string() })?;
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        if config::log_is_json()? { log.json().init() } else { log.init() }
    }
    match cli.command {
        Command::Sessions(args) => sessions::run(&args, out),
        Command::Show(args) => show::run(&args, out),
        Command::Scan(args) => scan::run(&args, out),
        Command::Decide(args) => block_on(decide::run(&args, out)),
        Command::Review(args) => block_on(review::run(&args, out)),
        Command::Preview(args) => block_on(preview::run(&args, out)),
        Command::Convert(args) => block_on(convert::run(&args, out)),
        Command::Publish(args) => block_on(publish::run(&args, out)),
        Command::Live(args) => block_on(live::run(&args, out)),
        Command::Published(args) => block_on(published::run(&args, out)),
        Command::Unpublish(args) => block_on(unpublish::run(&args, out)),
        Command::Verify(args) => block_on(verify::run(&args, out)),
        Command::Serve(args) => {
            memory::share_heaps();
            block_on(serve::run(&args, out))
        }
        Command::Mcp(args) => block_on(mcp::run(&args, out)),
        Command::Login(args) => block_on(login::run(&args, out)),
        Command::Logout(args) => block_on(accounts::logout(&args, out)),
        Command::Accounts(args) => block_on(accounts::list(&args, out)),
        Command::Members(command) => block_on(members::run(&command, out)),
        Command::Moderate(args) => block_on(moderate::run(&args.command, out)),
        Command::Index(args) => block_on(index::run(&args.command, out)),
        Command::Lexicon(command) => lexicon::run(&command, out),
        Command::Completions { shell } => manual::completions(shell, out),
        Command::Man { out: folder } => manual::man(&folder, out),
    }
}

/// Runs a command that talks to the network. Only those pay for a runtime.
pub(crate) fn block_on<T>(job: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Output)?.block_on(job)
}
