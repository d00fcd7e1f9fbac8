//! Several messages in one body, which one revision allows.

use futures_util::future::join_all;
use serde_json::value::RawValue;

use super::dispatch::{self, Answer};
use super::exchange::Step;
use super::notify;
use super::params::Params;
use super::side::Side;
use super::wire::{self, Fault, Message, PARSE_ERROR, Unread};

/// How many messages may come at once.
pub(crate) const MOST: usize = 64;

/// Answers a batch; nothing if nothing in it wants an answer.
pub(crate) async fn answer(side: &Side, bytes: &[u8]) -> Result<Option<Vec<u8>>, Fault> {
    if !side.revision.has_batches() {
        return Err(Fault::request("this revision takes one message at a time"));
    }
    let all: Vec<&RawValue> = serde_json::from_slice(bytes)
        .map_err(|error| Fault::new(PARSE_ERROR, format!("this is not JSON: {error}")))?;
    if all.is_empty() || all.len() > MOST {
        return Err(Fault::request(format!("a batch has 1 to {MOST} messages")));
    }
    let answers = join_all(all.iter().map(|one| single(side, one.get()))).await;
    let answers: Vec<Vec<u8>> = answers.into_iter().flatten().collect();
    if answers.is_empty() {
        return Ok(None);
    }
    let mut out = vec![b'['];
    out.extend(answers.join(&b','));
    out.push(b']');
    Ok(Some(out))
}

async fn single(side: &Side, text: &str) -> Option<Vec<u8>> {
    let (id, method, params) = match wire::read(text.as_bytes()) {
        Ok(Message::Request { id, method, params }) => (id, method, params),
        Ok(Message::Notification { method, params }) => {
            notify::notified(side, &method, params);
            return None;
        }
        Ok(Message::Answer { id, result }) => {
            if let Some(session) = &side.session {
                session.answered(id, result);
            }
            return None;
        }
        Err(Unread { id, fault }) => return Some(wire::error(id, &fault)),
    };
    let answered = match Params::read(params) {
        Ok(params) => dispatch::answer(side, id, &method, params).await,
        Err(fault) => Err(fault),
    };
    Some(match answered {
        Ok(Answer::Now(bytes)) => bytes,
        Ok(Answer::Call(mut exchange)) => loop {
            if let Step::Last(last) = exchange.step().await {
                break last.bytes;
            }
        },
        // No revision has both.
        Ok(Answer::Listens(_)) => wire::error(Some(id), &Fault::method(&method)),
        Err(fault) => wire::error(Some(id), &fault),
    })
}
