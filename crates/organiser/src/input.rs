//! Looks into an input that its schema has let through.

use serde_json::Value;

/// Is an input object.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(pub &'a Value);

impl<'a> Input<'a> {
    /// Gives a text, if there is one.
    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    /// Gives a whole number, if there is one.
    pub(crate) fn number(self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// Gives a list; empty if there is none.
    pub(crate) fn list(self, name: &str) -> &'a [Value] {
        self.0.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Tells whether a field is there, be it null.
    pub(crate) fn has(self, name: &str) -> bool {
        self.0.get(name).is_some()
    }

    /// Gives a text or null: what a field that can be taken away is to become.
    pub(crate) fn change(self, name: &str) -> Option<Option<String>> {
        self.has(name).then(|| self.text(name).map(str::to_owned))
    }
}
