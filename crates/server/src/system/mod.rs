//! The system agent (S0): a helper that one talks to in a run, in Chinese or English. It needs no model.
//!
//! What was said is understood by tables of phrases ([`phrases`], [`hear`]). What to do about it is a
//! pure function of that, of where the dialog stands ([`state`]) and of the agents that are the
//! person's own ([`plan`]). Only [`runner`] touches the registry and the record. Where the dialog
//! stands is written beside what was said, so it is the same after a restart and from anywhere.
//!
//! Nothing is published but what was previewed, from the version it was compared with, after a
//! confirmation that came behind the preview.

mod hear;
mod phrases;
mod plan;
mod quiet;
mod runner;
mod shown;
mod state;

pub(crate) use runner::System;
pub(crate) use state::State;
