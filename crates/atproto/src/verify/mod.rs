//! Verifying what is on record, through its author's own server: who someone is, what proves it, and what its pins have come to.
//!
//! What the bytes prove is for `onrecord_repo` to say, and what the records say for `onrecord_record::verify`; this fetches.

mod pins;
mod session;

use std::{
    fs::File,
    io::{Seek as _, SeekFrom},
};

use jiff::Timestamp;
use onrecord_lexicon::{AtUri, Nsid, Rkey};
use onrecord_record::{
    aligned::{MESSAGE, SESSION},
    verify::{KeySource, Report, Rule, Setting, Verified, Wanted, Way, run},
};
use onrecord_repo::{Car, Expected, PublicKey, check, join};

use crate::{Client, Error, Identity, Repo, Result};
pub use session::MAX_PROOFS;

/// Proofs that are fetched from a server at the same time.
const AT_ONCE: usize = 8;

impl Client {
    /// Verifies the record at `uri`, a conversation if it is a session record, or a whole repository if it names none.
    ///
    /// The account's key is that of its DID document; `key` takes its place where it is given.
    ///
    /// # Errors
    /// It could not be told: the identity, the server or a file is not to be had. What is wrong is in the report.
    pub async fn verify(&self, uri: &AtUri, key: Option<&PublicKey>) -> Result<Report> {
        let author = Author::resolve(self, uri.authority(), key).await?;
        let (wanted, verified) = match (uri.collection(), uri.rkey()) {
            (None, _) => (Wanted::All, author.whole(Wanted::All).await?),
            (Some(_), None) => return Err(Error::NotARecord { uri: uri.to_string() }),
            (Some(SESSION), Some(rkey)) => (Wanted::Session(rkey.to_owned()), author.session(rkey).await?),
            (Some(collection), Some(rkey)) => {
                let wanted = Wanted::Record { collection: collection.to_owned(), rkey: rkey.to_owned() };
                (wanted.clone(), author.record(collection, rkey, wanted).await?)
            }
        };
        let Verified { mut report, pins, .. } = verified;
        report.subject = match &wanted {
            Wanted::All => format!("at://{}", author.identity.did),
            Wanted::Session(rkey) => format!("at://{}/{SESSION}/{rkey}", author.identity.did),
            Wanted::Record { collection, rkey } => format!("at://{}/{collection}/{rkey}", author.identity.did),
        };
        author.sign(&mut report);
        self.look_up_pins(&mut report, pins).await;
        Ok(report)
    }

    /// Verifies a CAR file whose key is that of the account it says it is of, and looks its pins up.
    ///
    /// # Errors
    /// As [`Client::verify`].
    pub async fn verify_car(&self, file: File, name: &str) -> Result<Report> {
        let mut car = Car::open(file)?;
        let Some(commit) = car.peek_commit()? else {
            // Whose it is cannot be told; what is wrong with it can.
            let setting = Setting {
                subject: name.to_owned(),
                wanted: Wanted::All,
                way: Way::File,
                did: None,
                key: None,
                key_source: KeySource::None,
                now: Timestamp::now(),
            };
            return Ok(run(&mut car, &setting)?.report);
        };
        let author = Author::resolve(self, commit.did.as_str(), None).await?;
        let mut setting = author.setting(Wanted::All, Way::File);
        name.clone_into(&mut setting.subject);
        let Verified { mut report, pins, .. } = in_background(move || Ok(run(&mut car, &setting)?)).await?;
        author.sign(&mut report);
        report.pds = None;
        self.look_up_pins(&mut report, pins).await;
        Ok(report)
    }
}

/// Whose records are verified, and by which key.
struct Author {
    identity: Identity,
    key: PublicKey,
    key_source: KeySource,
    repo: Repo,
}

impl Author {
    async fn resolve(client: &Client, who: &str, key: Option<&PublicKey>) -> Result<Self> {
        let identity = client.resolve(who).await?;
        let (key, key_source) = match (key, &identity.signing_key) {
            (Some(key), _) => (key.clone(), KeySource::Given),
            (None, Some(key)) => (PublicKey::parse(key)?, KeySource::DidDocument),
            (None, None) => return Err(Error::NoSigningKey { did: identity.did }),
        };
        let repo = client.repo(&identity);
        Ok(Self { identity, key, key_source, repo })
    }

    fn setting(&self, wanted: Wanted, way: Way) -> Setting {
        Setting {
            subject: self.identity.did.to_string(),
            wanted,
            way,
            did: Some(self.identity.did.clone()),
            key: Some(self.key.clone()),
            key_source: self.key_source,
            now: Timestamp::now(),
        }
    }

    /// Says in the report whose it is.
    fn sign(&self, report: &mut Report) {
        report.handle.clone_from(&self.identity.handle);
        report.pds = Some(self.identity.pds.to_string());
        if self.identity.handle.is_none() {
            report.note(Rule::Handle, self.identity.did.as_str(), "the account has no handle that leads back to it");
        }
    }

    /// By the whole repository.
    async fn whole(&self, wanted: Wanted) -> Result<Verified> {
        let mut file = tempfile::tempfile().map_err(Error::Spool)?;
        self.repo.export(&mut file).await?;
        file.seek(SeekFrom::Start(0)).map_err(Error::Spool)?;
        let setting = self.setting(wanted, Way::Repository);
        in_background(move || Ok(run(&mut Car::open(file)?, &setting)?)).await
    }

    /// By the proof of one record, and if that is a message, of its session record.
    async fn record(&self, collection: &str, rkey: &str, wanted: Wanted) -> Result<Verified> {
        let place = |collection: &str, rkey: &str| {
            Ok::<_, Error>((parsed(Nsid::parse(collection))?, parsed(Rkey::parse(rkey))?))
        };
        let (collection, rkey) = place(collection, rkey)?;
        let setting = self.setting(wanted, Way::Proofs);
        let proof = self.repo.record_proof(&collection, &rkey).await?;
        let alone = run(&mut Car::from_bytes(&proof[..]), &setting)?;
        if collection.as_str() != MESSAGE || !alone.report.ok {
            return Ok(alone);
        }
        let Some(session) = session_of(&proof, self.identity.did.as_str(), rkey.as_str())? else { return Ok(alone) };
        let (sessions, session) = place(SESSION, &session)?;
        let with_session = self.repo.record_proof(&sessions, &session).await?;
        // If the repository changed meanwhile, the two are of different trees: then the message's is what counts.
        if roots(&with_session) != roots(&proof) {
            return Ok(alone);
        }
        let joined = join(&[proof, with_session]);
        Ok(run(&mut Car::from_bytes(joined), &setting)?)
    }
}

/// The key of the session that the proven message names.
fn session_of(proof: &[u8], did: &str, rkey: &str) -> Result<Option<String>> {
    let mut session = None;
    check(&mut Car::from_bytes(proof), &Expected { partial: true, ..Expected::default() }, |record| {
        if record.collection == MESSAGE && record.rkey == rkey {
            let value = record.block.and_then(|block| onrecord_lexicon::data::Value::from_dag_cbor(block).ok());
            let uri = value.as_ref().and_then(|value| value.as_object()?.get("session")?.as_str());
            session = uri.and_then(|uri| uri.strip_prefix(&format!("at://{did}/{SESSION}/"))).map(str::to_owned);
        }
    })?;
    Ok(session)
}

fn roots(car: &[u8]) -> Vec<onrecord_repo::Link> {
    Car::from_bytes(car).roots().to_vec()
}

fn parsed<T>(parsed: std::result::Result<T, onrecord_lexicon::SyntaxError>) -> Result<T> {
    parsed.map_err(|source| Error::BadIdentifier { text: String::new(), source })
}

/// Runs what keeps the processor busy where it keeps nobody waiting.
async fn in_background<T: Send + 'static>(job: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(job).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
