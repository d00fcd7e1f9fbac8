//! Reads a stream of events of bounded size.

use std::time::Duration;

/// The longest pause a server may ask for before it is asked again.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// Is an event.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// What it carries; empty for one that only sets an id.
    pub(crate) data: Vec<u8>,
}

/// Reads events out of pieces of any size.
#[derive(Debug)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    is_message: bool,
    after_return: bool,
    most: usize,
    /// The id of the last event, from which the stream can go on.
    pub(crate) last_id: Option<String>,
    /// How long the server wants to be left alone before it is asked again.
    pub(crate) retry: Option<Duration>,
}

/// Says that an event is larger than allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl SseReader {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            is_message: true,
            after_return: false,
            most,
            last_id: None,
            retry: None,
        }
    }

    /// Takes a piece of the stream, and gives the events that end in it.
    pub(crate) fn take(&mut self, mut piece: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(at) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = piece.split_at(at);
            self.grow(line)?;
            piece = if rest.starts_with(b"\r\n") {
                rest.get(2..).unwrap_or_default()
            } else {
                // The other half of this end may come with the next piece.
                self.after_return = rest == b"\r";
                rest.get(1..).unwrap_or_default()
            };
            let line = std::mem::take(&mut self.line);
            events.extend(self.ended(&line)?);
            // The memory of a usual line is used again.
            if line.capacity() < 64 << 10 {
                self.line = line;
                self.line.clear();
            }
        }
        self.grow(piece)?;
        Ok(events)
    }

    fn grow(&mut self, part: &[u8]) -> Result<(), TooLong> {
        // A comment may be of any length, since none of it is kept.
        if self.line.first().or(part.first()) == Some(&b':') {
            if self.line.is_empty() {
                self.line.push(b':');
            }
            return Ok(());
        }
        // Room for the name of the field.
        if self.line.len() + self.data.len() + part.len() > self.most.saturating_add(64) {
            return Err(TooLong);
        }
        self.line.extend_from_slice(part);
        Ok(())
    }

    fn ended(&mut self, line: &[u8]) -> Result<Option<SseEvent>, TooLong> {
        if line.is_empty() {
            let event = (self.has_data && self.is_message)
                .then(|| SseEvent { data: std::mem::take(&mut self.data) });
            self.data.clear();
            (self.has_data, self.is_message) = (false, true);
            return Ok(event);
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(0) => return Ok(None),
            Some(at) => {
                (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default())
            }
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() > self.most {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            // Only events that are messages carry any.
            b"event" => self.is_message = matches!(value, b"" | b"message"),
            b"id" if value.len() <= 1_024 && !value.contains(&0) => {
                self.last_id = std::str::from_utf8(value).ok().map(ToOwned::to_owned);
            }
            b"retry" => {
                let ms = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.retry = ms.map(Duration::from_millis).map(|time| time.min(LONGEST_RETRY));
            }
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, piece: usize) -> Vec<String> {
        let mut reader = SseReader::new(64);
        let mut all = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            all.extend(reader.take(piece).unwrap());
        }
        all.into_iter().map(|event| String::from_utf8(event.data).unwrap()).collect()
    }

    #[test]
    fn events_are_the_same_in_pieces_of_any_size_and_with_any_line_ends() {
        let text =
            ": hi\n\nid: 1\ndata: a\ndata:b\n\nevent: ping\ndata: no\n\ndata\n\ndata: c\n\nlost";
        for piece in 1..text.len() {
            for end in ["\n", "\r\n", "\r"] {
                let text = text.replace('\n', end);
                assert_eq!(events(&text, piece), ["a\nb", "", "c"], "{piece} {end:?}");
            }
        }
    }

    #[test]
    fn ids_and_pauses_are_kept() {
        let mut reader = SseReader::new(64);
        assert!(reader.take(b"id: e7\nretry: 10\n\nretry: 99999999\n").unwrap().is_empty());
        assert_eq!(reader.last_id.as_deref(), Some("e7"));
        assert_eq!(reader.retry, Some(LONGEST_RETRY));
    }

    #[test]
    fn an_event_may_be_as_large_as_allowed_and_no_larger() {
        let at = format!("data: {}\n\n", "x".repeat(64));
        assert_eq!(SseReader::new(64).take(at.as_bytes()).unwrap().len(), 1);
        let past = format!("data: {}\n\n", "x".repeat(65));
        assert_eq!(SseReader::new(64).take(past.as_bytes()), Err(TooLong));
        let mut reader = SseReader::new(64);
        let many = (0..1_000).try_for_each(|_| reader.take(b"data: 123456789\n").map(|_| ()));
        assert_eq!(many, Err(TooLong));
        let mut reader = SseReader::new(64);
        assert!((0..1_000).all(|_| reader.take(b": a comment is no event, however long").is_ok()));
    }
}
