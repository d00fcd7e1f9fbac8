//! `deep_search`: reads the best pages and says what they say, with the numbers of its sources.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::merge::{self, Merged};
use super::summary::{self, Document};
use super::{ask, asking, most_results, query, source};
use crate::contract::{Call, Done, Failure, Progress};
use crate::net::{Client, Guard, Limits};
use crate::text::shortened;
use crate::web_fetch;

/// Is the longest a page may take.
const PAGE_TIME: Duration = Duration::from_secs(15);

/// Is the longest question sent to sources.
const QUERY_CHARS: usize = 400;

/// Runs the command.
pub(super) fn run(call: &Call, progress: Progress<'_>) -> Result<Done, Failure> {
    let query = query(call)?;
    let keywords = call.texts("keywords")?;
    let (sources, unusable) = source::chosen(&call.settings, &[])?;
    progress(0.05, &asking(&sources));
    let mut answers = ask::all(call, sources, &question(query, &keywords), most_results(call)?)?;
    answers.failed.extend(unusable);
    let pages = usize::try_from(call.settings.number("deep_pages", 5, 1, 10)).unwrap_or(5);
    let best = merge::ranked(answers.take_found(), pages)?;
    progress(0.4, &format!("reading {} pages", best.len()));
    let read = read(call, &best, progress)?;
    let documents: Vec<Document<'_>> = best
        .iter()
        .zip(&read)
        .enumerate()
        .map(|(at, (merged, page))| Document {
            number: at + 1,
            text: match page {
                Ok(page) if !page.content.trim().is_empty() => &page.content,
                // What the source said of a page is better than nothing of it.
                Ok(_) | Err(_) => &merged.found.snippet,
            },
        })
        .collect();
    let summary = summary::write(&documents, query, &keywords);
    let listed: Vec<Value> = best
        .iter()
        .zip(&read)
        .enumerate()
        .map(|(at, (merged, page))| describe(at + 1, merged, page))
        .collect();
    let unread = read.iter().filter(|page| page.is_err()).count();
    let result = json!({
        "query": query,
        "summary": summary.text,
        "citations": summary.cited,
        "sources": listed,
        "searched": answers.to_json(),
    });
    let mut problems: Vec<String> = answers.problems().into_iter().collect();
    if unread > 0 {
        problems.push(format!("{unread} of {} pages could not be read", best.len()));
    }
    if best.is_empty() {
        return Ok(Done::new(result).message("nothing was found; use other words"));
    }
    let done = Done::new(result);
    let message = format!("a summary of {} pages", best.len() - unread);
    if problems.is_empty() {
        return Ok(done.message(message));
    }
    Ok(done.partial(format!("{message}; {}", problems.join("; "))))
}

/// Gives the question for the sources: the query and the keywords it does not have.
fn question(query: &str, keywords: &[&str]) -> String {
    let lower = query.to_lowercase();
    let mut question = query.to_owned();
    for keyword in keywords {
        if !lower.contains(&keyword.to_lowercase()) {
            question.push(' ');
            question.push_str(keyword);
        }
    }
    let end = question.char_indices().nth(QUERY_CHARS).map_or(question.len(), |(at, _)| at);
    question.truncate(end);
    question
}

type Read = Result<web_fetch::Page, Failure>;

/// Reads the pages at the same time.
fn read(call: &Call, best: &[Merged], progress: Progress<'_>) -> Result<Vec<Read>, Failure> {
    let guard = Guard::new(&call.settings)?;
    let time = call.time_left(PAGE_TIME);
    let limits = Limits {
        bytes: call.settings.number("max_bytes", 2 << 20, 1024, 32 << 20),
        time,
        redirects: 5,
    };
    let deadline = Instant::now() + time;
    let (sender, receiver) = mpsc::channel();
    for (at, merged) in best.iter().enumerate() {
        let client = Client::new(guard.clone(), &call.settings)?;
        let (sender, url) = (sender.clone(), merged.found.url.clone());
        let started = thread::Builder::new().spawn(move || {
            let _ = sender.send((at, web_fetch::fetch(&client, &url, limits, deadline)));
        });
        started.map_err(|_| Failure::new("IO", "the pages could not be read: no thread"))?;
    }
    drop(sender);
    let mut pages: Vec<Read> = best.iter().map(|_| Err(Failure::timeout("the page"))).collect();
    let last = deadline + Duration::from_millis(100);
    let mut done = 0;
    while let Ok((at, page)) = receiver.recv_timeout(last.saturating_duration_since(Instant::now()))
    {
        done += 1;
        #[expect(clippy::cast_precision_loss, reason = "there are at most ten pages")]
        let share = f64::from(done) / best.len() as f64;
        progress(0.4 + 0.5 * share, &format!("read {done} of {} pages", best.len()));
        if let Some(place) = pages.get_mut(at) {
            *place = page;
        }
    }
    Ok(pages)
}

fn describe(number: usize, merged: &Merged, page: &Read) -> Value {
    let mut source = json!({
        "n": number,
        "title": shortened(&merged.found.title, 300),
        "url": merged.found.url.as_str(),
        "sources": merged.sources,
        "read": page.is_ok(),
    });
    if let Some(map) = source.as_object_mut() {
        match page {
            Ok(page) => {
                if page.url != merged.found.url {
                    map.insert("final_url".to_owned(), page.url.as_str().into());
                }
                if merged.found.title == merged.found.url.as_str() && !page.title.is_empty() {
                    map.insert("title".to_owned(), page.title.as_str().into());
                }
            }
            Err(failure) => {
                let error = json!({"code": failure.code, "message": failure.message});
                map.insert("error".to_owned(), error);
            }
        }
    }
    source
}
