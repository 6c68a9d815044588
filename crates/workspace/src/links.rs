//! The secrets of private links. They are where the tokens are, and never in the database.

use onrecord_lexicon::data;
use onrecord_record::tiles::LinkSecret;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{Error, SecretPlace, Workspace, secrets};

/// What is kept of a private record.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Nonce and key, as in the link.
    secret: String,
    /// Hash of the content that the nonce was used for.
    content: String,
}

/// A secret for a certain content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentSecret {
    /// The secret.
    pub secret: LinkSecret,
    /// Whether nothing was encrypted with it before: then it is to be kept before anything is sent, and the link is new.
    pub fresh: bool,
    content: String,
}

impl Workspace {
    /// The secret under which `clear` is to be encrypted for the record at `uri`: the one it has, if it is the same content; else
    /// its key with a fresh nonce, as a nonce is for one content alone; else a fresh one. Keeps nothing yet.
    ///
    /// # Errors
    /// The place for secrets cannot be read, or the system has no randomness to give.
    pub fn link_secret(&self, uri: &str, clear: &[u8]) -> Result<ContentSecret, Error> {
        let content = data::cid_of_blob(clear).to_string();
        let stored = self.stored_link(uri)?;
        if let Some((secret, known)) = &stored
            && *known == content
        {
            return Ok(ContentSecret { secret: secret.clone(), fresh: false, content });
        }
        let nonce = secrets::random()?;
        let secret = match stored {
            Some((secret, _)) => secret.with_nonce(nonce),
            None => LinkSecret::new(secrets::random()?, nonce),
        };
        Ok(ContentSecret { secret, fresh: true, content })
    }

    /// The secret of the private record at `uri`, if this workspace published it.
    ///
    /// # Errors
    /// The place for secrets cannot be read.
    pub fn known_link(&self, uri: &str) -> Result<Option<LinkSecret>, Error> {
        Ok(self.stored_link(uri)?.map(|(secret, _)| secret))
    }

    /// Keeps a secret, and says where.
    ///
    /// # Errors
    /// The place for secrets cannot be written: then nothing may be sent.
    pub(crate) fn keep_link(&self, uri: &str, link: &ContentSecret) -> Result<SecretPlace, Error> {
        let stored = Stored { secret: link.secret.fragment().to_string(), content: link.content.clone() };
        secrets::store(&self.folder, &name(uri), &Zeroizing::new(serde_json::to_string(&stored)?))
    }

    /// Forgets the secret of the record at `uri`.
    pub(crate) fn forget_link(&self, uri: &str) -> Result<(), Error> {
        secrets::forget(&self.folder, &name(uri))
    }

    fn stored_link(&self, uri: &str) -> Result<Option<(LinkSecret, String)>, Error> {
        let Some((json, _)) = secrets::load(&self.folder, &name(uri))? else { return Ok(None) };
        // The parser's own message could quote a key.
        let damaged = || Error::Secrets { account: uri.to_owned(), why: "the key of its link is damaged".to_owned() };
        let stored: Stored = serde_json::from_str(&Zeroizing::new(json)).map_err(|_| damaged())?;
        let secret = LinkSecret::parse(&stored.secret).ok_or_else(damaged)?;
        Ok(Some((secret, stored.content)))
    }
}

fn name(uri: &str) -> String {
    format!("link {uri}")
}
