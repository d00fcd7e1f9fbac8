//! Seeing that manifests, settings or the policy changed, and taking up what is good of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use remit_engine::catalog::Catalog;

use super::{Offer, Place};
use crate::config::policy;
use crate::config::{self, settings};
use crate::sources::Loaded;

/// Tells one state of the files from another, without reading them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint(BTreeMap<PathBuf, (u64, Option<SystemTime>, u64)>);

impl Fingerprint {
    /// Looks at everything an offer is made of.
    pub(crate) fn of(place: &Place) -> Self {
        let mut seen = BTreeMap::new();
        let tools = config::tools_directory(place.tools.as_deref());
        let policy = config::policy_file(place.config.as_deref());
        for path in [tools, place.configs.clone(), policy].into_iter().flatten() {
            let walker = walkdir::WalkDir::new(path).follow_links(true).max_depth(8);
            for entry in walker.into_iter().filter_map(Result::ok) {
                if let Some(metadata) = entry.metadata().ok().filter(std::fs::Metadata::is_file) {
                    let facts = (metadata.len(), metadata.modified().ok(), inode(&metadata));
                    seen.insert(entry.into_path(), facts);
                }
            }
        }
        Self(seen)
    }
}

fn inode(metadata: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

impl Offer {
    /// Reads everything again. What is broken leaves the last good version in use; the messages say
    /// which.
    pub(crate) fn reload(&mut self, place: &Place) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(file) = config::policy_file(place.config.as_deref()) {
            match policy::load(&file) {
                Ok(operator) => {
                    let sandbox_off = self.operator.sandbox_off;
                    self.operator = operator;
                    // Whether work is confined was settled when Remit started.
                    self.operator.sandbox_off = sandbox_off;
                }
                Err(message) => said.push(broken_policy(&file, &message)),
            }
        }
        let Loaded { sources, rejected } = self.loader.load(&settings::environment);
        let policy = Arc::new(self.operator.policy_with_defaults());
        self.catalog = Catalog::build(sources, policy);
        self.warnings = self.operator.idle_scopes(&self.catalog);
        self.rejected = rejected;
        said
    }
}

fn broken_policy(file: &Path, message: &str) -> String {
    format!(
        "{} is broken, the last good policy is in use: {message}",
        crate::paths::for_people(file)
    )
}
