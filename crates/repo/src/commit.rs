//! Commits: whose repository, which tree, which revision, signed.

use onrecord_lexicon::{
    Did, Tid,
    data::{Object, Value},
};

use crate::{Link, PublicKey, SignatureError};

/// The version of the repository format.
const VERSION: i64 = 3;

/// A decoded commit. That it is signed is for [`Commit::verify`] to say.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Whose repository.
    pub did: Did,
    /// The revision; later ones are greater.
    pub rev: Tid,
    /// The root of the tree.
    pub data: Link,
    /// The commit before, where a writer still names it.
    pub prev: Option<Link>,
    signature: Vec<u8>,
    /// The commit without its signature, as it was signed.
    unsigned: Vec<u8>,
}

impl Commit {
    /// Reads a commit's block.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn decode(block: &[u8]) -> Result<Self, String> {
        let mut commit = Value::from_dag_cbor(block)
            .and_then(Value::into_object)
            .map_err(|error| format!("it is not a DAG-CBOR object: {error}"))?;
        match commit.get("version").map(Value::as_integer) {
            Some(Some(VERSION)) => {}
            Some(Some(other)) => return Err(format!("it is of version {other}, not {VERSION}")),
            _ => return Err("it names no version".into()),
        }
        let did = Did::parse(text(&commit, "did")?).map_err(|error| error.to_string())?;
        let rev = Tid::parse(text(&commit, "rev")?).map_err(|error| format!("its rev: {error}"))?;
        let data = link(commit.get("data")).ok_or("it names no tree")?;
        let prev = match commit.get("prev") {
            None | Some(Value::Null) => None,
            prev => Some(link(prev).ok_or("what it names as the commit before is no link")?),
        };
        let signature = match commit.remove("sig") {
            Some(Value::Bytes(bytes)) => bytes.into_owned(),
            _ => return Err("it is not signed".into()),
        };
        // Exactly what was signed, fields unknown to us included: decoding accepts the one canonical encoding only.
        let unsigned = Value::Object(commit).to_dag_cbor();
        Ok(Self { did, rev, data, prev, signature, unsigned })
    }

    /// Whether `key` signed it.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn verify(&self, key: &PublicKey) -> Result<(), SignatureError> {
        key.verify(&self.unsigned, &self.signature)
    }
}

fn text<'a>(commit: &'a Object<'_>, field: &str) -> Result<&'a str, String> {
    commit.get(field).and_then(Value::as_str).ok_or_else(|| format!("it names no {field}"))
}

fn link(value: Option<&Value<'_>>) -> Option<Link> {
    value?.as_link().map(Link::from)
}
