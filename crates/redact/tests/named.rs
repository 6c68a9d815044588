//! Secrets that a name or a sentence gives away, and what only looks like them. All values are made up here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    reason = "tests fail loudly"
)]

mod common;

use std::{fmt::Write as _, sync::LazyLock, time::Instant};

use common::draft;
use onrecord_redact::{Decisions, Engine, Finding, Tier, scan};
use proptest::prelude::*;

/// Compiled once for all cases.
static ENGINE: LazyLock<Engine> = LazyLock::new(common::rules);

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn string(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// Letters and digits, at least three of each class.
    fn mixed(&mut self, length: usize) -> String {
        loop {
            let value = self.string(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", length);
            let count = |test: fn(&u8) -> bool| value.as_bytes().iter().filter(|b| test(b)).count();
            if count(u8::is_ascii_digit) > 1 && count(u8::is_ascii_lowercase) > 2 && count(u8::is_ascii_uppercase) > 2 {
                return value;
            }
        }
    }

    fn hex(&mut self, length: usize) -> String {
        self.string(b"0123456789abcdef", length)
    }

    /// As people make them up: two words, a number, a sign.
    fn made_up(&mut self) -> String {
        const WORDS: [&str; 12] = [
            "meadow", "copper", "lantern", "walrus", "thunder", "pepper", "violet", "marble", "cactus", "harbor",
            "falcon", "ginger",
        ];
        let (first, second) = (self.pick(&WORDS), self.pick(&WORDS));
        let (number, sign) = (10 + self.below(89), self.pick(&["!", "#", "?!", "$"]));
        format!("{}{}{second}{number}{sign}", first[..1].to_uppercase(), &first[1..])
    }
}

fn findings(text: &str) -> Vec<Finding> {
    scan(&draft(&[text]), &ENGINE, &Decisions::default(), &common::key()).unwrap().findings
}

/// Places where the values of `names` stand; `{n}` is the name, `{v}` the value.
const CAPS: [&str; 14] = [
    "{n}={v}",
    "export {n}={v}",
    "export {n}=\"{v}\"",
    "{n}='{v}'",
    "{n}: {v}",
    "ENV {n}={v}",
    "docker run -e {n}={v} image",
    "os.environ[\"{n}\"] = \"{v}\"",
    "process.env.{n} = '{v}';",
    "const value = process.env.{n} || \"{v}\";",
    "value = os.getenv(\"{n}\", \"{v}\")",
    "        - name: {n}\n          value: \"{v}\"",
    "{\"name\":\"{n}\",\"value\":\"{v}\"}",
    "+{n}={v}",
];

const LOWER: [&str; 22] = [
    "{n} = \"{v}\"",
    "{n}: \"{v}\"",
    "\"{n}\": \"{v}\"",
    "{\\\"{n}\\\": \\\"{v}\\\"}",
    "{\\\\\\\"{n}\\\\\\\": \\\\\\\"{v}\\\\\\\"}",
    "'{n}' => '{v}',",
    ":{n} => \"{v}\"",
    "const {n} = '{v}';",
    "let {n}: &str = \"{v}\";",
    "{n} := \"{v}\"",
    "$config['{n}'] = '{v}';",
    "self.{n} = \"{v}\"",
    "{n}=\"{v}\", host=\"db\")",
    "String {n} = new String(\"{v}\");",
    "<{n}>{v}</{n}>",
    "<add key=\"{n}\" value=\"{v}\"/>",
    "tool --{n} {v} --verbose",
    "tool --{n}={v} --verbose",
    "user=bob&{n}={v}&x=1",
    "| {n} | {v} |",
    "- **{n}:** {v}",
    "if {n} == \"{v}\":",
];

const SENTENCES: [&str; 26] = [
    "the password is {v}",
    "my password is {v}, please keep it",
    "The password for the staging database is `{v}`.",
    "Password: {v}",
    "**Password**: `{v}`",
    "use {v} as the password",
    "log in with admin / {v}",
    "credentials: bob / {v}",
    "The admin password ({v}) still works",
    "the new password was set to {v}",
    "Das Passwort lautet {v}",
    "Das Passwort ist {v}",
    "Le mot de passe est {v}",
    "La contraseña es {v}",
    "A senha é {v}",
    "La password è {v}",
    "Het wachtwoord is {v}",
    "Hasło to {v}",
    "Пароль от базы: {v}",
    "הסיסמה היא {v}",
    "كلمة المرور هي {v}",
    "密码是{v}",
    "密码：{v}",
    "パスワードは「{v}」です",
    "비밀번호는 {v} 입니다",
    "ALTER USER bob IDENTIFIED BY '{v}'",
];

fn fill(place: &str, name: &str, value: &str) -> String {
    place.replace("{n}", name).replace("{v}", value)
}

/// Every combination, with values that a machine or a person made.
fn positives() -> Vec<(String, String)> {
    let mut dice = Dice(0x00c0_ffee_1234_5678);
    let mut all = Vec::new();
    for name in ["DB_PASSWORD", "MYSQL_ROOT_PASSWORD", "JWT_SECRET", "APP_API_KEY", "AUTH_TOKEN", "SMTP_PASS"] {
        for place in CAPS {
            let passwords = name.contains("PASS");
            let made_up = passwords && dice.below(2) == 0 && !place.contains("-e ");
            let value = if made_up { dice.made_up() } else { dice.mixed(20) };
            all.push((fill(place, name, &value), value));
        }
    }
    for name in ["password", "db_password", "dbPassword", "apiKey", "api_key", "client_secret", "accessToken", "passwd"]
    {
        for place in LOWER {
            let value = if name.to_lowercase().contains("pass") && !place.contains('&') && dice.below(2) == 0 {
                dice.made_up()
            } else {
                dice.mixed(24)
            };
            all.push((fill(place, name, &value), value));
        }
    }
    for name in ["secretKey", "ENCRYPTION_KEY", "refresh_token"] {
        for place in ["{n} = \"{v}\"", "\"{n}\": \"{v}\"", "{n}={v}"] {
            for value in [dice.hex(32), dice.hex(64), dice.mixed(16), dice.mixed(43) + "="] {
                all.push((fill(place, name, &value), value));
            }
        }
    }
    for place in SENTENCES {
        for _ in 0..3 {
            let value = dice.made_up();
            let value = if place.contains(" est ") { value.replace("?!", "!") } else { value };
            all.push((fill(place, "", &value), value));
        }
    }
    for place in
        ["The API key is {v}.", "API key: {v}", "Here is my access token:\n\n{v}\n", "api token:\n```\n{v}\n```"]
    {
        let value = dice.mixed(32);
        all.push((fill(place, "", &value), value));
    }
    all
}

#[test]
fn secrets_are_found_whole_whatever_the_name_the_place_and_the_value() {
    let all = positives();
    assert!(all.len() >= 300, "{} combinations", all.len());
    let mut missed = String::new();
    for (text, value) in &all {
        let text = format!("Some words before.\n{text}\nAnd after.");
        let (start, end) = (text.find(value).unwrap(), text.find(value).unwrap() + value.len());
        let found = findings(&text);
        let covering =
            |f: &&Finding| f.blocking && f.start <= start && end <= f.end && f.end - f.start <= value.len() + 1;
        if !found.iter().any(|f| covering(&f)) {
            writeln!(missed, "{}", text.replace(value, "<value>")).unwrap();
        }
    }
    let count = missed.matches("And after.").count();
    assert!(count * 100 <= all.len(), "{count} of {} are not found:\n{missed}", all.len());
}

#[test]
fn values_by_their_kind() {
    let word = ["copper", "falcon"].concat();
    let cases = [
        (format!("DB_PASSWORD={word}"), word.clone()),
        (format!("password: \"{word}\""), word.clone()),
        ("my pin is 4821".to_owned(), "4821".to_owned()),
        ("PIN: 480213".to_owned(), "480213".to_owned()),
        ("Password: 83920174".to_owned(), "83920174".to_owned()),
        ("passphrase: \"purple walrus lantern pepper\"".to_owned(), "purple walrus lantern pepper".to_owned()),
        ("password = \"violet-harbor-marble-cactus\"".to_owned(), "violet-harbor-marble-cactus".to_owned()),
        ("password=\"walrus;cactus$12\"".to_owned(), "walrus;cactus$12".to_owned()),
        ("LICENSE_KEY=AB3D1-EFGH2-JKLM3-NPQR4".to_owned(), "AB3D1-EFGH2-JKLM3-NPQR4".to_owned()),
        (
            "seed phrase: ripple scissors kick mammal hire column oak again sun offer wealth tomorrow".to_owned(),
            "ripple scissors kick mammal hire column oak again sun offer wealth tomorrow".to_owned(),
        ),
    ];
    for (n, (text, value)) in cases.iter().enumerate() {
        let found = findings(text);
        let spans: Vec<(usize, usize)> = found.iter().map(|f| (f.start, f.end)).collect();
        let start = text.find(value).unwrap();
        assert!(spans.contains(&(start, start + value.len())), "case {n}: {spans:?}");
    }
}

/// Keys of services whose names no list has, in hexadecimal, as UUIDs and in small letters.
#[test]
fn what_a_service_of_any_name_gave_out_is_found() {
    let mut dice = Dice(11);
    let uuid = format!("{}-{}-4{}-a{}-{}", dice.hex(8), dice.hex(4), dice.hex(3), dice.hex(3), dice.hex(12));
    let small = dice.string(b"abcdefghijklmnopqrstuvwxyz0123456789", 32);
    for value in [dice.hex(32), dice.hex(40), uuid.clone(), small] {
        for name in ["ACMEPAY_TOKEN={v}", "acmepay_token: \"{v}\"", "const acmepayToken = \"{v}\";", "ACMEPAY_KEY={v}"]
        {
            let text = name.replace("{v}", &value);
            let start = text.find(&value).unwrap();
            assert!(findings(&text).iter().any(|f| (f.start, f.end) == (start, start + value.len())), "{name}");
        }
        for name in ["page_token: \"{v}\"", "cache_key = \"{v}\"", "row_key={v}", "PARTITION_KEY={v}"] {
            assert!(!findings(&name.replace("{v}", &value)).iter().any(|f| f.blocking), "{name}");
        }
    }
    assert!(findings(&format!("my Acme API key is {uuid}")).iter().any(|f| f.blocking));
}

/// Passwords of several words, digits and signs, without quotes.
#[test]
fn passwords_of_words_are_found_where_nothing_quotes_them() {
    for value in ["river_Stone!4", "K1^ujf7%COMoGNts", "Garden-stone-687"] {
        for place in
            ["Password: {v}", "mein Passwort ist {v}", "password={v}", "  password: {v}", "set -x db_password {v}"]
        {
            let text = place.replace("{v}", value);
            let start = text.find(value).unwrap();
            assert!(
                findings(&text).iter().any(|f| f.start <= start && start + value.len() <= f.end),
                "{place} {value}"
            );
        }
    }
    for code in ["password = hash_Password(input)", "password: RFC-6749", "password = x1*Y2", "password: react@18"] {
        assert!(!findings(code).iter().any(|f| f.blocking), "{code}");
    }
}

/// What stands after such names without being a secret.
fn negatives() -> Vec<String> {
    const VALUES: [&str; 42] = [
        "${DB_PASSWORD}",
        "$DB_PASSWORD",
        "%PASSWORD%",
        "{{ password }}",
        "<your-password>",
        "process.env.API_KEY",
        "os.environ['X']",
        "config.password",
        "self.password",
        "secrets.API_KEY",
        "var.db_password",
        "getPassword()",
        "get_secret(name)",
        "null",
        "None",
        "undefined",
        "true",
        "string",
        "String",
        "Optional[str]",
        "SecretString",
        "your-api-key-here",
        "xxxxxxxxxxxx",
        "********",
        "changeme",
        "example-password",
        "TODO",
        "[REDACTED]",
        "...",
        "password",
        "secret",
        "test",
        "my-secret-token",
        "required",
        "current-password",
        "MAX_LIFETIME_SECONDS",
        "/run/secrets/db_password",
        "https://example.com/reset",
        "2024-05-01",
        "1.2.3-beta.4",
        "settings.json",
        "io.example.vault.SecretProvider",
    ];
    let mut all = Vec::new();
    for value in VALUES {
        for place in
            ["DB_PASSWORD={v}", "password: {v}", "\"apiKey\": \"{v}\"", "auth_token = '{v}'", "the password is {v}"]
        {
            all.push(fill(place, "", value));
        }
    }
    let mut dice = Dice(0x0dd5_eed5_1234_5678);
    let (uuid, hash) = ("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", dice.hex(40));
    for text in [
        "\"password\": \"Enter your password\"",
        "\"password\": \"Passwort\"",
        "\"forgot_password\": \"Forgot password?\"",
        "password_label = \"Enter your password\"",
        "password: 'Пароль'",
        "\"password\": \"密码\"",
        "\"input_tokens\": 244075",
        "max_tokens=905442",
        "token_count: 12345678",
        "const MAX_ACCESS_TOKEN_LIFETIME_SECONDS = 3600",
        "primary_key = \"user_id\"",
        "PrivateKey::from_bytes(bytes)",
        "let token = parser.next_token();",
        "if token != expected_token {",
        "password = input(\"Password: \")",
        "const secretName = 'prod-db-password';",
        "password_hash = hash_password(password)",
        "The password is required and must have at least 8 characters.",
        "The password is stored with argon2 and the key is sha256.",
        "the token is base64-encoded",
        "the secret is in vault",
        "fn password(&self) -> &str",
        "keyboard: \"ctrl+shift+k\"",
        "opinion: 1234",
        "Log in with your password / passkey",
        "passwords, secrets and tokens",
        "api_key: Optional[str] = None",
        "token: Uint8Array",
        "token: 'react@18.2.0'",
    ] {
        all.push(text.to_owned());
    }
    all.push(format!("next_page_token = \"{}\"", dice.mixed(40)));
    all.push(format!("csrf_token: \"{}\"", dice.mixed(32)));
    all.push(format!("public_key: \"{}\"", dice.mixed(44)));
    all.push(format!("cache_key = \"{hash}\""));
    all.push(format!("token: {hash}"));
    all.push(format!("idempotency_key: {uuid}"));
    all
}

#[test]
fn what_only_looks_like_a_secret_is_left_alone() {
    let all = negatives();
    assert!(all.len() >= 200, "{} texts", all.len());
    let alarms: Vec<&String> = all.iter().filter(|text| findings(text).iter().any(|f| f.tier == Tier::D)).collect();
    assert!(alarms.len() * 100 <= all.len(), "{} of {}: {alarms:#?}", alarms.len(), all.len());
}

#[test]
fn where_a_value_is_kept_is_not_the_value() {
    for reference in [
        "${Meadow_42!x}",
        "%Meadow42!x%",
        "{{Meadow-42!x}}",
        "$MeadowLantern42",
        "<Meadow42!x>",
        "secrets.Meadow42!x",
        "op:Meadow42!x",
        "https://vault/Meadow42!x",
    ] {
        let found = findings(&format!("db_password = \"{reference}\""));
        assert!(found.iter().all(|f| f.rule != "named-password"), "{reference}");
    }
    assert_eq!(findings("db_password = \"Meadow42!x\"")[0].rule, "named-password");
}

#[test]
fn a_random_token_is_suggested_and_never_blocks() {
    let mut dice = Dice(0x1234_5678_9abc_def1);
    let mut found = 0;
    for _ in 0..100 {
        let token = dice.mixed(32);
        let all = findings(&format!("it printed {token} and stopped"));
        assert!(all.iter().all(|f| f.tier == Tier::E && !f.blocking));
        found += usize::from(all.iter().any(|f| (f.start, f.end) == (11, 43)));
    }
    assert!(found >= 90, "{found} of 100");
}

#[test]
fn randomness_that_is_explained_is_not_suggested() {
    let mut dice = Dice(0x0bad_cafe_1234_5678);
    let (hex, mixed, long) = (dice.hex(40), dice.mixed(24), dice.mixed(300));
    let lines: Vec<String> = (0..6).map(|_| dice.mixed(64)).collect();
    for text in [
        format!("commit {hex}"),
        format!("\"integrity\": \"sha512-{}==\"", dice.mixed(86)),
        "session 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d".to_owned(),
        format!("toolu_01{mixed}"),
        format!("\"id\": \"{mixed}\""),
        format!("data:image/png;base64,{long}"),
        format!("{long} is data"),
        format!("https://example.com/f/{mixed}"),
        format!("assets/index-{}.js", dice.mixed(20)),
        "getAvailableProviderCountForSession2024Version3".to_owned(),
        "/usr/lib/x86_64-linux-gnu/libstdc6/version12".to_owned(),
        "VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw".to_owned(),
        lines.join("\n"),
        format!("    /// {}", lines.join("\n    /// ")),
    ] {
        assert!(findings(&text).iter().all(|f| f.tier != Tier::E), "{}", &text[..text.len().min(60)]);
    }
}

#[test]
fn values_in_brackets_below_their_name_and_of_names_in_signs_are_found_whole() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c17);
    for (before, after) in [
        ("PASSPHRASE=[", "]"),
        ("apiKey=[", "] loaded"),
        ("%bearer_token%=", ""),
        ("redis_password\n", "\n"),
        ("> DB_PASSWORD\n", "\nok"),
        ("12→ENV AUTH_SECRET ", "\n"),
        ("<out>ENV session-secret ", "</out>"),
        ("-Dprivate_key=", " -jar x"),
        ("public const string db_pass = \"", "\";"),
    ] {
        for _ in 0..8 {
            let value = dice.mixed(24);
            let text = format!("{before}{value}{after}");
            let (start, end) = (before.len(), before.len() + value.len());
            let whole = |f: &Finding| f.tier <= Tier::D && (f.start, f.end) == (start, end);
            assert!(findings(&text).iter().any(whole), "{text}");
        }
    }
    // What stands in other brackets, and below a name that is not alone.
    for text in [
        "key=[a1b2c3, d4]",
        "see [token](a1B2c3D4e5F6g7H8)",
        "the password\nPr0gressiveEnhancement",
        "identified by `a1B2c3D4`",
    ] {
        assert!(findings(text).iter().all(|f| f.tier > Tier::D), "{text}");
    }
}

#[test]
fn what_people_make_up_is_found_also_where_a_machine_should_have() {
    for text in [
        format!("API_KEY={}{}", "Pepper", 9926),
        format!("--apiKey={}-{}", "Pepper-pepper", 633),
        format!("the api key is `{}{}`", "Silver", 2295),
        format!("consumer_secret={}{}!", "Copper", 88),
        format!("heroku config:set redis_password={}{}", "Rocket", 4427),
        format!("parolam {}{}!", "Nehir", 7012),
    ] {
        assert!(findings(&text).iter().any(|f| f.blocking && f.tier <= Tier::D), "{text}");
    }
    for text in [
        "secret = Sha256",
        "const API_KEY = \"Test1234\"",
        "api_key: Uint128",
        "public key sha256: q7Xw+2mZk/V4tB9rLc0yHs8JdGf1NpE6uQaT3oWi5Y=",
    ] {
        assert!(findings(text).iter().all(|f| f.tier > Tier::D), "{text}");
    }
}

#[test]
fn hostile_repetition_costs_linear_time() {
    let time = |text: &str| {
        let start = Instant::now();
        findings(text);
        start.elapsed()
    };
    for unit in [
        "password=",
        "password is ",
        "token: \"",
        "login: a/",
        "key",
        "密码",
        "PASSWORD='",
        "secret:\n",
        "name=\"password\" ",
    ] {
        let (short, long) = (unit.repeat(4_000 / unit.len()), unit.repeat(64_000 / unit.len()));
        let (short, long) = (time(&short), time(&long));
        // Sixteen times as long a text: a quadratic step would take 256 times as long.
        assert!(long.as_millis() < 200 + 64 * short.as_millis().max(4), "{unit:?}: {short:?}, {long:?}");
    }
}

proptest! {
    #[test]
    fn any_bytes_around_a_name_are_survived(before in ".{0,40}", between in "[ =:\"'`\\\\|,(<>{}\\[\\]\n-]{0,12}", after in ".{0,60}") {
            for name in ["password", "API_KEY", "密码", "seed phrase", "login"] {
            let text = format!("{before}{name}{between}{after}");
            for finding in findings(&text) {
                prop_assert!(finding.start < finding.end && finding.end <= text.len());
            }
        }
    }
}
