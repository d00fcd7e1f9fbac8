//! The revisions of the protocol that are spoken, and what differs between them.

/// Is a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Revision {
    /// The first with streamable HTTP; the only one with batches.
    V20250326,
    /// Brought structured content and elicitation, took batches away.
    V20250618,
    /// Made wrong arguments a result that a model can read.
    V20251125,
    /// Without a handshake: every request says what it needs.
    V20260728,
}

impl Revision {
    /// Lists them, the newest first, as they are offered.
    pub(crate) const ALL: [Self; 4] =
        [Self::V20260728, Self::V20251125, Self::V20250618, Self::V20250326];

    /// Reads one.
    pub(crate) fn parse(written: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == written)
    }

    /// Gives its date.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }

    /// Gives what a handshake that asks for a revision is answered with: that one, or the newest that
    /// has handshakes.
    pub(crate) fn agreed(asked: &str) -> Self {
        Self::parse(asked).filter(|one| !one.is_modern()).unwrap_or(Self::V20251125)
    }

    /// Tells whether requests stand alone.
    pub(crate) fn is_modern(self) -> bool {
        self == Self::V20260728
    }

    /// Tells whether several messages may come in one body.
    pub(crate) fn has_batches(self) -> bool {
        self == Self::V20250326
    }

    /// Tells whether results and tools carry structure beside text.
    pub(crate) fn has_structure(self) -> bool {
        self >= Self::V20250618
    }

    /// Tells whether arguments that do not fit are a result rather than an error of the protocol.
    pub(crate) fn shows_wrong_arguments(self) -> bool {
        self >= Self::V20251125
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handshake_never_agrees_on_a_revision_without_one() {
        for one in Revision::ALL {
            assert_eq!(Revision::parse(one.as_str()), Some(one));
            assert_eq!(Revision::agreed(one.as_str()) == one, !one.is_modern());
        }
        assert_eq!(Revision::agreed("1999-01-01"), Revision::V20251125);
    }
}
