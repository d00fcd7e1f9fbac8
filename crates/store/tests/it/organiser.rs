//! The suite that every keeper of calendars passes, on SQLite.

use std::sync::Arc;

use remit_engine::directory::{Directory as _, User};
use remit_organiser::{Pending, Rows};
use remit_store::sqlite::SqliteStore;
use remit_testkit::conformance::organiser::RowsPlace;
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.0.path().join("data")).unwrap()
    }
}

impl RowsPlace for Place {
    fn open(&self) -> Pending<'_, Arc<dyn Rows>> {
        let rows: Arc<dyn Rows> = Arc::new(self.store());
        Box::pin(std::future::ready(rows))
    }

    fn add_user<'a>(&'a self, id: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            let user = User { id: id.to_owned(), name: id.to_owned(), created_ms: 1 };
            self.store().add_user(user).await.unwrap();
        })
    }
}

remit_testkit::rows_conformance!(Place::new());
