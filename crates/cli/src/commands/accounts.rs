//! `onrecord login`, `logout` and `accounts`.

use serde_json::json;

use crate::{
    cli::{Login, Logout},
    config,
    error::{Error, Result},
    output::{Out, columns},
    terminal,
};

pub async fn login(args: &Login, out: &mut Out) -> Result<u8> {
    if !args.app_password {
        return Err(Error::Usage(
            "sign in with an app password for now: make one in your account's settings, then add --app-password".into(),
        ));
    }
    let workspace = config::open_workspace()?;
    let client = config::client()?;
    let identity = client.resolve(args.handle.trim_start_matches('@')).await?;
    let name = identity.handle.as_ref().map_or(identity.did.as_str(), |h| h.as_str()).to_owned();
    let password = terminal::password(&format!("App password of {name} at {}: ", identity.pds))?;
    let session = client.login(&identity, &password, None).await?;
    let place = workspace.sign_in(&session.tokens())?;
    if out.json {
        let place = place.to_string();
        out.json(
            &json!({"did": identity.did, "handle": identity.handle, "pds": identity.pds.as_str(), "tokens": place}),
        )?;
    } else {
        out.line(format_args!("Signed in as {name} ({}).", identity.did))?;
        out.note(format_args!("Its tokens are in {place}."));
    }
    Ok(0)
}

pub async fn logout(args: &Logout, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let account = workspace.account(args.handle.as_deref())?;
    // The server is told where it can be reached; the tokens are forgotten in any case.
    let told = match workspace.session(&config::client()?, &account) {
        Ok(session) => session.logout().await.map_err(Error::from),
        Err(error) => Err(error.into()),
    };
    workspace.sign_out(&account)?;
    if let Err(error) = told {
        out.note(format_args!("The server could not be told ({error}); its session ends by itself."));
    }
    if out.json {
        out.json(&json!({"did": account.did, "handle": account.handle}))?;
    } else {
        out.line(format_args!("Signed out of {}.", account.name()))?;
    }
    Ok(0)
}

pub fn list(out: &mut Out) -> Result<u8> {
    let accounts = config::open_workspace()?.accounts()?;
    if out.json {
        let accounts: Vec<_> =
            accounts.iter().map(|a| json!({"did": a.did, "handle": a.handle, "pds": a.pds.as_str()})).collect();
        out.json(&json!({"accounts": accounts}))?;
    } else if accounts.is_empty() {
        out.note("No account is signed in. `onrecord login HANDLE --app-password` signs in to one.");
    } else {
        let rows: Vec<_> =
            (accounts.iter()).map(|a| vec![a.name().to_owned(), a.did.to_string(), a.pds.to_string()]).collect();
        for line in columns(&rows) {
            out.line(line)?;
        }
    }
    Ok(0)
}
