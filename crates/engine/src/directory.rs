//! Who there is: users, and the tokens by which they, agents and programs prove who they are.
//!
//! A token itself is never kept, only its SHA-256: tokens are long and random, so nothing slower is
//! needed.

use serde::{Deserialize, Serialize};

use crate::ports::{Pending, StoreError};

/// Is a person who uses Remit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// The name that everything refers to.
    pub id: String,
    /// The name for people.
    pub name: String,
    /// When they were added, in milliseconds since 1970.
    pub created_ms: i64,
}

/// Says for whom a token speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenKind {
    /// The operator.
    Admin,
    /// A user.
    User,
    /// An agent.
    Agent,
    /// A program of a user's, within scopes.
    Key,
}

impl TokenKind {
    /// Lists them.
    pub const ALL: [Self; 4] = [Self::Admin, Self::User, Self::Agent, Self::Key];

    /// Gives the word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Key => "key",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// Is what is known of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    /// Its own name, by which it is taken back.
    pub id: String,
    /// The SHA-256 of it, in lower-case hexadecimal digits.
    #[serde(skip_serializing)]
    pub digest: String,
    /// For whom it speaks.
    pub kind: TokenKind,
    /// The user or the agent.
    pub subject: String,
    /// What a program may do with it; others may do what their kind may.
    pub scopes: Vec<String>,
    /// What it is for, in its maker's words.
    pub label: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends.
    pub expires_ms: Option<i64>,
    /// When it was taken back.
    pub revoked_ms: Option<i64>,
}

impl Token {
    /// Tells whether it stands at a moment, in milliseconds since 1970.
    #[must_use]
    pub fn stands(&self, now_ms: i64) -> bool {
        self.revoked_ms.is_none() && self.expires_ms.is_none_or(|end| now_ms < end)
    }
}

/// Keeps who there is. Every function that changes something returns only when the change would
/// survive a crash of the machine.
pub trait Directory: Send + Sync {
    /// Adds a user; tells whether the name was free.
    fn add_user(&self, user: User) -> Pending<'_, Result<bool, StoreError>>;
    /// Finds a user.
    fn user(&self, id: &str) -> Pending<'_, Result<Option<User>, StoreError>>;
    /// Lists the users in order of their names.
    fn users(&self) -> Pending<'_, Result<Vec<User>, StoreError>>;

    /// Adds a token.
    fn add_token(&self, token: Token) -> Pending<'_, Result<(), StoreError>>;
    /// Finds the token with this digest, also one that has ended. It is asked at every request, so
    /// it answers at once.
    fn token(&self, digest: &str) -> Result<Option<Token>, StoreError>;
    /// Lists the tokens that speak for somebody, the oldest first.
    fn tokens(&self, kind: TokenKind, subject: &str)
    -> Pending<'_, Result<Vec<Token>, StoreError>>;
    /// Takes a token back; tells whether it stood until now.
    fn revoke_token(&self, id: &str, at_ms: i64) -> Pending<'_, Result<bool, StoreError>>;
}
