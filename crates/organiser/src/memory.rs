//! What is remembered of a user: facts by key, in one row, so that no two writers can pass a limit
//! together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::{Code, Failure};
use crate::input::Input;
use crate::limits::{FACT_CHARS, FACTS, MEMORY_BYTES};
use crate::row::{Change, Kind, Loaded, Query, Row, Stop, Success};

/// Is the id of the one row.
const ID: &str = "memory";

/// Is a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What is remembered.
    pub value: String,
    /// When it was last changed.
    pub updated_at: jiff::Timestamp,
}

/// Is a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The facts by key.
    pub facts: BTreeMap<String, Fact>,
}

impl Memory {
    /// Gives how many bytes the keys and facts have.
    pub fn bytes(&self) -> usize {
        self.facts.iter().map(|(key, fact)| key.len() + fact.value.len()).sum()
    }
}

fn load<'l>(context: &Context, loaded: &'l Loaded) -> Result<(Memory, Option<&'l Row>), Stop> {
    let query = Query::Owned { owner: context.user.clone(), kind: Kind::Memory, limit: 1 };
    let Some(row) = loaded.rows(query)?.first() else { return Ok((Memory::default(), None)) };
    let memory = serde_json::from_value(row.body.clone())
        .map_err(|_| Failure::new(Code::Internal, "the stored memory cannot be read"))?;
    Ok((memory, Some(row)))
}

/// Runs `memory.read`.
pub(crate) fn read(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let (memory, row) = load(context, loaded)?;
    let input = Input(input);
    let keys: Vec<&str> = input.list("keys").iter().filter_map(Value::as_str).collect();
    let prefix = input.text("prefix").unwrap_or_default();
    let wanted = |key: &str| (keys.is_empty() || keys.contains(&key)) && key.starts_with(prefix);
    let items: Vec<Value> = memory
        .facts
        .iter()
        .filter(|(key, _)| wanted(key))
        .map(|(key, fact)| {
            json!({ "key": key, "value": fact.value, "updatedAt": fact.updated_at.to_string() })
        })
        .collect();
    let absent: Vec<&str> =
        keys.iter().filter(|key| !memory.facts.contains_key(**key)).copied().collect();
    Ok(Success::read(json!({
        "count": items.len(),
        "items": items,
        "absent": absent,
        "total": memory.facts.len(),
        "bytes": memory.bytes(),
        "revision": row.map_or(0, |row| row.revision),
    })))
}

/// Runs `memory.update`.
pub(crate) fn update(context: &Context, input: &Value, loaded: &Loaded) -> Result<Success, Stop> {
    let (old, row) = load(context, loaded)?;
    let mut memory = old.clone();
    let mut done = Vec::new();
    for (at, operation) in Input(input).list("operations").iter().enumerate() {
        done.push(apply(context, &mut memory, Input(operation), at)?);
    }
    if memory.facts.len() > FACTS {
        let message = format!("a memory holds at most {FACTS} facts; remove some first");
        return Err(Failure::limit(message).with("total", old.facts.len()).into());
    }
    if memory.bytes() > MEMORY_BYTES {
        let message =
            format!("a memory holds at most {MEMORY_BYTES} bytes; shorten or remove facts");
        return Err(Failure::limit(message).with("bytes", old.bytes()).into());
    }
    let changed = memory != old;
    let before = row.map_or(0, |row| row.revision);
    let revision = if changed { before + 1 } else { before };
    let data = json!({
        "operations": done,
        "count": done.len(),
        "changed": changed,
        "total": memory.facts.len(),
        "bytes": memory.bytes(),
        "revision": revision,
    });
    let mut changes = Vec::new();
    if changed {
        let next = Row {
            owner: context.user.clone(),
            kind: Kind::Memory,
            id: ID.to_owned(),
            revision,
            link: None,
            starts: None,
            ends: None,
            body: serde_json::to_value(&memory).unwrap_or_default(),
        };
        changes.push(if row.is_some() { Change::Update(next) } else { Change::Create(next) });
    }
    Ok(Success { data, changes })
}

fn apply(context: &Context, memory: &mut Memory, op: Input<'_>, at: usize) -> Result<Value, Stop> {
    let key = op.text("key").unwrap_or_default();
    let value = op.text("value").unwrap_or_default();
    let held = memory.facts.get(key).map(|fact| fact.value.clone());
    let (next, status) = match (op.text("op"), held) {
        (Some("remove"), held) => {
            memory.facts.remove(key);
            let status = if held.is_some() { "removed" } else { "absent" };
            return Ok(json!({ "key": key, "status": status }));
        }
        (Some("append"), Some(held)) => (format!("{held}\n{value}"), "appended"),
        (_, Some(held)) if held == value => {
            return Ok(json!({ "key": key, "status": "unchanged" }));
        }
        (_, Some(_)) => (value.to_owned(), "replaced"),
        (_, None) => (value.to_owned(), "created"),
    };
    if next.chars().count() > FACT_CHARS {
        let mut failure = Failure::limit(format!(
            "a fact has at most {FACT_CHARS} characters; set a shorter one"
        ));
        failure.pointer = Some(format!("/operations/{at}/value"));
        return Err(failure.into());
    }
    memory.facts.insert(key.to_owned(), Fact { value: next, updated_at: context.now });
    Ok(json!({ "key": key, "status": status }))
}
