//! The kinds of string manifests hold.

use remit_model::name;

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
    schema: r#"{"type":"string","pattern":"^[0-9]+\\.[0-9]+\\.[0-9]+([-+][0-9A-Za-z.+-]+)?$"}"#,
};

/// A version of a format: SemVer, of which the later parts may be left out.
pub static FORMAT_VERSION: Text = Text {
    what: "a version such as `1.0.0`",
    rule: &rules::BAD_VERSION,
    test: |s| {
        let parts = s.split('.').count();
        parts <= 3
            && s.split('.')
                .all(|p| !p.is_empty() && p.len() < 10 && p.bytes().all(|b| b.is_ascii_digit()))
    },
    schema: r#"{"type":"string","pattern":"^[0-9]{1,9}(\\.[0-9]{1,9}){0,2}$"}"#,
};

/// An absolute http or https URL.
pub static HTTP_URL: Text = Text {
    what: "an absolute http or https URL",
    rule: &rules::BAD_URL,
    test: is_http_url,
    schema: r#"{"type":"string","pattern":"^[Hh][Tt][Tt][Pp][Ss]?://","format":"uri"}"#,
};

/// A date and time with offset.
pub static DATE_TIME: Text = Text {
    what: "an RFC 3339 date and time such as `2026-01-31T08:00:00Z`",
    rule: &rules::BAD_DATE_TIME,
    test: is_date_time,
    schema: r#"{"type":"string","format":"date-time"}"#,
};

/// A media type.
pub static MEDIA_TYPE: Text = Text {
    what: "a media type such as `application/json`",
    rule: &rules::BAD_MEDIA_TYPE,
    test: is_media_type,
    schema: r#"{"type":"string","pattern":"^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+"}"#,
};

fn is_http_url(s: &str) -> bool {
    url::Url::parse(s).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        && s.split_once("://").is_some_and(|(_, rest)| !rest.starts_with('/'))
        && !s.contains(|c: char| c.is_whitespace() || "{}<>\"\\^`|".contains(c))
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

    #[test]
    fn each_kind_takes_its_own_and_refuses_its_neighbours() {
        let cases: [(&Text, &[&str], &[&str]); 4] = [
            (
                &SEMVER,
                &["1.0.0", "1.0.0-alpha.11", "1.2.3+b.7"],
                &["1.0", "v1.0.0", "01.0.0", "1.0.0-", ""],
            ),
            (
                &HTTP_URL,
                &["https://a.example", "http://127.0.0.1:8/x?y"],
                &[
                    "ftp://a",
                    "/x",
                    "https://",
                    "https://a b",
                    "https:///x",
                    "https://a/{b}",
                    "https:a.example",
                    "",
                ],
            ),
            (
                &DATE_TIME,
                &[
                    "2025-01-15T08:00:00Z",
                    "2025-01-15T08:00:00.5+08:00",
                    "2016-12-31T23:59:60Z",
                    "2017-01-01T07:59:60+08:00",
                ],
                &[
                    "2025-01-15",
                    "2025-01-15T08:00:00",
                    "2025-13-15T08:00:00Z",
                    "20250115T080000Z",
                    "2025-01-15 08:00:00Z",
                    "",
                ],
            ),
            (
                &MEDIA_TYPE,
                &["application/json", "text/plain; charset=utf-8"],
                &["json", "/", "a/b/c", "a b/c"],
            ),
        ];
        for (kind, good, bad) in cases {
            for s in good {
                assert!((kind.test)(s), "{s} is {}", kind.what);
            }
            for s in bad {
                assert!(!(kind.test)(s), "{s} is not {}", kind.what);
            }
        }
    }
}
