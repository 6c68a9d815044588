//! `onrecord scan --sources`: where the person's own secrets are collected from. Counts and places, never a value.

use onrecord_transcript::Grain;

use super::block_on;
use crate::{
    cli::Scan,
    config,
    error::Result,
    output::{Out, columns, printable},
    source::Opened,
};

pub fn run(args: &Scan, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    for (ids, off) in [(&args.off, true), (&args.on, false)] {
        for id in ids {
            workspace.set_source_off(id, off)?;
        }
    }
    let collected = match args.session() {
        Some(session) => block_on(Opened::open(&session, &args.rules, Grain::Turn, out))?.own_secrets()?,
        None => workspace.own_secrets(&config::places(None))?,
    };
    if out.json {
        out.json(&collected.sources)?;
        return Ok(0);
    }
    let row = |source: &onrecord_workspace::own::SourceReport| {
        let state = if source.off { "off" } else { "on" };
        let notice = source.notice.as_deref().unwrap_or_default();
        let cells = [source.id, &source.place, &source.found.to_string(), state, notice];
        cells.map(printable).to_vec()
    };
    for line in columns(&collected.sources.iter().map(row).collect::<Vec<_>>()) {
        out.line(line)?;
    }
    Ok(0)
}
