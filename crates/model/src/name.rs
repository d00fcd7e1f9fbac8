//! Names of capabilities.

/// Folds a name to what must be unique: lower case, without `-`, `_` and `.`.
#[must_use]
pub fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | '.')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Tells whether a name is an ASCII letter followed by letters, digits, `_` or `-`.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Tells whether a name is snake_case: a lower-case ASCII letter, then letters, digits or `_`.
#[must_use]
pub fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_joins_spellings_of_one_name() {
        for name in ["File-Operator", "file_operator", "file.operator", "FILEOPERATOR"] {
            assert_eq!(folded(name), "fileoperator");
        }
    }

    #[test]
    fn identifiers_and_snake_case_start_with_a_letter() {
        assert!(is_identifier("a-B_9") && !is_identifier("9a") && !is_identifier(""));
        assert!(is_snake_case("a_9") && !is_snake_case("_a") && !is_snake_case("aB"));
        assert!(!is_identifier("é") && !is_snake_case("a-b"));
    }
}
