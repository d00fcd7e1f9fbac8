//! The manifest compiler: bytes in, model or diagnostics out, and the difference of two versions.
//!
//! `read → detect → check → lower`, in that order; [`diff`] compares two readings. No stage does
//! I/O: the caller brings bytes and shows what comes back.

pub mod check;
pub mod compile;
pub mod detect;
pub mod dialect;
pub mod diff;
pub mod read;
mod report;
pub mod rules;
pub mod schema;
pub mod shape;

pub use report::Report;
