//! What clients carry between two requests of one thing: which work it is and which of its questions they
//! were asked. It is signed, so that nobody brings what they were not given, and only its owner can bring it.

use remit_model::canonical;
use sha2::{Digest as _, Sha256};

use crate::auth::Principal;

/// How long it may be, as it is written.
const LONGEST: usize = 512;
/// The length of the signature, in hexadecimal digits.
const SIGNATURE: usize = 64;
/// How many bytes the hash takes at once.
const BLOCK: usize = 64;

/// Signs with a key that ends with the process: so do the questions.
pub(crate) struct Seal(Option<[u8; 32]>);

impl Default for Seal {
    fn default() -> Self {
        let mut key = [0; 32];
        // Without a key nothing is given out that could come back.
        Self(getrandom::fill(&mut key).ok().map(|()| key))
    }
}

/// Is what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Brought {
    /// The work.
    pub(crate) id: String,
    /// Which of its rounds of questions; zero is the approval.
    pub(crate) round: u64,
}

impl Seal {
    /// Writes what the owner of some work carries.
    pub(crate) fn give(&self, owner: &Principal, id: &str, round: u64) -> String {
        match self.signature(owner, id, round) {
            Some(signature) => format!("{id}.{round}.{signature}"),
            None => String::new(),
        }
    }

    /// Reads what a principal brought; none if it was not given to them.
    pub(crate) fn open(&self, owner: &Principal, written: &str) -> Option<Brought> {
        if written.len() > LONGEST {
            return None;
        }
        let (rest, signature) = written.rsplit_once('.')?;
        let (id, round) = rest.rsplit_once('.')?;
        let round: u64 = round.parse().ok()?;
        let right = self.signature(owner, id, round)?;
        // Not as far as they agree, but whole: how long it takes tells nothing.
        let differs = right.bytes().zip(signature.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        let is_right = signature.len() == SIGNATURE && right.len() == SIGNATURE && differs == 0;
        // Numbers have one spelling.
        (is_right && rest == format!("{id}.{round}")).then(|| Brought { id: id.to_owned(), round })
    }

    fn signature(&self, owner: &Principal, id: &str, round: u64) -> Option<String> {
        let parts = (owner.kind.as_str(), &owner.subject, id, round);
        let message = serde_json::to_vec(&parts).ok()?;
        Some(canonical::hex(&hmac(self.0.as_ref()?, &message)))
    }
}

/// Gives the HMAC-SHA-256 of a message (RFC 2104).
fn hmac(key: &[u8; 32], message: &[u8]) -> [u8; 32] {
    let padded = |with: u8| {
        let mut block = [with; BLOCK];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_the_known_one() {
        // RFC 4231, case 1, whose key of 20 bytes is padded with zeros like every other.
        let mut key = [0; 32];
        key.iter_mut().take(20).for_each(|byte| *byte = 0x0b);
        assert_eq!(
            canonical::hex(&hmac(&key, b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
    }

    #[test]
    fn only_what_was_given_comes_back_and_only_from_its_owner() {
        let (seal, ann) = (Seal::default(), Principal::local("ann"));
        let given = seal.give(&ann, "c.1", 7);
        let brought = Brought { id: "c.1".to_owned(), round: 7 };
        assert_eq!(seal.open(&ann, &given), Some(brought));
        assert_eq!(seal.open(&Principal::local("bob"), &given), None);
        assert_eq!(Seal::default().open(&ann, &given), None, "another process");
        let changed = [
            format!("{given}0"),
            given.replacen(".7.", ".8.", 1),
            given.replacen(".7.", ".07.", 1),
            given.replacen(".7.", ".+7.", 1),
            given.replacen("c.1", "c.2", 1),
            given.to_uppercase(),
            given.get(..given.len() - 1).unwrap().to_owned(),
            String::new(),
            "c.1".to_owned(),
            "..".to_owned(),
            format!("{}{given}", "x".repeat(LONGEST)),
        ];
        for changed in changed {
            assert_eq!(seal.open(&ann, &changed), None, "{changed}");
        }
    }
}
