//! Strings that match a pattern, and strings that nearly do.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Is the longest string built from a pattern, unless a longer one is asked for.
const LONGEST: usize = 10_000;

/// Is how many parts of a pattern are gone through for each character of the longest string: a part
/// that matches nothing can be repeated without end.
const STEPS_A_CHARACTER: usize = 4;

/// Is the longest string worth changing a little.
const SHORT: usize = 300;

/// Is how often something without an upper limit is repeated at most, beyond what it must be.
const REPEATED: u32 = 3;

/// Is how many ways of going through a pattern are tried.
const TURNS: usize = 24;

/// Are the characters a person reads best, tried first wherever they fit.
const READABLE: &[char] = &['a', 'A', '0', '1', 'z', 'Z', '9', '_', '-', '.', ' ', 'é'];

/// Is a pattern that can be gone through.
pub(super) struct Shape {
    hir: Hir,
}

impl Shape {
    /// Reads a pattern the way the validator does.
    pub(super) fn new(pattern: &str) -> Option<Self> {
        let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
        let hir = regex_syntax::parse(&translated).ok()?;
        Some(Self { hir })
    }

    /// Gives one string that matches, with at least this many characters if that is possible.
    pub(super) fn sample(&self, least: usize) -> Option<String> {
        // What repeats is repeated just often enough; the length can only grow with it.
        let (mut low, mut high) = (0, u32::try_from(least).unwrap_or(u32::MAX));
        while low < high {
            let middle = low.midpoint(high);
            if length(&self.hir, middle) < least {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Exactly as long is best; somewhat too long may do; far too long would take long to make.
        let longest = LONGEST.max(2 * least);
        let below = high.saturating_sub(1);
        let exact = [0, below].into_iter().find_map(|more| {
            let spare = least.saturating_sub(length(&self.hir, more));
            let mut way = Way { spare, ..Way::new(0, more, &[], longest) };
            (way.write(&self.hir) && way.spare == 0).then_some(way.text)
        });
        let mut tries = [high, below].into_iter();
        exact.or_else(|| tries.find_map(|more| Way::new(0, more, &[], longest).run(&self.hir)))
    }

    /// Gives strings that match, each in another way.
    pub(super) fn variety(&self, marks: &[char]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for turn in 0..TURNS {
            let more = u32::try_from(turn).unwrap_or(0) % (REPEATED + 1);
            let Some(text) = self.turn(turn, more, marks) else { continue };
            if text.len() > SHORT && turn > 0 {
                // Long strings take long to make, and one is as good as many.
                break;
            }
            if !found.contains(&text) {
                found.push(text);
            }
        }
        // As long as it gets, for a pattern that only changed in how often something may occur.
        if let Some(longest) = self.turn(0, u32::MAX, marks).filter(|text| !found.contains(text)) {
            found.push(longest);
        }
        found
    }

    /// Gives the characters at the edges of what the pattern accepts.
    pub(super) fn marks(&self) -> Vec<char> {
        let mut marks = Vec::new();
        collect_marks(&self.hir, &mut marks);
        marks.sort_unstable();
        marks.dedup();
        marks
    }

    fn turn(&self, turn: usize, more: u32, marks: &[char]) -> Option<String> {
        Way::new(turn, more, marks, LONGEST).run(&self.hir)
    }
}

/// Counts the characters of the first turn, in which everything is repeated so often beyond what it
/// must be.
fn length(hir: &Hir, more: u32) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).map_or(0, |text| text.chars().count())
        }
        HirKind::Class(_) => 1,
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let times = repetition.min.saturating_add(more).min(most);
            length(&repetition.sub, more)
                .saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => length(&capture.sub, more),
        HirKind::Concat(parts) => {
            parts.iter().map(|part| length(part, more)).fold(0, usize::saturating_add)
        }
        HirKind::Alternation(branches) => branches.first().map_or(0, |branch| length(branch, more)),
    }
}

/// Is one way of going through a pattern.
struct Way<'m> {
    turn: usize,
    more: u32,
    marks: &'m [char],
    longest: usize,
    /// How many characters are still to be put where one can be repeated.
    spare: usize,
    position: usize,
    steps: usize,
    text: String,
}

impl<'m> Way<'m> {
    fn new(turn: usize, more: u32, marks: &'m [char], longest: usize) -> Self {
        let text = String::new();
        Self { turn, more, marks, longest, spare: 0, position: 0, steps: 0, text }
    }

    fn run(mut self, hir: &Hir) -> Option<String> {
        self.write(hir).then_some(self.text)
    }

    fn write(&mut self, hir: &Hir) -> bool {
        self.steps += 1;
        if self.text.len() > self.longest || self.steps > STEPS_A_CHARACTER * self.longest {
            return false;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => {
                let text = std::str::from_utf8(&literal.0).ok();
                text.inspect(|text| self.text.push_str(text)).is_some()
            }
            HirKind::Class(class) => {
                let chosen = self.choose(class);
                self.position += 1;
                chosen.inspect(|c| self.text.push(*c)).is_some()
            }
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(u32::MAX);
                let wanted = match self.more {
                    u32::MAX => repetition.max.unwrap_or(repetition.min.saturating_add(REPEATED)),
                    more => repetition.min.saturating_add(more),
                };
                let wanted = wanted.min(most);
                match repetition.sub.kind() {
                    HirKind::Class(class) if self.turn == 0 => self.repeat(class, wanted, most),
                    _ => (0..wanted).all(|_| self.write(&repetition.sub)),
                }
            }
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().all(|part| self.write(part)),
            HirKind::Alternation(branches) => {
                let chosen = self.turn % branches.len().max(1);
                branches.get(chosen).is_some_and(|branch| self.write(branch))
            }
        }
    }

    /// Writes one character so many times, or more often if there is something to spare.
    fn repeat(&mut self, class: &Class, wanted: u32, most: u32) -> bool {
        let count = |times: u32| usize::try_from(times).unwrap_or(usize::MAX);
        let spare = self.spare.min(count(most - wanted));
        let times = count(wanted).saturating_add(spare);
        if times == 0 {
            return true;
        }
        let Some(c) = self.choose(class) else { return false };
        let room = self.longest.saturating_sub(self.text.len());
        if times.saturating_mul(c.len_utf8()) > room {
            return false;
        }
        self.spare -= spare;
        self.position += times;
        self.text.extend(std::iter::repeat_n(c, times));
        true
    }

    /// Chooses a character: in the first turn the one that reads best, later one after another of
    /// those that are worth it.
    fn choose(&self, class: &Class) -> Option<char> {
        let within = |c: &char| match class {
            Class::Unicode(class) => {
                class.ranges().iter().any(|r| (r.start()..=r.end()).contains(c))
            }
            Class::Bytes(class) => u8::try_from(*c).is_ok_and(|byte| {
                class.ranges().iter().any(|r| (r.start()..=r.end()).contains(&byte))
            }),
        };
        let readable = READABLE.iter().copied().filter(within);
        let edges = ranges(class).flat_map(|(start, end)| [start, end]);
        if self.turn == 0 {
            return readable.chain(edges).next();
        }
        let marks = self.marks.iter().copied().filter(within);
        let choices: Vec<char> = readable.chain(marks).chain(edges).collect();
        let at = (self.turn + self.position).checked_rem(choices.len())?;
        choices.get(at).copied()
    }
}

/// Gives the first few ranges of a class.
fn ranges(class: &Class) -> impl Iterator<Item = (char, char)> + '_ {
    const MOST: usize = 8;
    let (letters, bytes) = match class {
        Class::Unicode(class) => (class.ranges(), Default::default()),
        Class::Bytes(class) => (Default::default(), class.ranges()),
    };
    let bytes = bytes.iter().map(|r| (char::from(r.start()), char::from(r.end())));
    letters.iter().map(|r| (r.start(), r.end())).chain(bytes).take(MOST)
}

fn collect_marks(hir: &Hir, marks: &mut Vec<char>) {
    const MOST: usize = 32;
    if marks.len() >= MOST {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => {}
        HirKind::Class(class) => {
            for (start, end) in ranges(class) {
                let beside = |c: char, step: i64| {
                    let number = i64::from(u32::from(c)) + step;
                    u32::try_from(number).ok().and_then(char::from_u32)
                };
                marks.extend([start, end]);
                marks.extend(beside(start, -1).into_iter().chain(beside(end, 1)));
            }
        }
        HirKind::Repetition(repetition) => collect_marks(&repetition.sub, marks),
        HirKind::Capture(capture) => collect_marks(&capture.sub, marks),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| collect_marks(part, marks));
        }
    }
}

/// Gives strings that are nearly the same as one that matches.
pub(super) fn beside(text: &str) -> impl Iterator<Item = String> {
    let mut shorter = text.to_owned();
    shorter.pop();
    let upper = text.to_uppercase();
    let near = [format!("{text}!"), format!("!{text}"), shorter, format!("{text}{text}"), upper];
    near.into_iter().filter(move |near| near != text && near.len() <= 2 * SHORT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_from_a_pattern_matches_it() {
        for pattern in [
            "^[a-z]+(-[a-z0-9]+)*$",
            r"^\d{4}-\d{2}$",
            "^(foo|bar|baz)$",
            "^https?://",
            r"^[^\s@]+@[^\s@]+$",
            r"^\w{3,10}$",
            "^(a|b){2,4}c?$",
        ] {
            let shape = Shape::new(pattern).unwrap();
            let regex = regex::Regex::new(&jsonschema_regex::to_rust_regex(pattern).unwrap());
            let regex = regex.unwrap();
            let variety = shape.variety(&shape.marks());
            assert!(variety.len() > 1, "{pattern}: {variety:?}");
            for text in variety {
                assert!(regex.is_match(&text), "{pattern}: {text}");
            }
        }
    }

    #[test]
    fn a_sample_is_as_long_as_it_has_to_be() {
        let sample = |pattern: &str, least| Shape::new(pattern).unwrap().sample(least).unwrap();
        assert_eq!(sample("^[a-z]+$", 5), "aaaaa");
        assert_eq!(sample("^[a-z]{2,4}$", 10), "aaaa");
        assert_eq!(sample("^x-", 2), "x-");
        assert_eq!(sample("^(foo|bar)$", 9), "foo");
        assert_eq!(sample("^[a-z]+$", 900).len(), 900);
        assert_eq!(sample("^[a-z]+-[a-z]+$", 9).len(), 9);
        assert_eq!(sample("^[b-y]+(-[b-y]+)*$", 16_384), "b".repeat(16_384));
        assert_eq!(sample("^[a-z]{1,5}(-[a-z]+)*$", 6), "aaa-aa");
    }

    #[test]
    fn patterns_that_repeat_nothing_come_to_an_end() {
        for pattern in
            ["(?:a?){1000000}", r"(?:\b){900000}", "((a?){1000}){1000}", "(a{1000}){1000}"]
        {
            if let Some(shape) = Shape::new(pattern) {
                shape.variety(&[]);
                shape.sample(100);
            }
        }
    }
}
