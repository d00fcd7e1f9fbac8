//! Where the dialog stands, as it is kept beside what was said.

use serde::{Deserialize, Serialize};

use crate::project::Locale;

/// Says where the dialog stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct State {
    /// The language that is spoken.
    pub(crate) lang: Locale,
    /// What is awaited.
    #[serde(default)]
    pub(crate) step: Step,
}

/// Says what is awaited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "awaits", rename_all = "snake_case")]
pub(crate) enum Step {
    /// Nothing.
    #[default]
    Nothing,
    /// A manifest for an agent.
    Manifest {
        /// The agent.
        agent: String,
    },
    /// A confirmation of what was previewed.
    Confirmation(Preview),
}

/// Is what was previewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Preview {
    /// Its id: that of the call whose answer showed it.
    pub(crate) id: String,
    /// The agent.
    pub(crate) agent: String,
    /// The version it was compared with; 0 if there was none.
    pub(crate) base: u64,
    /// The message that holds the manifest.
    pub(crate) message: String,
    /// The SHA-256 of the manifest as it was sent.
    pub(crate) sha256: String,
}
