//! Tools as confined processes.
//!
//! From the outside in: [`pool`] keeps workers warm and [`service`] keeps one running; a [`worker`]
//! speaks the contract of `docs/workers.md` with one process; [`launch`] starts that process so that it
//! can reach what [`confine`] says and nothing else, from what `spare` made ahead if there is that; `method`
//! runs what calls back; [`runtime`] finds the interpreter to start; `known` remembers which process a call
//! needs. What runs between the start and the program is in `stage`, in the process itself.

pub mod confine;
mod executor;
mod guard;
mod known;
pub mod launch;
mod lending;
mod lines;
mod method;
pub mod offers;
pub mod plan;
pub mod pool;
pub mod protocol;
pub mod runtime;
pub mod service;
mod spare;
mod stage;
mod tail;
mod words;
pub mod worker;

pub use confine::{Confinement, Limits, Sandbox};
pub use executor::{Lent, Options, ProcessExecutor, Visitors, entry_below};
pub use launch::{Launcher, Process, StartError};
pub use offers::{Offer, Offers, offers};
pub use plan::{Plan, Program};
pub use pool::{Key, Pool, PoolOptions, PoolState};
pub use protocol::{Answer, Failure, Progress, Request};
pub use runtime::{Interpreters, Kind, RuntimeError};
pub use service::{Service, ServiceOptions, ServiceState};
pub use spare::Spares;
pub use stage::{stage, without_cores};
pub use tail::Hear;
pub use worker::{Sink, Until, Worker, WorkerError};
