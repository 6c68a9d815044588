//! Values that specifications print: whoever reads them has them.

/// Tokens, codes, secrets and passwords of the examples in RFC 5849, 6749, 6750, 7009, 7519, 7523, 7617, 7636 and 9449, in
/// order.
const PRINTED: [&str; 27] = [
    "0685bd9184jfhq22",
    "2YotnFZFEjr1zCsicMWpAA",
    "45ghiukldjahdnhzdauz",
    "7Fjfp0ZBr1KtDRbnfVdmIw",
    "9djdj82h48djs9d2",
    "Aladdin:open sesame",
    "D1d2qbkW1LQ",
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "QWxhZGRpbjpvcGVuc2VzYW1l",
    "SplxlOBeZQQYbYS6WxSbIA",
    "ad180jjd733klru7",
    "bYT5CMsGcbgUdFHObYMEfcx6bsw=",
    "czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3",
    "czZCaGRSa3F0MzpnWDFmQmF0M2JW",
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "dGVzdDoxMjPCow==",
    "djosJKDKJSD8743243/jdk33klY=",
    "gX1fBat3bV",
    "h480djs93hd8",
    "hdhd0244k9j7ao03",
    "hh5s93j4hdidpola",
    "kkk9d7dh3k39sjv7",
    "mF_9.B5f-4.1JqM",
    "nnch734d00sl2jdk",
    "pfkkdhi9sl3r4s00",
    "tGzv3JOkF0XG5Qx2TlKWIA",
];

/// Whether `value` is printed in a specification, as it is and nothing more.
pub(super) fn is_printed(value: &[u8]) -> bool {
    PRINTED.binary_search_by(|printed| printed.as_bytes().cmp(value)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{PRINTED, is_printed};

    #[test]
    fn what_is_printed_is_found_among_the_others_and_nothing_else_is() {
        assert!(PRINTED.is_sorted());
        assert!(PRINTED.iter().all(|printed| is_printed(printed.as_bytes())));
        assert!(!is_printed(b"mF_9.B5f-4.1JqMx") && !is_printed(b""));
    }
}
