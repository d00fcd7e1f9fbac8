//! Arguments are read by the rules of manifests, in one pass: no key twice, no number that would
//! change on the way, not too deep.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// How deep arguments may nest.
const DEEPEST: usize = 64;
/// The largest integer that every reader of JSON reads the same.
const LARGEST: u64 = 1 << 53;

/// Reads arguments.
pub(crate) fn value(raw: &RawValue) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(raw.get());
    Strict(DEEPEST).deserialize(&mut reader).map_err(|error| error.to_string())
}

/// Reads a value that may nest so deep.
#[derive(Clone, Copy)]
struct Strict(usize);

impl Strict {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        let left = self.0.checked_sub(1).filter(|left| *left > 0);
        left.map(Self).ok_or_else(|| E::custom(format!("nested deeper than {DEEPEST}")))
    }
}

fn too_large<E: Error>() -> E {
    E::custom("an integer beyond 2^53 does not survive JSON; write it as a string")
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > LARGEST { Err(too_large()) } else { Ok(value.into()) }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        if value > LARGEST { Err(too_large()) } else { Ok(value.into()) }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // An integer too long for 64 bits arrives here.
        if value.fract() == 0.0 && value.abs() > 9_007_199_254_740_992.0 {
            return Err(too_large());
        }
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let (inner, mut all) = (self.deeper()?, Vec::new());
        while let Some(one) = seq.next_element_seed(inner)? {
            all.push(one);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let (inner, mut all) = (self.deeper()?, Map::new());
        while let Some(key) = map.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!("the key `{key}` stands there twice")));
            }
            let value = map.next_value_seed(inner)?;
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        value(&serde_json::from_str::<Box<RawValue>>(text).map_err(|e| e.to_string())?)
    }

    #[test]
    fn what_every_reader_reads_the_same_is_taken() {
        let text = r#"{"a":[1,-2,0.5,true,null,"é\n"],"b":{},"c":9007199254740992,"d":1e3}"#;
        assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn what_readers_differ_about_is_refused() {
        for text in [
            r#"{"a":1,"a":2}"#,
            r#"[{"x":{"b":1,"b":1}}]"#,
            "9007199254740993",
            "-9007199254740993",
            "123456789012345678901234567890",
            "1e999",
            r#""\ud800""#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_ends_at_its_limit() {
        let nested = |deep: usize| format!("{}1{}", "[".repeat(deep), "]".repeat(deep));
        assert!(read(&nested(DEEPEST - 1)).is_ok());
        assert!(read(&nested(DEEPEST)).unwrap_err().contains("nested deeper"));
    }
}
