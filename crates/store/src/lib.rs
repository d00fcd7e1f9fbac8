//! Where calls, events, grants and manifests are kept.
//!
//! [`sqlite`] fills the engine's port [`Store`](remit_engine::ports::Store) with one data directory
//! and no set-up. All SQL of Remit is in this crate. Every backend passes the same conformance suite.

pub mod sqlite;
mod verify;

pub use verify::{ThreadReport, Trouble, verify, verify_with};
