//! The kinds of string manifests hold.

use remit_model::{name, text};

use super::Text;
use crate::rules;

/// Any string.
pub static ANY_TEXT: Text = Text {
    what: "a string",
    rule: &rules::EMPTY_TEXT,
    test: |_| true,
    schema: r#"{"type":"string"}"#,
};

/// A string with something in it.
pub static FILLED: Text = Text {
    what: "a text with something in it",
    rule: &rules::EMPTY_TEXT,
    test: |s| !s.trim().is_empty(),
    schema: r#"{"type":"string","pattern":"\\S"}"#,
};

/// A name of a tool, a command or a parameter.
pub static IDENTIFIER: Text = Text {
    what: "a name of ASCII letters, digits, `_` and `-` that starts with a letter",
    rule: &rules::BAD_NAME,
    test: name::is_identifier,
    schema: r#"{"type":"string","pattern":"^[A-Za-z][A-Za-z0-9_-]*$"}"#,
};

/// A snake_case name.
pub static SNAKE_CASE: Text = Text {
    what: "a snake_case name such as `fetch_web_page`",
    rule: &rules::BAD_NAME,
    test: name::is_snake_case,
    schema: r#"{"type":"string","pattern":"^[a-z][a-z0-9_]*$"}"#,
};

/// A tool name as MCP allows it.
pub static TOOL_NAME: Text = Text {
    what: "a name of at most 128 ASCII letters, digits, `_`, `-`, `.` and `/`",
    rule: &rules::BAD_NAME,
    test: |s| {
        (1..=128).contains(&s.len())
            && s.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-./".contains(&b))
    },
    schema: r#"{"type":"string","pattern":"^[A-Za-z0-9_./-]{1,128}$"}"#,
};

/// A semantic version.
pub static SEMVER: Text = Text {
    what: "a semantic version such as `1.2.3`",
    rule: &rules::BAD_VERSION,
    test: |s| semver::Version::parse(s).is_ok(),
    schema: concat!(
        r#"{"type":"string","pattern":"^(0|[1-9][0-9]{0,19})(\\.(0|[1-9][0-9]{0,19})){2}"#,
        r"(-(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)",
        r"(\\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?",
        r#"(\\+[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*)?$"}"#
    ),
};

/// A version of a format: SemVer, of which the later parts may be left out. There is no format yet
/// of another version than 1, which its dialect says better than "is not a version".
pub static FORMAT_VERSION: Text = Text {
    what: "a version such as `1.0.0`",
    rule: &rules::BAD_VERSION,
    test: |s| {
        let parts = s.split('.').count();
        parts <= 3
            && s.split('.')
                .all(|p| !p.is_empty() && p.len() < 10 && p.bytes().all(|b| b.is_ascii_digit()))
    },
    schema: r#"{"type":"string","pattern":"^0{0,8}1(\\.[0-9]{1,9}){0,2}$"}"#,
};

/// An absolute http or https URL.
pub static HTTP_URL: Text = Text {
    what: "an absolute http or https URL",
    rule: &rules::BAD_URL,
    test: is_http_url,
    // Not the format `uri`, which refuses hosts and paths in other scripts than Latin.
    schema: r#"{"type":"string","pattern":"^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#{}<>\"\\\\^`|][^\\s{}<>\"\\\\^`|]*$"}"#,
};

/// A date and time with offset.
pub static DATE_TIME: Text = Text {
    what: "an RFC 3339 date and time such as `2026-01-31T08:00:00Z`",
    rule: &rules::BAD_DATE_TIME,
    test: is_date_time,
    // Few editors look at a format, so a pattern says most of it.
    schema: concat!(
        r#"{"type":"string","format":"date-time","pattern":"#,
        r#""^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt]"#,
        r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]{1,9})?",
        r#"([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"}"#
    ),
};

/// A media type.
pub static MEDIA_TYPE: Text = Text {
    what: "a media type such as `application/json`",
    rule: &rules::BAD_MEDIA_TYPE,
    test: is_media_type,
    schema: r#"{"type":"string","pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+\\s*(;[\\s\\S]*)?$"}"#,
};

fn is_http_url(s: &str) -> bool {
    url::Url::parse(s).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        && s.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
        && !s.contains(|c: char| {
            c.is_whitespace() || "{}<>\"\\^`|".contains(c) || text::is_hidden(c)
        })
}

/// RFC 3339: full date, `T`, full time, offset; leap seconds may be written.
fn is_date_time(s: &str) -> bool {
    let shaped = s.len() >= 20
        && s.is_ascii()
        && s.as_bytes().get(10).is_some_and(|b| b.eq_ignore_ascii_case(&b't'))
        && !s.contains(['[', ' ', ','])
        && s.as_bytes().get(13) == Some(&b':')
        && s.as_bytes().get(16) == Some(&b':');
    let offset = s.ends_with(['Z', 'z'])
        || s.get(s.len().saturating_sub(6)..)
            .is_some_and(|o| o.starts_with(['+', '-']) && o.as_bytes().get(3) == Some(&b':'));
    let hours = s.get(s.len().saturating_sub(5)..s.len().saturating_sub(3));
    let offset = offset && (s.ends_with(['Z', 'z']) || hours.is_some_and(|h| h <= "23"));
    let Ok(time) = s.parse::<jiff::Timestamp>() else { return false };
    // A leap second is only ever the last of a day in UTC; the parser takes it for the one before.
    let leap = s.get(17..19) == Some("60");
    shaped && offset && (!leap || time.as_second().rem_euclid(86_400) == 86_399)
}

fn is_media_type(s: &str) -> bool {
    let essence = s.split(';').next().unwrap_or_default().trim_end();
    let token = |t: &str| {
        !t.is_empty()
            && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+.^_`|~-".contains(&b))
    };
    essence.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case = (&'static Text, &'static [&'static str], &'static [&'static str]);

    /// Each kind with texts of it and with texts of its neighbours.
    const CASES: [Case; 9] = [
        (&FILLED, &["a", " a ", "é", "\u{3000}x"], &["", " ", "\t\n", "\u{3000}"]),
        (&IDENTIFIER, &["a", "a-B_9"], &["", "9a", "é", "a.b", "a b", "a\n"]),
        (&SNAKE_CASE, &["a", "a_9"], &["", "_a", "aB", "a-b", "a\n"]),
        (&TOOL_NAME, &["a", "9/.-_"], &["", "a b", "é", "a:b"]),
        (
            &SEMVER,
            &[
                "1.0.0",
                "1.0.0-alpha.11",
                "1.2.3+b.7",
                "0.0.0-0a.-+01.-",
                "18446744073709551615.0.0",
            ],
            &[
                "1.0",
                "v1.0.0",
                "01.0.0",
                "1.0.0-",
                "1.0.0-01",
                "1.0.0+",
                "1.0.0+a..b",
                "",
                "1.0.0\n",
            ],
        ),
        (&FORMAT_VERSION, &["1", "1.0", "1.0.0", "01.2"], &["", "1.", "1.0.0.0", "x", "1.0-a"]),
        (
            &HTTP_URL,
            &[
                "https://a.example",
                "http://127.0.0.1:8/x?y",
                "HTTPS://A.example",
                "https://例え.example/パス",
                "https://[::1]/%zz#f",
                "https://u:p@a.example",
            ],
            &[
                "ftp://a",
                "/x",
                "https://",
                "https://a b",
                "https:///x",
                "https://?x",
                "https://a/{b}",
                "https:a.example",
                "\u{1}https://a.example",
                "https://a.example/\u{feff}",
                "",
            ],
        ),
        (
            &DATE_TIME,
            &[
                "2025-01-15T08:00:00Z",
                "2025-01-15t08:00:00z",
                "2025-01-15T08:00:00.5+08:00",
                "2025-01-15T08:00:00.123456789-23:59",
                "2016-12-31T23:59:60Z",
                "2017-01-01T07:59:60+08:00",
            ],
            &[
                "2025-01-15",
                "2025-01-15T08:00:00",
                "2025-13-15T08:00:00Z",
                "2025-02-30T08:00:00Z",
                "2025-01-15T24:00:00Z",
                "2025-01-15T08:00:00+24:00",
                "20250115T080000Z",
                "2025-01-15 08:00:00Z",
                "",
            ],
        ),
        (
            &MEDIA_TYPE,
            &["application/json", "text/plain; charset=utf-8", "a/b ;", "a/b;\n"],
            &["json", "/", "a/b/c", "a b/c", "a/b c", ""],
        ),
    ];

    #[test]
    fn each_kind_takes_its_own_and_refuses_its_neighbours() {
        for (kind, good, bad) in CASES {
            for s in good {
                assert!((kind.test)(s), "{s} is {}", kind.what);
            }
            for s in bad {
                assert!(!(kind.test)(s), "{s} is not {}", kind.what);
            }
        }
    }

    #[test]
    fn editors_are_told_the_same() {
        for (kind, good, bad) in CASES {
            let schema = serde_json::from_str(kind.schema).unwrap();
            let validator = |formats: bool| {
                let options = jsonschema::draft202012::options().should_validate_formats(formats);
                options.build(&schema).unwrap()
            };
            let (with, without) = (validator(true), validator(false));
            for s in good {
                let value = serde_json::json!(s);
                assert!(with.is_valid(&value) && without.is_valid(&value), "{s} is {}", kind.what);
            }
            for s in bad {
                assert!(!with.is_valid(&serde_json::json!(s)), "{s} is not {}", kind.what);
            }
        }
    }
}
