//! The methods of the calendar.

mod access;
mod create;
mod delete;
mod edit;
mod fields;
mod invite;
mod read;
mod share;
mod split;
mod target;
mod update;
mod view;

pub(crate) use create::create;
pub(crate) use delete::delete;
pub(crate) use fields::settle_until;
pub(crate) use invite::{accept, reject};
pub(crate) use read::read;
pub(crate) use share::share;
pub(crate) use update::{save, update};
