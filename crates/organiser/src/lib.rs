//! What calendars, contacts and memory mean: the inputs of their methods, their rules and results.
//!
//! Nothing here reads a clock, a file or a database. A call is a pure function of who calls, when, the
//! input, and rows that were loaded; it gives back data for the caller and changes for the store, or
//! says which rows it still needs ([`row`]). Rules of recurrence and iCalendar are those of RFC 5545.

pub mod action;
mod calendar;
pub mod contacts;
pub mod context;
mod cursor;
pub mod event;
pub mod failure;
pub mod ical;
mod input;
pub mod invitation;
pub mod limits;
pub mod memory;
pub mod port;
pub mod row;
pub mod rule;
mod schema;
pub mod series;
pub mod times;
pub mod zone;

pub use action::Action;
pub use context::Context;
pub use failure::{Code, Failure};
pub use port::{Applied, Pending, Rows, Trouble};
pub use row::{Answer, Change, Done, Kind, Loaded, Query, Row, Step};
pub use zone::Zone;
