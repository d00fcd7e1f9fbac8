//! Long lines: folded when written, unfolded when read (RFC 5545 §3.1).

use crate::limits::IMPORT_LINE_BYTES;

/// Is a line with the number of its first piece in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raw {
    pub number: usize,
    pub text: String,
    /// Whether it was longer than a line may be, and is cut off.
    pub cut: bool,
}

/// Puts the lines of a file together. A fold may fall inside a character, so this works on bytes.
pub(super) fn unfold(bytes: &[u8]) -> Vec<Raw> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut lines: Vec<(usize, Vec<u8>, bool)> = Vec::new();
    for (at, piece) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let piece = piece.strip_suffix(b"\r").unwrap_or(piece);
        match (piece.first(), lines.last_mut()) {
            (Some(b' ' | b'\t'), Some((_, line, cut))) => {
                let rest = piece.get(1..).unwrap_or_default();
                if line.len() + rest.len() > IMPORT_LINE_BYTES {
                    *cut = true;
                } else {
                    line.extend_from_slice(rest);
                }
            }
            (None, _) => {}
            _ => {
                let kept = piece.get(..IMPORT_LINE_BYTES).unwrap_or(piece);
                lines.push((at + 1, kept.to_vec(), kept.len() < piece.len()));
            }
        }
    }
    lines
        .into_iter()
        .map(|(number, line, cut)| Raw {
            number,
            text: String::from_utf8_lossy(&line).into_owned(),
            cut,
        })
        .collect()
}

/// Writes a line in pieces of at most 75 bytes, never inside a character.
pub(super) fn fold(line: &str, out: &mut String) {
    let mut room = 75;
    for c in line.chars() {
        if c.len_utf8() > room {
            out.push_str("\r\n ");
            room = 74;
        }
        room -= c.len_utf8();
        out.push(c);
    }
    out.push_str("\r\n");
}
