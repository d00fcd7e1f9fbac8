//! Text into words: pairs of characters where a script has no spaces.

/// Lists words that say nothing of what a text is about.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for",
    "from", "had", "has", "have", "how", "in", "into", "is", "it", "its", "not", "of", "on", "or",
    "so", "such", "that", "the", "their", "then", "there", "these", "they", "this", "those", "to",
    "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would", "you",
    "your",
];

/// Tells whether a character belongs to a script without spaces.
pub(super) fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Gives the words of a text, in lower case, without those that say nothing.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut wide: Vec<char> = Vec::new();
    for c in text.chars().chain([' ']) {
        if is_wide(c) {
            end_word(&mut word, &mut words);
            wide.push(c);
            continue;
        }
        end_wide(&mut wide, &mut words);
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else {
            end_word(&mut word, &mut words);
        }
    }
    words
}

fn end_word(word: &mut String, words: &mut Vec<String>) {
    let word = std::mem::take(word);
    if word.is_empty() || EMPTY.contains(&word.as_str()) {
        return;
    }
    words.push(stem(word));
}

/// Gives a word without the ending of its plural.
fn stem(mut word: String) -> String {
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && word.is_ascii();
    if plural {
        word.pop();
    }
    word
}

fn end_wide(wide: &mut Vec<char>, words: &mut Vec<String>) {
    if wide.len() == 1 {
        words.extend(wide.iter().map(char::to_string));
    }
    words.extend(wide.windows(2).map(|pair| pair.iter().collect::<String>()));
    wide.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_at_spaces_or_into_pairs() {
        assert_eq!(words("The Sandboxes of Linux-6"), ["sandboxe", "linux", "6"]);
        assert_eq!(words("沙箱机制abc"), ["沙箱", "箱机", "机制", "abc"]);
        assert_eq!(words("中 class"), ["中", "class"]);
    }
}
