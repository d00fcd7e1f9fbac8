//! Connections, and the numbered steps that bring a database to the shape this Remit knows.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior, config::DbConfig};

use super::fault::{Fault, cannot_write, shown};
use super::{Durability, Options};

/// Marks a database as Remit's: `Rmit`.
const APPLICATION: i32 = 0x526d_6974;

/// The steps, in order. Their count is the version of the database; a step that was released is
/// never changed.
const STEPS: [&str; 6] = [
    include_str!("../../migrations/sqlite/0001_record.sql"),
    include_str!("../../migrations/sqlite/0002_stop.sql"),
    include_str!("../../migrations/sqlite/0003_directory.sql"),
    include_str!("../../migrations/sqlite/0004_registry.sql"),
    include_str!("../../migrations/sqlite/0005_organiser.sql"),
    include_str!("../../migrations/sqlite/0006_chains.sql"),
];

/// How many pages may wait in the write-ahead log before they are moved into the database.
const CHECKPOINT_PAGES: i64 = 4_000;
/// How long a write-ahead log may be that is left behind, in bytes.
const LOG_LEFT_BYTES: u64 = 1024 * 1024;
/// To what size the write-ahead log is cut when it has grown beyond it, in bytes.
const LOG_BYTES: i64 = 64 * 1024 * 1024;
/// How many statements a connection keeps prepared: more than there are.
const STATEMENTS: usize = 128;

/// Opens the connection that writes, and brings the database up to date.
pub(crate) fn writer(database: &Path, options: &Options) -> Result<Connection, Fault> {
    let mut conn = open(database, options.patience)?;
    // What may not be written is opened for reading without a word.
    if conn.is_readonly("main")? {
        return Err(Fault::refused(cannot_write(&shown(database))));
    }
    check(&conn, database)?;
    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Fault::refused(format!(
            "the database {} cannot keep a write-ahead log where it is: put the data directory on \
             a local disk",
            shown(database)
        )));
    }
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Off => "OFF",
    };
    conn.pragma_update(None, "synchronous", synchronous)?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    migrate(&mut conn, database)?;
    Ok(conn)
}

/// Opens a connection that only reads.
pub(crate) fn reader(database: &Path, patience: Duration) -> Result<Connection, Fault> {
    let conn = open(database, patience)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Closes the connection that wrote. A long write-ahead log is moved into the database, unless
/// somebody else is using it; a short one stays, because moving it costs a one-shot command more
/// than finding it there costs the next.
pub(crate) fn close(conn: Connection, database: &Path) {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(log).is_ok_and(|log| log.len() > LOG_LEFT_BYTES) {
        let moved = conn.busy_timeout(Duration::ZERO).and_then(|()| {
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        });
        tracing::debug!(?moved, "the write-ahead log was to be moved into the database");
    }
    if let Err((_, error)) = conn.close() {
        tracing::warn!(%error, "the database could not be closed");
    }
}

fn open(database: &Path, patience: Duration) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(database, flags)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Whoever closes decides; see `close`.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Without it a statement on a table with a partial index is compiled anew for each value.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let mut began = Instant::now();
    // Short waits: a busy server leaves only small gaps between two batches.
    conn.busy_handler(Some(move |count: i32| {
        if count == 0 {
            began = Instant::now();
        }
        std::thread::sleep(Duration::from_micros(500 + 300 * u64::from(count.unsigned_abs() % 7)));
        began.elapsed() < patience
    }))?;
    Ok(conn)
}

/// Refuses a database that is another program's or a later Remit's.
fn check(conn: &Connection, database: &Path) -> Result<(), Fault> {
    let application: i32 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let version = version(conn)?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let place = shown(database);
    if application != APPLICATION && (application, version, tables) != (0, 0, 0) {
        return Err(Fault::refused(format!(
            "{place} is another program's database: name another data directory"
        )));
    }
    if version > known() {
        return Err(Fault::refused(format!(
            "the database {place} has version {version}, this Remit knows {}: use the Remit that \
             wrote it, or a later one",
            known()
        )));
    }
    Ok(())
}

fn version(conn: &Connection) -> Result<i64, rusqlite::Error> {
    conn.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn known() -> i64 {
    i64::try_from(STEPS.len()).unwrap_or(i64::MAX)
}

fn migrate(conn: &mut Connection, database: &Path) -> Result<(), Fault> {
    if version(conn)? == known() {
        return Ok(());
    }
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Once more, now that nobody else can change it.
    check(&transaction, database)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known())?;
    transaction.commit()?;
    Ok(())
}
