//! Reads lines of bounded length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Is what the buffer starts with and goes back to after a long line.
const USUAL: usize = 16 << 10;

/// Is a source of lines that keeps no more of them than it must.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the next line starts.
    start: usize,
    most: usize,
}

/// Says why there is no line.
#[derive(Debug)]
pub(crate) enum NoLine {
    /// The source has ended.
    End,
    /// The line is longer than allowed; the rest of it was not read.
    TooLong,
    /// The source cannot be read.
    Broken(io::Error),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(source: R, most: usize) -> Self {
        Self { source, buffer: Vec::with_capacity(USUAL), start: 0, most }
    }

    /// Gives the next line, without its end. May be dropped and asked again at any time.
    pub(crate) async fn next(&mut self) -> Result<&[u8], NoLine> {
        let mut seen = self.start;
        loop {
            let unseen = self.buffer.get(seen..).unwrap_or_default();
            if let Some(at) = unseen.iter().position(|byte| *byte == b'\n') {
                let line = self.start..seen + at;
                if line.len() > self.most {
                    return Err(NoLine::TooLong);
                }
                self.start = line.end + 1;
                return Ok(self.buffer.get(line).unwrap_or_default());
            }
            // What was given out is only moved away when there is something to read.
            self.forget();
            seen = self.buffer.len();
            if seen > self.most {
                return Err(NoLine::TooLong);
            }
            if self.buffer.capacity() == seen {
                self.buffer.reserve(seen.min(self.most).max(USUAL));
            }
            match self.source.read_buf(&mut self.buffer).await {
                Ok(0) => return Err(NoLine::End),
                Ok(_) => {}
                Err(error) => return Err(NoLine::Broken(error)),
            }
        }
    }

    /// Drops what was given out, and the memory that a long line took.
    fn forget(&mut self) {
        if self.start == 0 {
            return;
        }
        self.buffer.drain(..self.start);
        self.start = 0;
        if self.buffer.capacity() > 8 * USUAL && self.buffer.len() < USUAL {
            self.buffer.shrink_to(USUAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(text: &[u8], most: usize) -> Vec<String> {
        let mut lines = Lines::new(text, most);
        let mut got = Vec::new();
        loop {
            match lines.next().await {
                Ok(line) => got.push(String::from_utf8_lossy(line).into_owned()),
                Err(why) => {
                    got.push(format!("{why:?}"));
                    return got;
                }
            }
        }
    }

    #[tokio::test]
    async fn lines_are_given_one_by_one() {
        assert_eq!(read(b"one\n\nthree\nlost", 5).await, ["one", "", "three", "End"]);
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_allowed_and_no_longer() {
        for most in [3, USUAL, 3 * USUAL] {
            let line = "x".repeat(most);
            assert_eq!(read(format!("{line}\nab\n").as_bytes(), most).await, [&line, "ab", "End"]);
            assert_eq!(read(format!("{line}x\nab\n").as_bytes(), most).await, ["TooLong"]);
            assert_eq!(read(format!("{line}x").as_bytes(), most).await, ["TooLong"]);
        }
    }

    #[tokio::test]
    async fn an_endless_line_costs_no_more_memory_than_allowed() {
        let mut lines = Lines::new(tokio::io::repeat(b'x'), 100_000);
        assert!(matches!(lines.next().await, Err(NoLine::TooLong)));
        assert!(lines.buffer.capacity() < 300_000, "{}", lines.buffer.capacity());
    }

    #[tokio::test]
    async fn a_long_line_is_forgotten() {
        let text = format!("{}\nshort\nx\n", "x".repeat(500_000));
        let mut lines = Lines::new(text.as_bytes(), 500_000);
        assert_eq!(lines.next().await.unwrap().len(), 500_000);
        lines.next().await.unwrap();
        lines.next().await.unwrap();
        assert!(matches!(lines.next().await, Err(NoLine::End)));
        assert!(lines.buffer.capacity() <= 8 * USUAL, "{}", lines.buffer.capacity());
    }
}
