//! Connections to PostgreSQL: to whichever of its servers will do, and never waited for without end.

use std::{pin::Pin, sync::Arc, time::Duration};

use deadpool_postgres::{Connect, Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use jiff::Timestamp;
use tokio::{task::JoinHandle, time::timeout};
use tokio_postgres::{
    Client, Config,
    config::{LoadBalanceHosts, TargetSessionAttrs},
};

use super::{address::Address, tls::Tls};
use crate::error::{Error, Result};

/// How long a connection that is kept may take to say that it still works.
const ALIVE: Duration = Duration::from_secs(3);
/// How long one is waited for, when all are in use and new ones are slow to come.
const GET: Duration = Duration::from_secs(12);
/// After so long a connection is made anew where there is a choice of servers: the better one may be back.
const OLD: Duration = Duration::from_secs(60);

/// A database, wherever it is served.
#[derive(Clone)]
pub(super) struct Servers {
    address: Arc<Address>,
    tls: Tls,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Servers").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Servers {
    pub(super) fn new(address: Address) -> Result<Self> {
        let tls = Tls::new(address.proof, address.authorities.as_ref())?;
        Ok(Self { address: Arc::new(address), tls })
    }

    /// Whether connections may lead to different servers.
    fn has_choice(&self) -> bool {
        self.address.hosts.len() > 1 || self.address.wanted.len() > 1
    }

    /// Connects to the first server that will do, with the task that carries the connection.
    ///
    /// # Errors
    /// None will: what the last one that answered said, or that none did.
    pub(super) async fn connect(&self) -> Result<(Client, JoinHandle<()>)> {
        let mut failure = None;
        for wanted in &self.address.wanted {
            for host in self.hosts() {
                match self.connect_to(host, *wanted).await {
                    Ok(connected) => return Ok(connected),
                    // As libpq has it: a wrong password is wrong, and not a reason to try it elsewhere.
                    Err(Error::Postgres(error)) if is_refusal(&error) => return Err(error.into()),
                    Err(error) => failure = Some(error),
                }
            }
        }
        Err(failure.unwrap_or_else(|| Error::Unreachable("no host is named".to_owned())))
    }

    /// The hosts in the order in which they are tried.
    fn hosts(&self) -> impl Iterator<Item = &Config> {
        let hosts = &self.address.hosts;
        let is_random = hosts.first().is_some_and(|host| host.get_load_balance_hosts() == LoadBalanceHosts::Random);
        let now = usize::try_from(Timestamp::now().subsec_nanosecond() / 1_000).unwrap_or_default();
        let first = if is_random { now % hosts.len().max(1) } else { 0 };
        hosts.iter().cycle().skip(first).take(hosts.len())
    }

    async fn connect_to(&self, host: &Config, wanted: TargetSessionAttrs) -> Result<(Client, JoinHandle<()>)> {
        let limit = host.get_connect_timeout().copied();
        let mut host = host.clone();
        host.target_session_attrs(wanted);
        // A host may have several addresses, and one that lets in and then says nothing.
        limit.map(|limit| host.connect_timeout(limit / 2));
        let connected = host.connect(self.tls.clone());
        let (client, connection) = match limit {
            Some(limit) => timeout(limit, connected)
                .await
                .map_err(|_| Error::Unreachable(format!("{} did not answer within {limit:?}", name(&host))))??,
            None => connected.await?,
        };
        let carrier = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::warn!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok((client, carrier))
    }
}

fn name(host: &Config) -> String {
    let port = host.get_ports().first().copied().unwrap_or(5432);
    match host.get_hosts().first() {
        Some(tokio_postgres::config::Host::Tcp(name)) => format!("{name}:{port}"),
        #[cfg(unix)]
        Some(tokio_postgres::config::Host::Unix(path)) => path.display().to_string(),
        None => host.get_hostaddrs().first().map_or_else(String::new, |address| format!("{address}:{port}")),
    }
}

fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| ["28", "3D"].iter().any(|class| code.code().starts_with(class)))
}

impl Connect for Servers {
    fn connect(
        &self,
        _: &Config,
    ) -> Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + '_>> {
        Box::pin(async move {
            match Servers::connect(self).await {
                Ok(connected) => Ok(connected),
                Err(Error::Postgres(error)) => Err(error),
                // Only PostgreSQL's own errors can be said here; the pool's limit says the rest.
                Err(error) => {
                    tracing::warn!(%error, "no connection to PostgreSQL");
                    std::future::pending().await
                }
            }
        })
    }
}

/// Connections that are kept.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    pool: Pool,
    may_age: bool,
}

impl Connections {
    pub(super) fn new(servers: &Servers, size: usize) -> Result<Self> {
        let manager = Manager::from_connect(
            Config::new(),
            servers.clone(),
            ManagerConfig { recycling_method: RecyclingMethod::Verified },
        );
        let built = Pool::builder(manager)
            .max_size(size)
            .wait_timeout(Some(GET))
            .create_timeout(Some(GET))
            .recycle_timeout(Some(ALIVE))
            .runtime(Runtime::Tokio1)
            .build();
        let pool = built.map_err(|error| Error::Unreachable(error.to_string()))?;
        Ok(Self { pool, may_age: servers.has_choice() })
    }

    /// One of them, or a new one.
    ///
    /// # Errors
    /// No server will do, or none answers in time.
    pub(super) async fn get(&self) -> Result<Object> {
        let got = async {
            loop {
                let object = self.pool.get().await?;
                if !self.may_age || Object::metrics(&object).age() < OLD {
                    return Ok(object);
                }
                drop(Object::take(object));
            }
        };
        match timeout(GET, got).await {
            Ok(got) => got,
            Err(_) => Err(Error::Unreachable(format!("no server answered within {GET:?}"))),
        }
    }
}
