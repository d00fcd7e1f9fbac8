//! The schemas that editors get of the dialects, held against `check`: what it accepts they accept,
//! and what is wrong with a manifest's shape they refuse.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remit_manifest::compile::{self, Checked, Options};
use remit_manifest::dialect;
use remit_manifest::read::Format;
use remit_model::{Diagnostic, Dialect, Node, Severity};
use serde_json::{Value, json};

/// Lists the rules that are about the shape of a manifest, which a JSON Schema can say too.
const SHAPE: &[&str] = &[
    "missing-field",
    "unknown-field",
    "wrong-type",
    "unknown-value",
    "out-of-bounds",
    "empty-text",
    "bad-name",
    "bad-version",
    "unsupported-version",
    "bad-url",
    "bad-date-time",
    "bad-media-type",
    "bad-schema",
    "schema-not-object",
    "open-schema",
    "lax-standard-scope",
    "not-a-property-map",
    "bad-url-template",
    "auth-mismatch",
    "type-mismatch",
    "reserved-name",
    "server-kind",
    "server-transport",
    "bad-reference",
];

/// Gives the fixtures of a kind, each with the dialect it is in.
fn fixtures(kind: &str) -> Vec<(Dialect, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = Vec::new();
    for dialect in Dialect::ALL {
        for case in files(&root.join(dialect.as_str()).join(kind)) {
            let input = files(&case).into_iter().find(|f| f.file_stem() == Some("input".as_ref()));
            // What is only wrong under `--strict` is judged by rules that a schema does not know.
            if !case.to_string_lossy().ends_with("-strict") {
                found.push((dialect, input.unwrap()));
            }
        }
    }
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

/// Is the schema that editors get, ready to be asked.
struct Editor {
    dialect: Dialect,
    validator: jsonschema::Validator,
}

impl Editor {
    fn new(dialect: Dialect) -> Self {
        let schema = dialect::json_schema(dialect);
        Self { dialect, validator: jsonschema::draft202012::new(&schema).unwrap() }
    }

    /// Compares the two verdicts on one document.
    fn compare(&self, document: &Value, checked: &Checked) -> Result<(), String> {
        let errors: Vec<_> =
            checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
        // A number that cannot be carried over is no whole number here, and one to a validator.
        let odd = |d: &Diagnostic| {
            errors.iter().any(|e| e.rule == "number-not-portable" && e.pointer == d.pointer)
        };
        let shape = errors.iter().find(|d| SHAPE.contains(&d.rule) && !odd(d));
        match (self.validator.iter_errors(document).next(), shape) {
            (Some(refused), _) if errors.is_empty() => Err(format!(
                "{}: check accepts, the schema refuses {}: {refused}",
                self.dialect.as_str(),
                refused.instance_path()
            )),
            (None, Some(error)) => Err(format!(
                "{}: the schema accepts, check says {} {} {}",
                self.dialect.as_str(),
                error.rule,
                error.pointer,
                error.message
            )),
            _ => Ok(()),
        }
    }
}

/// Gives what an editor sees of a file. It sees no bare templates, which are not JSON: in their
/// place stands something of the type that may stand there.
fn seen(editor: &Editor, checked: &Checked) -> Option<Value> {
    let tree = checked.tree()?;
    // The schema is that of the result, which may come inside a JSON-RPC response.
    let mut value = match editor.dialect {
        Dialect::McpTools => dialect::mcp_tools::unwrapped(tree).to_json(),
        _ => tree.to_json(),
    };
    let mut places = Vec::new();
    bare(tree, &mut String::new(), &mut places);
    for place in places {
        for stand_in in [json!({}), json!([])] {
            let wrong = |value: &Value| {
                editor.validator.iter_errors(value).any(|e| e.instance_path().as_str() == place)
            };
            if wrong(&value) {
                *value.pointer_mut(&place).unwrap() = stand_in;
            }
        }
    }
    Some(value)
}

fn bare(node: &Node, at: &mut String, places: &mut Vec<String>) {
    let mut below = |step: String, inner: &Node| {
        let length = at.len();
        *at += &format!("/{}", step.replace('~', "~0").replace('/', "~1"));
        bare(inner, at, places);
        at.truncate(length);
    };
    match &node.value {
        remit_model::Value::Template(_) => places.push(at.clone()),
        remit_model::Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, item)| below(i.to_string(), item));
        }
        remit_model::Value::Object(object) => {
            object.members().iter().for_each(|m| below(m.key.to_string(), &m.value));
        }
        _ => {}
    }
}

/// Changes a document in one place: a field left out or misspelt, a value of another type, a word
/// that nobody knows, a number out of bounds.
fn mutants(value: &Value, found: &mut dyn FnMut(Value)) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                let mut other = map.clone();
                let inner_value = other.remove(key).unwrap();
                found(Value::Object(other.clone()));
                other.insert(format!("{key}x"), inner_value);
                found(Value::Object(other));
                mutants(inner, &mut |changed| {
                    let mut other = map.clone();
                    other.insert(key.clone(), changed);
                    found(Value::Object(other));
                });
            }
        }
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                mutants(inner, &mut |changed| {
                    let mut other = items.clone();
                    other[i] = changed;
                    found(Value::Array(other));
                });
            }
        }
        _ => {}
    }
    for other in [
        json!(null),
        json!(true),
        json!("zz"),
        json!(" "),
        json!(7),
        json!(-1),
        json!(0.5),
        json!(1e9),
        json!([]),
        json!([7]),
        json!({}),
        json!({"zz": 7}),
    ] {
        if other != *value {
            found(other);
        }
    }
}

fn check(dialect: Dialect, value: &Value) -> Checked {
    let options = Options { dialect: Some(dialect), ..Options::default() };
    compile::check(value.to_string().as_bytes(), options)
}

#[test]
fn check_and_the_schema_for_editors_agree_on_every_file() {
    let mut wrong = Vec::new();
    let editors = Dialect::ALL.map(Editor::new);
    let corpus =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/agent-manifests");
    let real = files(&corpus).into_iter().filter(|f| f.extension() == Some("json".as_ref()));
    let mut all = [fixtures("valid"), fixtures("invalid")].concat();
    all.extend(real.map(|file| (Dialect::Agent, file)));
    for (dialect, file) in &all {
        let editor = editors.iter().find(|e| e.dialect == *dialect).unwrap();
        let format = file.extension().and_then(|e| e.to_str()).and_then(Format::of_extension);
        let options = Options { dialect: Some(*dialect), format, strict: false };
        let checked = compile::check(&std::fs::read(file).unwrap(), options);
        let Some(document) = seen(editor, &checked) else { continue };
        if let Err(message) = editor.compare(&document, &checked) {
            wrong.push(format!("{}: {message}", file.display()));
        }
    }
    println!("files: {}", all.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn check_and_the_schema_for_editors_agree_on_every_small_change() {
    let editors = Dialect::ALL.map(Editor::new);
    let (mut count, mut wrong) = (0, BTreeMap::new());
    for (dialect, file) in fixtures("valid") {
        let editor = editors.iter().find(|e| e.dialect == dialect).unwrap();
        let checked = compile::check(&std::fs::read(&file).unwrap(), Options::default());
        let Some(document) = seen(editor, &checked) else { continue };
        mutants(&document, &mut |mutant| {
            count += 1;
            if let Err(message) = editor.compare(&mutant, &check(dialect, &mutant)) {
                wrong.entry(message).or_insert_with(|| mutant.to_string());
            }
        });
    }
    println!("small changes: {count}");
    let wrong: Vec<_> = wrong.iter().map(|(why, mutant)| format!("{why}\n    {mutant}")).collect();
    assert!(wrong.is_empty(), "{} disagreements\n{}", wrong.len(), wrong.join("\n"));
}
