//! Strings that are and are not of a format.

/// Is a format the validator asserts, with strings of it and strings that only look like it.
struct Format {
    name: &'static str,
    good: &'static [&'static str],
    bad: &'static [&'static str],
}

/// Lists every format the validator asserts.
static FORMATS: &[Format] = &[
    Format {
        name: "date",
        good: &["2026-01-31"],
        bad: &["2026-02-30", "31.01.2026", "2026-01-31T12:00:00Z"],
    },
    Format {
        name: "date-time",
        good: &["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+02:00"],
        bad: &["2026-01-31T12:00:00", "2026-01-31", "2026-01-31 12:00:00"],
    },
    Format {
        name: "time",
        good: &["12:00:00Z", "12:00:00+02:00"],
        bad: &["12:00:00", "25:00:00Z"],
    },
    Format { name: "duration", good: &["P1D", "PT1H30M"], bad: &["1 day", "P", "P1D2H"] },
    Format {
        name: "email",
        good: &["a@example.com", "first.last+tag@example.org"],
        bad: &["a.example.com", "a@", "@example.com"],
    },
    Format {
        name: "idn-email",
        good: &["a@example.com", "ä@bücher.example"],
        bad: &["a.example.com", "a@", "@example.com"],
    },
    Format {
        name: "idn-hostname",
        good: &["example.com", "bücher.example"],
        bad: &["-example.com", "example..com", "a_b.example"],
    },
    Format {
        name: "hostname",
        good: &["example.com", "localhost"],
        bad: &["-example.com", "a_b.example", "example..com"],
    },
    Format { name: "ipv4", good: &["192.0.2.1"], bad: &["192.0.2.256", "192.0.2", "::1"] },
    Format { name: "ipv6", good: &["2001:db8::1", "::1"], bad: &["2001:db8:::1", "192.0.2.1"] },
    Format {
        name: "uri",
        good: &["https://example.com/a", "urn:example:a"],
        bad: &["/relative", "example.com", "https://exa mple.com", "https://example.com/é"],
    },
    Format {
        name: "uri-reference",
        good: &["/relative", "https://example.com/a", "a"],
        bad: &["\\\\host\\share", "/é", "a b"],
    },
    Format {
        name: "iri",
        good: &["https://example.com/é", "https://example.com/a"],
        bad: &["/relative", "https://exa mple.com"],
    },
    Format { name: "iri-reference", good: &["/é", "a"], bad: &["\\\\host\\share", "a b"] },
    Format {
        name: "uri-template",
        good: &["https://example.com/{id}", "/{id}"],
        bad: &["https://example.com/{id"],
    },
    Format {
        name: "uuid",
        good: &["123e4567-e89b-12d3-a456-426614174000"],
        bad: &["123e4567e89b12d3a456426614174000", "123e4567"],
    },
    Format { name: "json-pointer", good: &["/a/0", ""], bad: &["a/0", "/~2", "#/a"] },
    Format { name: "relative-json-pointer", good: &["1/a", "0#"], bad: &["/a", "-1/a"] },
    Format { name: "regex", good: &["^a+$"], bad: &["(", "a**"] },
];

/// Tells whether the validator asserts a format.
pub(in crate::schema) fn is_known(format: &str) -> bool {
    find(format).is_some()
}

fn find(format: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|known| known.name == format)
}

/// Gives strings of a format.
pub(super) fn good(format: &str) -> &'static [&'static str] {
    find(format).map_or(&[], |known| known.good)
}

/// Gives strings that are not of a format.
pub(super) fn bad(format: &str) -> &'static [&'static str] {
    find(format).map_or(&[], |known| known.bad)
}

/// Gives a string of a format and of a length, for the formats that can be as long as one likes.
pub(super) fn of_length(format: &str, length: usize) -> Option<String> {
    let (start, end) = match format {
        "email" | "idn-email" => ("", "@example.com"),
        "uri" | "iri" => ("https://example.com/", ""),
        "uri-reference" | "iri-reference" | "json-pointer" | "uri-template" => ("/", ""),
        "regex" => ("", ""),
        "relative-json-pointer" => ("0/", ""),
        "hostname" | "idn-hostname" => ("", ".com"),
        _ => return None,
    };
    let filling = length.checked_sub(start.len() + end.len()).filter(|n| *n > 0)?;
    Some(format!("{start}{}{end}", "a".repeat(filling)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::schema::validator::Validator;

    #[test]
    fn good_is_good_and_bad_is_bad() {
        for format in FORMATS {
            let validator = Validator::compile(&json!({"format": format.name})).unwrap();
            for good in format.good {
                assert!(validator.is_valid(&json!(good)), "{}: {good}", format.name);
            }
            for bad in format.bad {
                assert!(!validator.is_valid(&json!(bad)), "{}: {bad}", format.name);
            }
            for length in [3, 5, 20, 40] {
                if let Some(long) = of_length(format.name, length) {
                    assert_eq!(long.len(), length);
                    assert!(validator.is_valid(&json!(long)), "{}: {long}", format.name);
                }
            }
        }
    }

    #[test]
    fn every_format_the_validator_asserts_is_listed() {
        let asserted = [
            "date",
            "date-time",
            "time",
            "duration",
            "email",
            "idn-email",
            "hostname",
            "idn-hostname",
            "ipv4",
            "ipv6",
            "uri",
            "uri-reference",
            "iri",
            "iri-reference",
            "uri-template",
            "uuid",
            "json-pointer",
            "relative-json-pointer",
            "regex",
        ]
        .into_iter()
        .filter(|name| jsonschema::options().is_known_format(jsonschema::Draft::Draft202012, name));
        for name in asserted {
            assert!(is_known(name), "{name}");
        }
    }
}
