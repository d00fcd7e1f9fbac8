//! Numbers on and beside the bounds of a schema.

use serde_json::{Number, Value};

use super::{Facts, Values};

/// Is the largest whole number that a manifest may hold.
const LARGEST: f64 = 9_007_199_254_740_991.0;

/// Makes a JSON number, whole where it can be.
pub(super) fn json(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() <= LARGEST {
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        return Some(Value::from(number as i64));
    }
    Number::from_f64(number).map(Value::Number)
}

/// Is the part of the facts that is about numbers.
struct Bounds {
    least: f64,
    most: f64,
    above: f64,
    below: f64,
    steps: Vec<f64>,
    whole: bool,
}

impl Bounds {
    fn new(facts: &Facts<'_>, whole: bool) -> Self {
        Self {
            least: facts.numbers("minimum").fold(f64::NEG_INFINITY, f64::max),
            most: facts.numbers("maximum").fold(f64::INFINITY, f64::min),
            above: facts.numbers("exclusiveMinimum").fold(f64::NEG_INFINITY, f64::max),
            below: facts.numbers("exclusiveMaximum").fold(f64::INFINITY, f64::min),
            steps: facts.numbers("multipleOf").filter(|step| *step > 0.0).collect(),
            whole,
        }
    }

    fn fit(&self, number: f64) -> bool {
        number >= self.least
            && number <= self.most
            && number > self.above
            && number < self.below
            && (!self.whole || number.fract() == 0.0)
            && self.steps.iter().all(|step| is_multiple(number, *step))
    }

    fn low(&self) -> f64 {
        self.least.max(self.above)
    }

    fn high(&self) -> f64 {
        self.most.min(self.below)
    }
}

fn is_multiple(number: f64, step: f64) -> bool {
    let times = number / step;
    (times - times.round()).abs() < 1e-9 * times.abs().max(1.0)
}

/// Gives a number that a schema accepts, if that is easy.
pub(super) fn sample(facts: &Facts<'_>, whole: bool) -> Value {
    let bounds = Bounds::new(facts, whole);
    let (low, high) = (bounds.low(), bounds.high());
    let mut tries = vec![1.0, 0.0, low, high, low + 1.0, high - 1.0, low.ceil(), high.floor()];
    tries.push(low.midpoint(high));
    for step in &bounds.steps {
        let first = (low.max(-LARGEST) / step).ceil() * step;
        let last = (high.min(LARGEST) / step).floor() * step;
        tries.extend([*step, first, first + step, last, last - step]);
    }
    let found = tries.iter().copied().filter(|n| n.is_finite()).find(|n| bounds.fit(*n));
    found.and_then(json).unwrap_or_else(|| Value::from(1))
}

/// Gives the numbers on and beside the bounds of two versions.
pub(super) fn edges(old: &Facts<'_>, new: &Facts<'_>, values: &mut Values) {
    let mut numbers = Vec::new();
    let keywords = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    for bound in keywords.iter().flat_map(|k| old.numbers(k).chain(new.numbers(k))).take(24) {
        numbers.extend([bound, bound - 1.0, bound + 1.0, bound - 0.5, bound + 0.5]);
    }
    for facts in [old, new] {
        let bounds = Bounds::new(facts, false);
        for step in bounds.steps.iter().take(4) {
            // A multiple for every small factor, so that one is no multiple of the other step.
            let start = (bounds.low().max(0.0) / step).ceil();
            numbers.extend([1.0, 2.0, 3.0, 5.0, 7.0].map(|times| (start + times) * step));
            numbers.extend([start * step, step / 2.0, step + 1.0]);
        }
        let (low, high) = (bounds.low(), bounds.high());
        numbers.extend([low.midpoint(high), low.midpoint(high).floor()]);
    }
    numbers.extend([0.0, 1.0, -1.0, 1.5]);
    numbers.retain(|number| number.is_finite());
    // Each once, in the order found.
    let mut seen = std::collections::HashSet::new();
    numbers.retain(|number| seen.insert((number + 0.0).to_bits()));
    values.extend(numbers.into_iter().filter_map(json));
}
