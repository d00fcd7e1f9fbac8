//! The suite that every directory passes, on SQLite.

use std::sync::Arc;

use remit_engine::directory::Directory;
use remit_engine::ports::Pending;
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::directory::DirectoryPlace;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl DirectoryPlace for Place {
    fn open(&self) -> Pending<'_, Arc<dyn Directory>> {
        let store: Arc<dyn Directory> =
            Arc::new(SqliteStore::open(&self.0.path().join("data")).unwrap());
        Box::pin(std::future::ready(store))
    }
}

remit_testkit::directory_conformance!(Place::new());
