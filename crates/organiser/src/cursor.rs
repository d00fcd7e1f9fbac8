//! Cursors: where the next page begins, in a form that callers hand back unread.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;

/// Writes a place.
pub(crate) fn write<T: Serialize>(place: &T) -> String {
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(place).unwrap_or_default())
}

/// Reads a place.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    URL_SAFE_NO_PAD
        .decode(text)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .ok_or_else(|| {
            Failure::input(
                "/cursor",
                "this is no cursor; hand back `nextCursor` as it was, or leave it out",
            )
        })
}
