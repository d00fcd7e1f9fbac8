//! Tokens: how they are made and known again.

use std::borrow::Cow;

use remit_engine::directory::{Token, TokenKind};
use remit_model::canonical;

/// Begins the operator's token.
pub const ADMIN_PREFIX: &str = "rma_";
/// Begins a user's token.
pub(crate) const USER_PREFIX: &str = "rmu_";
/// Begins a program's key.
pub(crate) const KEY_PREFIX: &str = "rmk_";
/// Begins an agent's token (S0).
pub const AGENT_PREFIX: &str = "hsk_";

/// How many characters follow the prefix.
const LENGTH: usize = 40;
const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Makes a token that nobody can guess: 40 letters and digits, 238 bits.
pub fn fresh_token(prefix: &str) -> Result<String, String> {
    let mut token = String::with_capacity(prefix.len() + LENGTH);
    token.push_str(prefix);
    let mut bytes = [0_u8; 64];
    while token.len() < prefix.len() + LENGTH {
        getrandom::fill(&mut bytes)
            .map_err(|error| format!("the machine has no random numbers: {error}"))?;
        // Bytes beyond the last whole multiple would make some letters likelier than others.
        let fair = bytes.iter().filter(|byte| **byte < 248);
        let letters = fair.filter_map(|byte| LETTERS.get(usize::from(byte % 62)));
        for letter in letters.take(prefix.len() + LENGTH - token.len()) {
            token.push(char::from(*letter));
        }
    }
    Ok(token)
}

/// Gives what is kept of a token.
#[must_use]
pub fn token_record(token: &str, kind: TokenKind, subject: &str, label: &str, at_ms: i64) -> Token {
    Token {
        id: uuid::Uuid::now_v7().to_string(),
        digest: digest(token),
        kind,
        subject: subject.to_owned(),
        scopes: Vec::new(),
        label: label.to_owned(),
        created_ms: at_ms,
        expires_ms: None,
        revoked_ms: None,
    }
}

/// Begins tokens of every kind.
const PREFIXES: [&str; 4] = [ADMIN_PREFIX, USER_PREFIX, KEY_PREFIX, AGENT_PREFIX];
/// Stands for what is not shown of a token.
const MASK: char = '…';

/// Gives a text without the tokens in it: of each, only the prefix is left.
pub(crate) fn masked(text: &str) -> Cow<'_, str> {
    let (mut out, mut told) = (String::new(), 0);
    for (at, mark) in text.match_indices('_') {
        let from = at + mark.len();
        let Some(before) = text.get(told..from) else { continue };
        if !PREFIXES.iter().any(|prefix| before.ends_with(prefix)) {
            continue;
        }
        let rest = text.get(from..).unwrap_or_default();
        if rest.bytes().take(LENGTH).take_while(u8::is_ascii_alphanumeric).count() < LENGTH {
            continue;
        }
        out.push_str(before);
        out.push(MASK);
        // Also what is grown together with it, which may be another one.
        let grown = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        told = from + grown;
    }
    if told == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(told..).unwrap_or_default());
    Cow::Owned(out)
}

/// Tells whether a text was one with tokens in it.
pub(crate) fn was_masked(text: &str) -> bool {
    PREFIXES.iter().any(|prefix| {
        text.match_indices(prefix)
            .any(|(at, prefix)| text.get(at + prefix.len()..).is_some_and(|r| r.starts_with(MASK)))
    })
}

/// Gives the name under which a token is kept.
pub(crate) fn digest(token: &str) -> String {
    canonical::hash_bytes(token.as_bytes())
}

/// Gives the prefix of a kind of token.
pub(crate) fn prefix(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Admin => ADMIN_PREFIX,
        TokenKind::User => USER_PREFIX,
        TokenKind::Agent => AGENT_PREFIX,
        TokenKind::Key => KEY_PREFIX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_masked_wherever_they_stand() {
        let token = fresh_token(USER_PREFIX).unwrap();
        let other = fresh_token(AGENT_PREFIX).unwrap();
        let text = format!("用 {token}，\"{other}\"x");
        assert_eq!(masked(&text), "用 rmu_…，\"hsk_…\"x");
        assert!(was_masked(&masked(&text)) && !was_masked(&text));
        let short = &token[..token.len() - 1];
        assert!(matches!(masked(short), Cow::Borrowed(same) if same == short));
        assert_eq!(masked(&format!("hsk_{token}")), "hsk_rmu_…");
        assert_eq!(masked(&format!("{token}{other}")), "rmu_…");
    }

    #[test]
    fn a_token_has_its_prefix_and_forty_letters_that_differ_each_time() {
        let tokens: Vec<String> = (0..100).map(|_| fresh_token(AGENT_PREFIX).unwrap()).collect();
        for token in &tokens {
            let rest = token.strip_prefix("hsk_").unwrap();
            assert_eq!(rest.len(), 40);
            assert!(rest.bytes().all(|b| b.is_ascii_alphanumeric()), "{rest}");
        }
        let distinct: std::collections::HashSet<_> = tokens.iter().collect();
        assert_eq!(distinct.len(), 100);
        let letters: std::collections::HashSet<_> = tokens.iter().flat_map(|t| t.chars()).collect();
        assert!(letters.len() >= 62, "all letters are used");
    }

    #[test]
    fn only_the_digest_is_kept() {
        let record = token_record("rmu_secret", TokenKind::User, "ann", "", 1);
        let kept = format!("{record:?}{}", serde_json::to_string(&record).unwrap());
        assert!(!kept.contains("rmu_secret"));
    }
}
