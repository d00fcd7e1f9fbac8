//! What must hold for any input. Each public function is one fuzz target; a panic is a finding.

use jsonschema::PatternOptions;
use remit_manifest::compile::{self, Options};
use remit_manifest::read::{self, Format, Limits, Reading};
use remit_manifest::schema::{self, Manner, witness};
use remit_manifest::{Report, diff as differ};
use remit_model::Value as Tree;
use remit_model::{Diagnostic, Dialect, Node, Severity, Source, Span, Unit, canonical as form};
use serde_json::Value;

/// What Remit refuses in JSON that serde_json takes (SPEC §2).
const STRICTER: [&str; 5] = [
    "document-too-large",
    "duplicate-key",
    "integer-out-of-range",
    "nesting-too-deep",
    "too-many-values",
];

/// Reads bytes in every way; judges JSON as serde_json does; keeps YAML's meaning when it is
/// written as JSON.
pub fn read(data: &[u8]) {
    let json = read::read(data, Some(Format::Json), &Limits::MANIFEST);
    diagnostics_are_sound(&json.diagnostics, &json);
    agrees_with_serde(data, &json);

    let yaml = read::read(data, Some(Format::Yaml), &Limits::MANIFEST);
    diagnostics_are_sound(&yaml.diagnostics, &yaml);
    for reading in [&json, &yaml] {
        if let Some(tree) = reading.accepted() {
            survives_as_json(tree);
        }
    }

    let guessed = read::read(data, None, &Limits::DOCUMENT);
    diagnostics_are_sound(&guessed.diagnostics, &guessed);
}

fn agrees_with_serde(data: &[u8], reading: &Reading) {
    if !reading.bare_templates.is_empty() {
        return;
    }
    // A byte order mark gets a note from Remit and a refusal from serde_json.
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    match (serde_json::from_slice::<Value>(text), reading.accepted()) {
        (Ok(value), Some(tree)) => assert!(tree.same(&Node::from_json(&value)), "another value"),
        (Err(_), None) => {}
        (Err(error), Some(_)) => panic!("accepted what serde_json refuses: {error}"),
        (Ok(_), None) => {
            let refused = errors(&reading.diagnostics);
            let stricter = refused.iter().all(|d| STRICTER.contains(&d.rule));
            assert!(stricter && !refused.is_empty(), "refused what serde_json takes: {refused:?}");
        }
    }
}

fn survives_as_json(tree: &Node) {
    let text = form::canonical(tree);
    let again = read::read(text.as_bytes(), Some(Format::Json), &Limits::DOCUMENT);
    match again.accepted() {
        Some(same) => assert!(same.same(tree), "reads differently when written as JSON"),
        // Written out, a large fraction-free double is an integer beyond 2^53.
        None => assert!(
            errors(&again.diagnostics).iter().all(|d| d.rule == "integer-out-of-range"),
            "is not read again: {:?}",
            again.diagnostics
        ),
    }
}

/// Reads YAML with the fast reader and with the full parser: whatever the fast one takes on has one
/// meaning and one set of places in both.
pub fn yaml(data: &[u8]) {
    let fast = read::read(data, Some(Format::Yaml), &Limits::MANIFEST);
    if fast.source.unit() == Unit::Chars {
        return;
    }
    if serde_json::from_slice::<Value>(data).is_ok() {
        // JSON is read as such; where the full parser disagrees with JSON, JSON is right.
        return agrees_with_serde(data, &fast);
    }
    let full = read::read_with_full_parser(data, Some(Format::Yaml), &Limits::MANIFEST);
    assert_eq!(fast.diagnostics, full.diagnostics);
    match (&fast.root, &full.root) {
        (Some(one), Some(other)) => same_places([one, other], [&fast.source, &full.source]),
        (None, None) => {}
        _ => panic!("only one of them gives a tree"),
    }
}

fn same_places(nodes: [&Node; 2], sources: [&Source; 2]) {
    let starts = |spans: [Span; 2]| {
        let [one, other] = [0, 1].map(|i| sources[i].byte_range(spans[i]).start);
        assert_eq!(one, other, "another place: {nodes:?}");
    };
    starts(nodes.map(|node| node.span));
    match nodes.map(|node| &node.value) {
        [Tree::Array(one), Tree::Array(other)] if one.len() == other.len() => {
            one.iter().zip(other).for_each(|(one, other)| same_places([one, other], sources));
        }
        [Tree::Object(one), Tree::Object(other)] if one.len() == other.len() => {
            for (one, other) in one.members().iter().zip(other.members()) {
                assert_eq!(one.key, other.key);
                starts([one.key_span, other.key_span]);
                same_places([&one.value, &other.value], sources);
            }
        }
        _ => assert!(nodes[0].same(nodes[1]), "another value: {nodes:?}"),
    }
}

/// Judges and lowers a manifest of a dialect.
pub fn manifest(dialect: Dialect, data: &[u8]) {
    let options = Options { dialect: Some(dialect), ..Options::default() };
    let checked = compile::check(data, options);
    diagnostics_are_sound(&checked.diagnostics, &checked.reading);
    let strict = compile::check(data, Options { strict: true, ..options });
    assert!(checked.ok() || !strict.ok(), "strict takes what is refused otherwise");
    assert_eq!(checked.diagnostics.len(), strict.diagnostics.len(), "strict finds another number");
    let lowered = checked.manifest();
    assert_eq!(lowered.is_some(), checked.ok(), "good manifests are lowered and no others");
    for capability in lowered.iter().flat_map(|manifest| &manifest.capabilities) {
        for schema in [Some(&capability.input_schema), capability.output_schema.as_ref()] {
            if let Some(schema) = schema {
                compiles(schema);
            }
        }
    }
    // Detection may disagree with the dialect given, but must not trip over it.
    let _ = compile::check(data, Options::default()).manifest();
}

/// Gives canonical forms that do not change when made again and that another implementation agrees
/// with.
pub fn canonical(data: &[u8]) {
    for chunk in data.as_chunks::<8>().0 {
        let number = f64::from_le_bytes(*chunk);
        if number.is_finite() {
            let want = serde_json_canonicalizer::to_string(&number).expect("finite");
            assert_eq!(form::number(number), want);
        }
    }
    let reading = read::read(data, None, &Limits::DOCUMENT);
    let Some(tree) = reading.accepted() else { return };
    let once = form::canonical(tree);
    let value = tree.to_json();
    assert_eq!(once, serde_json_canonicalizer::to_string(&value).expect("serialises"));
    assert_eq!(form::canonical(&Node::from_json(&value)), once);
    if let Some(again) =
        read::read(once.as_bytes(), Some(Format::Json), &Limits::DOCUMENT).accepted()
    {
        assert_eq!(form::canonical(again), once);
        assert_eq!(form::hash(again), form::hash(tree));
    }
    assert_eq!(form::hash(tree).len(), 64);
}

/// Compares any two documents as any dialect: the first byte names the dialect, a zero byte parts
/// the documents.
pub fn diff(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else { return };
    let dialect = Dialect::ALL[usize::from(choice) % Dialect::ALL.len()];
    let Some([old, new]) = halves(rest) else { return };
    let [old, new] = [old, new].map(|text| read::read(text, None, &Limits::MANIFEST));
    let (Some(old), Some(new)) = (old.accepted(), new.accepted()) else { return };
    assert!(differ::diff(dialect, old, old).is_empty(), "a document differs from itself");
    for (from, to) in [(old, new), (new, old)] {
        let changes = differ::diff(dialect, from, to);
        assert_eq!(changes.is_empty(), from.same(to), "a difference is passed over, or made up");
        let [before, after] = [from.to_json(), to.to_json()];
        for change in changes.breaking.iter().chain(&changes.non_breaking).chain(&changes.consent) {
            // What is gone is pointed at in the old version, everything else in the new one.
            let gone = change.before.is_some() && change.after.is_none();
            let version = if gone { &before } else { &after };
            assert!(version.pointer(&change.pointer).is_some(), "{change:?} points nowhere");
            is_showable(&change.message);
        }
    }
}

/// Takes schemas that the check accepts: they compile, and a witness between two of them is one.
pub fn schema(data: &[u8]) {
    let Some([old, new]) = halves(data) else { return };
    let [Some(old), Some(new)] = [old, new].map(accepted_schema) else { return };
    let [before, after] = [&old, &new].map(compiles);
    let Some(found) = witness::find(&old, &new) else { return };
    assert_eq!(before.is_valid(&found.input), found.accepted_before, "{found:?}");
    assert_eq!(after.is_valid(&found.input), !found.accepted_before, "{found:?}");
}

fn accepted_schema(text: &[u8]) -> Option<Value> {
    let reading = read::read(text, None, &Limits::MANIFEST);
    let root = reading.accepted()?;
    let mut report = Report::default();
    schema::check(root, Manner::default(), &mut report);
    let fine = !report.has_errors();
    diagnostics_are_sound(&report.finish(root, &reading.source, false), &reading);
    fine.then(|| root.to_json())
}

/// Compiles a schema with the options that calls are validated with.
fn compiles(schema: &Value) -> jsonschema::Validator {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .build(schema)
        .unwrap_or_else(|error| panic!("was accepted but does not compile: {error}: {schema}"))
}

fn halves(data: &[u8]) -> Option<[&[u8]; 2]> {
    let at = data.iter().position(|&byte| byte == 0)?;
    let (first, second) = data.split_at(at);
    Some([first, &second[1..]])
}

fn errors(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    diagnostics.iter().filter(|d| d.severity == Severity::Error).collect()
}

fn diagnostics_are_sound(diagnostics: &[Diagnostic], reading: &Reading) {
    for diagnostic in diagnostics {
        assert!(diagnostic.position.line >= 1 && diagnostic.position.column >= 1, "{diagnostic:?}");
        let range = reading.source.byte_range(diagnostic.span);
        assert!(reading.source.text().get(range).is_some(), "{diagnostic:?} underlines nothing");
        assert!(
            !diagnostic.message.is_empty() && !diagnostic.message.ends_with('.'),
            "{diagnostic:?}"
        );
        is_showable(&diagnostic.message);
        is_showable(diagnostic.help.as_deref().unwrap_or_default());
    }
}

/// Refuses what a terminal could take for an order, and what a reader cannot see.
fn is_showable(text: &str) {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
            || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    assert!(!text.contains(hidden), "raw characters reach a person: {text:?}");
    assert!(text.len() < 4096, "a message without end: {} bytes", text.len());
}
