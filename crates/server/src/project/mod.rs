//! The restricted tool protocol: one tool, `project_cli`, through which a model reaches everything.
//!
//! Nothing here touches the network or decides anything. What a model sends is read ([`ask`]), what
//! came of it is told back as text ([`result`]), kept whole for programs ([`output`]), and shown to
//! people: hints ([`hints`]) say what there is to see, and are compiled to cards ([`card`]) in the
//! language of whoever looks.

pub mod ask;
pub mod card;
pub mod hints;
pub mod output;
mod questions;
pub mod result;
pub mod skills;
mod words;

pub use ask::{Ask, TOOL};
pub use card::compile;
pub use hints::UiHints;
pub use output::{Status, ToolAgentOutput, ToolResponse};
pub use words::Locale;
