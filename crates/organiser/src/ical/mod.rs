//! iCalendar (RFC 5545), read and written.
//!
//! Reading never fails on content: what cannot be used is skipped, and the report says what and where.
//! Only a file that is too large, or brings too much, is refused as a whole.

mod component;
mod convert;
mod export;
mod fold;
mod import;
mod line;
mod moment;
mod parse;
mod text;
mod windows;
mod write;
mod zones;

pub use export::export;
pub use import::import;
pub use parse::{Draft, Parsed, Skip, parse};
pub use write::{Written, write};

/// Begins the addresses under which users of this server appear in files.
pub(crate) const USER: &str = "urn:x-remit:user:";
