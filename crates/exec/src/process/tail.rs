//! Keeps the last part of what a process says.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Is how much is kept.
pub(super) const MOST_TAIL_BYTES: usize = 4 << 10;
/// Is how long a line may be to be heard.
const MOST_HEARD_BYTES: usize = 64 << 10;

/// Stands before what is kept where more came before it.
pub(super) const CUT: char = '…';

/// Hears what programs write to standard error, a line at a time.
#[derive(Clone)]
pub struct Hear(Arc<dyn Fn(&str) + Send + Sync>);

impl Hear {
    /// Takes what is to be done with a line.
    pub fn new(with: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(with))
    }
}

impl fmt::Debug for Hear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hear")
    }
}

/// Is the last part of a stream, shared with whoever reads the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail {
    kept: Arc<Mutex<Kept>>,
    hear: Option<Hear>,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    /// Tells somebody all of it, line by line.
    pub(super) fn heard_by(hear: Option<Hear>) -> Self {
        Self { hear, ..Self::default() }
    }

    /// Reads a stream to its end and keeps the last part.
    pub(super) async fn fill(&self, source: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = vec![0; MOST_TAIL_BYTES];
        let mut line = Vec::new();
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let read = chunk.get(..count).unwrap_or_default();
            self.keep(read);
            if let Some(hear) = &self.hear {
                tell(hear, read, &mut line);
            }
        }
        if let (Some(hear), false) = (&self.hear, line.is_empty()) {
            tell(hear, b"\n", &mut line);
        }
    }

    fn keep(&self, read: &[u8]) {
        let mut kept = self.lock();
        kept.bytes.extend(read);
        let over = kept.bytes.len().saturating_sub(MOST_TAIL_BYTES);
        kept.bytes.drain(..over);
        kept.cut |= over > 0;
    }

    /// Gives what is kept, as text; where more came before it, it starts with [`CUT`].
    pub(super) fn text(&self) -> String {
        let mut kept = self.lock();
        let cut = kept.cut;
        let text = String::from_utf8_lossy(kept.bytes.make_contiguous()).trim().to_owned();
        if cut { format!("{CUT}{text}") } else { text }
    }

    /// Forgets what is kept: what was said in one call is not for the next.
    pub(super) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives out complete lines. Only whole ones, because a secret in two halves is not recognised.
fn tell(hear: &Hear, read: &[u8], line: &mut Vec<u8>) {
    for byte in read {
        if *byte != b'\n' {
            if line.len() <= MOST_HEARD_BYTES {
                line.push(*byte);
            }
            continue;
        }
        if line.len() > MOST_HEARD_BYTES {
            (hear.0)(&format!("(a line of more than {MOST_HEARD_BYTES} bytes)"));
        } else {
            (hear.0)(&String::from_utf8_lossy(line));
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_part_is_kept() {
        for (length, kept) in
            [(10, 10), (MOST_TAIL_BYTES, MOST_TAIL_BYTES), (MOST_TAIL_BYTES + 1, MOST_TAIL_BYTES)]
        {
            let text: String = ('a'..='z').cycle().take(length).collect();
            let tail = Tail::default();
            tail.fill(&mut text.as_bytes()).await;
            let cut = if length > kept { "…" } else { "" };
            assert_eq!(tail.text(), format!("{cut}{}", &text[length - kept..]));
            tail.clear();
            assert_eq!(tail.text(), "");
        }
    }

    #[tokio::test]
    async fn whole_lines_are_heard_up_to_a_length() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&heard);
        let hear = Hear::new(move |line| keep.lock().unwrap().push(line.to_owned()));
        let (at, past) = ("x".repeat(MOST_HEARD_BYTES), "x".repeat(MOST_HEARD_BYTES + 1));
        let text = format!("a\n\n{at}\n{past}\nlast");
        Tail::heard_by(Some(hear)).fill(&mut text.as_bytes()).await;
        let long = format!("(a line of more than {MOST_HEARD_BYTES} bytes)");
        assert_eq!(*heard.lock().unwrap(), ["a", "", &at, &long, "last"]);
    }
}
