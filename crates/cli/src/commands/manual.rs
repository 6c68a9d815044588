//! `onrecord completions` and the manual pages, both generated from the command line itself.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    cli::Cli,
    error::{Error, Result},
    output::Out,
};

pub fn completions(shell: Shell, out: &mut Out) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "onrecord", &mut script);
    out.raw(&script)?;
    Ok(0)
}

pub fn man(folder: &Path, out: &Out) -> Result<u8> {
    let at = |source| Error::File { path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(at)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(at)?;
    out.note(format_args!("the manual pages are in {}", folder.display()));
    Ok(0)
}
