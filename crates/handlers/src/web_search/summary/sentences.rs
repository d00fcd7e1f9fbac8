//! Text into sentences, of Chinese and of languages with spaces.

/// Is the most sentences taken from one page.
const MOST: usize = 3000;

/// Is the shortest and the longest sentence worth taking, in characters.
const SHORTEST: usize = 20;
const LONGEST: usize = 500;

/// Is the shortest in scripts whose characters say more.
const SHORTEST_WIDE: usize = 8;

/// Gives the sentences of a text. What is no sentence, such as a menu or a heading, is left out.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        for end in ends(line) {
            if let Some(piece) = line.get(start..end)
                && let Some(sentence) = worth(piece)
            {
                found.push(sentence);
            }
            start = end;
        }
        if found.len() >= MOST {
            found.truncate(MOST);
            break;
        }
    }
    found
}

/// Gives the places where sentences end.
fn ends(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut characters = line.char_indices().peekable();
    let mut word = 0;
    while let Some((at, c)) = characters.next() {
        let after = at + c.len_utf8();
        match c {
            '。' | '！' | '？' | '；' | '…' => ends.push(after),
            '.' | '!' | '?' => {
                let next = characters.peek().map(|(_, next)| *next);
                let closing = next.is_some_and(|next| matches!(next, '"' | '”' | '’' | ')'));
                let whole = line.get(word..at).unwrap_or_default();
                if (next.is_none_or(char::is_whitespace) || closing) && !abbreviated(c, whole) {
                    ends.push(if closing { after + next.map_or(0, char::len_utf8) } else { after });
                }
            }
            c if c.is_whitespace() => word = after,
            _ => {}
        }
    }
    ends
}

/// Tells whether a point ends a word and not a sentence.
fn abbreviated(mark: char, word: &str) -> bool {
    const KNOWN: &[&str] = &[
        "e.g", "i.e", "etc", "vs", "cf", "Mr", "Mrs", "Ms", "Dr", "Prof", "St", "No", "Fig",
        "approx", "Inc", "Ltd", "Co", "U.S", "a.m", "p.m",
    ];
    let word = word.trim_start_matches(['(', '"', '“']);
    mark == '.' && (KNOWN.contains(&word) || word.chars().count() == 1)
}

fn worth(piece: &str) -> Option<&str> {
    let sentence = piece.trim().trim_start_matches(['-', '*', '#', '>', '•', '|']).trim_start();
    let length = sentence.chars().count();
    let wide = sentence.chars().filter(|c| super::words::is_wide(*c)).count();
    let letters = sentence.chars().filter(|c| c.is_alphabetic()).count();
    let shortest = if wide * 2 > length { SHORTEST_WIDE } else { SHORTEST };
    // Code, tables and lists of numbers have few letters for their length.
    ((shortest..=LONGEST).contains(&length) && letters * 2 > length).then_some(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_end() {
        let text = "Dr. Smith wrote version 1.2 of it, e.g. the parser. Was it \"really any good?\" Nobody can say!";
        assert_eq!(
            sentences(text),
            [
                "Dr. Smith wrote version 1.2 of it, e.g. the parser.",
                "Was it \"really any good?\"",
                "Nobody can say!"
            ][..2]
        );
        assert_eq!(
            sentences("沙箱限制进程可以访问的文件。它从内核五点十三版开始提供！短。"),
            ["沙箱限制进程可以访问的文件。", "它从内核五点十三版开始提供！"]
        );
    }

    #[test]
    fn what_is_no_sentence_is_left_out() {
        assert!(sentences("Home | About | Contact\n## A heading without an end\n").is_empty());
        assert!(sentences("0x1f 0x2a 0x3b 17 18 19 20 21 22 23 24 25.\n").is_empty());
    }

    #[test]
    fn the_shortest_and_the_longest_are_taken_and_no_others() {
        let of = |length: usize| sentences(&format!("{}.", "x".repeat(length - 1))).len();
        assert_eq!((of(SHORTEST), of(SHORTEST - 1)), (1, 0));
        assert_eq!((of(LONGEST), of(LONGEST + 1)), (1, 0));
        let many = "This is a sentence of some length.\n".repeat(MOST + 1);
        assert_eq!(sentences(&many).len(), MOST);
    }
}
