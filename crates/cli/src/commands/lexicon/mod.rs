//! `onrecord lexicon`: tools for the schemas of records.

mod compare;
mod dns;
mod doc;
mod fetch;
mod files;
mod lint;
mod new;
mod publish;
mod pull;
mod resolve;
mod similar;
mod validate;

use crate::{cli::Lexicon, commands::block_on, error::Result, output::Out};

pub fn run(command: &Lexicon, out: &mut Out) -> Result<u8> {
    match command {
        Lexicon::Validate(args) => validate::run(args, out),
        Lexicon::Lint(args) => lint::run(args, out),
        Lexicon::Breaking(args) => compare::breaking(args, out),
        Lexicon::Diff(args) => compare::diff(args, out),
        Lexicon::Doc(args) => doc::run(args, out),
        Lexicon::Similar(args) => similar::run(args, out),
        Lexicon::New(args) => new::run(args, out),
        Lexicon::Resolve(args) => block_on(resolve::run(args, out)),
        Lexicon::CheckDns { nsids } => block_on(dns::run(nsids, out)),
        Lexicon::Publish(args) => block_on(publish::run(args, out)),
        Lexicon::Pull(args) => block_on(pull::run(args, out)),
    }
}
