//! Arguments that a tool wants repeated in headers (`x-mcp-header`), so that whoever stands between can
//! act on them: both must say the same.

use axum::http::HeaderMap;
use serde_json::Value;

use super::headers;
use super::wire::{Fault, HEADER_MISMATCH};

/// How deep schemas are searched.
const DEEPEST: usize = 8;

/// Holds the headers of a call against its arguments.
pub(crate) fn judge(schema: &Value, input: &Value, heads: &HeaderMap) -> Result<(), Fault> {
    judge_within(schema, Some(input), heads, DEEPEST)
}

fn judge_within(
    schema: &Value,
    input: Option<&Value>,
    heads: &HeaderMap,
    deep: usize,
) -> Result<(), Fault> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        let value = input.and_then(|input| input.get(name)).filter(|value| !value.is_null());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            judge_one(header, value, heads)?;
        } else if deep > 0 {
            judge_within(property, value, heads, deep - 1)?;
        }
    }
    Ok(())
}

fn judge_one(header: &str, value: Option<&Value>, heads: &HeaderMap) -> Result<(), Fault> {
    let name = format!("mcp-param-{}", header.to_ascii_lowercase());
    let is_there = heads.contains_key(name.as_str());
    let expected = match value {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Bool(is)) => Some(is.to_string()),
        Some(Value::Number(number)) => Some(number.to_string()),
        // What cannot stand in a header has none.
        _ => None,
    };
    let written = headers::text(heads, &name).and_then(headers::decoded);
    let agrees = match (&expected, written.as_deref()) {
        (None, _) => !is_there,
        (Some(expected), Some(written)) => {
            expected == written || are_equal(expected, written, value)
        }
        (Some(_), None) => false,
    };
    if agrees {
        return Ok(());
    }
    let name = remit_model::text::quoted(&name);
    Err(Fault::new(HEADER_MISMATCH, format!("the header {name} is not the argument")))
}

/// Tells whether two numbers are one, however they are written.
fn are_equal(expected: &str, written: &str, value: Option<&Value>) -> bool {
    let is_number = value.is_some_and(Value::is_number);
    let read = |text: &str| text.parse::<f64>().ok().filter(|_| !text.contains(['e', 'E']));
    is_number && read(expected).is_some() && read(expected) == read(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judged(input: &Value, header: Option<&str>) -> bool {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "in": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }});
        let mut heads = HeaderMap::new();
        if let Some((name, value)) = header.and_then(|header| header.split_once('=')) {
            let name: axum::http::HeaderName = name.parse().unwrap();
            heads.insert(name, value.parse().unwrap());
        }
        judge(&schema, input, &heads).is_ok()
    }

    #[test]
    fn headers_and_arguments_say_the_same() {
        let region = json!({"region": "Hello"});
        assert!(judged(&region, Some("mcp-param-region=Hello")));
        assert!(judged(&region, Some("mcp-param-region==?base64?SGVsbG8=?=")));
        assert!(judged(&json!({}), None) && judged(&json!({"region": null}), None));
        assert!(judged(&json!({"in": {"n": 42}}), Some("mcp-param-n=42.0")));
        for wrong in ["Other", "hello", "=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="] {
            assert!(!judged(&region, Some(&format!("mcp-param-region={wrong}"))), "{wrong}");
        }
        assert!(!judged(&region, None), "the header is missing");
        assert!(!judged(&json!({}), Some("mcp-param-region=Hello")), "the argument is missing");
    }
}
