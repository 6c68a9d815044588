//! What the environment says, read here and nowhere else.
#![expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::Read as _,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use etcetera::{AppStrategy, AppStrategyArgs, choose_app_strategy};
use onrecord_atproto::Client;
use onrecord_redact::Person;
use onrecord_workspace::{PersonSources, Workspace, own::Places, person as person_from};

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

/// Whether the log is written as JSON, an object a line.
pub fn log_is_json() -> Result<bool> {
    match variable("ONRECORD_LOG_FORMAT").as_deref() {
        None | Some("text") => Ok(false),
        Some("json") => Ok(true),
        Some(_) => {
            Err(Error::Environment { variable: "ONRECORD_LOG_FORMAT", why: "it is neither text nor json".to_owned() })
        }
    }
}

/// Name of the user of this machine.
pub fn user() -> Option<String> {
    ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(variable)
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

/// The folders for data and for settings, where the environment moves them. A path that is not absolute is none, by the XDG
/// specification.
pub fn xdg_folders() -> (Option<PathBuf>, Option<PathBuf>) {
    let folder = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    (folder("XDG_DATA_HOME"), folder("XDG_CONFIG_HOME"))
}

/// Longest configuration of git that is read, in bytes.
const GIT_CONFIG_BYTES: u64 = 1_000_000;

/// Who the person is, as far as this machine says: the account, the machine, and git's user, also of the repository in
/// `project`. A file that cannot be read is as one that is not there; and whatever one says, it is only more to look for.
pub fn person(project: Option<&Path>) -> Person {
    let home = home();
    let mut configs = Vec::new();
    if let Some(home) = &home {
        configs.push(home.join(".gitconfig"));
        configs.push(home.join(".config/git/config"));
    }
    configs.extend(variable("XDG_CONFIG_HOME").map(|folder| Path::new(&folder).join("git/config")));
    configs.extend(project.map(|folder| folder.join(".git/config")));
    let names = |variables: &[&'static str]| variables.iter().filter_map(|name| variable(name)).collect();
    let mut sources = PersonSources {
        user_names: names(&["USER", "LOGNAME", "USERNAME"]),
        host_names: names(&["HOSTNAME", "COMPUTERNAME"]),
        homes: home.iter().map(|home| home.to_string_lossy().into_owned()).collect(),
        git_configs: configs.iter().filter_map(|path| small_file(path)).collect(),
    };
    sources.host_names.extend(small_file(Path::new("/etc/hostname")));
    person_from(&sources)
}

/// The text of an ordinary file, if it is there and can be read.
fn small_file(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    // A pipe would be waited for.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()?.take(GIT_CONFIG_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Where the author's store is.
pub fn data_folder() -> Result<PathBuf> {
    variable("ONRECORD_HOME").map_or_else(|| Ok(strategy()?.data_dir()), |folder| Ok(folder.into()))
}

/// Where the person's own rules and words are.
pub fn config_folder() -> Result<PathBuf> {
    variable("ONRECORD_HOME").map_or_else(|| Ok(strategy()?.config_dir()), |folder| Ok(folder.into()))
}

/// The platform's folders, used where `ONRECORD_HOME` names no other.
fn strategy() -> Result<impl AppStrategy> {
    let args =
        AppStrategyArgs { top_level_domain: "org".into(), author: "onrecord".into(), app_name: "onrecord".into() };
    choose_app_strategy(args).map_err(|e| Error::Environment {
        variable: "ONRECORD_HOME",
        why: format!("it is not set, and there is no home folder to use instead ({e})"),
    })
}

pub fn open_workspace() -> Result<Workspace> {
    Ok(Workspace::open(&data_folder()?)?)
}

/// The index to use: what is asked for, what `ONRECORD_DB` says, or the file in the data folder.
pub fn index_address(asked: Option<&str>) -> Result<String> {
    if let Some(address) = asked.map(str::to_owned).or_else(|| variable("ONRECORD_DB")) {
        return Ok(address);
    }
    let path = data_folder()?.join("index.db");
    path.into_os_string().into_string().map_err(|path| Error::Environment {
        variable: "ONRECORD_HOME",
        why: format!("{} is no text", Path::new(&path).display()),
    })
}

/// Where the person's own secrets are collected from: the environment and files, those of `project` among them.
pub fn places(project: Option<PathBuf>) -> Places {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    Places::new(home(), env::current_dir().ok(), project, env::vars_os().filter_map(text).collect())
}

/// Where name servers listen.
const DNS_PORT: u16 = 53;

/// The client for everything outside this machine.
pub fn client() -> Result<Client> {
    let mut config = onrecord_atproto::Config::default();
    if let Some(url) = variable("ONRECORD_PLC_URL") {
        config.plc_url = url.parse().map_err(|e| bad("ONRECORD_PLC_URL", &e))?;
    }
    if let Some(url) = variable("ONRECORD_RESOLVER_URL") {
        config.resolver_url = Some(url.parse().map_err(|e| bad("ONRECORD_RESOLVER_URL", &e))?);
    }
    if let Some(address) = variable("ONRECORD_NAMESERVER") {
        let whole = address.parse().or_else(|_| address.parse().map(|ip| SocketAddr::new(ip, DNS_PORT)));
        config.nameserver = Some(whole.map_err(|e| bad("ONRECORD_NAMESERVER", &e))?);
    }
    config.allow_local = variable("ONRECORD_ALLOW_LOCAL").is_some_and(|v| v == "1");
    Ok(Client::new(config)?)
}

fn bad(variable: &'static str, why: &dyn std::fmt::Display) -> Error {
    Error::Environment { variable, why: why.to_string() }
}
