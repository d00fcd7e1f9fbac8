//! The nouns of Remit: pure data, no I/O, no async.
//!
//! Everything above this crate speaks in these types. A manifest of any dialect is read into a
//! [`Node`] tree, judged with [`Diagnostic`]s, and lowered to a [`Manifest`] of
//! [`Capability`]s; its identity is the hash of its [`canonical`] form.

mod call;
pub mod canonical;
mod capability;
mod diagnostic;
pub mod event;
mod grant;
pub mod name;
pub mod pointer;
mod source;
pub mod text;
mod tree;

pub use call::{Answer, Call, CallId, CallKey, Caller, Denial, Failure, Outcome, ThreadId};
pub use capability::{
    Binding, Capability, Dialect, Execution, Manifest, McpTransport, Permission, Runtime, Scope,
    Sensitivity, SettingField,
};
pub use diagnostic::{Diagnostic, Position, Severity};
pub use event::{Event, EventKind};
pub use grant::{Grant, Instant, Permit};
pub use source::{Source, Unit};
pub use tree::{Member, Node, Object, Span, Value};
