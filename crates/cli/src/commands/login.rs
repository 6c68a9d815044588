//! `onrecord login`: in the browser, or with an app password.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use onrecord_atproto::{Client, Identity, Session, Tokens};
use onrecord_workspace::Workspace;
use serde_json::json;

use crate::{
    cli::Login,
    commands::accounts::signed_in_by,
    config,
    error::Result,
    output::{Out, line_on_stderr, printable},
    terminal,
};

pub async fn run(args: &Login, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let client = config::client()?;
    let identity = client.resolve(args.handle.trim_start_matches('@')).await?;
    let name = identity.name().to_owned();
    let before = session_before(&workspace, &client, &identity)?;
    let session = if args.app_password {
        let password = terminal::password(&format!("App password of {name} at {}: ", identity.pds))?;
        client.login(&identity, &password, None).await?
    } else {
        in_browser(args, &client, &identity, out).await?
    };
    let tokens = session.tokens();
    let place = workspace.sign_in(&tokens)?;
    if let Some(before) = before
        && let Err(error) = before.logout().await
    {
        out.note(format_args!("The session from before could not be ended ({error}); it ends by itself."));
    }
    let scopes = tokens.oauth.as_ref().map(|grant| &grant.scopes);
    if out.json {
        out.json(&json!({
            "did": identity.did,
            "handle": identity.handle,
            "pds": tokens.pds.as_str(),
            "tokens": place.to_string(),
            "signedInBy": signed_in_by(scopes),
            "scope": scopes.map(ToString::to_string),
        }))?;
    } else {
        out.line(format_args!("Signed in as {name} ({}).", identity.did))?;
        if let Some(scopes) = scopes {
            out.note(format_args!("It may write: {scopes}."));
        }
        out.note(format_args!("Its tokens are in {place}."));
    }
    Ok(0)
}

async fn in_browser(args: &Login, client: &Client, account: &Identity, out: &mut Out) -> Result<Session> {
    let sign_in = client.start_sign_in(account, &args.scopes()).await?;
    let url = sign_in.url().as_str();
    if out.json {
        out.json_now(&json!({"url": url}))?;
    } else {
        // Not a remark that --quiet could leave out: without it nothing goes on.
        let name = printable(account.name());
        line_on_stderr(format_args!(
            "To sign in as {name}, open this address in a browser on this machine:\n\n  {url}\n"
        ));
    }
    // Where nobody is at a terminal, no window is to open either.
    if !args.no_open && !out.json && io::stderr().is_terminal() {
        // The address stands above for whoever has no browser here.
        let _ = opener::open_browser(url);
    }
    Ok(sign_in.finish(Duration::from_secs(args.timeout)).await?)
}

/// The session that the new one replaces, to be ended when that is kept. It looks nowhere for newer tokens: there it would
/// find the new ones.
fn session_before(workspace: &Workspace, client: &Client, account: &Identity) -> Result<Option<Session>> {
    let known = workspace.accounts()?.into_iter().find(|known| known.did == account.did);
    // One that cannot be read any more cannot be ended, and is no reason not to sign in again.
    let session = known.and_then(|known| workspace.session(client, &known).ok());
    Ok(session.map(|session| client.resume(Tokens::clone(&session.tokens()))))
}
