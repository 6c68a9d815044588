//! `onrecord logout` and `accounts`.

use onrecord_atproto::{Client, Error as NetError, oauth::Scopes};
use onrecord_workspace::{Access, Account, Error as WorkspaceError, Workspace};
use serde_json::json;

use crate::{
    cli::{Accounts, Logout},
    config,
    error::{Error, PROBLEMS, Result},
    output::{Out, columns},
};

pub async fn logout(args: &Logout, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let account = workspace.account(args.handle.as_deref())?;
    // The server is told where it can be reached; the tokens are forgotten in any case.
    let told = match workspace.session(&config::client()?, &account) {
        Ok(session) => session.logout().await.map_err(Error::from),
        Err(error) => Err(error.into()),
    };
    workspace.sign_out(&account)?;
    if let Err(error) = &told {
        out.note(format_args!("The server could not be told ({error}); its session ends by itself."));
    }
    if out.json {
        out.json(&json!({"did": account.did, "handle": account.handle, "revoked": told.is_ok()}))?;
    } else {
        out.line(format_args!("Signed out of {}.", account.name()))?;
    }
    Ok(0)
}

pub async fn list(args: &Accounts, out: &mut Out) -> Result<u8> {
    let workspace = config::open_workspace()?;
    let accounts = workspace.accounts()?;
    let client = config::client()?;
    let mut states = Vec::new();
    for account in &accounts {
        states.push(if args.check { Some(check(&workspace, &client, account, out).await?) } else { None });
    }
    let problems = states.iter().flatten().any(|state| *state != SIGNED_IN);
    if out.json {
        let object = |(account, state): (&Account, &Option<&str>)| {
            json!({
                "did": account.did,
                "handle": account.handle,
                "pds": account.pds.as_str(),
                "signedInBy": signed_in_by(account.scopes.as_ref()),
                "scope": account.scopes.as_ref().map(Scopes::to_string),
                "state": state,
            })
        };
        out.json(&json!({"accounts": accounts.iter().zip(&states).map(object).collect::<Vec<_>>()}))?;
    } else if accounts.is_empty() {
        out.note("No account is signed in. `onrecord login HANDLE` signs in to one.");
    } else {
        let row = |(account, state): (&Account, &Option<&str>)| {
            let mut row = vec![account.name().to_owned(), account.did.to_string(), account.pds.to_string()];
            row.push(may_write(account.scopes.as_ref()));
            row.extend(state.map(str::to_owned));
            row
        };
        for line in columns(&accounts.iter().zip(&states).map(row).collect::<Vec<_>>()) {
            out.line(line)?;
        }
    }
    Ok(if problems { PROBLEMS } else { 0 })
}

const SIGNED_IN: &str = "signed-in";

/// Asks the account's server whether the session lives.
async fn check(workspace: &Workspace, client: &Client, account: &Account, out: &Out) -> Result<&'static str> {
    let checked = match workspace.session(client, account) {
        Ok(session) => session.check().await,
        Err(WorkspaceError::NotSignedIn { .. }) => return Ok("ended"),
        Err(error) => return Err(error.into()),
    };
    Ok(match checked {
        Ok(()) => SIGNED_IN,
        Err(NetError::SessionExpired { .. }) => "ended",
        Err(error) => {
            out.note(format_args!("{}: {error}", account.name()));
            "not-checked"
        }
    })
}

/// How an account signed in, for programs.
pub fn signed_in_by(scopes: Option<&Scopes>) -> &'static str {
    if scopes.is_some() { "browser" } else { "app-password" }
}

/// What may be written, for people.
fn may_write(scopes: Option<&Scopes>) -> String {
    let Some(scopes) = scopes else { return "app password".to_owned() };
    if *scopes == Scopes::full_access() {
        return "in the browser: everything".to_owned();
    }
    let families: Vec<_> = Access::ALL.into_iter().filter(|access| access.is_granted(scopes)).collect();
    let of_families = Access::scopes(&families);
    let names = families.iter().map(|access| access.as_str().to_owned());
    let rest = scopes.iter().filter(|scope| !of_families.contains(scope)).map(str::to_owned);
    format!("in the browser: {}", names.chain(rest).collect::<Vec<_>>().join(", "))
}
