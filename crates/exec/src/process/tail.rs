//! Keeps the last part of what a process says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Is how much is kept.
pub(super) const MOST_TAIL_BYTES: usize = 4 << 10;

/// Is the last part of a stream, shared with whoever reads the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Reads a stream to its end and keeps the last part.
    pub(super) async fn fill(&self, source: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = vec![0; MOST_TAIL_BYTES];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(chunk.iter().take(count));
            let over = kept.len().saturating_sub(MOST_TAIL_BYTES);
            kept.drain(..over);
        }
    }

    /// Gives what is kept, as text.
    pub(super) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).trim().to_owned()
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
            assert_eq!(tail.text(), text[length - kept..]);
        }
    }
}
