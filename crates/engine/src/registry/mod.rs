//! The registry of agents (S0): what each declares, version by version, who has added it, and what
//! they still have to look at.
//!
//! [`Agents`] is the logic; where it is kept is behind the port [`Registry`]. A manifest is read,
//! judged and compared before anything is written, and written in one step that holds only if nobody
//! else published meanwhile. The difference that counts for a user is always the one from the version
//! that this user accepted, so that taking something away and bringing it back gains nothing.

mod card;
mod disclosure;
mod draft;
mod error;
pub mod held;
mod offer;
mod port;
mod publish;
mod record;
mod review;
mod service;
mod slots;
mod view;

pub use disclosure::{DisclosedScope, DisclosedTool, Disclosure};
pub use error::RegistryError;
pub use held::{Held, Hold};
pub use offer::{Offer, Offers, agent_of};
pub use port::{
    AgentQuery, Card, Looked, NoticeQuery, Notices, Page, Publication, Registry, Retry, Seen,
    Standing, Written,
};
pub use publish::{Patch, Preview, Published};
pub use record::{Agent, AgentVersion, ChangeTexts, Notice, NoticeKind, Relation, VersionHead};
pub use review::Review;
pub use service::Agents;
pub use view::{Declared, View, sources};

/// How long an idempotency key is remembered at least, in milliseconds.
pub const RETRY_MS: i64 = 24 * 60 * 60 * 1000;
