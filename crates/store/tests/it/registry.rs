//! The suite that every registry passes, on SQLite.

mod crowd;
mod tidy;

use std::sync::Arc;

use remit_engine::ports::Pending;
use remit_engine::registry::Registry;
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::registry::RegistryPlace;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl RegistryPlace for Place {
    fn open(&self) -> Pending<'_, Arc<dyn Registry>> {
        let store: Arc<dyn Registry> =
            Arc::new(SqliteStore::open(&self.0.path().join("data")).unwrap());
        Box::pin(std::future::ready(store))
    }
}

remit_testkit::registry_conformance!(Place::new());
