//! Understands what was said, by the tables of [`phrases`](super::phrases).

use std::ops::Range;

use remit_engine::registry::Agent;

use super::phrases;

/// How long something can be, in bytes, and still be a request in words.
const LONGEST: usize = 1024;

/// Is what was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A manifest: this stretch of what was sent, to the byte.
    Draft(Range<usize>),
    Confirm,
    Cancel,
    Help,
    /// Show all agents.
    List,
    /// Show the versions of an agent: those that were named.
    Versions(Vec<String>),
    /// Update the manifest of an agent: those that were named.
    Update(Vec<String>),
    Unknown,
}

/// Understands a text. `awaited` says whether a manifest was asked for.
pub(super) fn hear(text: &str, own: &[Agent], awaited: bool) -> Heard {
    if let Some(draft) = draft(text) {
        return Heard::Draft(draft);
    }
    // What is so long is no request, whatever could be left out of it.
    if text.len() > 4 * LONGEST {
        return if awaited { Heard::Draft(0..text.len()) } else { Heard::Unknown };
    }
    let plain = plain(text);
    let is = |phrases: &[&str]| phrases.contains(&plain.as_str());
    if is(phrases::CONFIRM) {
        return Heard::Confirm;
    }
    if is(phrases::CANCEL) {
        return Heard::Cancel;
    }
    if is(phrases::HELP) {
        return Heard::Help;
    }
    if awaited && (text.contains('{') || text.trim().contains('\n')) || plain.len() > LONGEST {
        return if awaited { Heard::Draft(0..text.len()) } else { Heard::Unknown };
    }
    // What an agent is called says nothing about what is to be done.
    let (named, rest) = named(&plain, own);
    let has = |words: &[&str]| words.iter().any(|word| has_word(&rest, word));
    let changes = has(phrases::CHANGES) && has(phrases::MANIFESTS);
    match () {
        () if changes && !has(phrases::SHOWS) => Heard::Update(named),
        () if has(phrases::VERSIONS) => Heard::Versions(named),
        () if has(phrases::AGENTS) && (has(phrases::SHOWS) || named.is_empty() && !changes) => {
            Heard::List
        }
        () if changes => Heard::Update(named),
        () => Heard::Unknown,
    }
}

/// Finds a manifest in a text: all of it, or what stands between fences.
pub(super) fn draft(text: &str) -> Option<Range<usize>> {
    const FENCE: &str = "```";
    if text.trim_start().starts_with('{') {
        return Some(0..text.len());
    }
    let opening = text.find(FENCE)?;
    let line = text.get(opening..)?.find('\n')?;
    let from = opening + line + 1;
    let to = from + text.get(from..)?.find(FENCE)?;
    text.get(from..to)?.trim_start().starts_with('{').then_some(from..to)
}

/// Gives a text in small letters and plain signs, without what is only polite.
fn plain(text: &str) -> String {
    let narrow = |c: char| match c {
        '\u{3000}' => ' ',
        '’' | '‘' => '\'',
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        c => c,
    };
    let small: String = text.chars().map(narrow).flat_map(char::to_lowercase).collect();
    let mut words = small.split_whitespace().collect::<Vec<_>>().join(" ");
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '.' | '!' | ',' | ';' | '。' | '、' | '~');
    loop {
        let mut inner = words.trim_matches(ends);
        if inner.len() > 1 {
            inner = inner.trim_end_matches('?');
        }
        for polite in phrases::POLITE {
            inner = strip(inner, polite);
        }
        if inner.len() == words.len() {
            return words;
        }
        words = inner.to_owned();
    }
}

/// Takes a word from either end of a text, unless it is all there is.
fn strip<'t>(text: &'t str, word: &str) -> &'t str {
    let whole = |rest: &&str| !rest.is_empty() && (!word.is_ascii() || rest.contains(' '));
    let text = text.strip_prefix(word).filter(whole).unwrap_or(text);
    text.strip_suffix(word).filter(whole).unwrap_or(text)
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Tells whether a stretch of a text is a word there: Latin letters do not go on at its ends. Chinese
/// is written without spaces, so there every stretch can be one.
fn stands_alone(text: &str, at: Range<usize>) -> bool {
    let inside = text.get(at.clone()).unwrap_or_default();
    let joins = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(is_letter) && outer.is_some_and(is_letter)
    };
    let before = text.get(..at.start).and_then(|before| before.chars().next_back());
    let behind = text.get(at.end..).and_then(|behind| behind.chars().next());
    !joins(inside.chars().next(), before) && !joins(inside.chars().next_back(), behind)
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| stands_alone(text, at..at + word.len()))
}

/// Finds which agents are named, by name or by id; gives their ids, and the text without the names.
/// A name within a longer one that is there too does not count.
fn named(text: &str, own: &[Agent]) -> (Vec<String>, String) {
    let vocabulary =
        [phrases::CHANGES, phrases::MANIFESTS, phrases::SHOWS, phrases::VERSIONS, phrases::AGENTS];
    let mut found: Vec<(Range<usize>, &Agent)> = Vec::new();
    for agent in own {
        let name = plain(&agent.name);
        // An agent that is called like a word of a request is named by its id.
        let is_word = vocabulary.iter().any(|words| words.contains(&name.as_str()));
        let names = [Some(agent.id.to_lowercase()), Some(name).filter(|_| !is_word)];
        for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
            let places = text.match_indices(&name).map(|(at, _)| at..at + name.len());
            found.extend(places.filter(|at| stands_alone(text, at.clone())).map(|at| (at, agent)));
        }
    }
    let places: Vec<Range<usize>> = found.iter().map(|(at, _)| at.clone()).collect();
    found.retain(|(at, _)| {
        !places
            .iter()
            .any(|other| other.len() > at.len() && other.start <= at.start && at.end <= other.end)
    });
    let mut ids: Vec<String> = Vec::new();
    let mut rest = text.to_owned();
    found.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
    for (at, agent) in found {
        if !ids.contains(&agent.id) {
            ids.push(agent.id.clone());
        }
        // Two agents of one name stand at one place, which is taken out once.
        if rest.get(at.clone()) == text.get(at.clone()) {
            let blank = " ".repeat(at.len());
            rest.replace_range(at, &blank);
        }
    }
    ids.sort_unstable();
    (ids, rest)
}

/// Tells whether a text is Chinese: none if nothing in it tells.
pub(super) fn is_chinese(text: &str) -> Option<bool> {
    let mut letters = text.chars().take(LONGEST).filter(|c| c.is_alphabetic()).peekable();
    letters.peek()?;
    Some(letters.any(|c| matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')))
}
