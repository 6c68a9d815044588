//! What keeps a repository from being checked at all. What is wrong with it is a [`Fault`](crate::Fault).

use std::io;

/// Why it cannot be told whether a repository is what it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the CAR file: {0}")]
    Io(#[from] io::Error),
    /// Blocks out of order must be found again, and there are more than the index may hold.
    #[error(
        "the CAR file holds its blocks in no order, and more than {} million of them; \
         one that holds them in the order of the tree can be of any size", crate::MAX_BLOCKS / 1_000_000
    )]
    TooManyBlocks,
    /// Not a `did:key` of the two curves that the protocol uses.
    #[error("`{text}` is not a did:key of the protocol: {why}")]
    Key {
        /// What was given, cut short.
        text: String,
        /// What is wrong with it.
        why: &'static str,
    },
}
