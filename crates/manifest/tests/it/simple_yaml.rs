//! The fast reader of simple YAML against the full parser: one tree, one set of places.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use remit_manifest::read::{self, Format, Limits, Reading};
use remit_model::{Node, Source, Span, Unit, Value};

fn both(bytes: &[u8]) -> (Reading, Reading) {
    let format = Some(Format::Yaml);
    let limits = &Limits::MANIFEST;
    (read::read(bytes, format, limits), read::read_with_full_parser(bytes, format, limits))
}

/// Writes a tree down with the places of everything in it. Of a collection that is its start: the
/// full parser sees the end of one behind the comment that follows it.
fn with_places(node: &Node, source: &Source, out: &mut String) {
    let place = |span: Span| {
        let range = source.byte_range(span);
        // The full parser sees the end of a quoted or a block text behind the comment that follows.
        let covered = &source.text()[range.clone()];
        let length = covered.split(" #").next().unwrap_or_default().trim_end().len();
        format!("{}..{}", range.start, range.start + length)
    };
    match &node.value {
        Value::Array(_) | Value::Object(_) => {
            out.push_str(&place(Span { end: node.span.start, ..node.span }));
        }
        _ => out.push_str(&place(node.span)),
    }
    match &node.value {
        Value::Array(items) => {
            out.push('[');
            items.iter().for_each(|item| with_places(item, source, out));
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for member in object.members() {
                out.push_str(&format!("{:?}@{}:", member.key, place(member.key_span)));
                with_places(&member.value, source, out);
            }
            out.push('}');
        }
        scalar => out.push_str(&format!("{scalar:?};")),
    }
}

/// Holds the two readers against each other; tells whether the fast one read it.
fn agree(bytes: &[u8]) -> bool {
    let (fast, full) = both(bytes);
    if fast.source.unit() == Unit::Chars || fast.root.is_none() {
        return false;
    }
    let text = String::from_utf8_lossy(bytes);
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(&text) {
        assert!(fast.root.unwrap().same(&Node::from_json(&json)), "{text}");
        return true;
    }
    assert_eq!(fast.diagnostics, full.diagnostics, "{text}");
    let [fast, full] = [&fast, &full].map(|reading| {
        let mut out = String::new();
        with_places(reading.root.as_ref().unwrap(), &reading.source, &mut out);
        out
    });
    assert_eq!(fast, full, "{text}");
    true
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml") {
            found.push(path);
        }
    }
}

#[test]
fn on_every_file_there_is_the_two_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (folder, most_are_simple) in
        [("fixtures", false), ("examples", true), ("../shared/corpora", false)]
    {
        let mut files = Vec::new();
        yaml_files(&root.join(folder), &mut files);
        let fast = files.iter().filter(|path| agree(&fs::read(path).unwrap())).count();
        println!("{folder}: {} YAML files, {fast} read by the fast reader", files.len());
        assert!(!most_are_simple || fast * 2 > files.len(), "the fast reader reads too little");
    }
}

#[test]
fn what_is_simple_is_read_fast_and_right() {
    for text in [
        "a: 1\n",
        "# first\n---\na: 1 # one\n\n# more\nb:\n  c: x y\n  d:\n  - 1\n  - -2.5\ne: ~\n",
        "a:\n- b: 1\n  c: 2\n- - x\n  - y\n-\n  d: 3\n-\nz: end\n",
        "a: |\n  one\n    two\n\n  three\n\n\nb: |-\n  x\nc: >\n  folds\n  into one\nd: >-\n  y\n",
        "a: \"q \\\" \\\\ \\n\"\n'b c': 'it''s'\n\"d\": ''\n",
        "a: [x, 'y', \"z\", 1, null, [], {}, {k: v, 'q': 2}]\nb: { c: [1, 2] }\n",
        "a: http://example.com/x#y\nb: a:b\nc: x#y\nd: 名 字\n名: 1\n",
        "a:\nb:\n  c:\nd: # nothing\n",
        "a: 1",
        "- 1\n-   b: 2\n    c: 3\n",
        "{\"a\":[1,\n\t\"\\u00e9\"]}\r\n",
    ] {
        assert!(agree(text.as_bytes()), "not read fast:\n{text}");
    }
}

#[test]
fn what_is_not_simple_is_left_to_the_full_parser() {
    for text in [
        "a: b: c\n",
        "a: x\n  y\n",
        "a: 'x\n  y'\n",
        "a: [1,\n  2]\n",
        "a: &x 1\nb: *x\n",
        "a: !!str 1\n",
        "a: 1\na: 2\n",
        "a: 1\n---\nb: 2\n",
        "a: 1\n...\n",
        "%YAML 1.2\n---\na: 1\n",
        "a:\t1\n",
        "a: 1\r\n",
        "a: |+\n  x\n\n",
        "a: >\n  x\n\n  y\n",
        "? a\n: 1\n",
        "1: a\n",
        "true: a\n",
        "a: 9007199254740993\n",
        "a: .inf\n",
        "<<: 1\n",
        "text\n",
        "a:\n  b: 1\n c: 2\n",
        "- a\nb: 1\n",
        "a: @x\n",
        "a: `x`\n",
        "a: 1\n b: 2\n",
    ] {
        assert!(!agree(text.as_bytes()), "read fast:\n{text}");
    }
}

/// Gives pieces of YAML that mean something to one of the readers, in any order.
fn yamlish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => Just("\n".to_owned()),
        4 => (0..5usize).prop_map(|n| format!("\n{}", " ".repeat(n))),
        4 => "[a-c]{1,2}: ".prop_map(|s| s),
        3 => "[a-c]:".prop_map(|s| s),
        4 => Just("- ".to_owned()),
        2 => Just(" ".to_owned()),
        3 => prop::sample::select(vec![
            "x", "1", "-1", "~", "null", "true", "x y", "'q'", "\"d\"", "''", "\"\\n\"", "名", "a:b",
            "#", " #c", "# c", "|", "|-", ">", ">-", "|+", "[", "]", "{", "}", ", ", ",", ": ", ":",
            "[x, 1]", "{a: 1}", "[]", "{}", "-", "--", "---", "...", "%", "&a ", "*a", "!t ", "? ",
            "?", "\t", "\r", "\"", "'", "\\", "@", "`", "<<", "1.5", "0x1f", ".5", "=", "$", "/",
            "\u{85}", "\u{2028}", "\u{feff}", "\u{a0}", "9007199254740993",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

/// Gives documents that are mostly well-formed: lines with an indentation and something on them.
fn document() -> impl Strategy<Value = String> {
    let content = prop::sample::select(vec![
        "a:",
        "b: 1",
        "c: x y",
        "- d",
        "- e: 1",
        "-",
        "- - f",
        "g: |",
        "g: |-",
        "h: >",
        "# i",
        "",
        "j: [1, a b, {k: v}]",
        "'l m': 'n'",
        "\"o\": \"p\"",
        "- 'q'",
        "r: -1",
        "s: # t",
        "text",
        "- \"u\": v",
        "- |",
        "w: a:b#c",
        "x:   y   ",
        "- - - z",
        "- # c",
        "- {a: b}",
        "- [",
        "---",
    ]);
    let line = (0..4usize, content)
        .prop_map(|(indent, content)| format!("{}{content}\n", " ".repeat(indent)));
    prop::collection::vec(line, 1..9).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn on_pieces_of_yaml_the_two_agree(text in yamlish()) {
        agree(text.as_bytes());
    }

    #[test]
    fn on_lines_of_yaml_the_two_agree(text in document()) {
        agree(text.as_bytes());
    }
}
