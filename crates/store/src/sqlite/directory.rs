//! Users and tokens.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use remit_engine::directory::{Directory, Token, TokenKind, User};
use remit_engine::ports::{Pending, StoreError};
use rusqlite::{Row, params};

use super::SqliteStore;
use super::fault::Fault;
use super::ledger::{Ledger, Remembered};
use super::memory::Memory;
use super::pulse::Pulse;
use super::rows;

/// Selects what [`token`] reads.
macro_rules! tokens {
    ($condition:literal) => {
        concat!(
            "SELECT id, digest, kind, subject, scopes, label, created_ms, expires_ms, revoked_ms
             FROM tokens ",
            $condition
        )
    };
}

/// Remembers tokens by their digests; also that there is none.
pub(crate) struct Tokens(Memory<String, Option<Token>>);

impl Tokens {
    pub(crate) fn new(database: PathBuf, pulse: &Arc<Pulse>, patience: Duration) -> Self {
        Self(Memory::new(database, pulse, patience, "SELECT tokens FROM changes WHERE id = 1"))
    }
}

fn token(row: &Row<'_>) -> Result<Token, Fault> {
    let kind = rows::text(row, 2)?;
    Ok(Token {
        id: row.get(0)?,
        digest: row.get(1)?,
        kind: TokenKind::parse(kind)
            .ok_or_else(|| Fault::Damaged(format!("a token of the kind `{kind}`")))?,
        subject: row.get(3)?,
        scopes: rows::json(rows::text(row, 4)?)?,
        label: row.get(5)?,
        created_ms: row.get(6)?,
        expires_ms: row.get(7)?,
        revoked_ms: row.get(8)?,
    })
}

fn user(row: &Row<'_>) -> Result<User, Fault> {
    Ok(User { id: row.get(0)?, name: row.get(1)?, created_ms: row.get(2)? })
}

impl Ledger {
    fn add_user(&mut self, user: &User) -> Result<bool, Fault> {
        let mut insert = self.conn().prepare_cached(
            "INSERT INTO users (id, name, created_ms) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?;
        Ok(insert.execute(params![user.id, user.name, user.created_ms])? > 0)
    }

    /// Writes a token down. A digest that is there already is refused: it would be another's token.
    pub(crate) fn add_token(&mut self, token: &Token) -> Result<(), Fault> {
        let scopes = serde_json::to_string(&token.scopes)
            .map_err(|error| Fault::refused(format!("scopes that are none: {error}")))?;
        let mut insert = self.conn().prepare_cached(
            "INSERT INTO tokens
                (id, digest, kind, subject, scopes, label, created_ms, expires_ms, revoked_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
        )?;
        let added = insert.execute(params![
            token.id,
            token.digest,
            token.kind.as_str(),
            token.subject,
            scopes,
            token.label,
            token.created_ms,
            token.expires_ms,
            token.revoked_ms,
        ])?;
        drop(insert);
        if added == 0 {
            return Err(Fault::refused(format!("there is a token `{}` already", token.id)));
        }
        self.count_change(Remembered::Tokens)
    }

    fn revoke_token(&mut self, id: &str, at_ms: i64) -> Result<bool, Fault> {
        let changed = self
            .conn()
            .prepare_cached(
                "UPDATE tokens SET revoked_ms = ?2 WHERE id = ?1 AND revoked_ms IS NULL",
            )?
            .execute(params![id, at_ms])?;
        self.count_change(Remembered::Tokens)?;
        Ok(changed > 0)
    }
}

impl Directory for SqliteStore {
    fn add_user(&self, user: User) -> Pending<'_, Result<bool, StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.add_user(&user)))
    }

    fn user(&self, id: &str) -> Pending<'_, Result<Option<User>, StoreError>> {
        let id = id.to_owned();
        Box::pin(self.readers.read(move |conn| {
            let sql = "SELECT id, name, created_ms FROM users WHERE id = ?1";
            rows::first(&mut *conn.prepare_cached(sql)?, [&id], user)
        }))
    }

    fn users(&self) -> Pending<'_, Result<Vec<User>, StoreError>> {
        Box::pin(self.readers.read(|conn| {
            let sql = "SELECT id, name, created_ms FROM users ORDER BY id";
            rows::all(&mut *conn.prepare_cached(sql)?, [], user)
        }))
    }

    fn add_token(&self, token: Token) -> Pending<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |ledger| ledger.add_token(&token)))
    }

    fn token(&self, digest: &str) -> Result<Option<Token>, StoreError> {
        self.tokens.0.recall(digest.to_owned(), |conn, digest| {
            let mut find = conn.prepare_cached(tokens!("WHERE digest = ?1"))?;
            rows::first(&mut find, [digest], token)
        })
    }

    fn tokens(
        &self,
        kind: TokenKind,
        subject: &str,
    ) -> Pending<'_, Result<Vec<Token>, StoreError>> {
        let subject = subject.to_owned();
        Box::pin(self.readers.read(move |conn| {
            let sql = tokens!("WHERE kind = ?1 AND subject = ?2 ORDER BY created_ms, id");
            rows::all(&mut *conn.prepare_cached(sql)?, [kind.as_str(), &subject], token)
        }))
    }

    fn revoke_token(&self, id: &str, at_ms: i64) -> Pending<'_, Result<bool, StoreError>> {
        let id = id.to_owned();
        Box::pin(self.writer.write(move |ledger| ledger.revoke_token(&id, at_ms)))
    }
}
