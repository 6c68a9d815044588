//! Where a session's tokens are kept, so that processes share it: a refresh token is good for one use, and using one twice
//! ends the session.

use std::{any::Any, time::Duration};

use tokio::time::{Instant, sleep};

use super::Tokens;
use crate::{BoxError, Error, Result};

/// Held by whoever renews the tokens; given back when dropped.
pub type RenewalLock = Box<dyn Any + Send>;

/// What is kept for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// Nothing is known: the tokens in use are the newest.
    Unknown,
    /// Nothing any more: the account was signed out.
    Nothing,
    /// These tokens.
    Tokens(Box<Tokens>),
}

/// Keeps the tokens of one session. A function that stores them is one, for a session that no other process uses.
pub trait TokenStore: Send + Sync {
    /// Takes the lock under which the tokens are renewed, if nobody has it. Must not block.
    ///
    /// # Errors
    /// The store's own.
    fn try_renewal_lock(&self) -> Result<Option<RenewalLock>, BoxError> {
        Ok(Some(Box::new(())))
    }

    /// What is kept now.
    ///
    /// # Errors
    /// The store's own.
    fn load(&self) -> Result<Kept, BoxError> {
        Ok(Kept::Unknown)
    }

    /// Keeps new tokens in place of the old ones.
    ///
    /// # Errors
    /// The store's own.
    fn store(&self, tokens: &Tokens) -> Result<(), BoxError>;
}

impl<F: Fn(&Tokens) -> Result<(), BoxError> + Send + Sync> TokenStore for F {
    fn store(&self, tokens: &Tokens) -> Result<(), BoxError> {
        self(tokens)
    }
}

/// A renewal is a handful of requests, each with a time limit.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// Waits for the lock under which the tokens are renewed.
pub(super) async fn wait_for_lock(store: &dyn TokenStore, account: &Tokens) -> Result<RenewalLock> {
    let started = Instant::now();
    loop {
        match store.try_renewal_lock() {
            Ok(Some(lock)) => return Ok(lock),
            Ok(None) if started.elapsed() < LONGEST_WAIT => sleep(LOOK_AGAIN).await,
            Ok(None) => return Err(Error::TokensBusy { account: account.account() }),
            Err(source) => return Err(Error::TokensNotRead { account: account.account(), source }),
        }
    }
}
