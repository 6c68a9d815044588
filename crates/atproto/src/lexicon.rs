//! Which definition of a lexicon counts: its name → a domain → DNS → an account → that account's record, proven.
//! Source: the protocol's specification of lexicons, "Lexicon Publication and Resolution".

use onrecord_lexicon::{
    AtUri, Cid, Did, Nsid, Rkey, Tid,
    data::{self, Value},
};
use onrecord_repo::{Car, Expected, PublicKey, check};

use crate::{Client, Error, Identity, Result, error::quote, identity::dns::Miss};

/// The collection that holds lexicons, each under its own name.
pub const LEXICON_COLLECTION: &str = "com.atproto.lexicon.schema";
/// What stands before the domain in DNS.
const LABEL: &str = "_lexicon";

/// A lexicon as an account has it on record, proven by that account's signature.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedLexicon {
    /// Its name.
    pub nsid: Nsid,
    /// Where it is.
    pub uri: AtUri,
    /// Which version, as its bytes have it.
    pub cid: Cid,
    /// The state of the repository in which it was.
    pub rev: Tid,
    /// Whose it is.
    pub publisher: Identity,
    /// The record, in the protocol's JSON.
    pub record: serde_json::Value,
}

impl Client {
    /// The account that speaks for the lexicons of a name's authority: the one that `_lexicon.<domain>` names in DNS. No domain
    /// above or below is asked.
    ///
    /// # Errors
    /// [`Error::NoLexiconAuthority`], [`Error::LexiconAuthorityLookup`], [`Error::ConflictingLexiconAuthority`].
    pub async fn lexicon_authority(&self, nsid: &Nsid) -> Result<Did> {
        let domain = nsid.domain();
        self.did_by_dns(LABEL, &domain).await.map_err(|miss| match miss {
            Miss::NotFound(_) => Error::NoLexiconAuthority { domain },
            Miss::Failed(why) => Error::LexiconAuthorityLookup { domain, why },
            Miss::Conflict => Error::ConflictingLexiconAuthority { domain },
        })
    }

    /// The authoritative definition: what the account that speaks for the name has on record under it.
    ///
    /// # Errors
    /// Those of [`Client::lexicon_authority`] and [`Client::lexicon_of`]; [`Error::NoLexicon`].
    pub async fn resolve_lexicon(&self, nsid: &Nsid) -> Result<PublishedLexicon> {
        let did = self.lexicon_authority(nsid).await?;
        let publisher = self.resolve(did.as_str()).await?;
        self.lexicon_of(nsid, &publisher).await?.ok_or_else(|| Error::NoLexicon { nsid: nsid.clone(), did })
    }

    /// What `publisher` has on record under a lexicon's name, whether or not it speaks for it; none if it has nothing there.
    ///
    /// # Errors
    /// [`Error::NoSigningKey`]; [`Error::UnprovenLexicon`] if what the server gives does not prove it; [`Error::NotItsLexicon`]
    /// if it is a lexicon of another name; and all that can befall a request.
    pub async fn lexicon_of(&self, nsid: &Nsid, publisher: &Identity) -> Result<Option<PublishedLexicon>> {
        let key = publisher.signing_key.as_deref().ok_or_else(|| Error::NoSigningKey { did: publisher.did.clone() })?;
        let key = PublicKey::parse(key)?;
        let bad = |source| Error::BadIdentifier { text: nsid.to_string(), source };
        let collection = Nsid::parse(LEXICON_COLLECTION).map_err(bad)?;
        let rkey = Rkey::parse(nsid.as_str()).map_err(bad)?;
        let uri = AtUri::of_record(&publisher.did, &collection, &rkey);
        let unproven = |why: &str| Error::UnprovenLexicon { uri: uri.to_string(), why: quote(why) };
        let proof = match self.repo(publisher).record_proof(&collection, &rkey).await {
            Ok(proof) => proof,
            Err(Error::Rejected { error, .. }) if error == "RecordNotFound" => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut found = None;
        let expected = Expected { did: Some(&publisher.did), key: Some(&key), partial: true };
        let checked = check(&mut Car::from_bytes(&proof[..]), &expected, |record| {
            if record.collection == collection.as_str() && record.rkey == rkey.as_str() {
                let value = |block| Some((data::cid_of(block), Value::from_dag_cbor(block).ok()?.to_json()));
                found = Some(record.block.and_then(value));
            }
        })?;
        if let Some(fault) = checked.faults.listed().first() {
            return Err(unproven(&fault.to_string()));
        }
        let Some(commit) = checked.commit.filter(|_| checked.is_signed) else {
            return Err(unproven("the account's key did not sign it"));
        };
        let Some(found) = found else {
            // A server may prove that there is nothing.
            return if checked.gaps.iter().any(|gap| gap.may_hold(&format!("{collection}/{rkey}"))) {
                Err(unproven("the proof is not about it"))
            } else {
                Ok(None)
            };
        };
        let (cid, record) = found.ok_or_else(|| unproven("the record itself is missing"))?;
        let id = record.get("id").and_then(serde_json::Value::as_str).unwrap_or_default();
        if id != nsid.as_str() {
            return Err(Error::NotItsLexicon { uri: uri.to_string(), id: quote(id) });
        }
        let (nsid, publisher) = (nsid.clone(), publisher.clone());
        Ok(Some(PublishedLexicon { nsid, uri, cid, rev: commit.rev, publisher, record }))
    }
}
