//! The revisions of the protocol that are spoken, and what differs between them for a client.

use std::fmt;

/// Is a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Revision {
    /// The first with streamable HTTP; the only one with batches.
    V20250326,
    /// Brought structured content, elicitation and the header that names the revision.
    V20250618,
    /// Lets a server close a stream and have the client come back for the rest.
    V20251125,
    /// Without a handshake: every request says what it needs.
    V20260728,
}

impl Revision {
    /// Lists them, the newest first.
    pub const ALL: [Self; 4] = [Self::V20260728, Self::V20251125, Self::V20250618, Self::V20250326];
    /// Is the one whose requests stand alone.
    pub const MODERN: Self = Self::V20260728;
    /// Is the newest with a handshake, which is what a handshake asks for.
    pub const LAST_WITH_HANDSHAKE: Self = Self::V20251125;

    /// Reads one.
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == written)
    }

    /// Gives its date.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }

    /// Tells whether requests stand alone.
    #[must_use]
    pub fn is_modern(self) -> bool {
        self == Self::MODERN
    }

    /// Tells whether HTTP requests name the revision in a header.
    pub(crate) fn has_header(self) -> bool {
        self >= Self::V20250618
    }

    /// Gives what a server's answer to a handshake stands for. Older servers, and those from before
    /// dates were checked, speak what the first listed revision does, as far as a client can see.
    pub(crate) fn agreed(written: &str) -> Option<Self> {
        match written {
            "2024-11-05" | "2024-10-07" => Some(Self::V20250326),
            other => Self::parse(other).filter(|one| !one.is_modern()),
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_agrees_on_no_revision_without_one() {
        for one in Revision::ALL {
            assert_eq!(Revision::parse(one.as_str()), Some(one));
            assert_eq!(Revision::agreed(one.as_str()).is_some(), !one.is_modern());
        }
        assert_eq!(Revision::agreed("2024-11-05"), Some(Revision::V20250326));
        assert_eq!(Revision::agreed("1999-01-01"), None);
    }
}
