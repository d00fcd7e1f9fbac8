//! Diagnostics as GitHub Actions annotations.

use std::fmt::Write as _;

use remit_model::{Severity, text};

use super::CheckedFile;
use crate::paths;

/// Gives one workflow command a diagnostic.
pub(crate) fn check(files: &[CheckedFile]) -> String {
    let mut out = String::new();
    for file in files {
        for found in &file.diagnostics {
            let command = match found.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "notice",
            };
            let mut message = text::visible(&found.message).into_owned();
            if let Some(help) = &found.help {
                let _ = write!(message, "\nhelp: {}", text::visible(help));
            }
            let _ = writeln!(
                out,
                "::{command} file={},line={},col={},title={}::{}",
                property(&paths::for_programs(&file.path)),
                found.position.line,
                found.position.column,
                property(found.rule),
                data(&message)
            );
        }
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&text::visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_would_end_a_property_or_a_command_is_escaped() {
        assert_eq!(super::property("a,b:c%\n"), "a%2Cb%3Ac%25\\u{a}");
        assert_eq!(super::data("a\n::error::b"), "a%0A::error::b");
    }
}
