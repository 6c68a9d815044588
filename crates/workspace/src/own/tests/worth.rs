use super::{
    super::{
        names::{NameSays, name_says, safe_name},
        worth::{Certainty, is_random, is_worth, value_says_secret},
    },
    made_up,
};

#[test]
fn names_say_what_their_values_are() {
    use NameSays::{Harmless, Maybe, Nothing, Secret};
    for (name, says) in [
        ("OPENAI_API_KEY", Secret),
        ("apiKey", Secret),
        ("openai-api-key", Secret),
        ("GITHUB_TOKEN", Secret),
        ("PGPASSWORD", Secret),
        ("MYSQL_PWD", Secret),
        ("client_secret", Secret),
        ("refreshToken", Secret),
        ("aws_secret_access_key", Secret),
        ("STRIPE_SK_SECRET", Secret),
        ("SENTRY_DSN", Secret),
        ("Authorization", Secret),
        ("_authToken", Secret),
        ("SESSION_COOKIE", Secret),
        ("aws_access_key_id", Maybe),
        ("key", Maybe),
        ("access", Maybe),
        ("AUTH", Maybe),
        ("DATABASE_URL", Maybe),
        ("EDITOR", Nothing),
        ("MONKEYS", Nothing),
        ("KEYBOARD", Nothing),
        ("SSH_AUTH_SOCK", Harmless),
        ("GPG_AGENT_INFO", Harmless),
        ("XDG_SESSION_ID", Harmless),
        ("DESKTOP_SESSION", Harmless),
        ("TOKEN_FILE", Harmless),
        ("API_URL", Harmless),
        ("client_id", Harmless),
        ("MAX_TOKENS", Harmless),
        ("STRIPE_PUBLISHABLE_KEY", Harmless),
        ("", Nothing),
        ("пароль", Nothing),
    ] {
        assert_eq!(name_says(name), says, "{name}");
    }
}

#[test]
fn made_up_values_are_worth_searching() {
    for seed in 0..200 {
        for length in [16, 24, 40, 64] {
            let value = made_up(seed, length);
            assert!(is_worth(&value, Certainty::Named), "{seed} {length}");
            assert!(is_worth(&value, Certainty::Credential), "{seed} {length}");
        }
        assert!(is_worth(&made_up(seed, 10), Certainty::Named) || made_up(seed, 10).chars().all(char::is_alphabetic));
    }
    // By looks alone nearly all of them are known.
    let hinted = (0..200).filter(|seed| is_worth(&made_up(*seed, 32), Certainty::Hinted)).count();
    assert!(hinted >= 196, "{hinted}");
}

#[test]
fn passwords_of_people_are_worth_searching_where_they_are_named() {
    for value in
        ["tiger-2024", "Tr0ub4dor&3", "pa$$w0rd!x", "s3cr3t!", "b7q-xx9", "Sommer2024!", "ab12cd34", "9c2f71d0"]
    {
        assert!(is_worth(value, Certainty::Credential), "{value}");
    }
    for value in
        ["tiger-2024", "Tr0ub4dor&3", "Sommer2024!", "correct-horse-battery-staple", "83920174", "wxyz-mnbv-qrst-jklp"]
    {
        assert!(is_worth(value, Certainty::Named), "{value}");
    }
    assert!(is_worth("vessel ladder canyon frost ripple onion", Certainty::Named), "a mnemonic");
    assert!(!is_worth("b7q-xx9", Certainty::Named), "too short to search where anything may stand");
    assert!(!is_worth("b7q!x", Certainty::Credential), "too short to search at all");
}

#[test]
fn what_people_write_by_chance_is_not_worth_searching() {
    let common = [
        "password",
        "Password1",
        "changeme",
        "change-me",
        "localhost",
        "true",
        "production",
        "development",
        "postgres",
        "postgres123",
        "admin123",
        "my-secret-key",
        "your_api_key_here",
        "test-token",
        "secret_token",
        "supersecret",
        "minioadmin",
        "us-east-1",
        "eu-central-1",
        "osxkeychain",
        "dashboard",
        "aws-secrets",
        "oauth2",
        "xxxxxxxxxxxxxxxx",
        "aaaaaaaaaaaa",
        "12345678",
        "1234567890",
        "abcdefgh",
        "87654321",
        "abcdefgh12",
        "<your token here>",
        "${API_TOKEN}",
        "$(pass show x)",
        "%TOKEN%",
        "{{ secrets.TOKEN }}",
        "sk-...",
        "sk-xxxxxxxxxxxx",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "***********",
        "███",
        "/usr/local/bin/token",
        "~/.ssh/id_ed25519",
        "./secrets/key.pem",
        "C:\\Users\\dana\\key",
        "../token",
        "https://api.example.com/v1",
        "http://localhost:8080",
        "api.service.internal",
        "registry.gitlab.com/org/app:1.2",
        "dana@mail.org",
        "2024-01-31",
        "2024-01-31T10:20:30Z",
        "1.2.3.4",
        "10.0.0.1:8080",
        "Enter your password",
        "The key is required",
        "camelCaseName",
        "some_setting_name",
        "gpt-4",
        "12345",
        "0.30",
        "claude-code",
        "",
    ];
    for value in common {
        assert!(!is_worth(value, Certainty::Named), "{value}");
        assert!(!is_worth(value, Certainty::Hinted), "{value}");
    }
    for value in [
        "password", "postgres", "secret", "changeme", "123456", "abcdef", "root", "hunter2", "true", "sunshine",
        "aaaaaa",
    ] {
        assert!(!is_worth(value, Certainty::Credential), "{value}");
    }
}

#[test]
fn what_may_be_a_secret_must_look_random() {
    for value in
        ["Ubuntu-session", "ubuntu-22.04", "claude-opus-4-5-20251101", "gnome-keyring-daemon", "oauth2-proxy-v7"]
    {
        assert!(!is_worth(value, Certainty::Hinted), "{value}");
    }
    assert!(!is_worth("0b7e2f0e-1c2d-4000-8000-00000000abcd", Certainty::Hinted), "an identifier");
    assert!(is_worth("0b7e2f0e-1c2d-4000-8000-00000000abcd", Certainty::Named), "some tokens are such");
    assert!(!is_random("supercalifragilisticexpialidocious"));
}

#[test]
fn values_of_known_shapes_say_so_by_themselves() {
    assert!(value_says_secret(&["gh", "p_", &made_up(1, 36)].concat()));
    assert!(value_says_secret(&["sk", "-", &made_up(2, 48)].concat()));
    assert!(!value_says_secret(&made_up(3, 40)));
    assert!(!value_says_secret("sk-learn-tutorial-for-beginners"));
}

#[test]
fn a_name_that_may_be_a_value_is_not_shown() {
    let token = made_up(4, 32);
    assert_eq!(safe_name("aws_secret_access_key of [default]"), "aws_secret_access_key of [default]");
    assert_eq!(safe_name("token of app.terraform.io"), "token of app.terraform.io");
    assert_eq!(safe_name(&format!("auth of {token}")), "auth of …");
    assert_eq!(safe_name(&format!("auth of https://u:{token}@host")), "auth of …");
    assert_eq!(safe_name("a b c d e f g h"), "a value");
    assert!(!safe_name(&format!("k\u{1b}[31m{token}")).contains('\u{1b}'));
}
