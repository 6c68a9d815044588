//! Repositories as bytes: CAR files, commits, the tree of records (MST) and the keys that sign, each checked for
//! everything that can be wrong with it.
//!
//! Pure: bytes in, what they prove and every fault out. Nothing here believes anything: a block is what its CID says,
//! the tree is what the commit names, the commit is what the key signed.
//!
//! ```no_run
//! # fn example(file: std::fs::File, key: &str) -> Result<(), onrecord_repo::Error> {
//! use onrecord_repo::{Car, Expected, PublicKey, check};
//!
//! let key = PublicKey::parse(key)?;
//! let mut car = Car::open(file)?;
//! let checked = check(&mut car, &Expected { key: Some(&key), ..Expected::default() }, |record| {
//!     let _ = (record.collection, record.rkey, record.block);
//! })?;
//! assert!(checked.faults.is_empty());
//! # Ok(()) }
//! ```
//! Sources: the protocol's repository and cryptography specifications, CAR version 1.

mod car;
mod check;
mod commit;
mod error;
mod fault;
mod key;
mod link;
mod node;
mod slice;
mod tree;

pub use car::{Car, MAX_BLOCK, MAX_BLOCKS, join};
pub use check::{Checked, Counts, Expected, Gap, Record, check};
pub use commit::Commit;
pub use error::Error;
pub use fault::{Fault, Faults, Rule};
pub use key::{PublicKey, SignatureError};
pub use link::Link;
pub use node::{common_prefix, layer};
pub use slice::{Before, Claim, MAX_SLICE, Slice, SliceError, Written, check_slice};
pub use tree::TreeError;
