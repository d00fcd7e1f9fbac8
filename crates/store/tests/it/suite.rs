//! The suite that every store passes, on SQLite.

use std::sync::Arc;

use remit_engine::ports::{Pending, Store};
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::Place;
use tempfile::TempDir;

struct Directory(TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
}

impl Place for Directory {
    fn open(&self) -> Pending<'_, Arc<dyn Store>> {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&self.0.path().join("data")).unwrap());
        Box::pin(std::future::ready(store))
    }
}

remit_testkit::store_conformance!(Directory::new());
