//! The walk through both versions, and the inputs it makes.

use std::collections::{BTreeSet, HashSet, VecDeque};

use serde_json::{Map, Value};

use super::judge::{Judge, Verdict};
use crate::schema::loops::address;
use crate::schema::samples::{
    Alike, Facts, Group, Groups, Pick, Side, Size, Types, UNKNOWN, Variation, size,
};

/// Is how deep the walk goes.
const DEEPEST: usize = 8;

/// Is how many places may be waiting to be looked at.
const MOST_AHEAD: usize = 500;

/// Is how many combinations of alternatives are looked at in one place.
const MOST_COMBINATIONS: usize = 64;

/// Says which version the inputs are made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lead {
    Old,
    New,
}

/// Tries inputs until there is a witness or nothing left to try.
pub(super) fn run<'c, 's>(
    (old, new): (&'c Side<'s>, &'c Side<'s>),
    alike: &mut Alike<'c, 's>,
    judge: &mut Judge,
) {
    // First only what the versions say differently; if that tells nothing, whatever is there.
    for focused in [true, false] {
        if !focused && !judge.is_generous() {
            return;
        }
        for lead in [Lead::Old, Lead::New] {
            let (seen, ahead) = (HashSet::new(), VecDeque::new());
            let mut walk = Walk { old, new, alike, judge, lead, focused, seen, ahead };
            let spot = Spot { own: vec![walk.lead().root], other: vec![walk.follow().root] };
            walk.ahead.push_back((spot, Holder::default()));
            // What is near the top makes the smaller input.
            while let Some((spot, holder)) = walk.ahead.pop_front() {
                walk.explore(&spot, &holder);
            }
            // Inputs made to fit the old version are the ones that could have been refused since.
            if judge.found() {
                return;
            }
        }
    }
}

/// Is one place: the schemas of the leading version for it, and those of the other.
struct Spot<'s> {
    own: Vec<&'s Value>,
    other: Vec<&'s Value>,
}

/// Is an input with a place in it where other values can be put.
#[derive(Clone, Debug, Default)]
struct Holder {
    root: Value,
    path: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

impl Holder {
    /// Gives the input with this value in the place.
    fn with(&self, value: Value) -> Value {
        let mut root = self.root.clone();
        let mut place = Some(&mut root);
        for step in &self.path {
            place = place.and_then(|place| match step {
                Step::Key(key) => place.get_mut(key),
                Step::Index(index) => place.get_mut(index),
            });
        }
        if let Some(place) = place {
            *place = value;
        }
        root
    }

    /// Goes on to a part of this value, put in the place.
    fn below(&self, value: Value, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self { root: self.with(value), path }
    }
}

struct Walk<'w, 'c, 's> {
    old: &'c Side<'s>,
    new: &'c Side<'s>,
    alike: &'w mut Alike<'c, 's>,
    judge: &'w mut Judge,
    lead: Lead,
    focused: bool,
    /// The places already looked at; a recursive schema comes by again.
    seen: HashSet<Vec<usize>>,
    /// The places still to look at.
    ahead: VecDeque<(Spot<'s>, Holder)>,
}

/// Is what both versions say about a place with the same alternatives chosen.
struct View<'f, 's> {
    own: &'f Facts<'s>,
    other: &'f Facts<'s>,
    wide_own: &'f Facts<'s>,
    wide_other: &'f Facts<'s>,
    /// Whether the alternatives of one version are those of the other.
    aligned: bool,
}

impl<'c, 's> Walk<'_, 'c, 's> {
    fn lead(&self) -> &'c Side<'s> {
        match self.lead {
            Lead::Old => self.old,
            Lead::New => self.new,
        }
    }

    fn follow(&self) -> &'c Side<'s> {
        match self.lead {
            Lead::Old => self.new,
            Lead::New => self.old,
        }
    }

    fn alike(&mut self, spot: &Spot<'s>) -> bool {
        match self.lead {
            Lead::Old => self.alike.lists(&spot.own, &spot.other),
            Lead::New => self.alike.lists(&spot.other, &spot.own),
        }
    }

    /// Looks at a place, with each combination of alternatives that there is.
    fn explore(&mut self, spot: &Spot<'s>, holder: &Holder) {
        let key = spot.own.iter().chain(&spot.other).map(|schema| address(schema)).collect();
        if self.judge.done() || !self.seen.insert(key) {
            return;
        }
        let (mut own_pick, mut other_pick) = (Pick::every(), Pick::every());
        let wide_own = self.lead().facts(&spot.own, &mut own_pick);
        let wide_other = self.follow().facts(&spot.other, &mut other_pick);
        let combinations = own_pick.combinations.min(MOST_COMBINATIONS);
        let aligned = own_pick.combinations == other_pick.combinations;
        let mut tried: HashSet<Vec<usize>> = HashSet::new();
        for number in 0..combinations {
            if self.judge.done() {
                return;
            }
            let own = self.lead().facts(&spot.own, &mut Pick::nth(number));
            if !tried.insert(own.identity()) {
                continue;
            }
            let chosen;
            let other = if aligned {
                chosen = self.follow().facts(&spot.other, &mut Pick::nth(number));
                &chosen
            } else {
                &wide_other
            };
            let (own, wide_own, wide_other) = (&own, &wide_own, &wide_other);
            let view = View { own, other, wide_own, wide_other, aligned };
            // With several combinations, those that say the same are not where the change is.
            if self.focused && combinations > 1 && aligned && self.says_the_same(&view) {
                continue;
            }
            self.visit(&view, holder);
        }
    }

    fn says_the_same(&mut self, view: &View<'_, 's>) -> bool {
        Groups::differing(view.own, view.other) == Groups::default()
            && self.parts(view).iter().all(|part| self.alike(&part.spot))
    }

    /// Tries values in a place, and puts its parts on the list.
    fn visit(&mut self, view: &View<'_, 's>, holder: &Holder) {
        let small = self.lead().sample(view.own, Size::Small);
        let mut base = None;
        self.attempt(small.clone(), holder, &mut base);
        self.attempt(self.lead().sample(view.own, Size::Full), holder, &mut base);
        let groups = if self.focused {
            let here = Groups::differing(view.own, view.other);
            match view.aligned {
                true => here,
                false => here.or(Groups::differing(view.wide_own, view.wide_other)),
            }
        } else {
            Groups::ALL
        };
        let variation = Variation {
            lead: self.lead(),
            follow: self.follow(),
            own: view.own,
            other: view.other,
            wide_own: view.wide_own,
            wide_other: view.wide_other,
        };
        for group in groups.each() {
            let values = variation.values(group, base.as_ref().unwrap_or(&small));
            // Strings are made from patterns, which takes as long as judging them.
            let dear = if group == Group::Strings { 1 } else { 4 };
            self.judge.spend(values.len() / dear);
            for value in values {
                if self.judge.done() {
                    return;
                }
                self.attempt(value, holder, &mut base);
            }
        }
        if holder.path.len() >= DEEPEST || self.judge.done() {
            return;
        }
        let base = base.unwrap_or(small);
        let dear = size(&base).saturating_add(size(&holder.root)) / 64;
        for part in self.parts(view) {
            if self.ahead.len() >= MOST_AHEAD || self.judge.done() {
                return;
            }
            if self.focused && self.alike(&part.spot) {
                continue;
            }
            // Each place that waits holds an input of its own.
            self.judge.spend(dear);
            let holder = holder.below(self.holding(view, &base, &part), part.step);
            self.ahead.push_back((part.spot, holder));
        }
    }

    /// Judges an input with this value in the place. The first value that the leading version
    /// accepts becomes the base.
    fn attempt(&mut self, value: Value, holder: &Holder, base: &mut Option<Value>) {
        let Verdict { old, new } = self.judge.judge(&holder.with(value.clone()));
        let accepted = match self.lead {
            Lead::Old => old,
            Lead::New => new,
        };
        if accepted && base.is_none() {
            *base = Some(value);
        }
    }

    /// Lists the parts of a place that either version speaks of.
    fn parts(&self, view: &View<'_, 's>) -> Vec<Part<'s>> {
        let (own, other) = (view.own, view.other);
        let mut parts = Vec::new();
        let mut add = |step: Step, own: Vec<&'s Value>, other: Vec<&'s Value>| {
            if !own.is_empty() || !other.is_empty() {
                parts.push(Part { step, spot: Spot { own, other } });
            }
        };
        let names: BTreeSet<&str> = own.names().into_iter().chain(other.names()).collect();
        for name in names {
            add(Step::Key(name.to_owned()), own.property(name), other.property(name));
        }
        add(Step::Key(UNKNOWN.to_owned()), own.property(UNKNOWN), other.property(UNKNOWN));
        let patterns: BTreeSet<&str> =
            own.name_patterns().into_iter().chain(other.name_patterns()).collect();
        for pattern in patterns {
            if let Some(name) = self.lead().name_like(pattern) {
                add(Step::Key(name), own.matching(pattern), other.matching(pattern));
            }
        }
        let prefix = own.prefix().max(other.prefix());
        for index in 0..=prefix.min(32) {
            add(Step::Index(index), own.element(index), other.element(index));
        }
        add(Step::Index(prefix), own.contained(), other.contained());
        parts
    }

    /// Gives a value for the place that has the part, so that something else can be put there.
    fn holding(&self, view: &View<'_, 's>, base: &Value, part: &Part<'s>) -> Value {
        let lead = self.lead();
        let sample = || {
            let schemas = if part.spot.own.is_empty() { &part.spot.other } else { &part.spot.own };
            lead.sample(&lead.facts(schemas, &mut Pick::nth(0)), Size::Small)
        };
        match &part.step {
            Step::Key(name) => {
                let of_type = || lead.sample_of(view.own, Types::OBJECT, Size::Small);
                let object = if base.is_object() { base.clone() } else { of_type() };
                let mut object = match object {
                    Value::Object(object) => object,
                    _ => Map::new(),
                };
                if !object.contains_key(name) {
                    object.insert(name.clone(), sample());
                }
                Value::Object(object)
            }
            Step::Index(index) => {
                let mut array = match base {
                    Value::Array(array) => array.clone(),
                    _ => Vec::new(),
                };
                if array.len() <= *index
                    && let Value::Array(longer) = lead.array_of(view.own, *index as u64 + 1)
                {
                    array = longer;
                }
                while array.len() <= *index {
                    array.push(sample());
                }
                Value::Array(array)
            }
        }
    }
}

/// Is one part of a value and where it stands.
struct Part<'s> {
    step: Step,
    spot: Spot<'s>,
}
