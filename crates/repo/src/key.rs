//! Public keys as `did:key`, and the signatures they can check.
//! Source: the protocol's cryptography specification.

use multibase::Base;
use p256::ecdsa::signature::Verifier as _;

use crate::Error;

/// The multicodec of a compressed P-256 public key, as a varint.
const P256: [u8; 2] = [0x80, 0x24];
/// The multicodec of a compressed secp256k1 public key, as a varint.
const K256: [u8; 2] = [0xe7, 0x01];
/// Bytes of a signature: r and s, 32 each.
const SIGNATURE_LEN: usize = 64;
/// Longest key that is looked at, in characters; real ones have 57.
const MAX_LEN: usize = 256;

/// A key that signs repositories, of either curve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    did: String,
    curve: Curve,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Curve {
    P256(p256::ecdsa::VerifyingKey),
    K256(k256::ecdsa::VerifyingKey),
}

/// Why a signature does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// Not 64 bytes of two numbers in range, e.g. encoded as DER.
    #[error("the signature is not 64 bytes of two numbers")]
    Form,
    /// The other of the two forms that every signature has. The protocol allows one, so that nobody else can make a second
    /// valid commit of one.
    #[error("the signature is in the high-S form, which the protocol forbids")]
    HighS,
    /// Another key made it, or of other bytes.
    #[error("the signature is not by this key, or the commit was changed after it was signed")]
    Wrong,
}

impl PublicKey {
    /// Reads `did:key:z…`.
    ///
    /// # Errors
    /// [`Error::Key`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let bad = |why| Error::Key { text: text.chars().take(100).collect(), why };
        let multibase = text.strip_prefix("did:key:").ok_or_else(|| bad("it does not begin with did:key:"))?;
        if multibase.len() > MAX_LEN {
            return Err(bad("it is too long"));
        }
        // Multikeys are in base58 only.
        let (base, bytes) = multibase::decode(multibase).map_err(|_| bad("it is not in base58"))?;
        if base != Base::Base58Btc {
            return Err(bad("it is not in base58"));
        }
        let curve = match bytes.split_first_chunk() {
            Some((&P256, point)) if point.len() == 33 => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point);
                Curve::P256(key.map_err(|_| bad("its point is not on the curve P-256"))?)
            }
            Some((&K256, point)) if point.len() == 33 => {
                let key = k256::ecdsa::VerifyingKey::from_sec1_bytes(point);
                Curve::K256(key.map_err(|_| bad("its point is not on the curve secp256k1"))?)
            }
            Some((&P256 | &K256, _)) => return Err(bad("its point is not compressed")),
            _ => return Err(bad("it is of another curve than P-256 and secp256k1")),
        };
        Ok(Self { did: text.to_owned(), curve })
    }

    /// The key as `did:key:z…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.did
    }

    /// The curve by the name people know it: `P-256` or `secp256k1`.
    #[must_use]
    pub fn curve(&self) -> &'static str {
        match self.curve {
            Curve::P256(_) => "P-256",
            Curve::K256(_) => "secp256k1",
        }
    }

    /// Checks the signature of `message`, which is hashed with SHA-256.
    ///
    /// # Errors
    /// [`SignatureError`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        if signature.len() != SIGNATURE_LEN {
            return Err(SignatureError::Form);
        }
        // Neither library is relied upon to refuse high-S: one of them does not.
        let (high_s, valid) = match &self.curve {
            Curve::P256(key) => {
                let signature = p256::ecdsa::Signature::from_slice(signature).map_err(|_| SignatureError::Form)?;
                let low = signature.normalize_s();
                (low.is_some(), key.verify(message, &low.unwrap_or(signature)).is_ok())
            }
            Curve::K256(key) => {
                let signature = k256::ecdsa::Signature::from_slice(signature).map_err(|_| SignatureError::Form)?;
                let low = signature.normalize_s();
                (low.is_some(), key.verify(message, &low.unwrap_or(signature)).is_ok())
            }
        };
        match (valid, high_s) {
            (true, false) => Ok(()),
            (true, true) => Err(SignatureError::HighS),
            (false, _) => Err(SignatureError::Wrong),
        }
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.did)
    }
}
