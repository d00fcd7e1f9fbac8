//! Users and tokens: what the port [`Directory`] promises.

use std::sync::Arc;

use remit_engine::directory::{Directory, Token, TokenKind, User};
use remit_engine::ports::Pending;

/// Is somewhere a directory is kept, empty at first.
pub trait DirectoryPlace: Send + Sync {
    /// Opens it. What was opened before may still be open.
    fn open(&self) -> Pending<'_, Arc<dyn Directory>>;
}

/// Makes a test of each case. The expression makes a new, empty [`DirectoryPlace`].
#[macro_export]
macro_rules! directory_conformance {
    ($place:expr) => {
        $crate::directory_conformance! { @each $place;
            users_are_kept_and_their_names_are_taken_once,
            tokens_are_found_by_digest_and_listed_by_whom_they_speak_for,
            a_token_that_was_taken_back_is_known_as_that_everywhere,
            an_id_or_a_digest_is_used_once,
        }
    };
    (@each $place:expr; $($case:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                $crate::conformance::directory::$case(&$place).await;
            }
        )*
    };
}

fn user(id: &str) -> User {
    User { id: id.to_owned(), name: format!("{id} ☃ '\"\0"), created_ms: 7 }
}

fn token(id: &str, kind: TokenKind, subject: &str) -> Token {
    Token {
        id: id.to_owned(),
        digest: format!("digest-of-{id}"),
        kind,
        subject: subject.to_owned(),
        scopes: vec!["calls".to_owned(), "☃".to_owned()],
        label: "for the \u{1f3e0}".to_owned(),
        created_ms: 1,
        expires_ms: Some(i64::MAX),
        revoked_ms: None,
    }
}

/// A name belongs to whoever had it first.
pub async fn users_are_kept_and_their_names_are_taken_once(place: &dyn DirectoryPlace) {
    let directory = place.open().await;
    assert_eq!(directory.users().await, Ok(Vec::new()));
    for id in ["bob", "ann"] {
        assert_eq!(directory.add_user(user(id)).await, Ok(true));
    }
    let other = User { name: "another Ann".to_owned(), ..user("ann") };
    assert_eq!(directory.add_user(other).await, Ok(false));
    drop(directory);
    let directory = place.open().await;
    assert_eq!(directory.users().await, Ok(vec![user("ann"), user("bob")]));
    assert_eq!(directory.user("ann").await, Ok(Some(user("ann"))));
    assert_eq!(directory.user("Ann").await, Ok(None));
}

/// Every kind is kept as it was given.
pub async fn tokens_are_found_by_digest_and_listed_by_whom_they_speak_for(
    place: &dyn DirectoryPlace,
) {
    let directory = place.open().await;
    let kinds = TokenKind::ALL.into_iter().enumerate();
    let tokens: Vec<Token> = kinds.map(|(n, kind)| token(&format!("t{n}"), kind, "ann")).collect();
    assert_eq!(directory.token("digest-of-t1"), Ok(None), "that there is none is asked first");
    for token in &tokens {
        directory.add_token(token.clone()).await.expect("a token");
    }
    let second =
        Token { expires_ms: None, scopes: Vec::new(), ..token("t9", TokenKind::User, "ann") };
    directory.add_token(second.clone()).await.expect("a token");
    for token in tokens.iter().chain([&second]) {
        assert_eq!(directory.token(&token.digest), Ok(Some(token.clone())));
    }
    let listed = directory.tokens(TokenKind::User, "ann").await.expect("tokens");
    assert_eq!(listed, [tokens[1].clone(), second]);
    assert_eq!(directory.tokens(TokenKind::User, "bob").await, Ok(Vec::new()));
}

/// No open store goes on believing in it.
pub async fn a_token_that_was_taken_back_is_known_as_that_everywhere(place: &dyn DirectoryPlace) {
    let (one, other) = (place.open().await, place.open().await);
    let given = token("t", TokenKind::Agent, "robot");
    one.add_token(given.clone()).await.expect("a token");
    for directory in [&one, &other] {
        assert_eq!(directory.token(&given.digest), Ok(Some(given.clone())));
    }
    assert_eq!(other.revoke_token("t", 99).await, Ok(true));
    let revoked = Token { revoked_ms: Some(99), ..given };
    for directory in [&one, &other] {
        assert_eq!(directory.token(&revoked.digest), Ok(Some(revoked.clone())));
    }
    assert_eq!(one.revoke_token("t", 100).await, Ok(false), "once is enough");
    assert_eq!(one.revoke_token("u", 100).await, Ok(false));
    assert_eq!(one.token(&revoked.digest), Ok(Some(revoked)));
}

/// A second token does not replace the first.
pub async fn an_id_or_a_digest_is_used_once(place: &dyn DirectoryPlace) {
    let directory = place.open().await;
    let first = token("t", TokenKind::User, "ann");
    directory.add_token(first.clone()).await.expect("a token");
    let same_id = Token { digest: "other".to_owned(), ..token("t", TokenKind::Admin, "eve") };
    let same_digest = Token { id: "u".to_owned(), ..token("t", TokenKind::Admin, "eve") };
    for bad in [same_id, same_digest] {
        assert!(directory.add_token(bad).await.is_err());
    }
    assert_eq!(directory.token(&first.digest), Ok(Some(first)));
    assert_eq!(directory.tokens(TokenKind::Admin, "eve").await, Ok(Vec::new()));
}
