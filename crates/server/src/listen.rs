//! The listener: connections, their limits, and a stop that lets requests under way end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::front::Front;

/// How long requests under way have when the server stops.
const GRACE: Duration = Duration::from_secs(10);

/// Is a server that listens.
pub struct Server {
    listener: TcpListener,
    app: App,
    router: Router,
}

impl Server {
    /// Takes an address. Port 0 takes any free one.
    pub async fn bind(address: SocketAddr, app: App) -> Result<Self, String> {
        let listener = TcpListener::bind(address).await.map_err(|error| {
            format!("cannot listen on {address}: {error}; name another address with --listen")
        })?;
        let own = listener.local_addr().map_err(|error| format!("cannot listen: {error}"))?;
        app.names.listening(own);
        let router = crate::router(app.clone());
        Ok(Self { listener, app, router })
    }

    /// Gives the address it listens on.
    pub fn address(&self) -> Result<SocketAddr, String> {
        self.listener.local_addr().map_err(|error| format!("cannot listen: {error}"))
    }
}

/// Serves until the app is told to stop; then takes no more connections and lets requests under way
/// end.
pub async fn serve(server: Server) {
    let Server { listener, app, router } = server;
    let front = Front::new(app.clone(), router);
    let stop = app.stop();
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(app.limits.connections));
    loop {
        let place = tokio::select! {
            place = Arc::clone(&places).acquire_owned() => place,
            () = stop.cancelled() => break,
        };
        let Ok(place) = place else { break };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, most likely: others must close first.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = stop.cancelled() => break,
        };
        // Answers are small and somebody waits for each.
        let _ = stream.set_nodelay(true);
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(app.limits.header_time)
            .max_buf_size(app.limits.header_bytes);
        let connection =
            graceful.watch(builder.serve_connection(TokioIo::new(stream), front.clone()));
        let app = app.clone();
        tokio::spawn(async move {
            app.measures.connection(1.0);
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            app.measures.connection(-1.0);
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time and were broken off");
    }
}
