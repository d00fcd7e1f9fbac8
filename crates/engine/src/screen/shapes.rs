//! What secrets look like that have a shape of their own.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::Found;

/// Says whose secret something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Remit's own, or configured here.
    Ours,
    /// Another service's.
    Foreign,
}

/// Is how a kind of secret is written: how it begins, and of what at least how much follows.
struct Shape {
    begins: &'static str,
    least: usize,
    follows: fn(u8) -> bool,
    whose: Whose,
}

fn letters(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn url_letters(byte: u8) -> bool {
    letters(byte) || matches!(byte, b'-' | b'_')
}

const fn ours(begins: &'static str) -> Shape {
    Shape { begins, least: 40, follows: letters, whose: Whose::Ours }
}

const fn foreign(begins: &'static str, least: usize, follows: fn(u8) -> bool) -> Shape {
    Shape { begins, least, follows, whose: Whose::Foreign }
}

/// Begins a JSON object in base64, and so each of the first two parts of a signed token.
const OBJECT: &str = "eyJ";
/// Begins a key in PEM.
const PEM: &str = "-----BEGIN ";

const SHAPES: [Shape; 26] = [
    ours("rma_"),
    ours("rmu_"),
    ours("rmk_"),
    ours("rmc_"),
    ours("hsk_"),
    foreign("ghp_", 36, letters),
    foreign("gho_", 36, letters),
    foreign("ghu_", 36, letters),
    foreign("ghs_", 36, letters),
    foreign("ghr_", 36, letters),
    foreign("github_pat_", 40, url_letters),
    foreign("glpat-", 20, url_letters),
    foreign("xoxa-", 20, url_letters),
    foreign("xoxb-", 20, url_letters),
    foreign("xoxp-", 20, url_letters),
    foreign("xoxs-", 20, url_letters),
    foreign("sk-ant-", 40, url_letters),
    foreign("sk-proj-", 40, url_letters),
    foreign("sk_live_", 16, letters),
    foreign("rk_live_", 16, letters),
    foreign("AIza", 35, url_letters),
    foreign("npm_", 36, letters),
    foreign("pypi-AgE", 40, url_letters),
    foreign("sk-", 40, letters),
    foreign(OBJECT, 10, url_letters),
    foreign(PEM, 0, letters),
];

static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let beginnings = SHAPES.iter().map(|shape| shape.begins);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(beginnings).ok()
});

/// Finds what looks like a secret.
pub(super) fn find(text: &str) -> Vec<Found> {
    // Without the table nothing could be let through; it is made of constants and always stands.
    let Some(beginnings) = BEGINNINGS.as_ref() else {
        return vec![Found { start: 0, end: text.len(), whose: Whose::Ours }];
    };
    let mut found: Vec<Found> = Vec::new();
    for place in beginnings.find_iter(text) {
        let Some(shape) = SHAPES.get(place.pattern().as_usize()) else { continue };
        if found.last().is_some_and(|last| place.start() < last.end) {
            continue;
        }
        let before = text.as_bytes().get(..place.start()).and_then(<[u8]>::last);
        // Other words have these beginnings too; nothing else looks like ours.
        if shape.whose == Whose::Foreign && before.is_some_and(|byte| letters(*byte)) {
            continue;
        }
        let rest = text.get(place.end()..).unwrap_or_default();
        let length = match shape.begins {
            OBJECT => signed_token(rest),
            PEM => private_key(rest),
            _ if run(rest, shape.follows) < shape.least => None,
            // Also what is grown together with it, which may be another one.
            _ => Some(run(rest, url_letters)),
        };
        if let Some(length) = length {
            let end = place.end() + length;
            found.push(Found { start: place.start(), end, whose: shape.whose });
        }
    }
    found
}

fn run(text: &str, follows: fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| follows(*byte)).count()
}

/// Gives how far a signed token goes on behind its beginning: three parts with dots between them, of
/// which the second is an object too.
fn signed_token(rest: &str) -> Option<usize> {
    let first = run(rest, url_letters);
    let second = rest.get(first..)?.strip_prefix('.')?;
    let length = run(second, url_letters);
    let third = second.get(length..)?.strip_prefix('.')?;
    let last = run(third, url_letters);
    let is_token = first >= 10 && second.starts_with(OBJECT) && last >= 20;
    is_token.then_some(first + 1 + length + 1 + last)
}

/// Gives how far a private key goes on: to the end of its last line, or of the text.
fn private_key(rest: &str) -> Option<usize> {
    let (kind, _) = rest.split_once("-----")?;
    if kind.len() > 40 || !kind.ends_with("PRIVATE KEY") {
        return None;
    }
    let end = format!("-----END {kind}-----");
    Some(rest.find(&end).map_or(rest.len(), |at| at + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text).iter().map(|found| &text[found.start..found.end]).collect()
    }

    #[test]
    fn each_shape_is_found_at_its_least_length_and_not_below() {
        for shape in SHAPES.iter().filter(|shape| ![OBJECT, PEM].contains(&shape.begins)) {
            let whole = format!("{}{}", shape.begins, "a".repeat(shape.least));
            assert_eq!(found(&format!("x {whole}.")), [whole.as_str()], "{whole}");
            let short = &whole[..whole.len() - 1];
            assert!(found(short).is_empty(), "{short}");
            let inside = format!("x{whole}");
            let is_found = !found(&inside).is_empty();
            assert_eq!(is_found, shape.whose == Whose::Ours, "inside a word: {whole}");
        }
    }

    #[test]
    fn tokens_that_are_grown_together_are_one() {
        let one = format!("rmu_{}", "a".repeat(40));
        let both = format!("{one}hsk_{}", "b".repeat(40));
        assert_eq!(found(&both), [both.as_str()]);
    }

    #[test]
    fn tokens_and_keys_are_found_whole() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghijklmnopqrstuvwx";
        assert_eq!(found(&format!("({token})")), [token]);
        assert!(found("eyJhbGciOiJIUzI1NiJ9.c3ViIjoi.abcdefghijklmnopqrstuvwx").is_empty());
        let key = "-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----";
        assert_eq!(found(&format!("a\n{key}\nb")), [key]);
        assert_eq!(found("-----BEGIN PRIVATE KEY-----\nMHc"), ["-----BEGIN PRIVATE KEY-----\nMHc"]);
        assert!(found("-----BEGIN CERTIFICATE-----\nMHc\n-----END CERTIFICATE-----").is_empty());
    }

    #[test]
    fn what_people_write_is_no_secret() {
        for text in
            ["sk-learn is a library", "npm_config_cache", "ask-anything", "hsk_ is a prefix"]
        {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}
