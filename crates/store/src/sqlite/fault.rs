//! What can go wrong with the database, in words for the operator.

use std::path::Path;

use remit_engine::ports::StoreError;
use remit_model::text::quoted;
use rusqlite::ErrorCode;

/// Says why a piece of work on the database was not done.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It may not be done. Nothing was written by it.
    Refused(StoreError),
    /// The database could not do it. What it wrote must be taken back.
    Sql(rusqlite::Error),
    /// What the database holds is not what Remit wrote.
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl Fault {
    /// Makes a refusal.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused(StoreError::new(message))
    }

    /// Says it to the operator of the database at this path.
    pub(crate) fn explain(self, database: &Path) -> StoreError {
        let place = shown(database);
        match self {
            Self::Refused(error) => error,
            Self::Damaged(what) => damaged(&place, &what),
            Self::Sql(error) => {
                let code = error.sqlite_error_code();
                StoreError::new(match code {
                    Some(code) => coded(code, &place, &error),
                    None => return damaged(&place, &error.to_string()),
                })
            }
        }
    }
}

/// Gives a path for a message.
pub(crate) fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

/// Says that a database is there and is not to be written.
pub(crate) fn cannot_write(place: &str) -> String {
    format!(
        "the database {place} cannot be written: give this user the right to write it and its \
         directory, or name another data directory"
    )
}

fn damaged(place: &str, what: &str) -> StoreError {
    StoreError::new(format!(
        "the database {place} is damaged ({what}): restore it from a backup, or move it away to \
         start with an empty one"
    ))
}

fn coded(code: ErrorCode, place: &str, error: &rusqlite::Error) -> String {
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => format!(
            "the database {place} is locked by another program that does not let go: end that \
             program, or try again when it is done"
        ),
        ErrorCode::DiskFull => {
            format!("the disk that holds {place} is full: make room and try again")
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => cannot_write(place),
        ErrorCode::CannotOpen => format!(
            "the database {place} cannot be opened ({error}): see that it is a file in a directory \
             that this user may write"
        ),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            damaged(place, &error.to_string()).message
        }
        ErrorCode::SystemIoFailure => format!(
            "the disk that holds {place} does not read or write as it should ({error}): see the \
             system's log"
        ),
        ErrorCode::TooBig => {
            "what is to be recorded is larger than the database can hold: send less at once"
                .to_owned()
        }
        ErrorCode::OutOfMemory => "the database got no memory: free some and try again".to_owned(),
        // The rest are faults of Remit's own, which no operator can mend.
        _ => format!("the database {place} refused the work ({error}): please report this"),
    }
}
