//! AG-UI: a run is a turn of a conversation, streamed as events. What happens is recorded first; the
//! stream is the record in AG-UI's words, so it can be cut anywhere and taken up again.

pub(crate) mod input;
pub(crate) mod runner;
pub(crate) mod said;
pub(crate) mod stream;
