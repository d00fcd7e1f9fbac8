//! The canonical form of RFC 8785 and the hash that names a manifest.
//!
//! Written here rather than taken from a crate because the one correct crate takes ten times as
//! long as serialising (see `docs/design/003-canonical.md`); that crate is the oracle of the tests.

use std::cmp::Ordering;

use sha2::{Digest as _, Sha256};

use crate::{Node, Value};

/// Gives the canonical bytes, which are always UTF-8.
#[must_use]
pub fn canonical(tree: &Node) -> String {
    let mut out = String::with_capacity(1024);
    write_node(&mut out, tree);
    out
}

/// Gives the manifest hash: lower-case hex SHA-256 of the canonical form.
#[must_use]
pub fn hash(tree: &Node) -> String {
    hash_bytes(canonical(tree).as_bytes())
}

/// Gives lower-case hex SHA-256 of bytes that already are canonical.
#[must_use]
pub fn hash_bytes(canonical: &[u8]) -> String {
    hex(&Sha256::digest(canonical))
}

/// Writes bytes as lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from(if n < 10 { b'0' + n } else { b'a' + n - 10 });
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        hex.push(digit(byte >> 4));
        hex.push(digit(byte & 15));
    }
    hex
}

/// Gives a number the way ECMAScript prints it, which is what RFC 8785 asks for.
#[must_use]
pub fn number(n: f64) -> String {
    let mut out = String::new();
    write_number(&mut out, n);
    out
}

/// Orders keys by their UTF-16 code units.
///
/// Byte order of UTF-8 is the order of code points, and differs from UTF-16 only where a character
/// beyond the basic plane (written with surrogates, 0xD800…) meets one from U+E000 to U+FFFF.
#[must_use]
pub fn key_order(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let differ = a.iter().zip(b).find(|(x, y)| x != y);
    match differ {
        // Lead bytes 0xEE, 0xEF are U+E000…U+FFFF; from 0xF0 on they are beyond the basic plane.
        // Where only continuation bytes differ, both are below 0xC0 and byte order is right.
        Some((&x, &y)) if x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0) => y.cmp(&x),
        Some((x, y)) => x.cmp(y),
        None => a.len().cmp(&b.len()),
    }
}

fn write_node(out: &mut String, node: &Node) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(n) => write_number(out, *n),
        Value::String(s) | Value::Template(s) => write_string(out, s),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_node(out, item);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let members = object.members();
            out.push('{');
            if members.is_sorted_by(|a, b| key_order(&a.key, &b.key) == Ordering::Less) {
                write_members(out, members.iter());
            } else {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_unstable_by(|a, b| key_order(&a.key, &b.key));
                write_members(out, sorted.into_iter());
            }
            out.push('}');
        }
    }
}

fn write_members<'a>(out: &mut String, members: impl Iterator<Item = &'a crate::Member>) {
    for (i, member) in members.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(out, &member.key);
        out.push(':');
        write_node(out, &member.value);
    }
}

fn write_number(out: &mut String, n: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "the comparison below rejects the rest")]
    let whole = n as i64;
    #[expect(clippy::cast_precision_loss, reason = "lossless up to 2^53, and only used there")]
    let exact = whole as f64 == n && whole.unsigned_abs() <= 1 << 53;
    if exact {
        out.push_str(itoa::Buffer::new().format(whole));
    } else {
        out.push_str(ryu_js::Buffer::new().format(n));
    }
}

fn write_string(out: &mut String, s: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in s.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(s.get(plain_from..at).unwrap_or_default());
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => {
                out.push_str("\\u00");
                out.push(if control < 0x10 { '0' } else { '1' });
                out.push(char::from_digit(u32::from(control & 15), 16).unwrap_or('0'));
            }
        }
    }
    out.push_str(s.get(plain_from..).unwrap_or_default());
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;

    /// Any JSON value whose numbers survive the reader.
    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
            any::<String>().prop_map(Json::from),
            "[\u{0}-\u{1f}\"\\\\\u{e000}\u{ffff}\u{10000}]{0,6}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 48, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Json::from),
                prop::collection::vec((any::<String>(), inner), 0..24)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    fn shuffled(node: &Node) -> Node {
        let value = match &node.value {
            Value::Array(items) => Value::Array(items.iter().map(shuffled).collect()),
            Value::Object(object) => {
                let mut members: Vec<_> = object.members().to_vec();
                members.reverse();
                for member in &mut members {
                    member.value = shuffled(&member.value);
                }
                Value::Object(crate::Object::new(members).0)
            }
            other => other.clone(),
        };
        Node::unplaced(value)
    }

    proptest! {
        #[test]
        fn agrees_with_the_reference_crate(value in json()) {
            let want = serde_json_canonicalizer::to_string(&value).unwrap();
            prop_assert_eq!(canonical(&Node::from_json(&value)), want);
        }

        #[test]
        fn is_idempotent_and_blind_to_order(value in json()) {
            let tree = Node::from_json(&value);
            let once = canonical(&tree);
            let again: Json = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(&canonical(&Node::from_json(&again)), &once);
            prop_assert_eq!(&canonical(&shuffled(&tree)), &once);
        }

        #[test]
        fn key_order_is_utf16_order(a in any::<String>(), b in any::<String>()) {
            prop_assert_eq!(key_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
        }
    }

    #[test]
    fn key_order_is_utf16_order_around_the_surrogates() {
        let chars = ["", "a", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}", "é"];
        for a in chars {
            for b in chars {
                for (a, b) in [(a.to_owned(), b.to_owned()), (format!("x{a}y"), format!("x{b}"))] {
                    assert_eq!(
                        key_order(&a, &b),
                        a.encode_utf16().cmp(b.encode_utf16()),
                        "{a:?} {b:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        for (n, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (1e-7, "1e-7"),
            (0.000_001, "0.000001"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(number(n), text);
        }
    }

    #[test]
    fn hash_is_sha256_of_the_canonical_form() {
        // The hash S0 prints is that of the bare word; it fixes the digest, not a manifest.
        assert_eq!(
            hash_bytes(b"test"),
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
        );
        let tree = Node::from_json(&serde_json::json!({"b": 1, "a": []}));
        assert_eq!(canonical(&tree), r#"{"a":[],"b":1}"#);
        assert_eq!(hash(&tree), hash_bytes(br#"{"a":[],"b":1}"#));
    }
}
