//! Keeps the last part of what a process writes to standard error, for messages about it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use remit_engine::redact::Redactor;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Stands before what is kept where more came before it.
const CUT: char = '…';

/// Is the last part of a stream, shared with whoever reads the stream.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    kept: Arc<Mutex<Kept>>,
    redactor: Redactor,
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    cut: bool,
}

impl Tail {
    pub(crate) fn new(most: usize, redactor: Redactor) -> Self {
        Self { kept: Arc::default(), redactor, most }
    }

    /// Reads a stream to its end and keeps the last part.
    pub(crate) async fn fill(&self, source: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = vec![0; 4 << 10];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            self.keep(chunk.get(..count).unwrap_or_default());
        }
    }

    /// Keeps a piece. Twice as much is held as is shown, so that no half of a secret that was cut in
    /// two is in what is shown.
    pub(crate) fn keep(&self, read: &[u8]) {
        let mut kept = self.lock();
        kept.bytes.extend(read);
        let over = kept.bytes.len().saturating_sub(2 * self.most);
        kept.bytes.drain(..over);
        kept.cut |= over > 0;
    }

    /// Gives what is kept, as text without secrets; where more came before it, that shows.
    pub(crate) fn text(&self) -> String {
        let mut kept = self.lock();
        let mut cut = kept.cut;
        let mut bytes: &[u8] = kept.bytes.make_contiguous();
        if cut {
            // What stands first may be the rest of a secret.
            let line = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(self.most);
            bytes = bytes.get(line..).unwrap_or_default();
        }
        let whole = String::from_utf8_lossy(bytes).into_owned();
        drop(kept);
        let whole = self.redactor.text(whole.trim());
        let over = whole.len().saturating_sub(self.most);
        let start = (over..=whole.len()).find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
        cut |= start > 0;
        let shown = whole.get(start..).unwrap_or_default();
        if cut { format!("{CUT}{shown}") } else { shown.to_owned() }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_last_part_is_kept() {
        for (length, kept) in [(10, 10), (100, 100), (101, 100), (1_000, 100)] {
            let text: String = ('a'..='z').cycle().take(length).collect();
            let tail = Tail::new(100, Redactor::default());
            tail.fill(&mut text.as_bytes()).await;
            let cut = if length > kept { "…" } else { "" };
            assert_eq!(tail.text(), format!("{cut}{}", &text[length - kept..]));
        }
    }

    #[tokio::test]
    async fn a_secret_is_not_kept_in_halves() {
        let tail = Tail::new(40, Redactor::new(["hunter2-hunter2".to_owned()]));
        for _ in 0..20 {
            tail.keep(b"token hunter2-hunter2\n");
            let said = tail.text();
            assert!(!said.contains("hunter2") && said.contains("token"), "{said}");
        }
    }
}
