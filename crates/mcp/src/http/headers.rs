//! What stands in the head of a request, and how values that headers cannot hold are written there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How deep schemas are searched, and how many headers one tool may want.
const DEEPEST: usize = 8;
const MOST: usize = 32;

/// Writes a value so that a header can hold it.
pub(crate) fn encoded(value: &str) -> Option<HeaderValue> {
    let is_plain = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && value.trim_matches([' ', '\t']).len() == value.len()
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain {
        return HeaderValue::from_str(value).ok();
    }
    HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(value))).ok()
}

/// Is an argument that a tool wants repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// The header's whole name.
    header: String,
    /// Where the argument stands.
    path: Vec<String>,
}

/// Finds the arguments that a tool wants repeated. A schema that breaks the rules for that is refused.
pub(crate) fn mirrors(schema: &Value) -> Result<Vec<Mirror>, String> {
    let mut found = Vec::new();
    search(schema, &mut Vec::new(), &mut found)?;
    let reachable = found.len();
    let everywhere = count(schema, DEEPEST * 4);
    if reachable != everywhere {
        return Err(
            "`x-mcp-header` stands where no argument can be told from the schema".to_owned()
        );
    }
    Ok(found)
}

/// Counts the marks in a schema, wherever they stand.
fn count(value: &Value, deep: usize) -> usize {
    if deep == 0 {
        return 0;
    }
    match value {
        Value::Array(items) => items.iter().map(|item| count(item, deep - 1)).sum(),
        Value::Object(map) => {
            // A property may be called like the mark; then what stands there is a schema.
            let is_mark = |(name, value): &(&String, &Value)| {
                name.as_str() == "x-mcp-header" && !value.is_object() && !value.is_boolean()
            };
            let here = map.iter().filter(is_mark).count();
            here + map.values().map(|value| count(value, deep - 1)).sum::<usize>()
        }
        _ => 0,
    }
}

fn search(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(mark) = property.get("x-mcp-header") {
            let header = header_of(mark, property)?;
            if found.iter().any(|other| other.header == header) {
                return Err("two arguments want the same header".to_owned());
            }
            if found.len() == MOST {
                return Err(format!("more than {MOST} arguments want a header"));
            }
            found.push(Mirror { header, path: path.clone() });
        } else if path.len() < DEEPEST {
            search(property, path, found)?;
        }
        path.pop();
    }
    Ok(())
}

fn header_of(mark: &Value, property: &Value) -> Result<String, String> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let name = mark.as_str().filter(|name| (1..=64).contains(&name.len()));
    let name = name.filter(|name| name.bytes().all(is_token));
    let name = name.ok_or("a value of `x-mcp-header` is no name of a header")?;
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => {
            Ok(format!("mcp-param-{}", name.to_ascii_lowercase()))
        }
        _ => Err("only a string, an integer or a boolean can stand in a header".to_owned()),
    }
}

/// Gives the headers of a call.
pub(crate) fn mirrored(mirrors: &[Mirror], arguments: &Value) -> Vec<(String, String)> {
    let value_of = |mirror: &Mirror| {
        let found = mirror.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        match found {
            Value::String(text) => Some(text.clone()),
            Value::Bool(is) => Some(is.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    };
    mirrors.iter().filter_map(|mirror| Some((mirror.header.clone(), value_of(mirror)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_headers_cannot_hold_are_written_in_base64() {
        for (value, want) in [
            ("us-west1", "us-west1"),
            ("a b", "a b"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encoded(value).unwrap(), want, "{value:?}");
        }
    }

    #[test]
    fn arguments_are_repeated_where_the_schema_says_so() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "x-mcp-header": {"type": "string"},
        }});
        let found = mirrors(&schema).unwrap();
        let got = mirrored(&found, &json!({"region": "eu", "in": {"n": 7}, "x-mcp-header": "q"}));
        let want = [("mcp-param-region", "eu"), ("mcp-param-n", "7")];
        let mut got: Vec<_> = got.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        got.sort_unstable_by_key(|(name, _)| std::cmp::Reverse(*name));
        assert_eq!(got, want);
        assert!(mirrored(&found, &json!({"region": null, "in": 3})).is_empty());
    }

    #[test]
    fn a_schema_that_breaks_the_rules_is_refused() {
        let one = |property: Value| json!({"properties": {"a": property}});
        for wrong in [
            one(json!({"type": "string", "x-mcp-header": ""})),
            one(json!({"type": "string", "x-mcp-header": "a b"})),
            one(json!({"type": "string", "x-mcp-header": "a\r\nb"})),
            one(json!({"type": "string", "x-mcp-header": 5})),
            one(json!({"type": "number", "x-mcp-header": "A"})),
            one(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "A"}})),
            json!({"properties": {
                "a": {"type": "string", "x-mcp-header": "A"},
                "b": {"type": "string", "x-mcp-header": "a"}}}),
            json!({"anyOf": [{"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}]}),
        ] {
            assert!(mirrors(&wrong).is_err(), "{wrong}");
        }
    }
}
