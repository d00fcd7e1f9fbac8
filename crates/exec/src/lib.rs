//! How a call runs: confined processes.
//!
//! [`process`] starts tools as confined processes and speaks the worker contract of
//! `docs/workers.md` with them. It knows nothing of calls, grants or records.

pub mod process;
