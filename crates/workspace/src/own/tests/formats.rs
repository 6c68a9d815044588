use proptest::prelude::*;

use super::{
    super::{Format, parse, sink::Trust},
    base64, jwt, made_up, private_key, taken,
};

fn read(format: Format, text: &str) -> Vec<(String, String)> {
    taken(|sink| parse(format, &zeroize::Zeroizing::new(text.to_owned()), sink))
}

/// Exactly these values are taken, in this order.
#[track_caller]
fn gives(format: Format, text: &str, expected: &[(&str, &str)]) {
    let got = read(format, text);
    let got: Vec<(&str, &str)> = got.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(got, expected, "{format:?}");
}

#[test]
fn dotenv_files() {
    let [a, b, c, d] = [1, 2, 3, 4].map(|seed| made_up(seed, 32));
    let text = format!(
        "\u{feff}# TOKEN={a}\nAPI_KEY={a}\nexport B_TOKEN=\"{b}\" # a remark\nC_SECRET = '{c}'\r\nNODE_ENV=production\n\
         PORT=3000\nPUBLIC_URL=https://app.service.net\nD_PASSWORD={d} # a remark\nnot an assignment\n=x\nEMPTY_TOKEN=\n"
    );
    gives(Format::Dotenv, &text, &[("API_KEY", &a), ("B_TOKEN", &b), ("C_SECRET", &c), ("D_PASSWORD", &d)]);
}

#[test]
fn dotenv_values_over_several_lines() {
    let (lines, key) = private_key(5);
    let after = made_up(9, 30);
    let expected: Vec<(&str, &str)> =
        lines.iter().map(|line| ("SIGNING_KEY", line.as_str())).chain([("A_TOKEN", after.as_str())]).collect();
    gives(Format::Dotenv, &format!("SIGNING_KEY=\"{key}\"\nA_TOKEN={after}\n"), &expected);
    let escaped = key.replace('\n', "\\n");
    gives(Format::Dotenv, &format!("SIGNING_KEY=\"{escaped}\"\nA_TOKEN={after}\n"), &expected);
    gives(Format::Dotenv, &format!("X=\"never closed\nA_TOKEN={after}\n"), &[("A_TOKEN", &after)]);
}

#[test]
fn a_url_gives_its_password_and_what_that_means() {
    gives(
        Format::Dotenv,
        "DATABASE_URL=postgres://app:t1ger%23moss7@db.internal:5432/app?sslmode=require\n",
        &[("DATABASE_URL", "t1ger%23moss7"), ("DATABASE_URL", "t1ger#moss7")],
    );
    gives(Format::Dotenv, "DATABASE_URL=postgres://postgres:postgres@localhost/app\n", &[]);
    let token = made_up(6, 40);
    gives(Format::Dotenv, &format!("REPO=https://{token}@git.host.net/a.git"), &[("REPO", &token)]);
    gives(Format::Dotenv, "REPO=ssh://git@git.host.net/a.git", &[]);
    gives(Format::Dotenv, &format!("FEED=https://host.net/x?a=1&api_key={token}&b=2"), &[("FEED", &token)]);
    gives(
        Format::Dotenv,
        &format!("SLACK_WEBHOOK=https://host.net/services/T0/B0/{token}"),
        &[("SLACK_WEBHOOK", &token)],
    );
    gives(
        Format::Dotenv,
        "STORE=\"Server=db;User Id=app;Password=t1germoss!;Encrypt=true\"",
        &[("STORE", "t1germoss!")],
    );
}

#[test]
fn shell_start_files() {
    let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(|seed| made_up(seed, 32));
    let text = format!(
        "# export OLD_TOKEN={a}\nexport A_TOKEN={a}\nexport B_TOKEN=\"{b}\" C_TOKEN='{c}'; D_TOKEN={d} make\n\
         export PATH=\"$HOME/bin:$PATH\"\nexport E_TOKEN=$(pass show e)\nexport F_TOKEN=\"$OTHER\"\nexport G_TOKEN=`cat x`\n\
         export EDITOR=vim\nset -gx H_TOKEN {e}\nset -gx I_TOKEN $OTHER\nsetenv J_TOKEN '{e}'\nalias x='K_TOKEN={a} run'\n\
         if [ -n \"$X\" ]; then export L_TOKEN={a}; fi\n"
    );
    let expected =
        [("A_TOKEN", &a), ("B_TOKEN", &b), ("C_TOKEN", &c), ("D_TOKEN", &d), ("H_TOKEN", &e), ("J_TOKEN", &e)];
    let expected: Vec<_> = expected.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let got = read(Format::Shell, &text);
    for (name, value) in expected {
        assert!(got.iter().any(|(n, v)| n == name && v == value), "{name}");
    }
    for name in ["OLD_TOKEN", "E_TOKEN", "F_TOKEN", "G_TOKEN", "I_TOKEN", "PATH", "EDITOR"] {
        assert!(!got.iter().any(|(n, _)| n == name), "{name}");
    }
}

#[test]
fn a_command_behind_then_is_one_too() {
    let a = made_up(1, 32);
    gives(
        Format::Shell,
        &format!("if true; then export L_TOKEN={a}; fi\nelse M_TOKEN={a}\n"),
        &[("L_TOKEN", &a), ("M_TOKEN", &a)],
    );
}

#[test]
fn shell_quotes_escapes_and_stray_quotes() {
    gives(Format::Shell, r#"export A_PASSWORD="t1ger\"mo\\ss\$7""#, &[("A_PASSWORD", r#"t1ger"mo\ss$7"#)]);
    gives(Format::Shell, r"export A_PASSWORD='t1ger$moss7'", &[("A_PASSWORD", "t1ger$moss7")]);
    gives(Format::Shell, "export A_PASSWORD=t1ger\\\nmoss7", &[("A_PASSWORD", "t1germoss7")]);
    let a = made_up(1, 32);
    gives(Format::Shell, &format!("echo it's\nexport A_TOKEN={a}\n"), &[("A_TOKEN", &a)]);
}

#[test]
fn fish_universal_variables() {
    let a = made_up(1, 32);
    let text = format!(
        "# version\nSETUVAR --export A_TOKEN:{a}\nSETUVAR B_PASSWORD:t1ger\\x20moss\\\\7!\nSETUVAR fish_key_bindings:fish_default\n"
    );
    gives(Format::FishVariables, &text, &[("A_TOKEN", &a), ("B_PASSWORD", "t1ger moss\\7!")]);
}

#[test]
fn sections_of_keys_and_values() {
    let [id, secret, session] = [["AK", "IA", &made_up(1, 16)].concat(), made_up(2, 40), made_up(3, 200)];
    let text = format!(
        "[default]\naws_access_key_id = {id}\naws_secret_access_key={secret}\naws_session_token = \"{session}\"\n\
         region = us-east-1\n# aws_secret_access_key = {session}\n[profile x]\nrole_arn = arn:aws:iam::1:role/x\n"
    );
    gives(
        Format::Ini(Trust::Credentials),
        &text,
        &[
            ("aws_access_key_id of [default]", &id),
            ("aws_secret_access_key of [default]", &secret),
            ("aws_session_token of [default]", &session),
        ],
    );
    gives(
        Format::Ini(Trust::Credentials),
        "[client]\nuser=dana\npassword=\"t1germoss\"\nport=3306\n[pypi]\nusername = __token__\npassword = short",
        &[("password of [client]", "t1germoss")],
    );
}

#[test]
fn npm_registries() {
    let [token, password] = [made_up(1, 36), made_up(2, 20)];
    let text = format!(
        "registry=https://registry.host.net/\n//registry.host.net/:_authToken={token}\n//b.host.net/:_authToken=${{NPM_TOKEN}}\n\
         //c.host.net/:_password={}\n_auth={}\nalways-auth=true\n",
        base64(password.as_bytes()),
        base64(format!("dana:{password}").as_bytes()),
    );
    let got = read(Format::Ini(Trust::Credentials), &text);
    let values: Vec<&str> = got.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(values.len(), 5);
    assert_eq!(values[0], token);
    assert_eq!(values.iter().filter(|value| **value == password).count(), 2, "base64 is looked into");
}

#[test]
fn git_settings_and_credentials() {
    let token = made_up(1, 40);
    gives(
        Format::Urls,
        &format!("https://dana:{token}@git.host.net\n\nhttps://git.host.net\nnonsense\n"),
        &[("password of git.host.net", &token)],
    );
    let text = format!(
        "[url \"https://dana:{token}@git.host.net/\"]\n\tinsteadOf = https://git.host.net/\n[remote \"origin\"]\n\turl = https://x:{token}@git.host.net/a.git\n"
    );
    let got = read(Format::Ini(Trust::Settings), &text);
    assert_eq!(got.len(), 2);
    assert!(got.iter().all(|(name, value)| *value == token && !name.contains(&token)));
}

#[test]
fn json_of_agents_and_tools() {
    let [access, refresh, key] = [made_up(1, 60), made_up(2, 60), made_up(3, 40)];
    let claude = format!(
        r#"{{"claudeAiOauth":{{"accessToken":"{access}","refreshToken":"{refresh}","expiresAt":1790000000000,
            "scopes":["user:inference"],"subscriptionType":"max"}}}}"#
    );
    gives(
        Format::Json(Trust::Credentials),
        &claude,
        &[("accessToken of claudeAiOauth", &access), ("refreshToken of claudeAiOauth", &refresh)],
    );
    let id = jwt(4);
    let codex = format!(
        r#"{{"OPENAI_API_KEY":null,"tokens":{{"id_token":"{id}","access_token":"{access}","account_id":"0b7e2f0e-1c2d-4000-8000-00000000abcd"}},"last_refresh":"2026-01-02T03:04:05Z"}}"#
    );
    gives(
        Format::Json(Trust::Credentials),
        &codex,
        &[("access_token of tokens", &access), ("id_token of tokens", &id)],
    );
    let opencode = format!(
        r#"{{"anthropic":{{"type":"oauth","refresh":"{refresh}","access":"{access}","expires":1}},"openai":{{"type":"api","key":"{key}"}}}}"#
    );
    gives(
        Format::Json(Trust::Credentials),
        &opencode,
        &[("access of anthropic", &access), ("refresh of anthropic", &refresh), ("key of openai", &key)],
    );
    let azure = format!(
        r#"{{"AccessToken":{{"x-login":{{"secret":"{access}","client_id":"04b07795","realm":"organizations"}}}}}}"#
    );
    gives(Format::Json(Trust::Credentials), &azure, &[("secret of x-login", &access)]);
    let pulumi = format!(r#"{{"current":"https://api.host.net","accessTokens":{{"https://api.host.net":"{key}"}}}}"#);
    assert_eq!(read(Format::Json(Trust::Credentials), &pulumi).len(), 1);
    let llm = format!(r#"{{"// Note":"This file stores secret API credentials. Do not share!","openai":"{key}"}}"#);
    gives(Format::Json(Trust::List), &llm, &[("openai", &key)]);
}

#[test]
fn json_of_settings_gives_what_is_named() {
    let [a, b, c] = [1, 2, 3].map(|seed| made_up(seed, 40));
    let text = format!(
        r#"{{"theme":"dark","userID":"{c}","mcpServers":{{"x":{{"command":"npx","args":["-y","server","--api-key","{a}"],
            "env":{{"X_TOKEN":"{b}","LOG":"debug"}},"headers":{{"Authorization":"Bearer {a}"}}}}}}}}"#
    );
    let got = read(Format::Json(Trust::Settings), &text);
    let values: Vec<&str> = got.iter().map(|(_, v)| v.as_str()).collect();
    assert!(values.contains(&a.as_str()) && values.contains(&b.as_str()));
    assert!(!values.contains(&c.as_str()) && !values.contains(&"debug"));
    assert!(values.iter().any(|v| *v == a), "what follows Bearer by itself");
}

#[test]
fn docker_auths_are_looked_into() {
    let password = made_up(1, 20);
    let auth = base64(format!("dana:{password}").as_bytes());
    let text = format!(r#"{{"auths":{{"https://index.host.net/v1/":{{"auth":"{auth}"}}}},"credsStore":"desktop"}}"#);
    let mut values: Vec<String> = read(Format::Json(Trust::Credentials), &text).into_iter().map(|(_, v)| v).collect();
    values.sort();
    let mut expected = vec![password, auth];
    expected.sort();
    assert_eq!(values, expected);
}

#[test]
fn a_service_account_gives_the_lines_of_its_key() {
    let (lines, key) = private_key(1);
    let text = serde_json::json!({"type": "service_account", "private_key_id": made_up(9, 40), "private_key": key})
        .to_string();
    let values = |got: Vec<(String, String)>| got.into_iter().map(|(_, v)| v).collect::<Vec<_>>();
    assert_eq!(values(read(Format::Json(Trust::Credentials), &text)), lines);
    assert_eq!(values(read(Format::Dotenv, &format!("GOOGLE_CREDENTIALS='{text}'\n"))), lines, "in a variable too");
}

#[test]
fn damaged_json_is_read_line_by_line() {
    let a = made_up(1, 40);
    let text = format!("{{\n  // a remark\n  \"token\": \"{a}\",\n  \"name\": \"x\",\n");
    gives(Format::Json(Trust::Credentials), &text, &[("token", &a)]);
    gives(
        Format::Json(Trust::Credentials),
        &format!(r#"{{"x":{{"type":"api","token":"{a}"}},"y": {{"#),
        &[("token", &a)],
    );
}

#[test]
fn toml_of_cargo_and_codex() {
    let [a, b] = [1, 2].map(|seed| made_up(seed, 35));
    gives(
        Format::Toml(Trust::Credentials),
        &format!("[registry]\ntoken = \"{a}\"\n[registries.mine]\ntoken = \"Bearer {b}\"\n"),
        &[("token of mine", &b), ("token of mine", &format!("Bearer {b}")), ("token of registry", &a)],
    );
    gives(
        Format::Toml(Trust::Settings),
        &format!("model = \"m\"\n[mcp_servers.x]\nenv = {{ \"X_TOKEN\" = \"{a}\" }}\n"),
        &[("X_TOKEN of env", &a)],
    );
    gives(Format::Toml(Trust::Credentials), &format!("[registry\ntoken = \"{a}\"\n"), &[("token of [registry]", &a)]);
    assert!(read(Format::Toml(Trust::Credentials), &"[".repeat(900_000)).is_empty(), "nested without end");
}

#[test]
fn yaml_of_gh_kube_and_others() {
    let [a, b] = [1, 2].map(|seed| made_up(seed, 40));
    gives(
        Format::Yaml(Trust::Credentials),
        &format!("github.com:\n    user: dana\n    oauth_token: {a}\n    git_protocol: https\n"),
        &[("oauth_token of github.com", &a)],
    );
    let (lines, key) = private_key(3);
    let encoded = base64(key.as_bytes());
    let kube = format!(
        "apiVersion: v1\nusers:\n- name: dana\n  user:\n    client-key-data: {encoded}\n    token: \"{b}\"\nclusters:\n- cluster:\n    server: https://k.host.net\n"
    );
    let got = read(Format::Yaml(Trust::Credentials), &kube);
    assert!(got.iter().any(|(_, v)| *v == encoded) && got.iter().any(|(_, v)| *v == b));
    assert!(lines.iter().all(|line| got.iter().any(|(_, v)| v == line)), "the key within is taken too");
    gives(Format::Yaml(Trust::Credentials), &format!("---\n:rubygems_api_key: {a}\n"), &[("rubygems_api_key", &a)]);
    gives(
        Format::Yaml(Trust::Credentials),
        &format!("access_token: fm2_{a},fm2_{b}\n").replace("\n", " # x\n"),
        &[
            ("access_token", &format!("fm2_{a}")),
            ("access_token", &format!("fm2_{b}")),
            ("access_token", &format!("fm2_{a},fm2_{b}")),
        ],
    );
    gives(Format::Yaml(Trust::Settings), &format!("api-key:\n  - openai={a}\n"), &[("openai", &a)]);
    let block = format!("signing_key: |\n  {}\nother: x\n", key.trim_end().replace('\n', "\n  "));
    let values: Vec<String> = read(Format::Yaml(Trust::Credentials), &block).into_iter().map(|(_, v)| v).collect();
    assert_eq!(values, lines);
}

#[test]
fn netrc_in_any_layout() {
    let a = made_up(1, 24);
    gives(
        Format::Netrc,
        &format!(
            "machine api.host.net login dana password {a}\nmachine\n b.host.net\n login x # a remark\n password \"t1ger \\\"moss\"\n\
             macdef init\nmachine c password notthis1x\n\ndefault login anonymous password t1germoss\n"
        ),
        &[("password of api.host.net", &a), ("password of b.host.net", "t1ger \"moss"), ("password", "t1germoss")],
    );
    gives(Format::Netrc, "machine x password", &[]);
    gives(Format::Netrc, "password \"never closed", &[("password", "\"never")]);
}

#[test]
fn pgpass_with_escapes() {
    gives(
        Format::Pgpass,
        "# a:b:c:d:t1germoss\nlocalhost:5432:app:dana:t1ger\\:moss7\n*:*:*:dana:m0ss-tiger\n::1:too:few\n",
        &[("password of localhost", "t1ger:moss7"), ("password of any host", "m0ss-tiger")],
    );
}

#[test]
fn a_file_that_is_a_token() {
    let a = made_up(1, 37);
    gives(Format::Token, &format!("{a}\n\n"), &[("token", &a)]);
}

#[test]
fn xml_settings() {
    gives(
        Format::Xml,
        "<?xml version=\"1.0\"?><settings><!-- <password>n0-m0re9</password> --><server><id>x</id><password>t1ger&amp;moss</password>\
         </server><add key=\"ClearTextPassword\" value=\"m0ss-tiger\" /><broken",
        &[("password", "n0-m0re9"), ("password", "t1ger&moss"), ("ClearTextPassword", "m0ss-tiger")],
    );
}

#[test]
fn private_keys_by_their_lines() {
    let (lines, key) = private_key(1);
    let expected: Vec<_> = lines.iter().map(|line| ("a line of the key", line.as_str())).collect();
    gives(Format::PrivateKey, &key, &expected);
    let start = ["b3BlbnNzaC1rZXktdjE", &made_up(9, 51)].concat();
    let openssh = key.replacen('\n', &format!("\n{start}\n"), 1);
    gives(Format::PrivateKey, &openssh, &expected);
    gives(Format::PrivateKey, &key.replace("PRIVATE", "PUBLIC"), &[]);
    gives(Format::PrivateKey, "Host x\n  IdentityFile y\n", &[]);
}

#[test]
fn a_name_never_repeats_a_value() {
    let a = made_up(1, 16);
    let text = format!(r#"{{"tokens":{{"{a}":{{"token":"{a}"}}}},"k-{a}-x":{{"password":"{a}"}}}}"#);
    for (name, value) in read(Format::Json(Trust::Credentials), &text) {
        assert!(!name.contains(&value), "a name repeats its value");
    }
}

#[test]
fn more_values_than_a_file_of_credentials_holds_are_left_out_with_a_notice() {
    let text: String = (0..2100).map(|n| format!("A{n}_TOKEN={}\n", made_up(n, 20))).collect();
    let mut notices = 0;
    let taken = taken(|sink| {
        parse(Format::Dotenv, &zeroize::Zeroizing::new(text), sink);
        notices = sink.notices().count();
    });
    assert_eq!((taken.len(), notices), (2000, 1));
}

const FORMATS: &[Format] = &[
    Format::Dotenv,
    Format::Shell,
    Format::FishVariables,
    Format::Ini(Trust::Credentials),
    Format::Json(Trust::List),
    Format::Toml(Trust::Credentials),
    Format::Yaml(Trust::Settings),
    Format::Xml,
    Format::Netrc,
    Format::Pgpass,
    Format::Urls,
    Format::Token,
    Format::PrivateKey,
];

proptest! {
    #[test]
    fn no_text_is_too_much_for_a_parser(text in "[\\PC\\n\\t\"'\\\\$`{}\\[\\]=:#;, -]{0,200}") {
        for format in FORMATS {
            read(*format, &text);
        }
    }

    #[test]
    fn what_is_taken_stands_in_the_text_or_is_encoded_there(parts in proptest::collection::vec("(machine |token|password|=|: |\"|'|\n|[a-z0-9]{8,20}|\\{|\\}|,|://|@)", 0..30)) {
        let text = parts.concat();
        for format in [Format::Dotenv, Format::Netrc, Format::Token, Format::Ini(Trust::Credentials)] {
            for (_, value) in read(format, &text) {
                prop_assert!(value.chars().count() >= 6);
                prop_assert!(!value.contains(char::is_control));
            }
        }
    }
}

#[test]
fn hostile_files_take_linear_time() {
    let size = 50_000;
    let start = std::time::Instant::now();
    for unit in [
        "\"",
        "'",
        "\\",
        "\\\"",
        "[",
        "{",
        "<a>",
        "a=\"",
        "A='\n",
        "- ",
        " - a: |\n",
        "machine ",
        "://",
        "u://a@",
        "%",
        ",",
        "=;",
        ": ",
        "<add key=\"",
    ] {
        let text = unit.repeat(size / unit.len());
        for format in FORMATS {
            read(*format, &text);
        }
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
