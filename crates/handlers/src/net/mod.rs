//! The web, as the tools may reach it.

mod address;
mod client;
mod guard;
mod resolver;

pub(crate) use client::{Client, Limits, Reply};
pub(crate) use guard::Guard;
