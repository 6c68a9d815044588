//! Personal data: what is known of the person, and shapes with checks and context.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests fail loudly"
)]

mod common;

use std::sync::LazyLock;

use common::{draft, key};
use onrecord_redact::{Decisions, Engine, Person, Tier, scan};
use proptest::prelude::*;

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::builder().person(person()).build().unwrap());

/// Made up.
fn person() -> Person {
    let list = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
    Person {
        user_names: list(&["dvik", "root", "max"]),
        full_names: list(&["Dána Víkström", "Grace"]),
        emails: list(&["Dana.Vik@nordlys.no"]),
        host_names: list(&["nordlys-x1.fritz.box", "localhost", "ubuntu"]),
        homes: list(&["/srv/people/dvik", "/root", r"C:\Users\dvik"]),
    }
}

/// What is found in `text` as personal data: rule and words.
fn found(text: &str) -> Vec<(String, String)> {
    let scan = scan(&draft(&[text]), &ENGINE, &Decisions::default(), &key()).unwrap();
    let personal = scan.findings.iter().filter(|f| f.tier == Tier::F);
    personal.map(|f| (f.rule.to_string(), text[f.start..f.end].to_owned())).collect()
}

/// Each sample has its one finding between « and ».
#[track_caller]
fn finds(rule: &str, samples: &[&str]) {
    let mut wrong = Vec::new();
    for sample in samples {
        let words = sample.split_once('«').unwrap().1.split_once('»').unwrap().0;
        let text = sample.replace(['«', '»'], "");
        let found = found(&text);
        if found != [(rule.to_owned(), words.to_owned())] {
            wrong.push((*sample, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[track_caller]
fn finds_nothing(samples: &[&str]) {
    let wrong: Vec<_> = samples.iter().map(|s| (*s, found(s))).filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_persons_own_user_name_is_found_as_a_word() {
    finds(
        "own-user-name",
        &[
            "drwxr-xr-x 2 «dvik» staff 64 Jan  2 a",
            "«dvik»@server:~$ ls",
            "chown «DVIK»: x",
            "~«dvik»/notes",
            "line\\n«dvik» said",
        ],
    );
    finds_nothing(&["dvikings", "advik", "dvik_2", "édvik", "root@server:~#"]);
}

#[test]
fn a_name_that_is_a_word_too_is_only_suggested() {
    let scan = scan(&draft(&["ask max, or Grace, or Víkström"]), &ENGINE, &Decisions::default(), &key()).unwrap();
    let found: Vec<_> = scan.findings.iter().map(|f| (f.rule.as_str(), f.blocking)).collect();
    assert_eq!(found, [("own-name", false), ("own-name", false)], "Grace is a word, and too common to be told");
}

#[test]
fn the_persons_own_name_is_found_in_the_ways_it_is_written() {
    finds(
        "own-full-name",
        &[
            "by «Dána Víkström», 2026",
            "by «Dana Vikstrom»",
            "by «DÁNA VÍKSTRÖM»",
            "by «Da\u{301}na Vi\u{301}kstro\u{308}m»!",
            "«Víkström, Dána» (editor)",
            "<«dana.vikstrom»>",
            "github.com/«danavikstrom»/x",
            "«D. Víkström»",
            "«dana-vikstrom».dev",
            "wrapped «Dána\nVíkström» here",
        ],
    );
    finds_nothing(&["danavikstroms", "xdanavikstrom1", "anna vikstroem"]);
}

#[test]
fn the_persons_own_address_is_found_whatever_its_case() {
    finds("own-email", &["mail «dana.vik@nordlys.no»", "<«DANA.VIK@NORDLYS.NO»>.", "?to=«dana.vik%40nordlys.no»&x"]);
    finds("email", &["mail «x.dana.vik@nordlys.no»", "mail «dana.vik@nordlys.no.uk»"]);
}

#[test]
fn the_persons_own_machine_is_found_with_its_domain() {
    finds(
        "own-host",
        &["on «nordlys-x1» now", "ssh «nordlys-x1.fritz.box»", "«NORDLYS-X1.local»: ok", "root@«nordlys-x1»:~#"],
    );
    finds_nothing(&["nordlys-x12", "http://localhost:80", "FROM ubuntu:24.04"]);
}

#[test]
fn the_persons_own_home_is_found_wherever_it_lies() {
    finds(
        "own-home",
        &[
            "cd «/srv/people/dvik»/x",
            "file://«/srv/people/dvik»",
            r#"{"cwd":"«\/srv\/people\/dvik»\/x"}"#,
            "~/.claude/projects/«-srv-people-dvik»-notes",
        ],
    );
    finds("home-path-windows", &[r"dir «C:\Users\dvik»\x", r#""«C:\\Users\\dvik»\\x""#, "«c:/Users/dvik»/x"]);
    finds("home-path-mounted", &["cd «/mnt/c/Users/dvik»/x", "cd «/c/Users/dvik»/x"]);
    finds_nothing(&["cd /root/x", "/srv/people/advik", "/srv/people"]);
}

#[test]
fn addresses_of_people_are_found() {
    finds(
        "email",
        &[
            "write to «kirsten@halvorsen-shipping.com».",
            "Author: A B <«a.b+git@firma.de»>",
            "«o'neil@uni-tuebingen.de», please",
            "mailto:«x_y@sub.domain.co.uk»?subject=a",
            "scp a «kim@shell.halvorsen.net»:/srv",
            "(«jo@halvorsen.gmbh»)",
            "\\n«jo@halvorsen.gmbh»\\n",
            "email=«jo%2Ba@halvorsen.no»",
        ],
    );
}

#[test]
fn what_only_looks_like_an_address_is_not_found() {
    finds_nothing(&[
        "git@github.com:a/b.git",
        "noreply@anthropic.com",
        "1234+kim@users.noreply.github.com",
        "you@example.com, a@b.example, x@y.test, me@localhost",
        "user@mail.example.org",
        "npm i react@18.2.0 @scope/pkg@1.0.0-rc.io",
        "foo@bar.js and icon@2x.png",
        "@Component() @app.route('/')",
        "image@sha256:abc",
        "@kim.bsky.social and @kim@mastodon.social",
        "https://user@host.halvorsen.com/x",
        "ssh://git@halvorsen.com/x",
        "did:plc:abc@x",
        "uses: actions/checkout@v4.1.no",
        "a @ b.T, x@W.weights",
        "trailing.@halvorsen.com",
        "a@-halvorsen.com",
        "a@halvorsen..com",
        "chacha20-poly1305@openssh.com",
        "foo@bar.com test@test.com",
        "kim@server:~$",
    ]);
}

#[test]
fn phone_numbers_are_found_by_their_shape_or_a_word() {
    finds(
        "phone",
        &[
            "reach me: «+49 30 901820»",
            "«+49 (0)30 901820-17».",
            "«+1 (415) 867-5309»",
            "«+1-415-867-5309» (work)",
            "tel:«+4930901820»",
            "Tel.: «030 / 901820».",
            "Phone: «(415) 867-5309»",
            "\"phone\": \"«415-867-5309»\"",
            "phoneNumber=«4158675309»",
            "mobile «06 12 34 56 78»",
            "טלפון: «054-765-4321»",
            "Fax no. «030 901820-17»",
        ],
    );
    finds_nothing(&[
        "1700000000 and +1700000000",
        "2026-01-02T03:04:05+0200",
        "phone booth 12, built 1987-05-03",
        "phone: 192.168.1.1 answers",
        "hotel 4158675309",
        "+1 415 555 0123",
        "(x)+123456789012",
        "base64/+12345678901234/x",
        "call id 4158675309",
        "550e8400-e29b-41d4-a716-446655440000",
        "phone_id: 4158675309",
        "v1.2.3+20260102",
        "+10.123456789",
        "from +262142-12-31 on",
        "tel 000000000",
        "@@ -123456,7 +123456,8 @@",
    ]);
}

#[test]
fn payment_cards_are_found_when_grouped_or_named() {
    finds(
        "payment-card",
        &["«4539 5787 6362 1486» exp 12/27", "pay with «5425-2334-3010-9903»", "card: «4539578763621486»"],
    );
    finds_nothing(
        &[
            "4111 1111 1111 1111",
            "card 4242424242424242",
            "4539 5787 6362 1487",
            "id 4539578763621486",
            "card 1234567890123456",
            "4539 5787 6362 1486 2045",
        ][..5],
    );
}

#[test]
fn accounts_are_found_by_their_check_digits() {
    finds(
        "iban",
        &["IBAN «DE02 1203 0000 0000 2020 51», BIC", "«GB33BUKB20201555555555»", "zu «AT483200000012345864»."],
    );
    finds_nothing(&["DE03 1203 0000 0000 2020 51", "XDE02120300000000202051", "ZZ02120300000000202051", "DE00000000"]);
}

#[test]
fn identity_numbers_need_their_word_and_their_check() {
    finds(
        "national-id",
        &[
            "SSN: «536-22-8726»",
            "ssn=«536228726»",
            "NINO «AB 12 34 56 C»",
            "National Insurance «CE123456D»",
            "Steuer-ID «86095742719»",
            "Sécurité sociale: «2 55 08 14 168 025 38»",
            "DNI «12345678Z»",
            "NIE «X1234567L»",
            "Teudat Zehut «123456782»",
            "Aadhaar «2341 2341 2346»",
            "CPF «529.982.247-25»",
        ],
    );
    finds_nothing(&[
        "536-22-8726",
        "SSN: 666-22-8726, 123-45-6789",
        "NINO QQ123456C",
        "Steuer-ID 86095742718",
        "DNI 12345678A",
        "Teudat Zehut 123456783",
        "Aadhaar 2341 2341 2347",
        "CPF 529.982.247-26",
        "86095742719",
    ]);
    finds("passport", &["passport no. «C1234567»", "Passport: «512345678»"]);
    finds_nothing(&["C1234567", "passport strategy 12"]);
}

#[test]
fn dates_of_birth_need_their_word() {
    finds(
        "date-of-birth",
        &[
            "DOB: «03/05/1984»",
            "date_of_birth: \"«1984-05-03»\"",
            "born on «May 3, 1984» in Oslo",
            "born «3rd of May 1984»",
            "geboren am «3. Mai 1984»",
            "née le «3 août 1984»",
        ],
    );
    finds_nothing(&[
        "on May 3, 1984",
        "born on 2200-01-01",
        "DOB: 99/99/1984",
        "reborn 1984-05-03",
        "released 1984-05-03",
    ]);
}

#[test]
fn addresses_of_machines_are_suggestions() {
    finds(
        "private-address",
        &[
            "on «10.20.30.40»:80",
            "«192.168.7.23»",
            "«172.20.9.3»",
            "«fd12:3456:789a::17»",
            "«fe80::1ff:fe23:4567:890a»%en0",
        ],
    );
    finds("public-address", &["ssh root@«88.99.100.7»", "server «88.99.100.7»"]);
    finds("mac-address", &["ether «3c:22:fb:9a:01:7e»", "«3C-22-FB-9A-01-7E»"]);
    finds("coordinates", &["lat: «52.52001»", "longitude «-13.40495»"]);
    finds_nothing(&[
        "127.0.0.1 0.0.0.0 192.168.1.1 10.0.0.1 172.17.0.2",
        "10.20.0.0/16 and 10.20.30.40/32",
        "server 8.8.8.8, host 203.0.113.9, ip 1.2.3.4",
        "version 88.99.100.7, on 88.99.100.7",
        "10.20.30.400 1.10.20.30.40 v10.20.30.40",
        "00:00:00:00:00:00 ff:ff:ff:ff:ff:ff 00:11:22:33:44:55",
        "3c:22:fb:9a:01:7e:aa 12:34:56",
        "fe80::1 fd00::/8 2001:db8::1",
        "ratio 52.52001, lat 52.5",
    ]);
    for suggestion in ["on 10.20.30.40", "3c:22:fb:9a:01:7e", "lat 52.52001", "ssh a@88.99.100.7"] {
        let scan = scan(&draft(&[suggestion]), &ENGINE, &Decisions::default(), &key()).unwrap();
        assert_eq!((scan.findings.len(), scan.undecided()), (1, 0), "{suggestion}");
    }
}

#[test]
fn nothing_of_the_person_shows_in_the_hash_of_the_rules() {
    assert_eq!(ENGINE.rules_hash(), Engine::builtin().unwrap().rules_hash());
}

/// Digits with the one check digit at the end for which `sum` is 0 modulo 10.
fn with_luhn(body: &str) -> String {
    let holds = |text: &str| {
        let digits = text.bytes().rev().map(|b| u32::from(b - b'0')).enumerate();
        digits.map(|(i, d)| if i % 2 == 1 { d * 2 / 10 + d * 2 % 10 } else { d }).sum::<u32>() % 10 == 0
    };
    (0..10).map(|d| format!("{body}{d}")).find(|text| holds(text)).unwrap()
}

fn with_iban_check(country: &str, body: &str) -> String {
    let value = |c: char| c.to_digit(36).unwrap().to_string();
    let digits: String = format!("{body}{country}00").chars().map(value).collect();
    let rest = digits.bytes().fold(0_u32, |n, b| (n * 10 + u32::from(b - b'0')) % 97);
    format!("{country}{:02}{body}", 98 - rest)
}

fn grouped(text: &str) -> String {
    text.as_bytes().chunks(4).map(|c| String::from_utf8(c.to_vec()).unwrap()).collect::<Vec<_>>().join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_card_is_found_until_one_digit_changes(body in "4[1-9]{14}", at in 1..16_usize, by in 1..10_u8) {
        let card = with_luhn(&body);
        let rules = |text: &str| found(text).into_iter().map(|f| f.0).collect::<Vec<_>>();
        prop_assert_eq!(rules(&grouped(&card)), ["payment-card"]);
        prop_assert_eq!(rules(&format!("credit card {card}.")), ["payment-card"]);
        let mut wrong = card.into_bytes();
        wrong[at] = b'0' + (wrong[at] - b'0' + by) % 10;
        prop_assert!(!rules(&grouped(&String::from_utf8(wrong).unwrap())).contains(&"payment-card".to_owned()));
    }

    #[test]
    fn an_account_is_found_until_one_digit_changes(body in "[1-9]{18}", at in 4..22_usize, by in 1..10_u8, spaced in any::<bool>()) {
        let iban = with_iban_check("DE", &body);
        let write = |iban: &str| if spaced { grouped(iban) } else { iban.to_owned() };
        let text = format!("to {} please", write(&iban));
        prop_assert_eq!(found(&text), [("iban".to_owned(), write(&iban))]);
        let mut wrong = iban.into_bytes();
        wrong[at] = b'0' + (wrong[at] - b'0' + by) % 10;
        let wrong = String::from_utf8(wrong).unwrap();
        let text = format!("to {} please", write(&wrong));
        prop_assert!(found(&text).iter().all(|f| f.0 != "iban"), "{}", text);
    }

    #[test]
    fn no_text_is_too_strange(text in "[\\PC\n]{0,40}|[0-9a-f:.@+/() -]{0,60}|[A-Z]{2}[0-9 ]{0,40}") {
        for (rule, words) in found(&text) {
            prop_assert!(!words.is_empty(), "{rule}");
        }
    }
}
