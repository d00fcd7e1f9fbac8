//! Other people's data, where it is present: the run says how many cases it saw.

use std::fs;
use std::path::{Path, PathBuf};

use remit_manifest::read::{self, Format, Limits};
use remit_model::canonical;

/// Gives the files of a folder of the corpora, none where there are no corpora.
fn files(folder: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora").join(folder);
    let mut files: Vec<_> =
        fs::read_dir(path).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn json_test_suite_is_accepted_and_refused_as_it_says() {
    // What SPEC §2 refuses although JSON allows it.
    const REFUSED: [(&str, &str); 2] = [
        ("y_object_duplicated_key.json", "duplicate-key"),
        ("y_object_duplicated_key_and_value.json", "duplicate-key"),
    ];
    let files = files("json-test-suite/test_parsing");
    for path in &files {
        let bytes = fs::read(path).unwrap();
        let reading = read::read(&bytes, Some(Format::Json), &Limits::DOCUMENT);
        // A template is an extension of agent files and refused by every other reader of the tree.
        let accepted = reading.accepted().is_some() && reading.bare_templates.is_empty();
        let refusal = REFUSED.iter().find(|(file, _)| *file == name(path));
        match (name(path).chars().next(), refusal) {
            (_, Some((_, rule))) => {
                assert!(reading.diagnostics.iter().any(|d| d.rule == *rule), "{}", path.display());
            }
            (Some('y'), None) => assert!(accepted, "{}: {:?}", path.display(), reading.diagnostics),
            (Some('n'), None) => assert!(!accepted, "{}", path.display()),
            _ => {}
        }
        if accepted {
            let reference: serde_json::Value =
                serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes))
                    .unwrap();
            let tree = remit_model::Node::from_json(&reference);
            assert!(reading.accepted().unwrap().same(&tree), "{}", path.display());
        } else {
            assert!(
                !reading.diagnostics.is_empty() || !reading.bare_templates.is_empty(),
                "{}",
                path.display()
            );
        }
    }
    println!(
        "JSON test suite: {} files, {} of them refused by SPEC §2",
        files.len(),
        REFUSED.len()
    );
}

#[test]
fn rfc_8785_vectors_come_out_byte_for_byte() {
    let inputs = files("jcs/input");
    for path in &inputs {
        let reading = read::read(fs::read(path).unwrap(), Some(Format::Json), &Limits::DOCUMENT);
        let text = canonical::canonical(reading.accepted().unwrap());
        let output = fs::read(path.parent().unwrap().join("../output").join(name(path))).unwrap();
        assert_eq!(text.as_bytes(), output, "{}", path.display());
        let hex = path.parent().unwrap().join("../outhex").join(name(path)).with_extension("txt");
        let hex: Vec<u8> = fs::read_to_string(hex)
            .unwrap()
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        assert_eq!(text.as_bytes(), hex, "{}", path.display());
    }
    println!("RFC 8785 documents: {}", inputs.len());
}

#[test]
fn rfc_8785_numbers_come_out_as_ecmascript_prints_them() {
    let mut count = 0;
    for path in files("jcs").iter().filter(|p| name(p).starts_with("es6testfile")) {
        for line in fs::read_to_string(path).unwrap().lines() {
            let (bits, text) = line.split_once(',').unwrap();
            let number = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
            assert_eq!(canonical::number(number), text, "{bits}");
            count += 1;
        }
    }
    println!("RFC 8785 numbers: {count}");
}
