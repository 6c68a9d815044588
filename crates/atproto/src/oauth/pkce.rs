//! Proof Key for Code Exchange: whoever redeems the code is whoever asked for it. Source: RFC 7636.

use crate::{Result, Secret};

/// What only we know of a request, until its code is redeemed.
pub(crate) struct Verifier(Secret);

impl Verifier {
    /// A fresh one: 32 random bytes, as RFC 7636 recommends in section 4.1.
    pub(crate) fn generate() -> Result<Self> {
        Ok(Self(Secret::new(super::base64url(&super::random::<32>()?))))
    }

    /// What the request is sent with: the method `S256` of section 4.2.
    pub(crate) fn challenge(&self) -> String {
        super::sha256(self.0.expose())
    }

    /// What the code is redeemed with.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_the_rfcs() {
        let octets = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240, 91, 88, 5, 88, 83, 132, 141, 121,
        ];
        let verifier = Verifier(Secret::new(crate::oauth::base64url(&octets)));
        assert_eq!(verifier.expose(), "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn each_is_another_and_of_the_length_that_servers_take() {
        let (one, other) = (Verifier::generate().unwrap(), Verifier::generate().unwrap());
        assert_ne!(one.expose(), other.expose());
        assert_eq!(one.expose().len(), 43);
        assert!(one.expose().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
    }
}
