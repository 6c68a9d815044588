//! Connections: how many, from whom, and for how long.

use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::ConnectInfo,
    http::{Request, Response},
};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

use super::Limits;

/// Answers who connects to `listener`, in HTTP/1.1 or, from a proxy, HTTP/2 without encryption, until `ended` is; then what
/// is being answered may go on for a while.
///
/// # Errors
/// The listener fails for good.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    limits: &Limits,
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    let guests = Arc::new(Guests::default());
    let mut ended = std::pin::pin!(ended);
    loop {
        // Who does not fit waits in the system's queue.
        let place = tokio::select! {
            () = &mut ended => break,
            place = Arc::clone(&places).acquire_owned() => place.map_err(io::Error::other)?,
        };
        let (stream, peer) = tokio::select! {
            () = &mut ended => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(error) => {
                    // Too many open files, for one: that passes.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    continue;
                }
            },
        };
        let Some(guest) = Guests::admit(&guests, peer.ip(), limits.connections_per_address) else { continue };
        let connection = connection(stream, peer, app.clone(), limits);
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            connection(watcher).await;
            drop((place, guest));
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.farewell, graceful.shutdown()).await.is_err() {
        tracing::warn!("some answers were not finished when the site was stopped");
    }
    Ok(())
}

/// What answers one connection, once it is told how it learns of the end.
fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    limits: &Limits,
) -> impl FnOnce(hyper_util::server::graceful::Watcher) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> + use<> {
    let patience = limits.patience;
    move |watcher| {
        Box::pin(async move {
            // An answer is written at once; without this the last part of it waits for a word from the other side.
            let _ = stream.set_nodelay(true);
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(patience));
            let service = service_fn(move |request: Request<Incoming>| {
                let app = app.clone();
                async move {
                    let mut request = request.map(Body::new);
                    request.extensions_mut().insert(ConnectInfo(peer));
                    let answer: Result<Response<Body>, Infallible> = app.oneshot(request).await;
                    answer
                }
            });
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new()).header_read_timeout(patience);
            builder
                .http2()
                .timer(TokioTimer::new())
                .keep_alive_interval(patience)
                .keep_alive_timeout(patience)
                .max_concurrent_streams(256)
                .max_header_list_size(32 << 10);
            let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).into_owned();
            if let Err(error) = watcher.watch(connection).await {
                tracing::debug!(error = %error, "a connection ended");
            }
        })
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// How many connections each address has.
#[derive(Default)]
struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// A connection that is counted until it is dropped.
struct Guest(Arc<Guests>, IpAddr);

impl Guests {
    fn admit(guests: &Arc<Self>, address: IpAddr, most: usize) -> Option<Guest> {
        let address = address.to_canonical();
        let mut counts = guests.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        // A proxy on this machine brings everybody.
        if *count >= most && !address.is_loopback() {
            return None;
        }
        *count += 1;
        Some(Guest(Arc::clone(guests), address))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut counts = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.1);
            }
        }
    }
}
