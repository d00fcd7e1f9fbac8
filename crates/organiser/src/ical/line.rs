//! Content lines: a name, parameters, a value.

use super::fold::Raw;

/// Is a content line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub number: usize,
    /// The name, in capitals.
    pub name: String,
    /// The parameters, names in capitals.
    pub parameters: Vec<(String, String)>,
    pub value: String,
}

impl Line {
    /// Gives the value of a parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a content line; nothing if it is none.
pub(super) fn line(raw: &Raw) -> Option<Line> {
    let text = raw.text.as_str();
    let end = text.find([';', ':'])?;
    let (name, mut rest) = text.split_at_checked(end)?;
    if !is_name(name) {
        return None;
    }
    let mut parameters = Vec::new();
    while let Some(after) = rest.strip_prefix(';') {
        let (key, after) = after.split_once('=')?;
        if !is_name(key) {
            return None;
        }
        let (value, after) = parameter_value(after)?;
        parameters.push((key.to_ascii_uppercase(), value));
        rest = after;
    }
    let value = rest.strip_prefix(':')?.to_owned();
    Some(Line { number: raw.number, name: name.to_ascii_uppercase(), parameters, value })
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Reads the value of a parameter up to the next `;` or `:` outside quotes.
fn parameter_value(text: &str) -> Option<(String, &str)> {
    let mut quoted = false;
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            ';' | ':' if !quoted => return Some((value, text.get(at..)?)),
            // RFC 6868: how quotes, line ends and carets are written here.
            '^' => match chars.clone().next() {
                Some((_, 'n')) => {
                    value.push('\n');
                    chars.next();
                }
                Some((_, '\'')) => {
                    value.push('"');
                    chars.next();
                }
                Some((_, '^')) => {
                    value.push('^');
                    chars.next();
                }
                _ => value.push('^'),
            },
            _ => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Line> {
        line(&Raw { number: 1, text: text.to_owned(), cut: false })
    }

    #[test]
    fn quotes_hide_colons_and_semicolons() {
        let line =
            read("attendee;CN=\"Doe: Jane; Dr.\";ROLE=CHAIR:mailto:jane@example.com").unwrap();
        assert_eq!(line.name, "ATTENDEE");
        assert_eq!(line.parameter("CN"), Some("Doe: Jane; Dr."));
        assert_eq!(line.parameter("ROLE"), Some("CHAIR"));
        assert_eq!(line.value, "mailto:jane@example.com");
    }

    #[test]
    fn carets_are_read_as_rfc_6868_says() {
        let line = read("ATTENDEE;CN=George ^'Babe^' Ruth^^^nX:mailto:b@example.com").unwrap();
        assert_eq!(line.parameter("CN"), Some("George \"Babe\" Ruth^\nX"));
    }

    #[test]
    fn what_is_no_line_is_none() {
        for text in ["", "no colon", ":value", "A B:value", "A;B:value", "A;=x:y", "A;B=\"x:y"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
