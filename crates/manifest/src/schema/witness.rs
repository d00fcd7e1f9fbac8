//! A concrete input that tells two schemas apart.
//!
//! The two versions are walked side by side. Where they differ, values on the edges of what either
//! says are put into a small input that fits everywhere else, and both validators judge it. The
//! validators alone decide; how the inputs come about only decides how soon one is found.

mod judge;
mod search;

use serde_json::Value;

use super::samples::{Alike, Side};
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
/// work. What comes first may use up to a quarter of what is left, so that a few changes get full
/// effort and three hundred still get some each.
#[derive(Clone, Debug)]
pub struct Budget {
    checks: u32,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { checks: 16_000, bytes: 400_000 }
    }
}

impl Budget {
    /// Is what one search gets even when nothing is left of what all share.
    const LEAST: u32 = 40;
    const MOST: u32 = 4_000;

    /// Takes what one search may use.
    fn share(&mut self) -> u32 {
        let share = (self.checks / 4).clamp(Self::LEAST, Self::MOST);
        self.checks = self.checks.saturating_sub(share);
        share
    }

    fn give_back(&mut self, checks: u32) {
        self.checks = self.checks.saturating_add(checks);
    }

    /// Pays for compiling a schema, or says that there is no more.
    fn pay(&mut self, schema: &Value) -> bool {
        match self.bytes.checked_sub(weight(schema)) {
            Some(rest) => {
                self.bytes = rest;
                true
            }
            None => false,
        }
    }
}

/// Estimates what compiling a schema costs, in bytes of plain schema.
fn weight(schema: &Value) -> usize {
    const PATTERN: usize = 600;
    const HEAVY: usize = 100_000;
    let of_pattern = |text: &str| match pattern::judge(text) {
        pattern::Verdict::Good | pattern::Verdict::Bad(_) => PATTERN,
        pattern::Verdict::Heavy(_) => HEAVY,
    };
    match schema {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(weight).fold(2, usize::saturating_add),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let pattern = match value {
                    Value::String(text) if key == "pattern" => of_pattern(text),
                    Value::Object(map) if key == "patternProperties" => {
                        map.keys().map(|key| of_pattern(key)).sum()
                    }
                    _ => 0,
                };
                key.len() + 4 + pattern + weight(value)
            })
            .fold(2, usize::saturating_add),
        Value::Null | Value::Bool(_) | Value::Number(_) => 4,
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
    let (before, after) = (Side::new(old), Side::new(new));
    if old == new || Alike::new(&before, &after).schemas(old, new) {
        return None;
    }
    if !budget.pay(old) || !budget.pay(new) {
        return None;
    }
    let (old_visits, old_validator) = compiled(old)?;
    let (new_visits, new_validator) = compiled(new)?;
    let share = budget.share();
    let price = u32::try_from((old_visits + new_visits) / 64).unwrap_or(u32::MAX).max(1);
    let mut judge = Judge::new(old_validator, new_validator, share, price);
    search::run(&before, &after, &mut judge);
    let (found, rest) = judge.conclude();
    budget.give_back(rest);
    found
}

fn compiled(schema: &Value) -> Option<(u64, Validator)> {
    let allowance = loops::find(schema).ok()?;
    Some((allowance.visits, Validator::built(schema, allowance).ok()?))
}
