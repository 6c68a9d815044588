//! Shapes that no pattern describes.

use crate::shapes::{
    Back, has_digits_throughout, has_secret_cookie, is_example_url, is_mnemonic, is_passwordish, is_random,
};

fn key_lines(text: &str) -> Option<&str> {
    let end = text.find("-----END").unwrap();
    Back::KeyLines.span(text.as_bytes(), end, end).map(|(start, end)| text.get(start..end).unwrap())
}

#[test]
fn the_lines_of_a_key_are_found_from_their_end() {
    let line = "Ab1/".repeat(16);
    assert_eq!(key_lines(&format!("$ tail -2 key.pem\n{line}\nAb1=\n-----END")), Some(&*format!("{line}\nAb1=\n")));
    assert_eq!(
        key_lines(&format!("  7\t{line}\n  8\t{line}\n  9\t-----END")),
        Some(&*format!("{line}\n  8\t{line}\n  9\t"))
    );
    assert_eq!(key_lines(&format!("\"{line}\\n{line}\\n-----END")), Some(&*format!("{line}\\n{line}\\n")));
    assert_eq!(key_lines(&format!("> {line}\n> -----END")), Some(&*format!("{line}\n> ")));
    assert_eq!(key_lines(&format!("{line}-----END")), Some(&*line));
}

#[test]
fn what_is_no_key_line_ends_the_key() {
    assert_eq!(key_lines("\"-----END"), None);
    assert_eq!(key_lines("ends with -----END"), None);
    assert_eq!(key_lines("-----END"), None);
    assert_eq!(key_lines("nn\\n-----END"), None);
}

#[test]
fn the_password_before_an_address_is_found() {
    let text = "dsn=\"app:s3cr:et@tcp(";
    let at = text.find('@').unwrap();
    assert_eq!(
        Back::Userinfo.span(text.as_bytes(), at, text.len()).map(|(a, b)| text.get(a..b).unwrap()),
        Some("s3cr:et")
    );
    assert_eq!(Back::Userinfo.span(b"me@tcp(", 2, 7), None);
    assert_eq!(Back::Userinfo.span(b"me:@tcp(", 3, 8), None);
}

#[test]
fn random_values_are_told_from_names() {
    for value in ["k3Jd82hQ0pLm5Xz9", "9f86d081884c7d659a2feaa0c55ad015", "tYbRkQwZxVnMplKjHgFd"] {
        assert!(is_random(value.as_bytes()), "{value}");
    }
    for value in
        ["getHttpResponseCode2", "keyboard-shortcuts-1", "authentication", "com.acme.app.v2", "aaaaaaaa1111111111"]
    {
        assert!(!is_random(value.as_bytes()), "{value}");
    }
}

#[test]
fn passwords_are_told_from_expressions() {
    for value in ["hunter42", "S3cure!Pass", "correct-horse7", "tr0ub4dor&3"] {
        assert!(is_passwordish(value.as_bytes()), "{value}");
    }
    let others = ["password", "$PASS1", "MY_TOKEN_2", "process.env.P2", "/run/secrets/p1", "get(1)", "12345", "a::b2"];
    for value in others {
        assert!(!is_passwordish(value.as_bytes()), "{value}");
    }
}

#[test]
fn cookies_that_open_something_are_told_from_the_others() {
    assert!(has_secret_cookie(b"theme=dark; sessionid=k3Jd82hQ0p"));
    assert!(has_secret_cookie(b"x=k3Jd82hQ0pLm5Xz9"));
    assert!(!has_secret_cookie(b"_ga=GA1.2.1234567890.1234567890; lang=en"));
    assert!(!has_secret_cookie(b"cookieconsent=k3Jd82hQ0pLm5Xz9"));
    assert!(!has_secret_cookie(b"session=${SESSION1234}"));
    assert!(!has_secret_cookie(b"a=b; Path=/k3Jd82hQ0pLm5Xz9"));
}

#[test]
fn recovery_phrases_are_told_from_sentences() {
    assert!(is_mnemonic(b"letter advice cage absurd amount doctor acoustic avoid casual zebra lunar panther"));
    assert!(!is_mnemonic(b"letter advice cage absurd amount doctor acoustic avoid casual zebra lunar"));
    assert!(!is_mnemonic(b"they remember each word when the user writes them down before leaving home today"));
    assert!(!is_mnemonic(b"word word word word word word word word word word word word"));
}

#[test]
fn codes_are_told_from_words() {
    assert!(has_digits_throughout(b"a1b2-c3d4, 77qw-12rt"));
    assert!(!has_digits_throughout(b"well-known, step-by-step, 77qw-12rt, over-all, one-more"));
}

fn url(text: &str, telling: &str) -> String {
    let at = text.find(telling).unwrap();
    let (start, end) = Back::Url.span(text.as_bytes(), at, text.len()).unwrap();
    text.get(start..end).unwrap().to_owned()
}

#[test]
fn a_url_begins_at_its_scheme() {
    assert_eq!(url("HOOK=https://hooks.acme.dev/services/T1", "T1"), "https://hooks.acme.dev/services/T1");
    assert_eq!(url("a\\nhttps://hooks.acme.dev/T1", "T1"), "https://hooks.acme.dev/T1");
    assert_eq!(url(r"{\u0022u\u0022:\u0022https:\/\/hooks.acme.dev\/T1", "T1"), r"https:\/\/hooks.acme.dev\/T1");
    assert_eq!(url("https://a.dev/?to=https://hooks.acme.dev/T1", "T1"), "https://hooks.acme.dev/T1");
    assert_eq!(url("?to=https%3A%2F%2Fhooks.acme.dev%2FT1", "T1"), "https%3A%2F%2Fhooks.acme.dev%2FT1");
}

#[test]
fn a_url_without_a_scheme_begins_at_its_host() {
    assert_eq!(url("post to hooks.acme.dev/services/T1", "T1"), "hooks.acme.dev/services/T1");
    assert_eq!(url("HOOK=hooks.acme.dev/T1", "T1"), "hooks.acme.dev/T1");
    assert_eq!(url("a\\nhooks.acme.dev/T1", "T1"), "hooks.acme.dev/T1");
    assert_eq!(url("T1", "T1"), "T1");
}

#[test]
fn urls_made_up_to_show_what_may_stand_in_one_hide_nothing() {
    let example = |url: &str, password: &str| is_example_url(url.as_bytes(), password.as_bytes());
    for (url, password) in [
        ("://a:foo(b]c@d", "foo(b]c"),
        ("://:%3A%40c@d", "%3A%40c"),
        ("://foo:\u{1f4a9}@example.com", "\u{1f4a9}"),
        ("://foo:%F0%9F%92%A9@acme.dev", "%F0%9F%92%A9"),
        ("://u:foobar@foodomain.com", "foobar"),
        ("://user:pass[@foo", "pass["),
    ] {
        assert!(example(url, password), "{url}");
    }
    for (url, password) in [
        ("://app:foobar@db.acme.dev", "foobar"),
        ("://app:river7maple@example.com", "river7maple"),
        ("://app:%D0%BF7@acme.dev", "%D0%BF7"),
        ("://app:пароль@acme.dev", "пароль"),
    ] {
        assert!(!example(url, password), "{url}");
    }
}

#[test]
fn a_constant_is_no_session() {
    assert!(!has_secret_cookie(b"PART_NUMBER=ROCKET_LAUNCHER_0001"));
    assert!(has_secret_cookie(b"session=ROCKETLAUNCHER0001A7B8"));
}

#[test]
fn a_word_is_listed_where_it_stands_between_spaces() {
    let list = "one two\n twofold ünder";
    for word in ["one", "two", "twofold", "ünder"] {
        assert!(crate::checks::listed(list, word), "{word}");
    }
    for word in ["", " ", "on", "ne", "fold", "one two", "three", "nder"] {
        assert!(!crate::checks::listed(list, word), "{word}");
    }
}
