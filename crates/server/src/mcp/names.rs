//! Names of tools. The protocol takes letters, digits, `_`, `-` and `.`, at most 128 of them; a
//! qualified name may have others and be longer. What fits goes out as it is. A character that does
//! not becomes `..` and its number in two hexadecimal digits, so that no two names become one and the
//! way back needs no table.

use std::borrow::Cow;

use remit_engine::catalog::Catalog;
use remit_model::{Caller, canonical};

/// How long a tool's name may be.
const LONGEST: usize = 128;
/// How much of a name that is too long goes out before its hash.
const HEAD: usize = 90;
/// Stands between the two; no name that was written out has it.
const CUT: &str = "..h";

fn fits(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Gives the tool's name for a capability's.
pub(crate) fn tool(capability: &str) -> Cow<'_, str> {
    let plain = capability.bytes().all(fits) && !capability.contains("..");
    if plain && capability.len() <= LONGEST {
        return Cow::Borrowed(capability);
    }
    let mut out = String::with_capacity(capability.len() + 8);
    let mut bytes = capability.bytes().peekable();
    while let Some(byte) = bytes.next() {
        // A dot before what begins with dots would be read as part of it.
        let is_dangling = byte == b'.' && bytes.peek().is_some_and(|b| *b == b'.' || !fits(*b));
        if fits(byte) && !is_dangling {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("..{byte:02x}"));
        }
    }
    if out.len() > LONGEST {
        let hash = canonical::hash_bytes(capability.as_bytes());
        out.truncate(HEAD);
        // Not in the middle of a number, nor a dot that would join the next.
        let whole = out.trim_end_matches('.').len();
        out.truncate(whole);
        out.push_str(CUT);
        out.push_str(hash.get(..32).unwrap_or(&hash));
    }
    Cow::Owned(out)
}

/// Gives the capability's name for a tool's. A name that no capability has comes back as it is: it
/// will not be found.
pub(crate) fn capability(tool_name: &str, catalog: &Catalog, caller: &Caller) -> String {
    if !tool_name.contains("..") {
        return tool_name.to_owned();
    }
    if tool_name.contains(CUT) {
        let mut long = catalog.visible(caller).map(|entry| entry.capability.name.as_str());
        let found = long.find(|name| name.len() > LONGEST / 4 && tool(name) == tool_name);
        return found.unwrap_or(tool_name).to_owned();
    }
    let read = decoded(tool_name);
    // Only the one way of writing it counts: others would be second names for the same thing.
    read.filter(|name| tool(name) == tool_name).unwrap_or_else(|| tool_name.to_owned())
}

fn decoded(tool_name: &str) -> Option<String> {
    let mut parts = tool_name.split("..");
    let mut out = Vec::from(parts.next()?.as_bytes());
    for part in parts {
        let (number, rest) = part.split_at_checked(2)?;
        out.push(u8::from_str_radix(number, 16).ok()?);
        out.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_fits_and_comes_back() {
        let (catalog, ann) = (Catalog::default(), Caller::person("ann"));
        for name in [
            "file.read",
            "calendar.accept_invite",
            "skill:com.example.translate-v1",
            "@server/tool",
            "#agent",
            "a/b",
            "a..b",
            "a...b",
            "a.",
            "a.:",
            "..2f",
            "a..h",
            ".",
            "..",
        ] {
            let tool_name = tool(name);
            assert!(tool_name.bytes().all(fits), "{tool_name}");
            assert_eq!(capability(&tool_name, &catalog, &ann), name, "{tool_name}");
        }
        assert_eq!(tool("file.read"), "file.read");
        assert_eq!(tool("@server/tool"), "..40server..2ftool");
    }

    #[test]
    fn names_do_not_become_one_and_have_no_second_spelling() {
        let all = ["a/b", "a..2fb", "a.2fb", "a:b", "a..b", "a.b", "a...b", "a..2eb", "a..2e.b"];
        let names: std::collections::BTreeSet<_> = all.iter().map(|name| tool(name)).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        let (catalog, ann) = (Catalog::default(), Caller::person("ann"));
        for second in ["a..62", "a..2FB", "a..zz", "a..", "a..2"] {
            assert_eq!(capability(second, &catalog, &ann), second);
        }
    }

    #[test]
    fn a_long_name_is_cut_and_stays_its_own() {
        let exact = "a".repeat(LONGEST);
        assert_eq!(tool(&exact), exact);
        let (one, other) = ("a".repeat(LONGEST + 1), format!("{}b", "a".repeat(LONGEST)));
        assert!(tool(&one).len() <= LONGEST && tool(&one) != tool(&other));
        let mut source = remit_testkit::samples::source("x", &[]);
        let like = remit_testkit::samples::source("y", &[("z", remit_model::Sensitivity::Low)]);
        for name in [&one, &other] {
            let mut capability = like.manifest.capabilities[0].clone();
            capability.name.clone_from(name);
            source.manifest.capabilities.push(capability);
        }
        let (catalog, ann) = (remit_testkit::samples::catalog(vec![source]), Caller::person("ann"));
        assert_eq!(capability(&tool(&other), &catalog, &ann), other);
    }
}
