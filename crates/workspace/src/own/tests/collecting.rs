use std::{collections::BTreeSet, fs, path::Path};

use onrecord_atproto::{Secret, Tokens};

use super::{
    super::{Collect, Collected, Gathered, Places, SOURCES, SourceReport, files::MOST_FILES, source_ids},
    Home, jwt, made_up, private_key, write,
};
use crate::{Error, Workspace};

fn collected(places: &Places) -> Collected {
    Collect::default().from(places)
}

fn report<'a>(collected: &'a Collected, id: &str) -> &'a SourceReport {
    collected.sources.iter().find(|source| source.id == id).unwrap()
}

/// The values themselves, which no public function gives.
fn values(places: &Places) -> Vec<String> {
    let all = Collect::default().found(places, &mut |_: &mut Gathered| {});
    all.into_iter()
        .flat_map(|source| source.found)
        .map(|(_, mut found)| std::mem::take::<String>(&mut found.value))
        .collect()
}

#[test]
fn an_empty_home_has_a_report_for_every_source_and_no_secret() {
    let home = Home::new();
    let collected = collected(&home.places());
    assert!(collected.secrets.is_empty());
    assert_eq!(collected.sources.len(), SOURCES.len());
    assert!(collected.sources.iter().all(|s| s.found == 0 && !s.off && s.notice.is_none() && !s.place.is_empty()));
    assert_eq!(report(&collected, "aws").place, "~/.aws/credentials");
    assert!(Collect::default().from(&Places::default()).secrets.is_empty(), "no home at all");
}

#[test]
fn identifiers_are_distinct_words() {
    let ids: BTreeSet<&str> = source_ids().collect();
    assert_eq!(ids.len(), SOURCES.len());
    assert!(
        ids.iter().all(|id| id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-.".contains(&b)))
    );
    for id in [
        "env", "dotenv", "shell", "aws", "gh", "claude", "codex", "npmrc", "netrc", "pypirc", "docker", "kube",
        "onrecord",
    ] {
        assert!(ids.contains(id), "{id}");
    }
}

#[test]
fn the_environment_gives_what_is_named_or_says_so() {
    let home = Home::new();
    let mut places = home.places();
    let [a, b] = [made_up(1, 32), ["gh", "p_", &made_up(2, 36)].concat()];
    for (name, value) in [
        ("A_TOKEN", a.as_str()),
        ("WHATEVER", &b),
        ("PATH", "/usr/bin:/bin"),
        ("SSH_AUTH_SOCK", "/run/user/1000/keyring/ssh"),
        ("XDG_SESSION_ID", &made_up(3, 32)),
        ("API_URL", "https://api.host.net"),
        ("AUTH_MODE", "disabled"),
        ("PGPASSWORD", "postgres"),
    ] {
        places.environment.push((name.to_owned(), value.to_owned()));
    }
    assert_eq!(values(&places), [a, b]);
    let collected = collected(&places);
    assert_eq!(report(&collected, "env").found, 2);
    assert_eq!(collected.secrets[0].source(), "the environment");
    assert_eq!(collected.secrets[0].name(), "A_TOKEN");
}

#[test]
fn files_are_found_where_tools_keep_them() {
    let home = Home::new();
    let secret = |seed| made_up(seed, 40);
    home.file(".aws/credentials", format!("[default]\naws_secret_access_key = {}\n", secret(1)));
    home.file(".config/gh/hosts.yml", format!("github.com:\n  oauth_token: {}\n", secret(2)));
    home.file(".local/share/opencode/auth.json", format!(r#"{{"x":{{"type":"api","key":"{}"}}}}"#, secret(3)));
    home.file("Library/Application Support/com.vercel.cli/auth.json", format!(r#"{{"token":"{}"}}"#, secret(4)));
    home.file(
        ".config/gcloud/legacy_credentials/dana@mail.org/adc.json",
        format!(r#"{{"refresh_token":"{}"}}"#, secret(5)),
    );
    home.file(".cache/huggingface/token", secret(6));
    home.file(".ssh/id_ed25519", private_key(7).1);
    home.file(".ssh/id_ed25519.pub", "ssh-ed25519 AAAA dana");
    home.file(".ssh/known_hosts", "x".repeat(2_000_000));
    home.file(".zshrc", format!("export A_TOKEN={}\n", secret(8)));
    let collected = collected(&home.places());
    for (id, found, place) in [
        ("aws", 1, "~/.aws/credentials"),
        ("gh", 1, "~/.config/gh/hosts.yml"),
        ("opencode", 1, "~/.local/share/opencode/auth.json"),
        ("vercel", 1, "~/Library/Application Support/com.vercel.cli/auth.json"),
        ("gcloud", 1, "~/.config/gcloud/legacy_credentials/dana@mail.org/adc.json"),
        ("hf", 1, "~/.cache/huggingface/token"),
        ("ssh", 4, "~/.ssh/id_ed25519"),
        ("shell", 1, "~/.zshrc"),
    ] {
        let report = report(&collected, id);
        assert_eq!((report.found, report.place.as_str(), &report.notice), (found, place, &None), "{id}");
    }
    assert_eq!(collected.secrets.len(), 11);
    assert_eq!(collected.secrets.iter().filter(|s| s.source() == "~/.ssh/id_ed25519").count(), 4);
}

#[test]
fn the_environment_says_where_else_to_look() {
    let home = Home::new();
    let mut places = home.places();
    let file = write(&home.path("elsewhere/auth.json"), format!(r#"{{"OPENAI_API_KEY":"{}"}}"#, made_up(1, 40)));
    places.environment.push(("CODEX_HOME".into(), file.parent().unwrap().to_str().unwrap().into()));
    places.environment.push(("CARGO_HOME".into(), "relative".into()));
    assert_eq!(report(&collected(&places), "codex").found, 1);
}

#[test]
fn the_same_value_is_one_secret_and_counts_where_it_stands() {
    let home = Home::new();
    let mut places = home.places();
    let a = made_up(1, 32);
    places.environment.push(("A_TOKEN".into(), a.clone()));
    home.file(".zshrc", format!("export A_TOKEN={a}\nexport B_TOKEN={a}\n"));
    let collected = collected(&places);
    assert_eq!(collected.secrets.len(), 1);
    assert_eq!((report(&collected, "env").found, report(&collected, "shell").found), (1, 1));
}

#[test]
fn a_source_that_is_off_is_not_read() {
    let home = Home::new();
    home.file(".zshrc", format!("export A_TOKEN={}\n", made_up(1, 32)));
    home.file(".netrc", "x".repeat(2_000_000));
    let off = Collect { off: ["shell".to_owned(), "netrc".to_owned()].into() };
    let collected = off.from(&home.places());
    assert!(collected.secrets.is_empty());
    let shell = report(&collected, "shell");
    assert!(shell.off && shell.found == 0);
    assert_eq!(report(&collected, "netrc").notice, None);
}

fn project_with(home: &Home, folder: &Path, seed: u64) -> Places {
    write(&folder.join(".env"), format!("A_TOKEN={}\n", made_up(seed, 32)));
    let mut places = home.places();
    places.project = Some(folder.to_owned());
    places
}

#[test]
fn the_projects_environment_files_up_to_the_root_of_the_repository() {
    let home = Home::new();
    let places = project_with(&home, &home.home().join("code/repo/apps/web"), 1);
    let assign = |seed| format!("A_TOKEN={}\n", made_up(seed, 32));
    home.file("code/repo/apps/web/.env.local", assign(2));
    home.file("code/repo/apps/web/.env.example", assign(3));
    home.file("code/repo/apps/web/.env.local.sample", assign(3));
    home.file("code/repo/.env.production", assign(4));
    home.file("code/.env", assign(5));
    assert_eq!(report(&collected(&places), "dotenv").found, 2, "in no repository: the folder alone");
    home.file("code/repo/.git/config", "");
    let collected = collected(&places);
    assert_eq!(report(&collected, "dotenv").found, 3);
    assert_eq!(collected.secrets[0].source(), "~/code/repo/apps/web/.env");
    let values = values(&places);
    assert!(!values.contains(&made_up(3, 32)) && !values.contains(&made_up(5, 32)));
}

#[test]
fn a_transcript_cannot_name_any_folder_it_likes() {
    let home = Home::new();
    let outside = home.path("other/project");
    let mut places = project_with(&home, &outside, 1);
    assert_eq!(report(&collected(&places), "dotenv").found, 0, "outside of the home folder");
    places.current_dir = Some(outside.clone());
    assert_eq!(report(&collected(&places), "dotenv").found, 1, "but the person is there");
    write(&home.path("other/.env"), format!("B_TOKEN={}\n", made_up(2, 32)));
    assert_eq!(report(&collected(&places), "dotenv").found, 1, "and not above it");
    for folder in ["/", "/etc", "relative", "", "/does/not/exist"] {
        places.project = Some(folder.into());
        assert_eq!(report(&collected(&places), "dotenv").found, 0, "{folder}");
    }
    places.project = Some(home.home().join("../other/project"));
    places.current_dir = None;
    assert_eq!(report(&collected(&places), "dotenv").found, 0, "by way of the home folder");
}

#[test]
fn what_cannot_be_read_is_a_notice() {
    let home = Home::new();
    home.file(".npmrc", "x".repeat(1024 * 1024 + 1));
    home.file(".codex/auth.json", "{\"tokens\": ");
    let collected = collected(&home.places());
    assert_eq!(report(&collected, "npmrc").notice.as_deref(), Some("~/.npmrc: is over 1 MB"));
    let notice = report(&collected, "codex").notice.as_deref().unwrap();
    assert_eq!(notice, "~/.codex/auth.json: is not valid JSON, it was read line by line");
}

#[cfg(unix)]
#[test]
fn links_are_followed_within_the_home_folder_only_and_pipes_are_not_opened() {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let home = Home::new();
    let netrc = |seed| format!("machine x password {}\n", made_up(seed, 20));
    let outside = write(&home.path("outside"), netrc(1));
    symlink(outside, home.home().join(".netrc")).unwrap();
    home.file("dotfiles/pgpass", format!("h:1:d:u:{}\n", made_up(2, 20)));
    symlink("dotfiles/pgpass", home.home().join(".pgpass")).unwrap();
    symlink(".vault-token", home.home().join(".vault-token")).unwrap();
    fs::create_dir(home.home().join(".ssh")).unwrap();
    let _socket = UnixListener::bind(home.home().join(".ssh/agent")).unwrap();
    let _other = UnixListener::bind(home.home().join(".s3cfg")).unwrap();
    let collected = collected(&home.places());
    assert_eq!(report(&collected, "netrc").found, 0);
    assert_eq!(report(&collected, "netrc").notice.as_deref(), Some("~/.netrc: a link leads out of the home folder"));
    assert_eq!(report(&collected, "pgpass").found, 1);
    assert!(report(&collected, "vault").notice.is_some(), "a link to itself");
    assert_eq!(report(&collected, "ssh").notice, None);
    assert_eq!(report(&collected, "s3cfg").notice.as_deref(), Some("~/.s3cfg: is no file"));
}

#[test]
fn no_more_files_are_read_than_the_bound() {
    let home = Home::new();
    for n in 0..MOST_FILES + 20 {
        home.file(&format!(".ssh/key{n:03}"), private_key(u64::try_from(n).unwrap() * 10).1);
    }
    let collected = collected(&home.places());
    let ssh = report(&collected, "ssh");
    assert_eq!(ssh.found, MOST_FILES * 4);
    assert!(ssh.notice.as_deref().unwrap().ends_with("and 17 more"));
}

#[test]
fn text_of_windows_programs_is_read() {
    let home = Home::new();
    let mut bytes = vec![0xFF, 0xFE];
    bytes.extend(format!("A_TOKEN={}\r\n", made_up(1, 32)).encode_utf16().flat_map(u16::to_le_bytes));
    home.file(".env", bytes);
    home.file(".profile", [&b"export B_TOKEN="[..], made_up(2, 32).as_bytes(), b"\n# \xFF\xFE\n"].concat());
    assert_eq!(report(&collected(&home.places()), "shell").found, 2);
}

#[test]
fn nothing_here_prints_a_value() {
    let home = Home::new();
    let mut places = home.places();
    let secrets: Vec<String> = (0..6).map(|seed| made_up(seed, 32)).collect();
    places.environment.push(("A_TOKEN".into(), secrets[0].clone()));
    home.file(".netrc", format!("machine {} password {}", secrets[1], secrets[1]));
    home.file(".codex/auth.json", format!(r#"{{"{0}":{{"token":"{0}"}}, "#, secrets[2]));
    home.file(".gitconfig", format!("[url \"https://x:{}@h/\"]\n", secrets[3]));
    home.file(
        ".docker/config.json",
        format!(r#"{{"auths":{{"https://{0}@h":{{"identitytoken":"{0}"}}}}}}"#, secrets[4]),
    );
    home.file(".pgpass", format!("{0}:1:d:u:{0}\n", secrets[5]));
    let taken = values(&places);
    assert!(secrets.iter().all(|secret| taken.contains(secret)));
    let collected = collected(&places);
    let names: String = collected.secrets.iter().map(|s| format!("{} {}", s.name(), s.source())).collect();
    let json = serde_json::to_string(&collected.sources).unwrap();
    let printed = [format!("{places:?}"), format!("{collected:?}"), format!("{collected:#?}"), names, json].concat();
    assert!(!secrets.iter().any(|secret| printed.contains(secret.as_str())), "a value is printed");
}

#[test]
fn the_choice_of_sources_is_kept() {
    let home = Home::new();
    let workspace = Workspace::open(&home.path("data")).unwrap();
    assert!(workspace.sources_off().unwrap().is_empty());
    workspace.set_source_off("aws", true).unwrap();
    workspace.set_source_off("aws", true).unwrap();
    workspace.set_source_off("env", true).unwrap();
    workspace.set_source_off("env", false).unwrap();
    assert!(matches!(workspace.set_source_off("nonsense", true), Err(Error::NoSuchSource(id)) if id == "nonsense"));
    drop(workspace);
    let workspace = Workspace::open(&home.path("data")).unwrap();
    assert_eq!(workspace.sources_off().unwrap(), ["aws".to_owned()].into());
    let collected = workspace.own_secrets(&home.places()).unwrap();
    assert!(report(&collected, "aws").off && !report(&collected, "env").off);
}

#[test]
fn our_own_sessions_are_a_source() {
    let home = Home::new();
    let workspace = Workspace::open(&home.path("data")).unwrap();
    // Tokens go into the file where there is one: no keyring is asked.
    write(&home.path("data/tokens.json"), "{}");
    let tokens = Tokens {
        did: "did:plc:ewvi7nxzyoun6zhxrhs64oiz".parse().unwrap(),
        handle: Some("dana.example.com".parse().unwrap()),
        pds: "https://pds.example.com/".parse().unwrap(),
        access_jwt: Secret::new(jwt(1)),
        refresh_jwt: Secret::new(jwt(4)),
        oauth: None,
    };
    workspace.sign_in(&tokens).unwrap();
    let collected = workspace.own_secrets(&home.places()).unwrap();
    assert_eq!(report(&collected, "onrecord").found, 2);
    assert!(collected.secrets.iter().all(|s| s.name().ends_with(" of dana.example.com")));
    // Through the browser: the key they are bound to is a secret too; what names the server and the client is none.
    let grant = onrecord_atproto::oauth::Grant {
        issuer: "https://auth.example.com".into(),
        client_id: "http://localhost?redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&scope=atproto".into(),
        scopes: onrecord_atproto::oauth::Scopes::for_collections(["click.aligned.chat.message"]),
        key: onrecord_atproto::oauth::DpopKey::generate().unwrap(),
    };
    workspace.sign_in(&Tokens { oauth: Some(grant), ..tokens }).unwrap();
    let collected = workspace.own_secrets(&home.places()).unwrap();
    assert_eq!(report(&collected, "onrecord").found, 3);
    let names: Vec<_> = collected.secrets.iter().map(onrecord_redact::OwnSecret::name).collect();
    assert!(names.iter().any(|name| name.contains("key")), "{names:?}");
    workspace.set_source_off("onrecord", true).unwrap();
    assert!(workspace.own_secrets(&home.places()).unwrap().secrets.is_empty());

    workspace.set_source_off("onrecord", false).unwrap();
    write(&home.path("data/tokens.json"), jwt(1));
    let collected = workspace.own_secrets(&home.places()).unwrap();
    let notice = report(&collected, "onrecord").notice.clone().unwrap();
    assert!(notice.contains("damaged") && !notice.contains(&jwt(1)));
}
