use std::fs;

use onrecord_atproto::{
    Client, Config, Kept, Secret, TokenStore as _, Tokens,
    oauth::{DpopKey, Grant, Scopes},
};
use onrecord_lexicon::{Did, Handle};
use rusqlite::Connection;

use super::SharedTokens;
use crate::{Error, Workspace, schema::MIGRATIONS};

fn tokens(refresh: &str) -> Tokens {
    Tokens {
        did: Did::parse("did:plc:ewvi7nxzyoun6zhxrhs64oiz").unwrap(),
        handle: Some(Handle::parse("dana.example.com").unwrap()),
        pds: "https://pds.example.com/".parse().unwrap(),
        access_jwt: Secret::new("access-token-of-dana"),
        refresh_jwt: Secret::new(refresh),
        oauth: Some(Grant {
            issuer: "https://auth.example.com".into(),
            client_id: "http://localhost?scope=atproto".into(),
            scopes: Scopes::for_collections(["click.aligned.chat.message"]),
            key: DpopKey::generate().unwrap(),
        }),
    }
}

/// A data folder whose tokens go into the file, so that no keyring is asked.
fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tokens.json"), "{}").unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

// Invariant 15.
#[test]
fn a_session_through_the_browser_comes_back_whole_and_is_in_one_place_alone() {
    let (folder, workspace) = workspace();
    let tokens = tokens("refresh-token-of-dana");
    workspace.sign_in(&tokens).unwrap();
    let account = workspace.account(None).unwrap();
    assert_eq!(account.scopes.as_ref().unwrap().to_string(), "atproto repo:click.aligned.chat.message");
    let client = Client::new(Config::default()).unwrap();
    assert_eq!(*workspace.session(&client, &account).unwrap().tokens(), tokens);
    drop(workspace);

    let key = tokens.oauth.as_ref().unwrap().key.to_secret();
    let mut holding = Vec::new();
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for secret in [key.expose(), "access-token-of-dana", "refresh-token-of-dana"] {
            if bytes.windows(secret.len()).any(|window| window == secret.as_bytes()) {
                holding.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    assert_eq!(holding, ["tokens.json"; 3]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(folder.path().join("tokens.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn a_session_of_before_is_one_still() {
    let folder = tempfile::tempdir().unwrap();
    // As the version before left it: an account without the column, tokens without a grant.
    let version = MIGRATIONS.iter().position(|sql| sql.contains("ADD COLUMN scope")).unwrap();
    let db = Connection::open(folder.path().join("onrecord.db")).unwrap();
    for sql in &MIGRATIONS[..version] {
        db.execute_batch(sql).unwrap();
    }
    db.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
    db.execute_batch(
        "INSERT INTO account (did, handle, pds)
         VALUES ('did:plc:ewvi7nxzyoun6zhxrhs64oiz', 'dana.example.com', 'https://pds.example.com/')",
    )
    .unwrap();
    drop(db);
    let kept = r#"{"did:plc:ewvi7nxzyoun6zhxrhs64oiz":"{\"access\":\"a\",\"refresh\":\"r\"}"}"#;
    fs::write(folder.path().join("tokens.json"), kept).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let account = workspace.account(None).unwrap();
    assert_eq!(account.scopes, None);
    let session = workspace.session(&Client::new(Config::default()).unwrap(), &account).unwrap();
    assert_eq!((session.tokens().refresh_jwt.expose(), &session.tokens().oauth), ("r", &None));
}

#[test]
fn processes_take_turns_and_read_what_the_others_kept() {
    let (folder, workspace) = workspace();
    workspace.sign_in(&tokens("first")).unwrap();
    let account = workspace.account(None).unwrap();
    let shared = SharedTokens { folder: folder.path().to_owned(), account: account.clone() };
    let other = SharedTokens { folder: folder.path().to_owned(), account: account.clone() };
    let lock = shared.try_renewal_lock().unwrap().unwrap();
    assert!(other.try_renewal_lock().unwrap().is_none());
    let second = tokens("second");
    shared.store(&second).unwrap();
    drop(lock);
    let lock = other.try_renewal_lock().unwrap().unwrap();
    assert_eq!(other.load().unwrap(), Kept::Tokens(Box::new(second)));
    drop(lock);
    workspace.sign_out(&account).unwrap();
    assert_eq!(shared.load().unwrap(), Kept::Nothing);
}

#[test]
fn a_damaged_key_is_reported_without_being_quoted() {
    let (folder, workspace) = workspace();
    let kept = tokens("first");
    workspace.sign_in(&kept).unwrap();
    let file = folder.path().join("tokens.json");
    let key = kept.oauth.unwrap().key.to_secret();
    fs::write(&file, fs::read_to_string(&file).unwrap().replace(key.expose(), "sekret")).unwrap();
    let error =
        workspace.session(&Client::new(Config::default()).unwrap(), &workspace.account(None).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Secrets { .. }) && !error.to_string().contains("sekret"), "{error}");
}
