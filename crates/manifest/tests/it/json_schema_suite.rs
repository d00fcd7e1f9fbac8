//! The official test suite of JSON Schema 2020-12, case by case, against the validator that judges
//! every input. Where Remit departs from the suite it does so on purpose, and each departure is
//! written down here: one that stops being true fails the test as surely as one that is not listed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use remit_manifest::schema::validator::Validator;
use serde_json::Value;

/// Is one way in which Remit differs from the suite, in some groups of one file.
struct Deviation {
    file: &'static str,
    groups: &'static [&'static str],
    cases: Cases,
    why: &'static str,
}

/// Says which cases of a group differ. All of them must.
enum Cases {
    All,
    /// Those whose description ends like this.
    Ending(&'static str),
}

const OUTSIDE: &str = "no schema may refer to anything outside its own document";
const ASSERTED: &str = "Remit asserts formats always, the suite only where they are asked for";

static DEVIATIONS: &[Deviation] = &[
    Deviation {
        file: "defs.json",
        groups: &["validate definition against metaschema"],
        cases: Cases::All,
        why: OUTSIDE,
    },
    Deviation {
        file: "dynamicRef.json",
        groups: &[
            "strict-tree schema, guards against misspelled properties",
            "tests for implementation dynamic anchor and reference link",
            "$ref and $dynamicAnchor are independent of order - $defs first",
            "$ref and $dynamicAnchor are independent of order - $ref first",
            "$ref to $dynamicRef finds detached $dynamicAnchor",
        ],
        cases: Cases::All,
        why: OUTSIDE,
    },
    Deviation {
        file: "ref.json",
        groups: &["remote ref, containing refs itself"],
        cases: Cases::All,
        why: OUTSIDE,
    },
    Deviation {
        file: "refRemote.json",
        groups: &[
            "remote ref",
            "fragment within remote ref",
            "anchor within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "remote ref with ref to defs",
            "Location-independent identifier in remote ref",
            "retrieved nested refs resolve relative to their URI not $id",
            "remote HTTP ref with different $id",
            "remote HTTP ref with different URN $id",
            "remote HTTP ref with nested absolute ref",
            "$ref to $ref finds detached $anchor",
        ],
        cases: Cases::All,
        why: OUTSIDE,
    },
    Deviation {
        file: "optional/cross-draft.json",
        groups: &["refs to historic drafts are processed as historic drafts"],
        cases: Cases::All,
        why: OUTSIDE,
    },
    Deviation {
        file: "vocabulary.json",
        groups: &["schema that uses custom metaschema with with no validation vocabulary"],
        cases: Cases::Ending("no validation: invalid number, but it still validates"),
        why: "no metaschema is fetched, so none can switch keywords off: every schema is 2020-12",
    },
    Deviation {
        file: "format.json",
        groups: &[
            "email format",
            "regex format",
            "ipv4 format",
            "ipv6 format",
            "hostname format",
            "date format",
            "date-time format",
            "time format",
            "json-pointer format",
            "relative-json-pointer format",
            "iri format",
            "iri-reference format",
            "uri format",
            "uri-reference format",
            "uri-template format",
            "idn-email format",
            "idn-hostname format",
            "uuid format",
            "duration format",
        ],
        cases: Cases::Ending("is only an annotation by default"),
        why: ASSERTED,
    },
];

#[test]
fn the_suite_passes_but_for_the_deviations() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpora/json-schema-suite/draft2020-12");
    if !suite.is_dir() {
        println!("skipped: the JSON Schema test suite is not beside the repository");
        return;
    }
    let mut met = BTreeMap::new();
    let mut wrong = Vec::new();
    let (mut seen, mut passed) = (0, 0);
    for file in files(&suite) {
        let name = file.strip_prefix(&suite).unwrap().to_str().unwrap().to_owned();
        let groups: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let validator = Validator::compile(&group["schema"]);
            for test in group["tests"].as_array().unwrap() {
                let (of, case) = (text(&group["description"]), text(&test["description"]));
                seen += 1;
                let got = match &validator {
                    Ok(validator) => agreed(validator, &test["data"], of),
                    Err(why) => Err(why.clone()),
                };
                let valid = test["valid"] == true;
                match (got == Ok(valid), listed(&name, of, case)) {
                    (true, None) => passed += 1,
                    (false, Some(place)) => *met.entry(place).or_insert(0) += 1,
                    (true, Some(_)) => wrong.push(format!("{name}: {of}: {case}: passes now")),
                    (false, None) => wrong.push(format!("{name}: {of}: {case}: got {got:?}")),
                }
            }
        }
    }
    for (at, deviation) in DEVIATIONS.iter().enumerate() {
        let idle = (0..deviation.groups.len()).filter(|group| !met.contains_key(&(at, *group)));
        for group in idle {
            wrong.push(format!("{}: {}: not met", deviation.file, deviation.groups[group]));
        }
    }
    let deviating: usize = met.values().sum();
    println!("{seen} cases: {passed} passed, {deviating} listed as deviations");
    for (at, deviation) in DEVIATIONS.iter().enumerate() {
        let cases: usize = met.iter().filter(|(place, _)| place.0 == at).map(|(_, n)| n).sum();
        println!("  {}, {cases} cases: {}", deviation.file, deviation.why);
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(seen, passed + deviating);
    assert!(seen > 1_500, "only {seen} cases: is the suite complete?");
}

/// Gives the verdict, which the list of errors must agree with.
fn agreed(validator: &Validator, data: &Value, group: &str) -> Result<bool, String> {
    let valid = validator.is_valid(data);
    assert_eq!(valid, validator.errors(data).is_empty(), "{group}: {data}");
    Ok(valid)
}

/// Finds the row of the table, and the group in it, that a case falls under.
fn listed(file: &str, group: &str, case: &str) -> Option<(usize, usize)> {
    DEVIATIONS.iter().enumerate().filter(|(_, row)| row.file == file).find_map(|(at, row)| {
        let differs = match row.cases {
            Cases::All => true,
            Cases::Ending(end) => case.ends_with(end),
        };
        let group = row.groups.iter().position(|listed| *listed == group)?;
        differs.then_some((at, group))
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}
