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
    /// Whether it must not stand inside a word: other words begin so too.
    alone: bool,
}

fn letters(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn url_letters(byte: u8) -> bool {
    letters(byte) || matches!(byte, b'-' | b'_')
}

const fn ours(begins: &'static str) -> Shape {
    Shape { begins, least: 40, follows: letters, whose: Whose::Ours, alone: false }
}

const fn foreign(begins: &'static str, least: usize, follows: fn(u8) -> bool) -> Shape {
    Shape { begins, least, follows, whose: Whose::Foreign, alone: false }
}

const fn alone(begins: &'static str, least: usize, follows: fn(u8) -> bool) -> Shape {
    Shape { alone: true, ..foreign(begins, least, follows) }
}

/// Begins a JSON object in base64, and so each of the first two parts of a signed token.
const OBJECT: &str = "eyJ";
/// Begins a key in PEM.
const PEM: &str = "-----BEGIN ";

const SHAPES: [Shape; 25] = [
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
    alone("sk_live_", 16, letters),
    alone("rk_live_", 16, letters),
    alone("AIza", 35, url_letters),
    alone("npm_", 36, letters),
    foreign("pypi-AgE", 40, url_letters),
    alone("sk-", 40, letters),
    alone(OBJECT, 10, url_letters),
];

static BEGINNINGS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let beginnings = SHAPES.iter().map(|shape| shape.begins);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(beginnings).ok()
});

/// Finds what looks like a secret, in one pass over the text and one more for keys.
pub(super) fn find(text: &str) -> Vec<Found> {
    // Without the table nothing could be let through; it is made of constants and always stands.
    let Some(beginnings) = BEGINNINGS.as_ref() else {
        return vec![Found { start: 0, end: text.len(), whose: Whose::Ours }];
    };
    let mut found = keys(text);
    // Up to here nothing more begins: it is part of what was found, or of what was looked at in vain.
    let mut done_to = 0;
    for place in beginnings.find_iter(text) {
        let Some(shape) = SHAPES.get(place.pattern().as_usize()) else { continue };
        if place.start() < done_to || (shape.alone && is_in_a_word(text, place.start())) {
            continue;
        }
        let rest = text.get(place.end()..).unwrap_or_default();
        let length = match shape.begins {
            OBJECT => match signed_token(rest) {
                Some(length) => Some(length),
                // What begins later in the same part ends with it, and is no token either.
                None => {
                    done_to = place.end() + run(rest, url_letters);
                    None
                }
            },
            _ if run(rest, shape.follows) < shape.least => None,
            // Also what is grown together with it, which may be another one.
            _ => Some(run(rest, url_letters)),
        };
        if let Some(length) = length {
            done_to = place.end() + length;
            found.push(Found { start: place.start(), end: done_to, whose: shape.whose });
        }
    }
    found
}

/// Tells whether a letter before a place belongs to the same word: not if it ends an escape, as in a
/// text that is JSON, a form or for a terminal.
fn is_in_a_word(text: &str, start: usize) -> bool {
    let before = text.as_bytes().get(..start).unwrap_or_default();
    let is_escape = match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', one, two] => one.is_ascii_hexdigit() && two.is_ascii_hexdigit(),
        [.., b'm'] => before.iter().rev().skip(1).take(6).any(|byte| *byte == 0x1b),
        _ => false,
    };
    !is_escape && before.last().is_some_and(|byte| letters(*byte))
}

/// Finds private keys.
fn keys(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (start, begins) in text.match_indices(PEM) {
        if found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        let rest = text.get(start + begins.len()..).unwrap_or_default();
        if let Some(length) = private_key(rest) {
            let end = start + begins.len() + length;
            found.push(Found { start, end, whose: Whose::Foreign });
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

/// Is how long the name of a kind of key may be.
const LONGEST_KIND: usize = 40;

/// Gives how far a private key goes on: to the end of its last line, or of the text.
fn private_key(rest: &str) -> Option<usize> {
    let kind = rest.bytes().take(LONGEST_KIND).take_while(|byte| *byte != b'-').count();
    let kind = rest.get(..kind)?;
    let is_private = kind.ends_with("PRIVATE KEY") || kind.ends_with("PRIVATE KEY BLOCK");
    if !is_private || !rest.get(kind.len()..)?.starts_with("-----") {
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
        for shape in SHAPES.iter().filter(|shape| shape.begins != OBJECT) {
            let whole = format!("{}{}", shape.begins, "a".repeat(shape.least));
            assert_eq!(found(&format!("x {whole}.")), [whole.as_str()], "{whole}");
            let short = &whole[..whole.len() - 1];
            assert!(found(short).is_empty(), "{short}");
            let inside = format!("x{whole}");
            let is_found = !found(&inside).is_empty();
            assert_eq!(is_found, !shape.alone, "inside a word: {whole}");
            for escape in ["\\n", "\\t", "%3D", "\u{1b}[31m"] {
                assert_eq!(found(&format!("a{escape}{whole}")), [whole.as_str()], "{escape}");
            }
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
        for before in ["-----END CERTIFICATE-----\\n", "KEY=\\n", "sk", "x"] {
            assert_eq!(found(&format!("{before}{key}")), [key], "{before}");
        }
        let block = "-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----";
        assert_eq!(found(block), [block]);
        assert!(found("-----BEGIN CERTIFICATE-----\nMHc\n-----END CERTIFICATE-----").is_empty());
    }

    /// A text that begins a token every few letters is looked at once, not from each of them: the square
    /// of this length would take hours.
    #[test]
    fn a_text_of_beginnings_takes_one_pass() {
        for part in [
            "eyJ-",
            "eyJ.eyJ.",
            "rmu_",
            "-----BEGIN ",
            "sk-",
            "-github_pat_",
            "-----BEGIN PRIVATE KEY",
        ] {
            let text = part.repeat((8 << 20) / part.len());
            assert!(found(&text).len() < 2, "{part}");
        }
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
