//! How the process that runs a call calls back: on one connection, with one credential, for this call
//! alone.

use std::time::Duration;

use remit_model::Failure;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::ports::Pending;
use crate::stage::Authorised;

/// Is the variable of a process's environment that holds its credential.
pub const CREDENTIAL: &str = "REMIT_CREDENTIAL";

/// Is a connection to a process.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Lets processes call back.
pub trait Doorkeeper: Send + Sync {
    /// Prepares for the process that will run a call, which has this long.
    ///
    /// # Errors
    ///
    /// Why there is no way back; the call cannot run then.
    fn admit(&self, call: &Authorised, time: Duration) -> Result<Visit, Failure>;
}

/// Is what one process needs to call back. When it is dropped the credential is worth nothing.
pub struct Visit {
    /// Proves which call it is. It goes into the environment of the process and nowhere else.
    pub credential: String,
    /// Answers what comes in on the connection.
    pub serve: Serve,
    /// Ends the visit when it is dropped.
    pub stay: Box<dyn Send + Sync>,
}

/// Answers what comes in on a connection, until that ends.
pub type Serve = Box<dyn FnOnce(Box<dyn Connection>) -> Pending<'static, ()> + Send>;
