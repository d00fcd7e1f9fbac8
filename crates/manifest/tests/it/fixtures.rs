//! Golden files: each case is a folder with an input and what must come of it.
//!
//! `REMIT_BLESS=1 cargo test -p remit-manifest` writes the golden files anew; read the difference
//! before you commit it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use remit_manifest::compile::{self, Checked, Options};
use remit_manifest::diff;
use remit_manifest::read::Format;
use remit_model::Dialect;

/// The folders of `fixtures/` and the dialect their cases must turn out to be in.
const FOLDERS: [(&str, Option<Dialect>); 6] = [
    ("reading", None),
    ("capability", Some(Dialect::Capability)),
    ("tool", Some(Dialect::Tool)),
    ("skill", Some(Dialect::Skill)),
    ("agent", Some(Dialect::Agent)),
    ("mcp-tools", Some(Dialect::McpTools)),
];

/// The kinds of case inside such a folder.
const KINDS: [&str; 3] = ["valid", "invalid", "diff"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn entries(path: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(path).into_iter().flatten().map(|e| e.unwrap().path()).collect();
    entries.sort();
    entries
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Finds the one file of a case with this stem.
fn file(case: &Path, stem: &str) -> PathBuf {
    let files = entries(case);
    let mut found = files.iter().filter(|f| f.file_stem().is_some_and(|s| s == stem));
    let file = found.next().unwrap_or_else(|| panic!("{} has no {stem}.*", case.display()));
    assert!(found.next().is_none(), "{} has two {stem}.*", case.display());
    file.clone()
}

fn load(path: &Path, strict: bool) -> Checked {
    let format = path.extension().and_then(|e| e.to_str()).and_then(Format::of_extension);
    compile::check(&fs::read(path).unwrap(), Options { format, strict, dialect: None })
}

fn diagnostics(checked: &Checked) -> String {
    let mut text = String::new();
    for d in &checked.diagnostics {
        let pointer = if d.pointer.is_empty() { "/" } else { &d.pointer };
        let severity = d.severity.as_str();
        writeln!(
            text,
            "{}:{} {severity} {} {pointer} {}",
            d.position.line, d.position.column, d.rule, d.message
        )
        .unwrap();
        if let Some(help) = &d.help {
            writeln!(text, "    help: {help}").unwrap();
        }
    }
    text
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

/// Compares with the golden file, or writes it. `None` means that there must be no such file.
fn golden(case: &Path, file: &str, actual: Option<String>, failures: &mut Vec<String>) {
    let path = case.join(file);
    let expected = fs::read_to_string(&path).ok();
    if actual == expected {
        return;
    }
    if std::env::var_os("REMIT_BLESS").is_some() {
        match actual {
            Some(actual) => fs::write(&path, actual).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        return;
    }
    failures.push(format!(
        "{}\n--- expected\n{}\n--- actual\n{}",
        path.display(),
        expected.as_deref().unwrap_or("(no such file)"),
        actual.as_deref().unwrap_or("(no such file)")
    ));
}

fn judge(case: &Path, kind: &str, dialect: Option<Dialect>, failures: &mut Vec<String>) {
    let strict = name(case).ends_with("-strict");
    if kind == "diff" {
        let (old, new) = (load(&file(case, "old"), false), load(&file(case, "new"), false));
        let (Some(before), Some(after)) = (old.tree(), new.tree()) else {
            failures.push(format!("{}: a version cannot be read", case.display()));
            return;
        };
        let dialect = dialect.unwrap();
        assert_eq!(
            (old.dialect, new.dialect),
            (Some(dialect), Some(dialect)),
            "{}",
            case.display()
        );
        let changes = diff::diff(dialect, before, after);
        golden(case, "diff.json", Some(pretty(&changes)), failures);
        return;
    }
    let checked = load(&file(case, "input"), strict);
    let said = Some(diagnostics(&checked)).filter(|text| !text.is_empty());
    if checked.ok() != (kind == "valid") {
        failures.push(format!(
            "{} is not {kind}:\n{}",
            case.display(),
            said.clone().unwrap_or_default()
        ));
    }
    if dialect.is_some() && checked.dialect != dialect {
        failures.push(format!("{} was taken for {:?}", case.display(), checked.dialect));
    }
    golden(case, "diagnostics.txt", said, failures);
    golden(case, "model.json", checked.manifest().map(|m| pretty(&m)), failures);
}

#[test]
fn every_case_gives_its_golden_files() {
    let mut failures = Vec::new();
    let mut cases = 0;
    for folder in entries(&root()) {
        let folder_name = name(&folder);
        let (_, dialect) = *FOLDERS
            .iter()
            .find(|(known, _)| *known == folder_name)
            .unwrap_or_else(|| panic!("fixtures/{folder_name} is not picked up by any test"));
        for kind in entries(&folder) {
            let kind_name = name(&kind);
            assert!(KINDS.contains(&kind_name.as_str()), "{} is not picked up", kind.display());
            for case in entries(&kind) {
                judge(&case, &kind_name, dialect, &mut failures);
                cases += 1;
            }
        }
    }
    println!("{cases} cases");
    assert!(cases > 100, "only {cases} cases found");
    assert!(
        failures.is_empty(),
        "{} of {cases} cases differ:\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

#[test]
fn every_rule_stands_in_a_golden_file_or_is_proved_elsewhere() {
    // These need files, several files, or sizes that do not belong in a repository.
    const ELSEWHERE: [&str; 10] = [
        "io-error",
        "document-too-large",
        "too-many-values",
        "too-many-problems",
        "manifest-too-large",
        "manifest-large",
        "name-clash",
        "missing-dependency",
        "disabled-dependency",
        "unknown-dialect",
    ];
    let mut seen = String::new();
    for folder in entries(&root()) {
        for kind in entries(&folder) {
            for case in entries(&kind) {
                seen += &fs::read_to_string(case.join("diagnostics.txt")).unwrap_or_default();
            }
        }
    }
    let missing: Vec<_> = remit_manifest::rules::ALL
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !ELSEWHERE.contains(id) && !seen.contains(&format!(" {id} ")))
        .collect();
    assert!(missing.is_empty(), "no golden file shows {missing:?}");
}

#[test]
fn every_change_rule_stands_in_a_golden_file() {
    let mut seen = String::new();
    for folder in entries(&root()) {
        for case in entries(&folder.join("diff")) {
            seen += &fs::read_to_string(case.join("diff.json")).unwrap_or_default();
        }
    }
    let missing: Vec<_> = diff::rules::ALL
        .iter()
        .map(|rule| rule.id)
        // Nothing should reach it: it stands for what the rules forgot.
        .filter(|id| *id != "other-change" && !seen.contains(&format!("\"rule\": \"{id}\"")))
        .collect();
    assert!(missing.is_empty(), "no golden file shows {missing:?}");
}
