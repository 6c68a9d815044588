//! `onrecord lexicon`: tools for the schemas of records.

mod dns;
mod fetch;
mod pull;
mod resolve;
mod validate;

use crate::{cli::Lexicon, commands::block_on, error::Result, output::Out};

pub fn run(command: &Lexicon, out: &mut Out) -> Result<u8> {
    match command {
        Lexicon::Validate(args) => validate::run(args, out),
        Lexicon::Resolve(args) => block_on(resolve::run(args, out)),
        Lexicon::CheckDns { nsids } => block_on(dns::run(nsids, out)),
        Lexicon::Pull(args) => block_on(pull::run(args, out)),
    }
}
