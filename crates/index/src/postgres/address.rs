//! The address of a database, as users of libpq write it: several hosts, which of them is meant, and how it proves itself.

use std::{path::PathBuf, time::Duration};

use percent_encoding::percent_decode_str;
use tokio_postgres::{
    Config,
    config::{Host, SslMode, TargetSessionAttrs},
};

use crate::error::{Error, Result};

/// How long a host may take to let a connection in, unless the address says otherwise.
const CONNECT: Duration = Duration::from_secs(5);
/// How long what was sent may stay without a sign that it arrived.
const UNHEARD: Duration = Duration::from_secs(15);
/// When silence is asked into, how often, and how many times in vain.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(10), Duration::from_secs(5), 3);

/// What the server must prove before anything is said to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// Nothing; the connection is encrypted, if at all, against those who only listen.
    Nothing,
    /// That its certificate comes from an authority.
    Chain,
    /// ... and is for the name by which it was asked for.
    Name,
}

/// Whose word on certificates is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Authorities {
    /// Those of a file.
    File(PathBuf),
    /// The public ones, as browsers know them.
    Public,
}

/// An address that was understood.
#[derive(Debug, Clone)]
pub(super) struct Address {
    /// One for each host, in their order, each with its own limit for connecting.
    pub(super) hosts: Vec<Config>,
    /// Which servers will do: all hosts are tried for the first, then for the next.
    pub(super) wanted: Vec<TargetSessionAttrs>,
    /// Whether the address itself says which.
    pub(super) says_which: bool,
    pub(super) proof: Proof,
    pub(super) authorities: Option<Authorities>,
}

impl Address {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/NAME?option=value&…`.
    ///
    /// # Errors
    /// It is none, or holds an option that is not known; said without anything of it that may be a password.
    pub(super) fn parse(url: &str) -> Result<Self> {
        // A password may hold what begins the options.
        let from = url.rfind('@').map_or(0, |at| at + 1);
        let (before, options) = match url.get(from..).and_then(|rest| rest.split_once('?')) {
            Some((host, options)) => (url.get(..from + host.len()).unwrap_or_default(), options),
            None => (url, ""),
        };
        let mut address = Self {
            hosts: Vec::new(),
            wanted: vec![TargetSessionAttrs::Any],
            says_which: false,
            proof: Proof::Nothing,
            authorities: None,
        };
        let (mut rest, mut mode, mut unheard) = (Vec::new(), SslMode::Prefer, UNHEARD);
        let (mut says_proof, mut says_limit, mut says_keepalive) = (None, false, false);
        for option in options.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').ok_or_else(|| bad("an option without a value"))?;
            let value = percent_decode_str(value).decode_utf8().map_err(|_| bad("an option that is no text"))?;
            match name {
                "sslmode" => (mode, says_proof) = ssl_mode(&value)?,
                "sslrootcert" if value == "system" => address.authorities = Some(Authorities::Public),
                "sslrootcert" => address.authorities = Some(Authorities::File(PathBuf::from(value.as_ref()))),
                "target_session_attrs" => (address.wanted, address.says_which) = (which(&value)?, true),
                // In milliseconds, as libpq has it.
                "tcp_user_timeout" => {
                    unheard = Duration::from_millis(value.parse().map_err(|_| bad_value("tcp_user_timeout"))?);
                }
                _ => {
                    says_limit |= name == "connect_timeout";
                    says_keepalive |= name.starts_with("keepalives");
                    rest.push(option);
                }
            }
        }
        // Who names an authority wants it asked; the public ones would vouch for anybody without a name.
        address.proof = match (says_proof, &address.authorities) {
            (_, Some(Authorities::Public)) => Proof::Name,
            (Some(proof), _) => proof,
            (None, Some(Authorities::File(_))) if mode == SslMode::Require => Proof::Chain,
            (None, _) => Proof::Nothing,
        };
        if address.proof != Proof::Nothing {
            if address.authorities.is_none() {
                return Err(bad("sslmode=verify-ca and verify-full need sslrootcert=FILE, or sslrootcert=system"));
            }
            mode = SslMode::Require;
        }
        let plain = if rest.is_empty() { before.to_owned() } else { format!("{before}?{}", rest.join("&")) };
        let mut config: Config = plain.parse().map_err(|error| bad(&words(&error)))?;
        config.ssl_mode(mode);
        if !says_limit {
            config.connect_timeout(CONNECT);
        }
        if !says_keepalive {
            let (idle, interval, retries) = KEEPALIVE;
            config.keepalives_idle(idle).keepalives_interval(interval).keepalives_retries(retries);
        }
        if !unheard.is_zero() {
            config.tcp_user_timeout(unheard);
        }
        config.target_session_attrs(TargetSessionAttrs::Any);
        address.hosts = one_each(&config)?;
        Ok(address)
    }

    /// Whether the address says something of a setting itself.
    pub(super) fn sets(&self, setting: &str) -> bool {
        self.hosts.first().and_then(Config::get_options).is_some_and(|options| options.contains(setting))
    }

    /// Adds to what every session is told when it begins; what the address says counts more.
    pub(super) fn set(&mut self, setting: &str) {
        for config in &mut self.hosts {
            let options = format!("-c {setting} {}", config.get_options().unwrap_or_default());
            config.options(options.trim());
        }
    }
}

/// How a connection is protected, and what the server must prove where that is said.
fn ssl_mode(value: &str) -> Result<(SslMode, Option<Proof>)> {
    Ok(match value {
        "disable" => (SslMode::Disable, Some(Proof::Nothing)),
        "prefer" => (SslMode::Prefer, Some(Proof::Nothing)),
        "require" => (SslMode::Require, None),
        "verify-ca" => (SslMode::Require, Some(Proof::Chain)),
        "verify-full" => (SslMode::Require, Some(Proof::Name)),
        _ => return Err(bad("sslmode is one of disable, prefer, require, verify-ca and verify-full")),
    })
}

fn which(value: &str) -> Result<Vec<TargetSessionAttrs>> {
    use TargetSessionAttrs::{Any, ReadOnly, ReadWrite};
    Ok(match value {
        "any" => vec![Any],
        "read-write" | "primary" => vec![ReadWrite],
        "read-only" | "standby" => vec![ReadOnly],
        "prefer-standby" => vec![ReadOnly, Any],
        _ => {
            return Err(bad(
                "target_session_attrs is one of any, read-write, primary, read-only, standby and prefer-standby",
            ));
        }
    })
}

/// The hosts of an address, each as if it were the only one.
fn one_each(config: &Config) -> Result<Vec<Config>> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let count = hosts.len().max(addresses.len());
    let fits = |n: usize| n == 0 || n == count;
    if count == 0 || !fits(hosts.len()) || !fits(addresses.len()) || !(ports.len() < 2 || ports.len() == count) {
        return Err(bad("it names no host, or hosts, their addresses and ports in different numbers"));
    }
    let one = |n: usize| {
        let mut one = Config::new();
        one.ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
        one.channel_binding(config.get_channel_binding()).load_balance_hosts(config.get_load_balance_hosts());
        one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
        config.get_keepalives_interval().map(|interval| one.keepalives_interval(interval));
        config.get_keepalives_retries().map(|retries| one.keepalives_retries(retries));
        config.get_connect_timeout().map(|limit| one.connect_timeout(*limit));
        config.get_tcp_user_timeout().map(|limit| one.tcp_user_timeout(*limit));
        config.get_user().map(|user| one.user(user));
        config.get_password().map(|password| one.password(password));
        config.get_dbname().map(|name| one.dbname(name));
        config.get_options().map(|options| one.options(options));
        one.application_name(config.get_application_name().unwrap_or("onrecord"));
        match hosts.get(n) {
            Some(Host::Tcp(host)) => drop(one.host(host)),
            // Nothing to be encrypted, as libpq sees it too.
            #[cfg(unix)]
            Some(Host::Unix(path)) => drop(one.host_path(path).ssl_mode(SslMode::Disable)),
            None => {}
        }
        addresses.get(n).map(|address| one.hostaddr(*address));
        one.port(ports.get(n).or(ports.first()).copied().unwrap_or(5432));
        one
    };
    Ok((0..count).map(one).collect())
}

fn bad(why: &str) -> Error {
    Error::DatabaseAddress(why.to_owned())
}

fn bad_value(option: &str) -> Error {
    bad(&format!("the value of {option} cannot be understood"))
}

/// What the parser found wrong, without what it quotes of an address that is none: that may be a part of a password.
fn words(error: &tokio_postgres::Error) -> String {
    let said = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    match said.strip_prefix("unknown option `").and_then(|rest| rest.strip_suffix('`')) {
        Some(name) if is_name(name) => format!("there is no option {name}"),
        Some(_) => {
            "it holds an option that is none; write characters of a password such as @, / and ? as %40, %2F, %3F".into()
        }
        None if said.starts_with("invalid value for option `") => said,
        None => "give postgres://USER:PASSWORD@HOST:PORT/NAME".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    fn refused(url: &str) -> String {
        Address::parse(url).unwrap_err().to_string()
    }

    #[test]
    fn hosts_have_their_own_ports_and_share_the_rest() {
        let address = parsed("postgres://dana:hush%407@a.example:5433,b.example,[::1]:7/record?connect_timeout=9");
        let found: Vec<_> = address
            .hosts
            .iter()
            .map(|one| (one.get_hosts().to_vec(), one.get_ports().to_vec(), one.get_password().unwrap().to_vec()))
            .collect();
        let host = |name: &str, port: u16| (vec![Host::Tcp(name.into())], vec![port], b"hush@7".to_vec());
        assert_eq!(found, [host("a.example", 5433), host("b.example", 5432), host("::1", 7)]);
        for one in &address.hosts {
            assert_eq!((one.get_user(), one.get_dbname()), (Some("dana"), Some("record")));
            assert_eq!(one.get_connect_timeout(), Some(&Duration::from_secs(9)));
            assert_eq!(one.get_tcp_user_timeout(), Some(&UNHEARD));
        }
        let local = parsed("postgres:///record?host=/run/postgresql&sslmode=require");
        assert_eq!(local.hosts[0].get_ssl_mode(), SslMode::Disable);
    }

    #[test]
    fn what_the_server_must_prove_is_as_libpq_has_it() {
        let of = |options: &str| {
            let address = parsed(&format!("postgres://a/record?{options}"));
            (address.hosts[0].get_ssl_mode(), address.proof, address.authorities)
        };
        let file = || Some(Authorities::File("/etc/ca of us.pem".into()));
        assert_eq!(of(""), (SslMode::Prefer, Proof::Nothing, None));
        assert_eq!(of("sslmode=disable"), (SslMode::Disable, Proof::Nothing, None));
        assert_eq!(of("sslmode=prefer"), (SslMode::Prefer, Proof::Nothing, None));
        assert_eq!(of("sslmode=require"), (SslMode::Require, Proof::Nothing, None));
        let ca = "sslrootcert=/etc/ca%20of%20us.pem";
        assert_eq!(of(&format!("sslmode=require&{ca}")), (SslMode::Require, Proof::Chain, file()));
        assert_eq!(of(&format!("sslmode=verify-ca&{ca}")), (SslMode::Require, Proof::Chain, file()));
        assert_eq!(of(&format!("{ca}&sslmode=verify-full")), (SslMode::Require, Proof::Name, file()));
        let public = Some(Authorities::Public);
        assert_eq!(of("sslrootcert=system"), (SslMode::Require, Proof::Name, public.clone()));
        assert_eq!(of("sslmode=verify-full&sslrootcert=system"), (SslMode::Require, Proof::Name, public));
    }

    #[test]
    fn which_server_is_meant_is_as_libpq_has_it() {
        use TargetSessionAttrs::{Any, ReadOnly, ReadWrite};
        for (value, wanted) in [
            ("any", vec![Any]),
            ("read-write", vec![ReadWrite]),
            ("primary", vec![ReadWrite]),
            ("standby", vec![ReadOnly]),
            ("prefer-standby", vec![ReadOnly, Any]),
        ] {
            let address = parsed(&format!("postgres://a,b/record?target_session_attrs={value}"));
            assert_eq!((address.wanted, address.says_which), (wanted, true), "{value}");
        }
        assert!(!parsed("postgres://a/record").says_which);
        assert_eq!(
            parsed("postgres://a/record?tcp_user_timeout=1500").hosts[0].get_tcp_user_timeout(),
            Some(&Duration::from_millis(1500))
        );
    }

    #[test]
    fn a_setting_of_the_address_counts_more_than_ours() {
        let mut address = parsed("postgres://a/record?options=-c%20statement_timeout%3D1");
        address.set("statement_timeout=30000");
        assert_eq!(address.hosts[0].get_options(), Some("-c statement_timeout=30000 -c statement_timeout=1"));
    }

    // Invariant 15.
    #[test]
    fn what_is_refused_is_said_without_the_password() {
        for url in [
            "postgres://dana:hush7@a/record?sslmode=allow",
            "postgres://dana:hush7@a/record?sslmode=verify-full",
            "postgres://dana:hush7@a/record?target_session_attrs=best",
            "postgres://dana:hush7@a/record?hush7=hush7",
            "postgres://dana:hush7@a/record?hush7",
            "postgres://dana:x@a?hush7@b/record",
            "postgres://dana:x@a?hush7=1@b/record",
            "postgres://dana:hush7@a:hush7/record",
            "postgres://dana:hush7@/record",
            "postgres://dana:hush7@[a/record",
            "postgres://dana:hush7@a,b/record?hostaddr=127.0.0.1",
            "postgres://dana:hush7@a/record?sslmode=%ff",
        ] {
            let said = refused(url);
            assert!(!said.contains("hush7"), "{said}");
            assert!(said.starts_with("the address of the database: "), "{said}");
        }
        assert!(refused("postgres://a/record?gssencmode=disable").contains("gssencmode"));
    }
}
