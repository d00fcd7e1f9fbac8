//! What a plain YAML scalar means, by the core schema of YAML 1.2; and the range of integers.

/// Is the largest magnitude of an integer: beyond it, two integers share one double.
const EXACT: u64 = 1 << 53;

/// Is the meaning of a plain scalar.
pub(super) enum Plain {
    Null,
    Bool(bool),
    Number(f64),
    /// An integer that does not survive RFC 8785.
    OutOfRange,
    /// `.inf`, `.nan`, or digits that overflow.
    NotFinite,
    Text,
}

pub(super) fn resolve(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        _ => {}
    }
    match text.as_bytes() {
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] => number(text),
        _ => Plain::Text,
    }
}

fn number(text: &str) -> Plain {
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Plain::NotFinite;
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return if unsigned.len() > 15 && beyond_exact(text) {
            Plain::OutOfRange
        } else {
            float(text)
        };
    }
    if is_float(unsigned) { float(text) } else { Plain::Text }
}

/// `( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, fraction)) => {
            digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
        }
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    mantissa_ok && exponent_ok
}

fn float(text: &str) -> Plain {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Plain::Number(number),
        Ok(_) => Plain::NotFinite,
        Err(_) => Plain::Text,
    }
}

fn radix(digits: &str, radix: u32) -> Plain {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Plain::Text;
    }
    match u64::from_str_radix(digits, radix) {
        #[expect(clippy::cast_precision_loss, reason = "not beyond 2^53")]
        Ok(number) if number <= EXACT => Plain::Number(number as f64),
        _ => Plain::OutOfRange,
    }
}

/// Tells whether an integer literal lies beyond ±2^53.
pub(super) fn beyond_exact(literal: &str) -> bool {
    let digits = literal.trim_start_matches(['+', '-']).trim_start_matches('0');
    digits.len() > 16 || digits.parse::<u64>().is_ok_and(|n| n > EXACT)
}

/// Says what is wrong with such an integer, and what to do.
pub(super) fn out_of_range(literal: &str) -> (String, &'static str) {
    let message = format!(
        "the integer {} lies beyond ±2^53 and would change in canonical form",
        remit_model::text::quoted(literal)
    );
    (message, "write it as a string, or use a smaller number")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_core_schema_of_yaml_1_2_decides() {
        let number = |text| match resolve(text) {
            Plain::Number(n) => Some(n),
            _ => None,
        };
        for (text, want) in [
            ("0", 0.0),
            ("-12", -12.0),
            ("+3", 3.0),
            ("010", 10.0),
            ("0o17", 15.0),
            ("0xfF", 255.0),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e3", 1000.0),
            ("-1.5E-2", -0.015),
        ] {
            assert_eq!(number(text), Some(want), "{text}");
        }
        for text in [
            "yes",
            "no",
            "on",
            "1_000",
            "1:30",
            "0b1",
            "-",
            "+",
            ".",
            "1e",
            "e1",
            "0x",
            "0o8",
            "-.",
            "1.2.3",
            "2026-01-01",
            "-0x1",
            "infinity",
            "nan",
            "inf",
        ] {
            assert!(matches!(resolve(text), Plain::Text), "{text}");
        }
        for text in [".inf", "-.INF", "+.Inf", ".nan", "1e999"] {
            assert!(matches!(resolve(text), Plain::NotFinite), "{text}");
        }
    }

    #[test]
    fn integers_end_at_two_to_the_53rd() {
        for text in
            ["9007199254740992", "-9007199254740992", "+0009007199254740992", "0x20000000000000"]
        {
            assert!(matches!(resolve(text), Plain::Number(_)), "{text}");
        }
        for text in [
            "9007199254740993",
            "-9007199254740993",
            "0x20000000000001",
            "0o400000000000000001",
            "99999999999999999999999",
        ] {
            assert!(matches!(resolve(text), Plain::OutOfRange), "{text}");
        }
    }
}
