//! What is said of two lists of named things: which were renamed, removed and added, and in which
//! order they stand.

use remit_model::text;

use super::Changes;
use super::compare;
use super::matching::{Item, Matched};
use super::rules::ChangeRule;

/// Is the rule that something changed under, and the sentence for it.
type Told = (&'static ChangeRule, String);

/// Says how the things of a list are spoken of.
pub(super) struct Listing<'s> {
    /// What one of them is; more of them have an `s` at the end.
    pub(super) what: &'s str,
    /// Where the list stands in the new version; a map has no order to speak of.
    pub(super) ordered_at: Option<&'s str>,
    pub(super) renamed: &'static ChangeRule,
    pub(super) removed: &'s dyn Fn(&Item<'_>) -> Told,
    pub(super) added: &'s dyn Fn(&Item<'_>) -> Told,
}

impl Listing<'_> {
    /// Reports what is not the same list, but nothing about what is in both versions.
    pub(super) fn report(&self, matched: &Matched<'_>, changes: &mut Changes) {
        for (old, new) in &matched.renamed {
            let (old_name, new_name) = (text::quoted(old.key), text::quoted(new.key));
            let message = format!("the {} {old_name} is now called {new_name}", self.what);
            let (before, after) = (old.key.into(), new.key.into());
            let pointer = new.pointer.clone();
            compare::changed(self.renamed, pointer, message, before, after, changes);
        }
        for item in &matched.removed {
            let (rule, message) = (self.removed)(item);
            compare::removed(rule, item, message, changes);
        }
        for item in &matched.added {
            let (rule, message) = (self.added)(item);
            compare::added(rule, item, message, changes);
        }
        if let Some(base) = self.ordered_at.filter(|_| matched.reordered) {
            compare::reordered(base, &format!("the {}s", self.what), changes);
        }
    }
}
