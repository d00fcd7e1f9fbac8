//! Wherever a fixture is edited, each change points at something that is there.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use remit_manifest::compile::{self, Options};
use remit_manifest::diff::{self, Change};
use remit_manifest::read::Format;
use remit_model::{Dialect, Node};
use serde_json::{Value, json};

/// Are the fixtures of one dialect, and every member and element in them.
struct Stock {
    dialect: Dialect,
    documents: Vec<Value>,
    /// Each with the key it stands under, or the empty text.
    values: Vec<(String, Value)>,
}

static STOCK: LazyLock<Vec<Stock>> = LazyLock::new(|| {
    let stock = |(folder, dialect): (&str, Dialect)| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder);
        let mut documents = Vec::new();
        collect(&root, dialect, &mut documents);
        assert!(documents.len() > 10, "{folder}: only {} documents", documents.len());
        let mut values = Vec::new();
        documents.iter().for_each(|document| parts(document, &mut values));
        values.sort_by_cached_key(|(key, value)| (key.clone(), value.to_string()));
        values.dedup();
        Stock { dialect, documents, values }
    };
    [
        ("capability", Dialect::Capability),
        ("tool", Dialect::Tool),
        ("skill", Dialect::Skill),
        ("agent", Dialect::Agent),
        ("mcp-tools", Dialect::McpTools),
    ]
    .map(stock)
    .into()
});

fn collect(path: &Path, dialect: Dialect, documents: &mut Vec<Value>) {
    if path.is_dir() {
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        inside.sort();
        inside.iter().for_each(|path| collect(path, dialect, documents));
        return;
    }
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    if !stem.is_some_and(|stem| ["input", "old", "new"].contains(&stem)) {
        return;
    }
    let format = path.extension().and_then(|e| e.to_str()).and_then(Format::of_extension);
    let options = Options { format, dialect: Some(dialect), ..Options::default() };
    let checked = compile::check(&std::fs::read(path).unwrap(), options);
    documents.extend(checked.tree().map(Node::to_json));
}

fn parts(value: &Value, all: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                all.push((key.clone(), value.clone()));
                parts(value, all);
            }
        }
        Value::Array(items) => {
            for value in items {
                all.push((String::new(), value.clone()));
                parts(value, all);
            }
        }
        _ => {}
    }
}

/// Is what happens at one place.
#[derive(Clone, Copy, Debug)]
enum Act {
    Remove,
    Replace,
    Add,
    /// Takes an element to the other end of its list, or adds it once more.
    Move,
    Repeat,
}

type Edit = (Index, Act, Index, Option<Value>);

fn edit() -> impl Strategy<Value = Edit> {
    let act = prop_oneof![
        4 => Just(Act::Remove),
        4 => Just(Act::Replace),
        4 => Just(Act::Add),
        1 => Just(Act::Move),
        1 => Just(Act::Repeat),
    ];
    let scrap = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5i64..5).prop_map(Value::from),
        "[a-z]{0,4}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["x", {"name": "y"}])),
    ];
    // Mostly something that stands somewhere in a manifest of the kind.
    (any::<Index>(), act, any::<Index>(), prop::option::weighted(0.3, scrap))
}

fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{key}"), all);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                places(value, &format!("{at}/{i}"), all);
            }
        }
        _ => {}
    }
}

fn apply(document: &mut Value, stock: &Stock, (place, act, donor, scrap): &Edit) {
    let (key, given) = donor.get(&stock.values);
    let value = scrap.clone().unwrap_or_else(|| given.clone());
    let mut all = Vec::new();
    places(document, "", &mut all);
    let place = place.get(&all);
    if let Act::Add = act {
        match document.pointer_mut(place).unwrap() {
            Value::Object(map) => drop(map.insert(key.clone(), value)),
            Value::Array(items) => items.insert(donor.index(items.len() + 1), value),
            other => *other = value,
        }
        return;
    }
    let Some((outer, last)) = place.rsplit_once('/') else { return };
    let last = last.replace("~1", "/").replace("~0", "~");
    match (document.pointer_mut(outer).unwrap(), act) {
        (Value::Object(map), Act::Remove) => drop(map.remove(&last)),
        (Value::Object(map), _) => {
            let alike: Vec<_> = stock.values.iter().filter(|(key, _)| *key == last).collect();
            let (_, alike) = donor.get(&alike);
            map.insert(last, scrap.clone().unwrap_or_else(|| alike.clone()));
        }
        (Value::Array(items), act) => {
            let item = items.remove(last.parse().unwrap());
            match act {
                Act::Replace => items.insert(last.parse().unwrap(), value),
                Act::Move => items.insert(donor.index(items.len() + 1), item),
                Act::Repeat => items.extend([item.clone(), item]),
                Act::Remove | Act::Add => {}
            }
        }
        _ => unreachable!(),
    }
}

/// Checks that a change points at what it speaks of: in the old version if it has a value from
/// there and none from the new one, else in the new version.
fn check(dialect: Dialect, change: &Change, old: &Value, new: &Value) -> Result<(), String> {
    let gone = change.before.is_some() && change.after.is_none();
    let (version, said, name) = match gone {
        true => (old, &change.before, "old"),
        false => (new, &change.after, "new"),
    };
    let Some(found) = version.pointer(&change.pointer) else {
        return Err(format!("it points nowhere in the {name} version"));
    };
    // What came or went is given as it stands there, unless it is shown in another form.
    let came = change.before.is_none() && change.after.is_some();
    let written = matches!(dialect, Dialect::Capability | Dialect::McpTools);
    let lowered = change.rule == "input-schema-changed" && !written;
    let hidden = said.as_ref().is_some_and(|said| said.to_string().contains("(hidden)"));
    if (gone || came) && !lowered && !hidden && said.as_ref() != Some(found) {
        return Err(format!("{found} is there in the {name} version"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_change_points_at_something_in_the_version_it_claims(
        which in 0usize..5,
        first: Index,
        edits in prop::collection::vec(edit(), 1..6),
    ) {
        let stock = &STOCK[which];
        let old = first.get(&stock.documents);
        let mut new = old.clone();
        edits.iter().for_each(|edit| apply(&mut new, stock, edit));
        for (old, new) in [(old, &new), (&new, old)] {
            let changes = diff::diff(stock.dialect, &Node::from_json(old), &Node::from_json(new));
            let lists = [&changes.breaking, &changes.non_breaking, &changes.consent];
            for change in lists.into_iter().flatten() {
                if let Err(why) = check(stock.dialect, change, old, new) {
                    panic!("{}: {change:?}: {why}\n{old}\n{new}", stock.dialect.as_str());
                }
            }
        }
    }
}
