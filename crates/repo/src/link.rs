//! CIDs as they stand in blocks: compared and looked up by the million, and rarely shown.

use onrecord_lexicon::Cid;
use sha2::{Digest, Sha256};

/// Bytes of a CID: version, codec, hash function, digest length, 32 bytes of digest.
pub(crate) const LINK_LEN: usize = 36;
/// CIDv1, DAG-CBOR, SHA-256, 32 bytes.
pub(crate) const DAG_CBOR: [u8; 4] = [1, 0x71, 0x12, 32];
/// CIDv1, raw, SHA-256, 32 bytes.
pub(crate) const RAW: [u8; 4] = [1, 0x55, 0x12, 32];

/// A CID in binary form: CIDv1 of DAG-CBOR or raw bytes by SHA-256, as repositories use it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Link([u8; LINK_LEN]);

impl Link {
    /// `bytes` as a CID, if it is one of the kinds that repositories use.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; LINK_LEN] = bytes.try_into().ok()?;
        (bytes.starts_with(&DAG_CBOR) || bytes.starts_with(&RAW)).then_some(Self(bytes))
    }

    /// The CID of a DAG-CBOR block.
    #[must_use]
    pub fn of(block: &[u8]) -> Self {
        let mut bytes = [0; LINK_LEN];
        let (head, digest) = bytes.split_at_mut(DAG_CBOR.len());
        head.copy_from_slice(&DAG_CBOR);
        digest.copy_from_slice(&Sha256::digest(block));
        Self(bytes)
    }

    /// The binary form.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; LINK_LEN] {
        &self.0
    }

    /// Whether `block` has the digest that this says.
    #[must_use]
    pub fn is_of(&self, block: &[u8]) -> bool {
        Sha256::digest(block)[..] == *self.digest()
    }

    /// Whether the content is said to be DAG-CBOR.
    #[must_use]
    pub fn is_dag_cbor(&self) -> bool {
        self.0.starts_with(&DAG_CBOR)
    }

    fn digest(&self) -> &[u8] {
        self.0.get(DAG_CBOR.len()..).unwrap_or_default()
    }

    /// The first eight bytes of the digest: as good as random, to look the block up by.
    pub(crate) fn prefix(&self) -> u64 {
        self.digest().first_chunk().copied().map_or(0, u64::from_le_bytes)
    }

    /// The same CID in the form for people and JSON.
    #[must_use]
    pub fn to_cid(&self) -> Cid {
        let digest = self.0.last_chunk().copied().unwrap_or_default();
        if self.is_dag_cbor() { Cid::of_dag_cbor_digest(&digest) } else { Cid::of_raw_digest(&digest) }
    }
}

impl From<&Cid> for Link {
    fn from(cid: &Cid) -> Self {
        Self(cid.to_bytes())
    }
}

impl std::fmt::Display for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.to_cid().as_str())
    }
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Link({self})")
    }
}
