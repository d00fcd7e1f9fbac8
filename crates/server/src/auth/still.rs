//! Whether who opened a stream may still have it: a token that was taken back, or has ended, ends what
//! was opened with it.

use std::time::{Duration, Instant};

use super::Principal;
use crate::app::App;

/// How often that is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// Is what proved who somebody is.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// They are at this machine.
    Here,
    /// A token of ours, by its digest.
    Token(String),
    /// A token of an issuer's, which ends then.
    Until(i64),
}

impl Proof {
    fn stands(&self, app: &App) -> bool {
        let now = app.now_ms();
        match self {
            Self::Here => true,
            Self::Until(end) => now < *end,
            Self::Token(digest) => match app.directory.token(digest) {
                Ok(Some(token)) => token.stands(now),
                // If it cannot be known, the client asks again.
                Ok(None) | Err(_) => false,
            },
        }
    }
}

/// Looks, now and then, whether a principal is still one.
pub(crate) struct Still {
    app: App,
    proof: Proof,
    looked: Instant,
}

impl Principal {
    /// Gives what looks after this principal.
    pub(crate) fn still(&self, app: &App) -> Still {
        Still { app: app.clone(), proof: self.proof.clone(), looked: Instant::now() }
    }
}

impl Still {
    /// Tells whether it stands, as of a second ago at most.
    pub(crate) fn stands(&mut self) -> bool {
        if self.looked.elapsed() < EVERY {
            return true;
        }
        self.looked = Instant::now();
        self.proof.stands(&self.app)
    }
}
