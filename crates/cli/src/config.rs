//! What the environment says, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::{env, ffi::OsString, path::PathBuf};

use etcetera::{AppStrategy as _, AppStrategyArgs, choose_app_strategy};
use onrecord_atproto::Client;
use onrecord_workspace::{Workspace, own::Places};

use crate::error::{Error, Result};

fn variable(name: &'static str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether colour is unwanted (the NO_COLOR convention).
pub fn no_color() -> bool {
    variable("NO_COLOR").is_some()
}

/// Filter for the log on standard error; none by default.
pub fn log_filter() -> Option<String> {
    variable("ONRECORD_LOG")
}

/// The person's home folder.
pub fn home() -> Option<PathBuf> {
    env::home_dir()
}

/// The folders that agents keep their sessions in, where the environment moves them.
pub fn claude_config_dir() -> Option<PathBuf> {
    variable("CLAUDE_CONFIG_DIR").map(PathBuf::from)
}

pub fn codex_home() -> Option<PathBuf> {
    variable("CODEX_HOME").map(PathBuf::from)
}

/// Where the author's store is.
pub fn data_folder() -> Result<PathBuf> {
    if let Some(folder) = variable("ONRECORD_HOME") {
        return Ok(folder.into());
    }
    let args =
        AppStrategyArgs { top_level_domain: "org".into(), author: "onrecord".into(), app_name: "onrecord".into() };
    let strategy = choose_app_strategy(args).map_err(|e| Error::Environment {
        variable: "ONRECORD_HOME",
        why: format!("it is not set, and there is no home folder to use instead ({e})"),
    })?;
    Ok(strategy.data_dir())
}

pub fn open_workspace() -> Result<Workspace> {
    Ok(Workspace::open(&data_folder()?)?)
}

/// Where the person's own secrets are collected from: the environment and files, those of `project` among them.
pub fn places(project: Option<PathBuf>) -> Places {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    Places::new(home(), env::current_dir().ok(), project, env::vars_os().filter_map(text).collect())
}

/// The client for everything outside this machine.
pub fn client() -> Result<Client> {
    let mut config = onrecord_atproto::Config::default();
    if let Some(url) = variable("ONRECORD_PLC_URL") {
        config.plc_url = url.parse().map_err(|e| bad("ONRECORD_PLC_URL", &e))?;
    }
    if let Some(url) = variable("ONRECORD_RESOLVER_URL") {
        config.resolver_url = Some(url.parse().map_err(|e| bad("ONRECORD_RESOLVER_URL", &e))?);
    }
    config.allow_local = variable("ONRECORD_ALLOW_LOCAL").is_some_and(|v| v == "1");
    Ok(Client::new(config)?)
}

fn bad(variable: &'static str, why: &dyn std::fmt::Display) -> Error {
    Error::Environment { variable, why: why.to_string() }
}
