//! `onrecord mcp`: published conversations as tools for agents, over the Model Context Protocol.
//!
//! Each tool is one query of `lexicons/dev/onrecord`: its lexicon says what it takes and what it gives.

mod server;
mod source;
mod text;
mod tools;

use rmcp::ServiceExt as _;
use tokio::io::AsyncReadExt as _;

use crate::{
    cli::Mcp,
    config,
    error::{Error, Result},
    output::Out,
};

use server::Server;
pub use server::router;
use source::{Site, Source};

/// Most bytes that are written at once.
const PIECE: usize = 65_536;

/// Speaks the protocol on standard input and output until the input ends.
pub async fn run(args: &Mcp, out: &mut Out) -> Result<u8> {
    let server = Server::new(source(args).await?);
    // Standard output is this process's alone; what the protocol has to say passes through a pipe to it.
    let (mut to_client, from_server) = tokio::io::duplex(PIECE);
    let serving = async {
        match server.serve((tokio::io::stdin(), from_server)).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|error| Error::Mcp(error.to_string())),
            Err(error) => Err(Error::Mcp(error.to_string())),
        }
    };
    let writing = async {
        let mut piece = vec![0; PIECE];
        loop {
            let read = to_client.read(&mut piece).await?;
            if read == 0 {
                return Ok::<_, Error>(());
            }
            out.raw(piece.get(..read).unwrap_or_default())?;
            out.finish()?;
        }
    };
    let (served, written) = tokio::join!(serving, writing);
    // A client that went away was served.
    served.and(written).map(|()| 0)
}

async fn source(args: &Mcp) -> Result<Source> {
    match &args.site {
        Some(site) => Ok(Source::Site(Site { client: config::client()?, url: site.clone() })),
        None => {
            let address = config::index_address(args.db.db.as_deref())?;
            Ok(Source::Index(onrecord_web::xrpc::Xrpc::new(onrecord_index::open(&address, None).await?)))
        }
    }
}
