//! Both validators, and what they have said so far.

use serde_json::Value;

use super::Witness;
use crate::schema::samples::size;
use crate::schema::validator::Validator;

/// Is how many checks go into making a witness smaller.
const SHRINKING: u32 = 80;

/// Is what is spent at most after the likeliest inputs did not help: there may be no witness at all.
const UNLIKELY: u32 = 400;

/// Judges inputs by both versions, as long as there is something left to spend.
pub(super) struct Judge {
    old: Validator,
    new: Validator,
    left: u32,
    aside: u32,
    /// What one check of a small input costs.
    price: u32,
    /// An input that was refused before and is accepted now: good enough if there is no other.
    second_best: Option<Value>,
    best: Option<Value>,
}

/// Is what both versions say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) old: bool,
    pub(super) new: bool,
}

impl Judge {
    /// Prepares to judge.
    pub(super) fn new(old: Validator, new: Validator, left: u32, price: u32) -> Self {
        Self { old, new, left, aside: 0, price, second_best: None, best: None }
    }

    /// Tells whether more need not or cannot be tried.
    pub(super) fn done(&self) -> bool {
        self.best.is_some() || self.left == 0
    }

    /// Tells whether there is enough left to try what is less likely to help, and sets the rest
    /// aside.
    pub(super) fn is_generous(&mut self) -> bool {
        let more = self.left.saturating_sub(UNLIKELY);
        self.aside += more;
        self.left -= more;
        more > 0
    }

    /// Pays for making inputs.
    pub(super) fn spend(&mut self, made: usize) {
        self.left = self.left.saturating_sub(u32::try_from(made).unwrap_or(u32::MAX));
    }

    /// Tells whether there is a witness of either kind.
    pub(super) fn found(&self) -> bool {
        self.best.is_some() || self.second_best.is_some()
    }

    /// Judges an input and keeps it if it is a witness.
    pub(super) fn judge(&mut self, input: &Value) -> Verdict {
        if self.done() {
            return Verdict { old: false, new: false };
        }
        self.left = self.left.saturating_sub(self.price.saturating_mul(effort(input)));
        let verdict = self.verdict(input);
        match verdict {
            Verdict { old: true, new: false } => self.best = Some(input.clone()),
            Verdict { old: false, new: true } if self.second_best.is_none() => {
                self.second_best = Some(input.clone());
            }
            _ => {}
        }
        verdict
    }

    fn verdict(&self, input: &Value) -> Verdict {
        Verdict { old: self.old.is_valid(input), new: self.new.is_valid(input) }
    }

    /// Gives the best witness found, made small, and what was not spent.
    pub(super) fn conclude(self) -> (Option<Witness>, u32) {
        let accepted_before = self.best.is_some();
        let wanted = Verdict { old: accepted_before, new: !accepted_before };
        let found = self.best.as_ref().or(self.second_best.as_ref());
        let witness = found.map(|input| {
            let mut shrink = Shrink { judge: &self, wanted, left: SHRINKING };
            Witness { input: shrink.run(input.clone()), accepted_before }
        });
        (witness, self.left + self.aside)
    }
}

/// Is how many checks of a small input take as long as one of this.
fn effort(input: &Value) -> u32 {
    u32::try_from(size(input) / 32).unwrap_or(u32::MAX).saturating_add(1)
}

/// Leaves out of a witness what it does not need.
struct Shrink<'j> {
    judge: &'j Judge,
    wanted: Verdict,
    left: u32,
}

impl Shrink<'_> {
    fn run(&mut self, mut input: Value) -> Value {
        let mut pointers = Vec::new();
        list_parts(&input, &mut String::new(), &mut pointers);
        // The last first, so that leaving out an element does not move those still to come.
        for pointer in pointers.iter().rev() {
            if self.left == 0 {
                break;
            }
            // A large input is mostly what makes it large; it is worth a try or two for each part.
            self.left = self.left.saturating_sub(effort(&input).div_ceil(16));
            let mut smaller = input.clone();
            if remove(&mut smaller, pointer) && self.judge.verdict(&smaller) == self.wanted {
                input = smaller;
            }
        }
        input
    }
}

/// Lists what could be left out. A long array is long because it has to be.
fn list_parts(value: &Value, pointer: &mut String, pointers: &mut Vec<String>) {
    const MOST: usize = 400;
    const LONG: usize = 16;
    let start = pointer.len();
    let mut below = |pointer: &mut String, part: &Value| {
        if pointers.len() < MOST {
            pointers.push(pointer.clone());
            list_parts(part, pointer, pointers);
        }
        pointer.truncate(start);
    };
    match value {
        Value::Array(items) if items.len() <= LONG => {
            for (index, part) in items.iter().enumerate() {
                remit_model::pointer::push_index(pointer, index);
                below(pointer, part);
            }
        }
        Value::Object(members) => {
            for (key, part) in members {
                remit_model::pointer::push_key(pointer, key);
                below(pointer, part);
            }
        }
        _ => {}
    }
}

fn remove(value: &mut Value, pointer: &str) -> bool {
    let Some((outer, last)) = pointer.rsplit_once('/') else { return false };
    match value.pointer_mut(outer) {
        Some(Value::Array(items)) => match last.parse::<usize>() {
            Ok(index) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        },
        Some(Value::Object(members)) => {
            members.remove(&last.replace("~1", "/").replace("~0", "~")).is_some()
        }
        _ => false,
    }
}
