//! A tool's configuration: `configs/<tool>.yaml`, checked, defaults filled in, `${ENV}` expanded.

use std::path::{Path, PathBuf};

use remit_engine::catalog::Settings;
use remit_engine::redact::Redactor;
use remit_manifest::schema::validator::Validator;
use remit_manifest::shape::Shape;
use remit_model::{Diagnostic, Manifest, canonical, text};
use serde_json::{Map, Value};

use super::secrets::Secrets;
use super::{in_one_line, judge};

/// Looks an environment variable up.
pub(crate) type Environment<'e> = &'e dyn Fn(&str) -> Option<String>;

/// Is the process's own environment.
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Says why a tool cannot be set up: one line for each thing that is wrong, none with a value in it.
pub(crate) type Wrong = Vec<String>;

/// Gives the file that configures a tool, whether it is there or not.
pub(crate) fn file_of(directory: &Path, tool: &str) -> PathBuf {
    let named = |ending: &str| directory.join(format!("{tool}.{ending}"));
    ["yaml", "yml", "json"]
        .map(named)
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or(named("yaml"))
}

/// Reads, expands, completes and checks a tool's configuration. A file that is not there is an empty
/// one; `made` are settings that the operator's policy makes, which count more than the file.
pub(crate) fn load(
    manifest: &Manifest,
    path: &Path,
    made: Option<&Map<String, Value>>,
    environment: Environment<'_>,
) -> Result<Settings, Wrong> {
    let mut written = if path.exists() { read(manifest, path)? } else { Map::new() };
    for (name, value) in made.into_iter().flatten() {
        if manifest.settings.iter().any(|field| field.name == *name) {
            written.insert(name.clone(), value.clone());
        }
    }
    complete(manifest, written, path, environment)
}

fn read(manifest: &Manifest, path: &Path) -> Result<Map<String, Value>, Wrong> {
    static ANY: Shape = Shape::Map(&Shape::Any);
    let judged = judge(path, &ANY).map_err(|reason| {
        vec![format!("cannot read {}: {reason}", crate::paths::for_people(path))]
    })?;
    let secrets = Secrets::of(manifest);
    let said = |d: &Diagnostic| match secrets.above(&d.pointer) {
        // What is said of it may name what is written there.
        Some(place) => {
            let message = format!("{} in {}, which is secret", d.rule, text::quoted(&place));
            in_one_line(path, &Diagnostic { message, ..d.clone() })
        }
        None => in_one_line(path, d),
    };
    let wrong: Wrong = judged.errors().map(said).collect();
    match judged.reading.root.as_ref().map(remit_model::Node::to_json) {
        Some(Value::Object(map)) if wrong.is_empty() => Ok(map),
        // A file of comments sets nothing.
        None if judged.errors().all(|d| d.rule == "empty-document") => Ok(Map::new()),
        _ => Err(wrong),
    }
}

fn complete(
    manifest: &Manifest,
    mut values: Map<String, Value>,
    path: &Path,
    environment: Environment<'_>,
) -> Result<Settings, Wrong> {
    let mut wrong = Wrong::new();
    let schema = manifest.config_schema.as_ref();
    for (name, value) in &mut values {
        let is_variable = value.as_str().is_some_and(is_one_variable);
        expand(value, environment, &mut |variable| {
            wrong.push(format!(
                "{}: `{name}` needs the environment variable {}, which is not set",
                crate::paths::for_people(path),
                text::quoted(variable)
            ));
        });
        if let (true, Some((_, property))) = (is_variable, properties(schema).find(|p| p.0 == name))
        {
            convert(value, property);
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    for (name, property) in properties(schema) {
        if let (false, Some(default)) = (values.contains_key(name), property.get("default")) {
            values.insert(name.clone(), default.clone());
        }
    }
    let secrets = Secrets::of(manifest);
    let redactor = Redactor::new(secrets.leaves(&values));
    let values = Value::Object(values);
    if let Some(schema) = schema {
        let validator = Validator::compile(schema).map_err(|why| vec![why])?;
        wrong.extend(validator.errors(&values).into_iter().map(|(place, message)| {
            // A message of the validator repeats the value it speaks of, or a key in it.
            let (place, message) = match secrets.above(&place) {
                Some(above) => (above, "the value does not fit its schema".to_owned()),
                None => (place, redactor.text(&message)),
            };
            let file = crate::paths::for_people(path);
            match place.as_str() {
                "" if path.exists() => format!("{file}: {message}"),
                "" => format!("{message}; set it in {file}, which is not there yet"),
                place => format!("{file}: `{place}`: {message}"),
            }
        }));
    } else if values.as_object().is_some_and(|map| !map.is_empty()) {
        wrong.push(format!("{}: the tool takes no settings", crate::paths::for_people(path)));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let fingerprint = canonical::hash_bytes(values.to_string().as_bytes());
    let Value::Object(values) = values else { return Err(wrong) };
    Ok(Settings { values, redactor, fingerprint })
}

fn properties(schema: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.and_then(|s| s.get("properties")).and_then(Value::as_object).into_iter().flatten()
}

/// Tells whether a text is one variable and nothing else.
fn is_one_variable(text: &str) -> bool {
    text.strip_prefix("${").and_then(|rest| rest.find('}').map(|end| end + 1 == rest.len()))
        == Some(true)
}

/// Gives the text of a variable the type that the setting has: a variable is always text.
fn convert(value: &mut Value, property: &Value) {
    let kind = property.get("type").and_then(Value::as_str);
    let Some(text) = value.as_str() else { return };
    let Ok(read) = serde_json::from_str::<Value>(text.trim()) else { return };
    let fits = match kind {
        Some("integer" | "number") => read.is_number(),
        Some("boolean") => read.is_boolean(),
        _ => false,
    };
    if fits {
        *value = read;
    }
}

/// Puts environment variables in place of `${NAME}` in every string. `$${` is a plain `${`. What was
/// put in is not looked at again.
fn expand(value: &mut Value, environment: Environment<'_>, missing: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => {
            if let Some(expanded) = expanded(text, environment, missing) {
                *text = expanded;
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| expand(item, environment, missing));
        }
        Value::Object(map) => {
            map.values_mut().for_each(|item| expand(item, environment, missing));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn expanded(
    text: &str,
    environment: Environment<'_>,
    missing: &mut dyn FnMut(&str),
) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    text.contains("${").then_some(())?;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        if let Some(before) = before.strip_suffix('$') {
            out.push_str(before);
            out.push_str("${");
            rest = from.get(2..).unwrap_or_default();
            continue;
        }
        out.push_str(before);
        let Some(end) = from.find('}') else {
            out.push_str(from);
            return Some(out);
        };
        let name = from.get(2..end).unwrap_or_default();
        let name = name.strip_prefix("env:").unwrap_or(name);
        match environment(name) {
            Some(value) => out.push_str(&value),
            None => missing(name),
        }
        rest = from.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    Some(out)
}

/// Shows a tool's settings with the secrets hidden.
pub(crate) fn shown(manifest: &Manifest, settings: &Settings) -> Map<String, Value> {
    let mut values = settings.values.clone();
    Secrets::of(manifest).hide(&mut values);
    values.values_mut().for_each(|value| settings.redactor.value(value));
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn manifest() -> Manifest {
        let text = r#"{"manifest_version":"1.0.0","name":"t","display_name":"T","description":"d","entry":"t.py",
            "config_schema":{"api_key":{"type":"string","minLength":8,"required":true},
            "url":{"type":"string","default":"http://localhost"},"n":{"type":"integer","default":3}},
            "commands":[{"name":"c","description":"d"}]}"#;
        let options = remit_manifest::compile::Options::default();
        remit_manifest::compile::check(text.as_bytes(), options).manifest().unwrap()
    }

    fn with(values: Value) -> Result<Settings, Wrong> {
        let variables = |name: &str| (name == "KEY").then(|| "c4nary-${URL}".to_owned());
        let Value::Object(map) = values else { unreachable!() };
        complete(&manifest(), map, Path::new("configs/t.yaml"), &variables)
    }

    #[test]
    fn variables_are_put_in_once_and_defaults_filled_in() {
        let settings = with(json!({"api_key": "k-${KEY}-$${KEY}", "n": 5})).unwrap();
        assert_eq!(settings.values["api_key"], "k-c4nary-${URL}-${KEY}");
        assert_eq!(settings.values["url"], "http://localhost");
        assert_eq!(settings.values["n"], 5);
        let shown = shown(&manifest(), &settings);
        assert_eq!(shown["api_key"], "[secret]");
    }

    #[test]
    fn a_variable_becomes_what_the_setting_is() {
        let with = |text: &str, variable: &str| {
            let Value::Object(map) = json!({"api_key": "12345678", "n": text}) else { panic!() };
            let environment = |_: &str| Some(variable.to_owned());
            complete(&manifest(), map, Path::new("configs/t.yaml"), &environment)
        };
        assert_eq!(with("${N}", "17").unwrap().values["n"], 17);
        assert!(with("${N}", "many").is_err());
        assert!(with("1${N}", "7").is_err(), "only a variable by itself");
        let Value::Object(map) = json!({"api_key": "${N}"}) else { panic!() };
        let key = complete(&manifest(), map, Path::new("c.yaml"), &|_| Some("12345678".into()));
        assert_eq!(key.unwrap().values["api_key"], "12345678", "a text stays one");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_value() {
        let missing = with(json!({"api_key": "${NOPE}"})).unwrap_err();
        assert!(missing[0].contains("`NOPE`"), "{missing:?}");
        let wrong = with(json!({"api_key": "c4n", "n": "x", "other": 1})).unwrap_err();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(!wrong.join("").contains("c4n"), "{wrong:?}");
        let absent = with(json!({})).unwrap_err();
        assert!(absent[0].contains("api_key"), "{absent:?}");
        assert!(absent[0].contains("not there yet"), "{absent:?}");
    }

    #[test]
    fn no_key_below_a_secret_is_named() {
        let text = r#"{"manifest_version":"1.0.0","name":"t","display_name":"T","description":"d","entry":"t.py",
            "config_schema":{"people":{"type":"object","secret":true,
            "additionalProperties":{"type":"integer"}}},"commands":[{"name":"c","description":"d"}]}"#;
        let options = remit_manifest::compile::Options::default();
        let manifest = remit_manifest::compile::check(text.as_bytes(), options).manifest().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.yaml");
        for (wrong, place) in [
            ("people: {c4nary-1: x}\n", "`/people`: the value"),
            ("people:\n  c4nary-2: 1\n  c4nary-2: 1\n", "in `/people`"),
        ] {
            std::fs::write(&path, wrong).unwrap();
            let said = load(&manifest, &path, None, &|_| None).unwrap_err().join("; ");
            assert!(said.contains(place) && !said.contains("c4nary"), "{said}");
        }
    }
}
