//! Bytes into text, whatever their charset is and whatever somebody said it is.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Is how many bytes of a page are searched for a charset; the HTML standard says so.
const PRESCAN_BYTES: usize = 1024;

/// Is how many bytes a guess is made from.
const GUESS_BYTES: usize = 64 << 10;

/// Is a decoded text.
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// Is the charset it was decoded from.
    pub(crate) charset: &'static str,
    /// Tells whether some bytes were no text in that charset.
    pub(crate) broken: bool,
}

/// Gives the charset a label names, such as `utf8`, `gbk` or `latin1`.
pub(crate) fn by_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label(label.trim().as_bytes())
}

/// Decodes bytes of a known charset; a byte order mark at the start knows better.
pub(crate) fn decode(bytes: &[u8], charset: &'static Encoding) -> Decoded {
    let (text, charset, broken) = charset.decode(bytes);
    Decoded { text: text.into_owned(), charset: charset.name(), broken }
}

/// Guesses the charset of text that is not UTF-8.
pub(crate) fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes.get(..GUESS_BYTES).unwrap_or(bytes), true);
    detector.guess(None, Utf8Detection::Deny)
}

/// Decodes a page: by its mark, its header, its own declaration, or the look of it.
pub(crate) fn decode_page(bytes: &[u8], header: Option<&str>) -> Decoded {
    let utf8 = std::str::from_utf8(bytes).map_or_else(|e| e.error_len().is_none(), |_| true);
    let declared = header.and_then(by_label).or_else(|| declared_inside(bytes));
    let charset = match declared {
        // Servers say one of these without looking; the bytes know better.
        Some(said) if said == UTF_8 || said == WINDOWS_1252 => match (utf8, said == UTF_8) {
            (true, _) => UTF_8,
            (false, true) => guess(bytes),
            (false, false) => said,
        },
        Some(said) => said,
        None if utf8 => UTF_8,
        None => guess(bytes),
    };
    decode(bytes, charset)
}

/// Finds `charset=…` in the beginning of a page, in a `meta` element or an XML declaration.
fn declared_inside(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    ["charset", "encoding"].iter().find_map(|word| {
        start.match_indices(word).find_map(|(at, _)| {
            let rest = start.get(at + word.len()..)?.trim_start().strip_prefix('=')?;
            let label = rest.trim_start().trim_start_matches(['"', '\'']);
            let end = label.find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c));
            by_label(label.get(..end.unwrap_or(label.len()))?)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{GBK, SHIFT_JIS};

    fn page(bytes: &[u8], header: Option<&str>) -> (String, &'static str) {
        let decoded = decode_page(bytes, header);
        (decoded.text, decoded.charset)
    }

    #[test]
    fn the_header_the_page_and_the_mark_are_believed() {
        let gbk = GBK.encode("中文网页").0.into_owned();
        assert_eq!(page(&gbk, Some("gb2312")), ("中文网页".to_owned(), "GBK"));
        let text = "<meta charset='Shift_JIS'>日本";
        let own = SHIFT_JIS.encode(text).0.into_owned();
        assert_eq!(page(&own, None), (text.to_owned(), "Shift_JIS"));
        let marked = b"\xff\xfeh\0i\0";
        assert_eq!(page(marked, Some("utf-8")), ("hi".to_owned(), "UTF-16LE"));
        let xml = b"<?xml version=\"1.0\" encoding=\"windows-1251\"?>\xcf\xf0";
        assert_eq!(page(xml, None).1, "windows-1251");
    }

    #[test]
    fn a_wrong_header_is_not() {
        assert_eq!(page("naïve café".as_bytes(), Some("iso-8859-1")).0, "naïve café");
        let text = "这是一个很长的中文句子,用来让检测器有足够的字节可以判断编码。";
        let gbk = GBK.encode(text).0.into_owned();
        assert_eq!(page(&gbk, Some("utf-8")), (text.to_owned(), "GBK"));
        assert_eq!(page(&gbk, Some("no-such-charset")), (text.to_owned(), "GBK"));
    }

    #[test]
    fn a_character_cut_in_two_does_not_make_it_another_charset() {
        let cut = &"中文".as_bytes()[..5];
        assert_eq!(page(cut, None).1, "UTF-8");
    }
}
