//! The `onrecord` command: the only place that reads configuration, prints, or exits.

mod cli;
mod commands;
mod config;
mod error;
mod memory;
mod metrics;
mod output;
mod rules;
mod source;
mod terminal;

use std::{panic, process::ExitCode};

use clap::Parser as _;

fn main() -> ExitCode {
    quiet_panics();
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version go to standard output and are no failure; clap knows which is which.
            let _ = usage.print();
            return ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(error::USAGE));
        }
    };
    let mut out = output::Out::new(cli.json, cli.quiet);
    match commands::run(cli, &mut out).and_then(|code| out.finish().map(|()| code)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => error.report(&out),
    }
}

/// The default message of a panic can quote the text it was working on; ours says only where it happened.
fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        output::line_on_stderr(format_args!(
            "onrecord: a fault in the program itself, at {place}. Nothing was lost; please report it with this line."
        ));
    }));
}
