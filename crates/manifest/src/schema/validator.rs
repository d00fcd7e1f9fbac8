//! The one way values are checked against a schema: JSON Schema 2020-12, formats asserted, patterns
//! in linear time, and nothing fetched from anywhere.

mod wording;

use jsonschema::{Draft, PatternOptions};
use remit_model::text;
use serde_json::Value;

use super::{loops, pattern};

/// Is how many errors of one value are listed.
const MOST_ERRORS: usize = 100;

/// Checks values against one schema.
pub struct Validator {
    inner: jsonschema::Validator,
    /// How deep a value may be nested for all its errors to be listed.
    error_depth: usize,
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

impl Validator {
    /// Makes a validator of a schema.
    ///
    /// # Errors
    ///
    /// Says in a sentence why there can be none: the schema is malformed, refers to something outside
    /// itself, has a pattern the engine cannot take, or would take too long to check anything with.
    pub fn compile(schema: &Value) -> Result<Self, String> {
        let allowance = loops::find(schema).map_err(|trouble| trouble.to_string())?;
        Self::built(schema, allowance)
    }

    /// Makes a validator of a schema that was looked at before.
    pub(super) fn built(schema: &Value, allowance: loops::Allowance) -> Result<Self, String> {
        let inner = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex().size_limit(pattern::SIZE_LIMIT))
            .offline()
            .build(schema)
            .map_err(|error| {
                let place = error.instance_path().as_str();
                let place = if place.is_empty() { "/" } else { place };
                format!("at {}: {}", text::quoted(place), wording::of_schema(&error))
            })?;
        Ok(Self { inner, error_depth: allowance.error_depth })
    }

    /// Tells whether the schema accepts a value.
    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.inner.is_valid(value)
    }

    /// Lists what is wrong with a value: a JSON pointer into it, and a sentence. A value that the
    /// schema accepts has no errors, one that it refuses has at least one.
    #[must_use]
    pub fn errors(&self, value: &Value) -> Vec<(String, String)> {
        if self.inner.is_valid(value) {
            return Vec::new();
        }
        if depth(value) > self.error_depth {
            // Each level multiplies the alternatives to report; nobody could read the answer.
            let message = "does not match the schema; it is nested too deeply to say exactly where";
            return vec![(String::new(), message.to_owned())];
        }
        let mut errors = Vec::new();
        for error in self.inner.iter_errors(value) {
            wording::of_value(&error, &mut errors);
            if errors.len() >= MOST_ERRORS {
                errors.truncate(MOST_ERRORS);
                break;
            }
        }
        errors
    }
}

/// Counts how deep a value is nested; a scalar is nested not at all.
fn depth(value: &Value) -> usize {
    let below = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => return 0,
    };
    below.unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_that_recurs_without_end_is_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]}),
        ] {
            let refused = Validator::compile(&schema).unwrap_err();
            assert!(refused.contains("without end"), "{refused}");
        }
    }

    #[test]
    fn nothing_outside_is_fetched_and_nothing_bad_is_compiled() {
        for (schema, why) in [
            (json!({"$ref": "https://example.com/a.json"}), "leads nowhere"),
            (json!({"$ref": "file:///etc/passwd"}), "leads nowhere"),
            (json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}), "leads nowhere"),
            (json!({"properties": 5}), "at `/properties`: must be an object"),
            (json!({"pattern": "(?=a)"}), "at `/pattern`: must be of the format `regex`"),
            (json!({"pattern": "[a-z]{1,100000}"}), "at `/pattern`"),
            (json!("text"), "at `/`: must be a boolean or an object"),
        ] {
            let refused = Validator::compile(&schema).unwrap_err();
            assert!(refused.contains(why), "{schema}: {refused}");
        }
    }

    #[test]
    fn formats_are_asserted() {
        let validator = Validator::compile(&json!({"format": "date"})).unwrap();
        assert!(validator.is_valid(&json!("2026-11-15")));
        assert!(!validator.is_valid(&json!("2026-13-15")));
        assert!(validator.is_valid(&json!(5)));
    }

    #[test]
    fn every_error_comes_with_its_place() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"items": {"minimum": 3}}},
            "required": ["c", "d"],
            "additionalProperties": false,
        });
        let errors =
            Validator::compile(&schema).unwrap().errors(&json!({"a": 1, "b": [3, 2], "e/f": 0}));
        let errors: Vec<String> = errors.iter().map(|(p, m)| format!("{p} {m}")).collect();
        for expected in [
            "/a must be a string",
            "/b/1 must be at least 3",
            " `c` is missing",
            " `d` is missing",
            "/e~1f `e/f` is not allowed here",
        ] {
            assert!(errors.iter().any(|e| e == expected), "{expected}: {errors:?}");
        }
        assert_eq!(errors.len(), 5);
    }

    #[test]
    fn listing_errors_of_a_deep_value_stays_cheap() {
        let next = json!({"properties": {"a": {"$ref": "#"}}});
        let schema = json!({"type": "object", "anyOf": [next, next]});
        let validator = Validator::compile(&schema).unwrap();
        let mut value = json!(1);
        for _ in 0..60 {
            value = json!({"a": value});
        }
        assert_eq!(validator.errors(&value).len(), 1);
    }

    #[test]
    fn the_longest_allowed_chain_on_the_deepest_value_fits_a_small_stack() {
        let check = || {
            let mut defs = serde_json::Map::new();
            for i in 0..27 {
                defs.insert(format!("a{i}"), json!({"$ref": format!("#/$defs/a{}", i + 1)}));
            }
            let last = json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}], "type": "object"});
            defs.insert("a27".to_owned(), last);
            let schema = json!({"$defs": defs, "$ref": "#/$defs/a0"});
            let validator = Validator::compile(&schema).unwrap();
            let mut value = json!(1);
            for _ in 0..64 {
                value = json!({"a": value});
            }
            assert!(!validator.is_valid(&value));
            assert!(!validator.errors(&value).is_empty());
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(check).unwrap().join().unwrap();
    }
}
