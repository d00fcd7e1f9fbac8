//! `*` and `?` in the names that references hold.

/// Tells whether a name holds a wildcard.
#[must_use]
pub fn has_wildcard(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Tells whether a name fits a pattern in which `*` is any text and `?` any one character.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    compare(pattern, name, &mut 0)
}

/// Does what [`matches`] promises, and counts the characters it looks at.
pub(super) fn compare(pattern: &str, name: &str, compared: &mut usize) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    // Where to go on if the text after the last star turns out to be somewhere later.
    let mut last_star: Option<(&str, &str)> = None;
    loop {
        *compared += 1;
        let mut after = pattern.chars();
        let mut rest = name.chars();
        match (after.next(), rest.next()) {
            (Some('*'), _) => {
                pattern = after.as_str();
                last_star = Some((pattern, name));
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                (pattern, name) = (after.as_str(), rest.as_str());
            }
            (None, None) => return true,
            _ => {
                let Some((star, at)) = last_star else { return false };
                let mut later = at.chars();
                if later.next().is_none() {
                    return false;
                }
                (pattern, name) = (star, later.as_str());
                last_star = Some((star, name));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_goes_back_to_the_last_star() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("a*b*c", "aXbXbc", true),
            ("*ab", "aab", true),
            ("?", "", false),
            ("?", "é", true),
            ("a*", "b", false),
            ("**", "x", true),
            ("a?c", "abc", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
