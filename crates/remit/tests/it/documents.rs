//! `remit canonical` and `remit hash`.

use crate::support::{directory, remit, remit_with_input};

#[test]
fn canonical_writes_the_bytes_and_nothing_else() {
    let dir = directory(&[
        ("a.json", "{\"b\": 1.0,\n \"a\": [true, null, \"\\u20ac\", 1e30]}"),
        ("a.yaml", "b: 1\na: [true, ~, €, 1e30]\n"),
    ]);
    for file in ["a.json", "a.yaml"] {
        let run = remit(dir.path(), &["canonical", file]);
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (0, "{\"a\":[true,null,\"€\",1e+30],\"b\":1}"),
            "{file}"
        );
    }
    let from_input = remit_with_input(dir.path(), &["canonical", "-"], b"[ 1 , 2 ]");
    assert_eq!(from_input.stdout, "[1,2]");
    let scalar = remit_with_input(dir.path(), &["canonical", "-"], b"\"a\\u001b[31m\\u009b\"");
    assert_eq!(scalar.stdout, "\"a\\u001b[31m\u{9b}\"");
}

#[test]
fn hash_prints_64_hex_digits_however_the_document_is_written() {
    let dir = directory(&[("a.json", "{\"b\":1,\"a\":2}"), ("b.yaml", "a: 2.0\nb: 1\n")]);
    let a = remit(dir.path(), &["hash", "a.json"]);
    assert_eq!(a.stdout.len(), 65);
    assert!(a.stdout.trim().bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
    assert_eq!(a.stdout, remit(dir.path(), &["hash", "b.yaml"]).stdout);
}

#[test]
fn what_cannot_be_canonical_is_refused() {
    let dir = directory(&[
        ("dup.json", "{\"a\":1,\"a\":1}"),
        ("big.json", "[9007199254740993]"),
        ("bare.json", "{\"a\": ${x}}"),
        ("agent.json", "{\"name\": \"a\", \"model\": ${x}, \"mcpServers\": {}}"),
    ]);
    for (file, word) in [
        ("dup.json", "duplicate-key"),
        ("big.json", "integer-out-of-range"),
        ("bare.json", "bare template"),
    ] {
        for command in ["canonical", "hash"] {
            let run = remit(dir.path(), &[command, file]);
            assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{file}");
            assert!(run.stderr.contains(word), "{}", run.stderr);
        }
    }
    assert_eq!(
        remit(dir.path(), &["canonical", "agent.json"]).stdout,
        "{\"mcpServers\":{},\"model\":\"${x}\",\"name\":\"a\"}"
    );
    assert_eq!(remit(dir.path(), &["hash", "missing.json"]).code, 2);
}
