//! A concrete input that tells two schemas apart.
//!
//! The two versions are walked side by side. Where they differ, values on the edges of what either
//! says are put into a small input that fits everywhere else, and both validators judge it. The
//! validators alone decide; how the inputs come about only decides how soon one is found.

mod judge;
mod search;

use serde_json::Value;

use super::samples::{Alike, Reach, Side, size};
use super::validator::Validator;
use super::{loops, pattern};
use judge::Judge;

/// Is an input that one schema accepts and the other refuses.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    /// The input.
    pub input: Value,
    /// Whether the old schema accepts it; the new one then refuses it. Otherwise the other way round.
    pub accepted_before: bool,
}

/// Bounds the work of looking for witnesses, for as many pairs of schemas as belong to one piece of
/// work. It is counted in steps: one for each input that is judged, and as many for compiling a schema
/// as inputs could be judged in that time. What comes first may use up to an eighth of what is left,
/// so that a few changes get full effort and three hundred still get some each.
#[derive(Clone, Debug)]
pub struct Budget {
    steps: u32,
    /// How large all witnesses together may still be, in values.
    room: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 36_000, room: 8 * Self::LARGEST }
    }
}

impl Budget {
    /// Is what one search needs to be of any use.
    const LEAST: u32 = 40;
    const MOST: u32 = 4_000;
    /// Is how large one witness can be.
    const LARGEST: usize = 16_000;
    /// Is what must be left for a search for large ones: they take long to make and to judge.
    const PLENTY: u32 = 16_000;

    /// Says how far the next search may go.
    fn reach(&self) -> Reach {
        let far = self.steps >= Self::PLENTY && self.room >= Self::LARGEST;
        if far { Reach::FAR } else { Reach::NEAR }
    }

    /// Takes what compiling both schemas costs, and what one search may use after that.
    fn share(&mut self, old: &Value, new: &Value) -> Option<u32> {
        let bytes = weight(old).saturating_add(weight(new));
        let cost = u32::try_from(bytes / BYTES_A_STEP).unwrap_or(u32::MAX);
        let rest = self.steps.checked_sub(cost)?;
        let share = (rest / 8).clamp(Self::LEAST, Self::MOST);
        self.steps = rest.checked_sub(share)?;
        Some(share)
    }
}

/// Is how many bytes of a schema compile in the time of one step.
const BYTES_A_STEP: usize = 10;

/// Estimates what compiling a schema costs, in bytes of plain schema.
fn weight(schema: &Value) -> usize {
    match schema {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight).fold(2, usize::saturating_add),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let patterns = match value {
                    Value::String(text) if key == "pattern" => pattern_weight(text),
                    Value::Object(map) if key == "patternProperties" => {
                        map.keys().map(|key| pattern_weight(key)).sum()
                    }
                    _ => 0,
                };
                (key.len() + 4).saturating_add(patterns).saturating_add(weight(value))
            })
            .fold(2, usize::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
    }
}

fn pattern_weight(text: &str) -> usize {
    const USUAL: usize = 600;
    const HEAVY: usize = 100_000;
    // Only what is counted or named by a property can be larger than it looks.
    let suspect = text.contains('{') || text.contains('\\') || text.len() > 200;
    match suspect.then(|| pattern::judge(text)) {
        Some(pattern::Verdict::Heavy(_)) => HEAVY,
        _ => USUAL,
    }
}

/// Looks for a witness. What it gives back was verified by running both validators; finding none
/// does not mean that the schemas accept the same.
#[must_use]
pub fn find(old: &Value, new: &Value) -> Option<Witness> {
    find_within(old, new, &mut Budget::default())
}

/// Looks for a witness with what is left of a budget.
#[must_use]
pub fn find_within(old: &Value, new: &Value, budget: &mut Budget) -> Option<Witness> {
    if old == new || budget.steps < Budget::LEAST {
        return None;
    }
    let reach = budget.reach();
    let (before, after) = (Side::new(old, reach), Side::new(new, reach));
    let mut alike = Alike::new(&before, &after);
    if alike.compare(old, new) {
        return None;
    }
    let share = budget.share(old, new)?;
    let (old_visits, old_validator) = compiled(&before)?;
    let (new_visits, new_validator) = compiled(&after)?;
    let price = u32::try_from((old_visits + new_visits) / 64).unwrap_or(u32::MAX).max(1);
    let mut judge = Judge::new(old_validator, new_validator, share, price);
    search::run((&before, &after), &mut alike, &mut judge);
    let (found, rest) = judge.conclude();
    budget.steps = budget.steps.saturating_add(rest);
    let taken = found.as_ref().map_or(0, |witness| size(&witness.input));
    budget.room = budget.room.saturating_sub(taken);
    found
}

fn compiled(side: &Side<'_>) -> Option<(u64, Validator)> {
    let allowance = loops::find_with(side.root, &side.refs).ok()?;
    Some((allowance.visits, Validator::built(side.root, allowance).ok()?))
}
