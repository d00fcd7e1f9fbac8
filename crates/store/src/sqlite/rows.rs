//! Rows of the database as what they stand for.

use remit_engine::log::{Beginning, Conclusion, Saying};
use remit_engine::record::{CallRecord, CallState, Message, Progress, ThreadHead, Version};
use remit_model::event::FIRST;
use remit_model::{CallId, Denial, Event, EventKind, Grant, Instant, Sensitivity, ThreadId};
use rusqlite::types::FromSql;
use rusqlite::{Params, Row, Statement};
use serde::de::DeserializeOwned;

use super::fault::Fault;

/// How deep JSON may be nested to be kept. What surfaces take is half of it; reading more could
/// exhaust a thread's stack.
pub(crate) const DEEPEST: usize = 256;

/// Selects what [`call`] reads. A call whose events are gone is still found, so that it is missed.
macro_rules! calls {
    ($condition:literal) => {
        concat!(
            "SELECT c.name, t.name, c.state, c.progress, b.at_ms, b.body, c.begun = c.ended, e.body
             FROM calls c
             JOIN threads t ON t.id = c.thread
             LEFT JOIN events b ON b.id = c.begun AND b.thread = c.thread
             LEFT JOIN events e ON e.id = c.ended AND e.thread = c.thread AND c.ended > c.begun ",
            $condition
        )
    };
}

/// Selects the call of a user and an agent with an id.
pub(crate) const CALL: &str = calls!("WHERE c.user = ?1 AND c.agent = ?2 AND c.name = ?3");

/// Selects calls; conditions follow.
pub(crate) const CALLS: &str = calls!("");

/// Is the condition for the calls of a thread: from its last, each by the one behind it.
pub(crate) const OF_THREAD: &str = "c.id IN (
    WITH RECURSIVE chain (id) AS (
        SELECT last_call FROM threads WHERE name = ?
        UNION
        SELECT calls.prior FROM chain JOIN calls ON calls.id = chain.id
    )
    SELECT id FROM chain)";

/// Selects what [`event`] reads; conditions follow.
macro_rules! events {
    ($condition:literal) => {
        concat!(
            "SELECT sequence, at_ms, kind, call, body, previous, hash, prior, thread FROM events ",
            $condition
        )
    };
}

/// Selects one event.
pub(crate) const EVENT: &str = events!("WHERE id = ?1");

/// Selects the events of a thread, whatever became of the chain that they make.
pub(crate) const SCAN: &str =
    events!("WHERE thread = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3");

/// Selects the first indexed event of a thread from a number on.
pub(crate) const ANCHOR: &str = "
    SELECT id FROM events
    WHERE thread = ?1 AND sequence >= ?2 AND sequence % 64 = 0 ORDER BY sequence LIMIT 1";

/// Selects what [`head`] reads.
pub(crate) const HEADS: &str = "
    SELECT t.name, e.sequence, e.hash, e.at_ms
    FROM threads t
    LEFT JOIN events e ON e.id = coalesce(
        (SELECT id FROM events WHERE id = t.last_event AND thread = t.id),
        (SELECT id FROM events WHERE thread = t.id ORDER BY sequence DESC LIMIT 1))
    ORDER BY t.name";

/// Selects what [`grant`] reads.
macro_rules! grants {
    ($condition:literal) => {
        concat!(
            "SELECT user, agent, source, scope, sensitivity, manifest_hash, device, thread,
                used_wall_ms, used_boot_ms, used_boot, revoked
             FROM grants ",
            $condition
        )
    };
}

/// Selects the grants of a user to an agent.
pub(crate) const GRANTS_OF: &str =
    grants!("WHERE user = ?1 AND agent = ?2 ORDER BY source, scope, device, thread");

/// Selects all that a user has granted.
pub(crate) const GRANTED_BY: &str =
    grants!("WHERE user = ?1 ORDER BY agent, source, scope, device, thread");

/// Selects the grants of a permit, revoked ones included.
pub(crate) const GRANTS_FOR: &str =
    grants!("WHERE user = ?1 AND agent = ?2 AND source = ?3 AND scope = ?4");

/// Selects what [`version`] reads.
pub(crate) const VERSIONS: &str = "
    SELECT version, hash, canonical, at_ms FROM versions WHERE source = ?1 ORDER BY version";

/// Selects what [`message`] reads.
pub(crate) const MESSAGES: &str = "
    SELECT e.body, e.call, e.at_ms
    FROM threads t
    JOIN events e ON e.thread = t.id AND e.kind = 'message'
    WHERE t.name = ?1 ORDER BY e.sequence";

/// Reads all rows.
pub(crate) fn all<T>(
    statement: &mut Statement<'_>,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// Reads the first row, if there is one.
pub(crate) fn first<T>(
    statement: &mut Statement<'_>,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

/// Reads a call.
pub(crate) fn call(row: &Row<'_>) -> Result<CallRecord, Fault> {
    let id = call_id(text(row, 0)?)?;
    let thread = thread_id(text(row, 1)?)?;
    let state = text(row, 2)?;
    let progress: Option<Progress> = optional_text(row, 3)?.map(json).transpose()?;
    let (Some(begun_ms), Some(body)) = (row.get(4)?, optional_text(row, 5)?) else {
        return Err(Fault::Damaged(format!("the beginning of the call `{id}` is gone")));
    };
    let mut beginning: Beginning<'static> = json(body)?;
    let refusal = beginning.outcome.take();
    let conclusion = match (row.get::<_, Option<bool>>(6)?, optional_text(row, 7)?) {
        (None, _) => None,
        (Some(true), _) => refusal.map(|outcome| Conclusion { outcome, duration_ms: 0 }),
        (Some(false), Some(body)) => Some(json(body)?),
        (Some(false), None) => {
            return Err(Fault::Damaged(format!("the end of the call `{id}` is gone")));
        }
    };
    let duration_ms = conclusion.as_ref().map(|conclusion| conclusion.duration_ms);
    let state = match (state, conclusion) {
        ("asking", None) => CallState::Asking,
        ("running", None) => CallState::Running,
        (_, Some(conclusion)) => CallState::Ended(conclusion.outcome.into_owned()),
        (other, None) => return Err(Fault::Damaged(format!("a call in the state `{other}`"))),
    };
    let (call, basis, rule) = beginning.into_parts(id, thread);
    Ok(CallRecord { call, basis, rule, state, begun_ms, duration_ms, progress })
}

/// Reads an event of this thread.
pub(crate) fn event(row: &Row<'_>, thread: &ThreadId) -> Result<Event, Fault> {
    let kind = text(row, 2)?;
    Ok(Event {
        thread: thread.clone(),
        sequence: number(row.get(0)?)?,
        at_ms: row.get(1)?,
        kind: EventKind::parse(kind)
            .ok_or_else(|| Fault::Damaged(format!("an event of the kind `{kind}`")))?,
        call: optional_text(row, 3)?.map(call_id).transpose()?,
        body: row.get(4)?,
        previous: hash(row, 5)?,
        hash: hash(row, 6)?,
    })
}

/// Reads the end of a thread.
pub(crate) fn head(row: &Row<'_>) -> Result<ThreadHead, Fault> {
    let thread = thread_id(text(row, 0)?)?;
    match row.get::<_, Option<i64>>(1)? {
        // Its events are gone; that it was there is known.
        None => Ok(ThreadHead { thread, events: 0, hash: FIRST.to_owned(), at_ms: 0 }),
        Some(events) => {
            let events = number(events)?;
            Ok(ThreadHead { thread, events, hash: hash(row, 2)?, at_ms: row.get(3)? })
        }
    }
}

/// Reads a grant.
pub(crate) fn grant(row: &Row<'_>) -> Result<Grant, Fault> {
    let sensitivity = text(row, 4)?;
    Ok(Grant {
        user: row.get(0)?,
        agent: row.get(1)?,
        source: row.get(2)?,
        scope: row.get(3)?,
        sensitivity: Sensitivity::parse(sensitivity)
            .ok_or_else(|| Fault::Damaged(format!("a grant that takes `{sensitivity}` care")))?,
        manifest_hash: row.get(5)?,
        device: row.get(6)?,
        thread: row.get(7)?,
        used: Instant { wall_ms: row.get(8)?, boot_ms: row.get(9)?, boot: row.get(10)? },
        revoked: row.get(11)?,
    })
}

/// Reads a version.
pub(crate) fn version(row: &Row<'_>) -> Result<Version, Fault> {
    Ok(Version {
        version: number(row.get(0)?)?,
        hash: row.get(1)?,
        canonical: row.get(2)?,
        at_ms: row.get(3)?,
    })
}

/// Reads a message of this thread.
pub(crate) fn message(row: &Row<'_>, thread: &ThreadId) -> Result<Message, Fault> {
    let saying: Saying<'static> = json(text(row, 0)?)?;
    Ok(Message {
        thread: thread.clone(),
        role: saying.role.into_owned(),
        content: saying.content.into_owned(),
        metadata: saying.metadata.into_owned(),
        call: optional_text(row, 1)?.map(call_id).transpose()?,
        at_ms: row.get(2)?,
    })
}

/// Reads why a person said no.
pub(crate) fn denial(word: &str) -> Result<Denial, Fault> {
    json(&format!("\"{word}\""))
}

/// Reads a text without copying it.
pub(crate) fn text<'row>(row: &'row Row<'_>, column: usize) -> Result<&'row str, Fault> {
    let value = row.get_ref(column)?;
    value.as_str().map_err(|_| Fault::Damaged("a text that is none".to_owned()))
}

/// Reads a text that need not be there.
pub(crate) fn optional_text<'row>(
    row: &'row Row<'_>,
    column: usize,
) -> Result<Option<&'row str>, Fault> {
    let value = row.get_ref(column)?;
    value.as_str_or_null().map_err(|_| Fault::Damaged("a text that is none".to_owned()))
}

/// Reads a thread's name.
pub(crate) fn thread_id(text: &str) -> Result<ThreadId, Fault> {
    ThreadId::parse(text).ok_or_else(|| Fault::Damaged("a thread without a name".to_owned()))
}

/// Reads a call's id.
pub(crate) fn call_id(text: &str) -> Result<CallId, Fault> {
    CallId::parse(text).ok_or_else(|| Fault::Damaged("a call without an id".to_owned()))
}

/// Reads a number that counts.
pub(crate) fn number(value: i64) -> Result<u64, Fault> {
    u64::try_from(value).map_err(|_| Fault::Damaged("a negative count".to_owned()))
}

/// Gives a number for the database; what is beyond its largest is beyond everything in it.
pub(crate) fn stored(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Gives a limit for the database.
pub(crate) fn limit(limit: Option<usize>) -> i64 {
    limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap_or(i64::MAX))
}

/// Reads a hash into the digits that the model speaks.
pub(crate) fn hash(row: &Row<'_>, column: usize) -> Result<String, Fault> {
    let value = row.get_ref(column)?;
    let bytes = <[u8; 32]>::column_result(value);
    bytes
        .map(|bytes| remit_model::canonical::hex(&bytes))
        .map_err(|_| Fault::Damaged("a hash that is none".to_owned()))
}

/// Gives the bytes of 64 hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Result<[u8; 32], Fault> {
    let wrong = || Fault::Damaged("a hash that is none".to_owned());
    let mut bytes = [0; 32];
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    if pairs.len() != bytes.len() || !rest.is_empty() {
        return Err(wrong());
    }
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        let digit = |c: u8| char::from(c).to_digit(16);
        let value = digit(*high).zip(digit(*low)).map(|(high, low)| high * 16 + low);
        *byte = value.and_then(|value| u8::try_from(value).ok()).ok_or_else(wrong)?;
    }
    Ok(bytes)
}

/// Reads JSON that Remit wrote.
pub(crate) fn json<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    if is_too_deep(text) {
        return Err(Fault::Damaged("JSON that is nested too deep".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    // Its own limit is lower than what may be written: facts are wrapped around what was given.
    reader.disable_recursion_limit();
    T::deserialize(&mut reader)
        .map_err(|error| Fault::Damaged(format!("JSON that is none: {error}")))
}

/// Tells whether JSON is nested deeper than it may be to be read back.
pub(crate) fn is_too_deep(text: &str) -> bool {
    let opens = |b: &u8| matches!(b, b'{' | b'[');
    if text.bytes().filter(opens).count() <= DEEPEST {
        return false;
    }
    let (mut depth, mut deepest, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest > DEEPEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_texts() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        let text = format!(r#"{{"a\\": "\"{}", "b": 1}}"#, "[{".repeat(DEEPEST));
        assert!(!is_too_deep(&text), "{text}");
        assert!(!is_too_deep(&format!("[{}]", "[],".repeat(DEEPEST * 2))), "wide is not deep");
        assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "the test is JSON");
        assert!(json::<serde_json::Value>(&nested(DEEPEST)).is_ok());
        assert!(json::<serde_json::Value>(&nested(DEEPEST + 1)).is_err());
    }

    #[test]
    fn a_hash_survives_and_what_is_none_is_refused() {
        let hex = "00ff".repeat(16);
        assert_eq!(remit_model::canonical::hex(&bytes(&hex).unwrap()), hex);
        for bad in ["", "00", &"0g".repeat(32), &"0".repeat(63), &"0".repeat(65), &"é".repeat(32)]
        {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
