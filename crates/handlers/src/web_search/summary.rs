//! A summary made of sentences that stand in the pages, each with the number of its page.
//!
//! Nothing is put in other words, so nothing can be invented. Sentences are scored by BM25 against the
//! words of the question; of sentences that say the same only the best is taken.

mod sentences;
mod words;

use std::collections::{HashMap, HashSet};

use self::sentences::sentences;
use self::words::words;

/// Is the most sentences of a summary.
pub(super) const SENTENCES: usize = 12;

/// Is the most sentences of one page.
const OF_ONE_PAGE: usize = 4;

/// Is how much of two sentences may be the same words.
const SAME: f64 = 0.6;

/// Is how much a keyword counts for; a word of the question counts for one.
const KEYWORD: f64 = 2.0;

/// Are the usual constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Is a page to take sentences from.
pub(super) struct Document<'d> {
    pub(super) number: usize,
    pub(super) text: &'d str,
}

/// Is a summary.
pub(super) struct Summary {
    pub(super) text: String,
    /// Holds the numbers of the pages that are cited.
    pub(super) cited: Vec<usize>,
}

struct Candidate<'d> {
    number: usize,
    place: usize,
    sentence: &'d str,
    words: Vec<String>,
    score: f64,
}

/// Writes a summary.
pub(super) fn write(documents: &[Document<'_>], query: &str, keywords: &[&str]) -> Summary {
    let terms = terms(query, keywords);
    let mut candidates: Vec<Candidate<'_>> = documents
        .iter()
        .flat_map(|document| {
            sentences(document.text).into_iter().enumerate().map(|(place, sentence)| Candidate {
                number: document.number,
                place,
                sentence,
                words: words(sentence),
                score: 0.0,
            })
        })
        .collect();
    score(&mut candidates, &terms);
    let mut chosen = choose(candidates);
    chosen.sort_by_key(|candidate| (candidate.number, candidate.place));
    let mut text = String::new();
    let mut cited: Vec<usize> = Vec::new();
    for candidate in &chosen {
        if !text.is_empty() {
            // Each page gets a paragraph of its own.
            text.push_str(if cited.last() == Some(&candidate.number) { " " } else { "\n\n" });
        }
        text.push_str(candidate.sentence);
        text.push_str(&format!(" [{}]", candidate.number));
        if cited.last() != Some(&candidate.number) {
            cited.push(candidate.number);
        }
    }
    Summary { text, cited }
}

fn terms(query: &str, keywords: &[&str]) -> HashMap<String, f64> {
    let mut terms = HashMap::new();
    for word in words(query) {
        terms.insert(word, 1.0);
    }
    for keyword in keywords {
        for word in words(keyword) {
            terms.insert(word, KEYWORD);
        }
    }
    terms
}

#[expect(clippy::cast_precision_loss, reason = "counts of words and sentences are small")]
fn score(candidates: &mut [Candidate<'_>], terms: &HashMap<String, f64>) {
    let count = candidates.len() as f64;
    let mut spread: HashMap<&str, f64> = HashMap::new();
    let mut total = 0;
    for candidate in candidates.iter() {
        total += candidate.words.len();
        let unique: HashSet<&str> = candidate.words.iter().map(String::as_str).collect();
        for word in unique {
            if let Some((term, _)) = terms.get_key_value(word) {
                *spread.entry(term).or_default() += 1.0;
            }
        }
    }
    let average = (total as f64 / count.max(1.0)).max(1.0);
    for candidate in candidates {
        let mut times: HashMap<&str, f64> = HashMap::new();
        for word in &candidate.words {
            if let Some((term, _)) = terms.get_key_value(word) {
                *times.entry(term).or_default() += 1.0;
            }
        }
        let length = candidate.words.len() as f64 / average;
        let mut sum = 0.0;
        for (term, times) in times {
            let has = spread.get(term).copied().unwrap_or(1.0);
            let rare = (1.0 + (count - has + 0.5) / (has + 0.5)).ln();
            let weight = terms.get(term).copied().unwrap_or(1.0);
            sum += weight * rare * times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length));
        }
        // What stands first, on the first pages, is a little more likely to be the point.
        let early = 1.0 + 0.2 / (1.0 + candidate.place as f64 / 3.0);
        let first = 1.0 + 0.1 / candidate.number.max(1) as f64;
        candidate.score = sum * early * first;
    }
}

fn choose(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    candidates.retain(|candidate| candidate.score > 0.0);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut chosen: Vec<Candidate<'_>> = Vec::new();
    for candidate in candidates {
        if chosen.len() >= SENTENCES {
            break;
        }
        let of_page = chosen.iter().filter(|c| c.number == candidate.number).count();
        if of_page < OF_ONE_PAGE && !chosen.iter().any(|c| alike(&c.words, &candidate.words)) {
            chosen.push(candidate);
        }
    }
    chosen
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn alike(a: &[String], b: &[String]) -> bool {
    let a: HashSet<&str> = a.iter().map(String::as_str).collect();
    let b: HashSet<&str> = b.iter().map(String::as_str).collect();
    let both = a.intersection(&b).count() as f64;
    both > SAME * a.union(&b).count() as f64
}

#[cfg(test)]
mod tests;
