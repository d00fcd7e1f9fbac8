//! A manifest on its way into the registry, and out of it again.

use remit_manifest::compile::{self, Options};
use remit_manifest::dialect::capability::{self, MOST_BYTES};
use remit_manifest::read::{self, Format, Limits};
use remit_manifest::rules;
use remit_model::{Diagnostic, Dialect, Manifest, Node, canonical};

use super::error::RegistryError;
use super::record::AgentVersion;
use crate::ports::StoreError;

/// Is a manifest that was read and found good.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) tree: Node,
    pub(super) canonical: String,
    pub(super) hash: String,
    /// As received or canonical, whichever is more.
    pub(super) bytes: usize,
    /// What there is to say although it is good.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Draft {
    /// Reads and judges what was received.
    pub(super) fn read(body: &[u8], format: Option<Format>) -> Result<Self, RegistryError> {
        // Before anything looks at it.
        if body.len() > MOST_BYTES {
            return Err(RegistryError::TooLarge { bytes: body.len(), most: MOST_BYTES });
        }
        let options = Options { dialect: Some(Dialect::Capability), format, strict: false };
        let checked = compile::check(body, options);
        let is_ok = checked.ok();
        let compile::Checked { reading, diagnostics, .. } = checked;
        let too_large = diagnostics.iter().any(|d| d.rule == rules::MANIFEST_TOO_LARGE.id);
        match reading.root {
            Some(tree) if too_large => {
                let bytes = canonical::canonical(&tree).len().max(body.len());
                Err(RegistryError::TooLarge { bytes, most: MOST_BYTES })
            }
            Some(tree) if is_ok => {
                let canonical = canonical::canonical(&tree);
                let hash = canonical::hash_bytes(canonical.as_bytes());
                let bytes = canonical.len().max(body.len());
                Ok(Self { tree, canonical, hash, bytes, diagnostics })
            }
            _ => Err(RegistryError::Invalid(diagnostics)),
        }
    }
}

/// Is a version that was read back.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) version: u64,
    pub(super) hash: String,
    pub(super) tree: Node,
}

impl Kept {
    /// Reads a version back. It was judged when it was published.
    pub(super) fn read(version: AgentVersion) -> Result<Self, StoreError> {
        let number = version.version;
        let reading =
            read::read(version.canonical.into_bytes(), Some(Format::Json), &Limits::MANIFEST);
        let tree = reading.root.filter(|_| reading.diagnostics.is_empty()).ok_or_else(|| {
            StoreError::new(format!(
                "version {number} of the agent {} cannot be read back: restore the database from a \
                 backup",
                version.agent
            ))
        })?;
        Ok(Self { version: number, hash: version.hash, tree })
    }

    /// Gives what it declares.
    pub(super) fn manifest(&self) -> Manifest {
        capability::lower(&self.tree)
    }
}

/// Does work that takes long without being in the way of what waits.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| StoreError::new(format!("the work on a manifest broke off: {error}")))
}
