//! Patterns in schemas: ECMA-262 on paper, a linear-time engine in fact.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Is the memory one compiled pattern may take; the validator has the same limit.
pub(super) const SIZE_LIMIT: usize = 1 << 20;

/// Says what became of a pattern.
pub(super) enum Verdict {
    /// The engine takes it.
    Good,
    /// It may be too large; only compiling tells.
    Heavy(String),
    /// The engine cannot take it, and why.
    Bad(String),
}

/// Is the longest pattern that is parsed at all: parsing takes many times its length in memory.
const LONGEST: usize = 8_192;

/// Judges a pattern without compiling it.
pub(super) fn judge(pattern: &str) -> Verdict {
    if pattern.len() > LONGEST {
        return Verdict::Bad(format!("it has more than {LONGEST} bytes"));
    }
    if look_around(pattern).is_none() && !jsonschema_regex::is_valid_ecma_regex(pattern) {
        return Verdict::Bad("it is not a regular expression of ECMA-262".to_owned());
    }
    let Ok(translated) = jsonschema_regex::to_rust_regex(pattern) else {
        let why = look_around(pattern).unwrap_or("the linear-time engine cannot take it");
        return Verdict::Bad(why.to_owned());
    };
    match regex_syntax::Parser::new().parse(&translated) {
        Ok(hir) if weight(&hir) <= SIZE_LIMIT / 16 => Verdict::Good,
        Ok(_) => Verdict::Heavy(translated.into_owned()),
        Err(error) => Verdict::Bad(reason(pattern, &error)),
    }
}

/// Compiles a pattern that may be too large.
pub(super) fn compiles(translated: &str) -> bool {
    regex::RegexBuilder::new(translated).size_limit(SIZE_LIMIT).build().is_ok()
}

fn look_around(pattern: &str) -> Option<&'static str> {
    ["(?=", "(?!", "(?<=", "(?<!"]
        .iter()
        .any(|look| pattern.contains(look))
        .then_some("look-ahead and look-behind need an engine that can take exponential time")
}

fn reason(pattern: &str, error: &regex_syntax::Error) -> String {
    if let Some(why) = look_around(pattern) {
        return why.to_owned();
    }
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "the engine cannot take it".to_owned(),
    }
}

/// Guesses the bytes a pattern compiles to, from above for the usual ones.
fn weight(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 32,
        HirKind::Literal(literal) => 32 * literal.0.len(),
        HirKind::Class(Class::Unicode(class)) => 96 * class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => 32 * class.ranges().len(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min + 1).max(1) as usize;
            weight(&repetition.sub).saturating_add(32).saturating_mul(times)
        }
        HirKind::Capture(capture) => weight(&capture.sub).saturating_add(64),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(weight).fold(32, usize::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_patterns_are_good_and_dangerous_ones_are_not() {
        for pattern in ["^[a-z]+$", r"^\d{4}-\d{2}$", r"^\w+$", "^(a+)+$", r"\p{L}", "^.{1,100}$"] {
            assert!(!matches!(judge(pattern), Verdict::Bad(_)), "{pattern}");
        }
        for pattern in [
            "(?i)a",
            "[[:alpha:]]",
            "x*+",
            "(?P<n>a)",
            "(?=a)b",
            "(?<!a)b",
            r"(a)\1",
            "(",
            "[z-a]",
            "*",
        ] {
            assert!(matches!(judge(pattern), Verdict::Bad(_)), "{pattern}");
        }
    }

    #[test]
    fn patterns_end_at_their_length() {
        assert!(!matches!(judge(&"a".repeat(LONGEST)), Verdict::Bad(_)));
        assert!(matches!(judge(&"a".repeat(LONGEST + 1)), Verdict::Bad(_)));
    }

    #[test]
    fn a_pattern_judged_good_compiles_within_the_limit() {
        for pattern in
            ["^[a-z]{1,500}$", r"^\d{1,100}$", "^(abc|def){0,200}$", r"[\u4e00-\u9fff]{1,200}"]
        {
            let translated = jsonschema_regex::to_rust_regex(pattern).unwrap();
            if let Verdict::Good = judge(pattern) {
                assert!(compiles(&translated), "{pattern}");
            }
        }
        assert!(matches!(judge(r"\w{500}"), Verdict::Heavy(_)));
        assert!(!compiles(r"\w{500}"));
    }
}
