//! Encryption, and links.

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305,
    aead::{Aead, Payload},
};
use onrecord_lexicon::data::base64;
use serde_json::json;

use super::*;

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
}

fn secret() -> LinkSecret {
    LinkSecret::new(std::array::from_fn(|n| u8::try_from(n).unwrap()), [0xfb; 24])
}

/// draft-irtf-cfrg-xchacha-03, A.3.1.
#[test]
fn the_cipher_is_that_of_the_draft() {
    let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
    let key: [u8; 32] = std::array::from_fn(|n| 0x80 + u8::try_from(n).unwrap());
    let nonce: [u8; 24] = std::array::from_fn(|n| 0x40 + u8::try_from(n).unwrap());
    let sealed =
        hex("bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39\
         ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9\
         21f9664c97637da9768812f615c68b13b52e");
    let tag = hex("c0875924c1c7987947deafd8780acf49");
    let cipher = XChaCha20Poly1305::new(&key.into());
    let aad = hex("50515253c0c1c2c3c4c5c6c7");
    let with_data = cipher.encrypt(&nonce.into(), Payload { msg: plain.as_slice(), aad: &aad }).unwrap();
    assert_eq!(with_data, [sealed.clone(), tag].concat());
    // Ours has no associated data: the same ciphertext, another tag.
    let ours = base64::decode(&LinkSecret::new(key, nonce).seal(plain).unwrap()).unwrap();
    assert_eq!(ours[..plain.len()], sealed);
    assert_eq!(ours.len(), plain.len() + 16);
    assert_ne!(ours[plain.len()..], with_data[plain.len()..]);
}

#[test]
fn only_its_own_secret_opens_it_and_only_unchanged() {
    let sealed = secret().seal(b"in clear").unwrap();
    assert_eq!(secret().open(&sealed).unwrap().as_slice(), b"in clear");
    for other in [LinkSecret::new([9; 32], [0xfb; 24]), secret().with_nonce([1; 24])] {
        assert!(matches!(other.open(&sealed), Err(Error::WrongKey)));
    }
    let mut bytes = base64::decode(&sealed).unwrap();
    for at in 0..bytes.len() {
        bytes[at] ^= 1;
        assert!(matches!(secret().open(&base64::encode(&bytes)), Err(Error::WrongKey)));
        bytes[at] ^= 1;
    }
    assert!(matches!(secret().open(""), Err(Error::WrongKey)));
    assert!(matches!(secret().open("%%%"), Err(Error::NotASnapshot { .. })));
}

// Invariant 15.
#[test]
fn a_private_record_holds_nothing_in_clear_and_its_secret_shows_itself_to_nobody() {
    let reviewed = sealed(&draft(vec![turn(1, Role::User, "The parser drops a field.")]), &Decisions::default());
    let encoded = encode_private(&reviewed, uri(Family::TilesPrivate), &secret()).unwrap();
    let record = value(&encoded);
    let fields: Vec<_> = record.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["$type", "enc_content"]);
    assert_eq!(record["enc_content"].as_str().unwrap().len() % 4, 0);
    assert!(is_encrypted(&record));
    assert!(matches!(Snapshot::open(SNAPSHOT, record.clone(), None), Err(Error::Encrypted)));
    let snapshot = Snapshot::open(SNAPSHOT, record, Some(&secret())).unwrap();
    assert_eq!(snapshot.form, Form::Private);
    assert_eq!(serde_json::to_vec(&snapshot.value).unwrap(), *encoded.clear.unwrap());
    assert_eq!(read(&snapshot, "x").conversation.turns[0].text, "The parser drops a field.");
    assert_eq!(format!("{:?}", secret()), "LinkSecret(…)");
    assert!(!format!("{:?}", TilesLink { uri: uri(Family::TilesPrivate), secret: Some(secret()) }).contains("AAEC"));
}

#[test]
fn links_are_written_as_tiles_writes_them() {
    let uri =
        AtUri::parse("at://did:plc:ewvi7nxzyoun6zhxrhs64oiz/run.tiles.chat.sessionSnapshot/3mf2k5aaaaa22").unwrap();
    let public = "https://chat.tiles.run/YXQ6Ly9kaWQ6cGxjOmV3dmk3bnh6eW91bjZ6aHhyaHM2NG9pei9ydW4udGlsZXMuY2hhdC5zZXNzaW9uU25hcHNob3QvM21mMms1YWFhYWEyMg==";
    assert_eq!(*TilesLink { uri: uri.clone(), secret: None }.to_text(), public);
    let private = TilesLink { uri, secret: Some(secret()) };
    let end = "#+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    assert_eq!(*private.to_text(), format!("{public}{end}"));
    assert_eq!(TilesLink::parse(&private.to_text()).unwrap().unwrap(), private);
}

#[test]
fn links_are_read_in_both_alphabets_with_padding_or_without() {
    let uri = "at://did:web:example.com/run.tiles.session/a~b>c?";
    // No at-uri makes a letter that the alphabets write apart, but a repository's name may.
    let plain = "at://did:web:example.com/run.tiles.session/3k";
    assert!(TilesLink::parse(&format!("https://chat.tiles.run/{}", base64::encode(uri.as_bytes()))).is_err());
    let code = base64::encode(plain.as_bytes());
    for link in [
        format!("https://chat.tiles.run/{code}"),
        format!("https://chat.tiles.run/{code}="),
        format!("https://chat.tiles.run/{code}%3D"),
        format!("https://tiles.run/share/{code}"),
        format!("HTTPS://CHAT.TILES.RUN/{code}/?utm=1").replace("HTTPS", "https"),
    ] {
        assert_eq!(TilesLink::parse(&link).unwrap().unwrap().uri.as_str(), plain, "{link}");
    }
    let standard = format!("#{}", *secret().fragment());
    let url_safe = standard.replace('+', "-").replace('/', "_");
    assert_ne!(standard, url_safe);
    for end in
        [&standard, &url_safe, &standard.replace('=', ""), &url_safe.replace('=', ""), &standard.replace('+', "%2B")]
    {
        let link = TilesLink::parse(&format!("https://chat.tiles.run/{code}{end}")).unwrap().unwrap();
        assert_eq!(link.secret, Some(secret()), "{end}");
    }
}

#[test]
fn what_is_no_link_of_tiles_is_none_and_a_broken_one_says_so() {
    for other in ["at://did:web:x.example/a.b.c/k", "https://bsky.app/profile/x", "https://tiles.run/blog", "x", ""] {
        assert_eq!(TilesLink::parse(other).unwrap(), None, "{other}");
    }
    let code = base64::encode(b"at://did:web:example.com/run.tiles.session/3k");
    for broken in [
        "https://chat.tiles.run/".to_owned(),
        "https://chat.tiles.run/!!".to_owned(),
        format!("https://chat.tiles.run/{}", base64::encode(b"at://did:web:example.com")),
        format!("https://chat.tiles.run/{}", base64::encode(&[0xff, 0xfe])),
        format!("https://chat.tiles.run/{code}#AAAA.BBBB"),
        format!("https://chat.tiles.run/{code}#AAAA"),
    ] {
        assert!(matches!(TilesLink::parse(&broken), Err(Error::BadLink { .. })), "{broken}");
    }
    let half = json!({"enc_content": 3});
    assert!(matches!(Snapshot::open(SNAPSHOT, half, Some(&secret())), Err(Error::NotASnapshot { .. })));
}

/// By other hands: HChaCha20 in JavaScript, the rest by OpenSSL.
#[test]
fn a_private_record_is_opened_by_another_language() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("skipped: there is no node on this machine");
        return;
    }
    let text = "What a reader with the link sees: ███ and 🧭.";
    let reviewed = sealed(&draft(vec![turn(1, Role::User, text)]), &Decisions::default());
    let encoded = encode_private(&reviewed, uri(Family::TilesPrivate), &secret()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/open.mjs");
    let opened = std::process::Command::new("node")
        .args([script, encoded.record.json.get(), &secret().fragment()])
        .output()
        .unwrap();
    assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
    assert_eq!(opened.stdout, *encoded.clear.unwrap());
    let clear: Value = serde_json::from_slice(&opened.stdout).unwrap();
    assert_eq!(clear["turns"][0]["messages"][0]["content"][0]["text"], text);
    // And not with another key.
    let other = secret().with_nonce([0; 24]);
    let args = [script, encoded.record.json.get(), &other.fragment()];
    assert!(!std::process::Command::new("node").args(args).output().unwrap().status.success());
}
