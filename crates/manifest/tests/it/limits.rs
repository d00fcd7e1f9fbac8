//! Every limit, at the limit and one past it; and the rules that need several files.

use remit_manifest::check::set::{self, Entry, Facts};
use remit_manifest::compile::{self, Checked, Options};
use remit_manifest::read::{self, Format, Limits, Reading};
use remit_model::Dialect;

fn json(text: &str) -> Reading {
    read::read(text.as_bytes(), Some(Format::Json), &Limits::MANIFEST)
}

fn yaml(text: &str) -> Reading {
    read::read(text.as_bytes(), Some(Format::Yaml), &Limits::MANIFEST)
}

fn rules(reading: &Reading) -> Vec<&'static str> {
    reading.diagnostics.iter().map(|d| d.rule).collect()
}

fn check(text: &str) -> Checked {
    compile::check(text.as_bytes(), Options::default())
}

fn has(checked: &Checked, rule: &str) -> bool {
    checked.diagnostics.iter().any(|d| d.rule == rule)
}

#[test]
fn nesting_ends_at_64_levels() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(json(&nested(64)).accepted().is_some());
    assert_eq!(rules(&json(&nested(65))), ["nesting-too-deep"]);
    assert!(yaml(&nested(64)).accepted().is_some());
    assert_eq!(rules(&yaml(&nested(65))), ["nesting-too-deep"]);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth);
    assert!(json(&objects(64)).accepted().is_some());
    let deep = json(&objects(65));
    assert_eq!(rules(&deep), ["nesting-too-deep"]);
    assert_eq!(deep.diagnostics[0].pointer, "/a".repeat(64));
    let block = |depth: usize| "- ".repeat(depth) + "x\n";
    assert!(yaml(&block(64)).accepted().is_some());
    assert_eq!(rules(&yaml(&block(65))), ["nesting-too-deep"]);
}

#[test]
fn integers_end_at_two_to_the_53rd() {
    for good in ["9007199254740992", "-9007199254740992", "1e300", "9007199254740993.0"] {
        assert!(json(good).accepted().is_some(), "{good}");
        assert!(yaml(good).accepted().is_some(), "{good}");
    }
    for bad in ["9007199254740993", "-9007199254740993", "18446744073709551616"] {
        assert_eq!(rules(&json(bad)), ["integer-out-of-range"], "{bad}");
        assert_eq!(rules(&yaml(bad)), ["integer-out-of-range"], "{bad}");
    }
    for bad in ["1e309", "-1e309", "NaN", "Infinity", "-Infinity"] {
        assert_eq!(rules(&json(bad)), ["non-finite-number"], "{bad}");
    }
    for bad in [".nan", ".inf", "-.inf", "1e309"] {
        assert_eq!(rules(&yaml(bad)), ["non-finite-number"], "{bad}");
    }
}

#[test]
fn aliases_end_at_a_thousand_values() {
    let aliased = |uses: usize| {
        let nine: String = (0..9).map(|i| format!("k{i}: 1, ")).collect();
        format!("a: &a {{{nine}}}\nb:\n{}", "  - *a\n".repeat(uses))
    };
    // An object of nine values counts ten.
    assert!(yaml(&aliased(100)).accepted().is_some());
    assert_eq!(rules(&yaml(&aliased(101))), ["yaml-alias"]);
    let laughs = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n";
    assert_eq!(rules(&yaml(laughs)), ["yaml-alias"]);
    assert_eq!(rules(&yaml("a: &a [*a]\n")), ["yaml-alias"]);
    let anchored = |values: usize| format!("a: &a [{}]\n", vec!["1"; values - 1].join(","));
    assert!(yaml(&anchored(1000)).accepted().is_some());
    assert_eq!(rules(&yaml(&anchored(1001))), ["yaml-alias"]);
    let deep = format!(
        "a: &a {}1{}\nb: {}*a{}\n",
        "[".repeat(40),
        "]".repeat(40),
        "[".repeat(40),
        "]".repeat(40)
    );
    assert_eq!(rules(&yaml(&deep)), ["nesting-too-deep"]);
}

#[test]
fn what_aliases_copy_is_bounded_in_bytes_too() {
    // A text of 6,336 bytes weighs a hundred values.
    let aliased =
        |uses: usize| format!("a: &a {}\nb: [{}]\n", "x".repeat(6_336), vec!["*a"; uses].join(","));
    assert!(yaml(&aliased(10)).accepted().is_some());
    assert_eq!(rules(&yaml(&aliased(11))), ["yaml-alias"]);
    assert_eq!(rules(&yaml(&format!("a: &a {}\n", "x".repeat(64_000)))), ["yaml-alias"]);
}

#[test]
fn path_patterns_end_at_their_depth_and_length() {
    let agent = |glob: &str| {
        let text = serde_json::json!({"name": "a", "version": "1.0.0", "description": "d", "resources": [format!("file://{glob}")]});
        check(&text.to_string())
    };
    let nested = |depth: usize| "{".repeat(depth) + "a" + &"}".repeat(depth);
    assert!(!has(&agent(&nested(8)), "bad-glob"));
    assert!(has(&agent(&nested(9)), "bad-glob"));
    assert!(has(&agent(&nested(50_000)), "bad-glob"));
    assert!(!has(&agent(&"a".repeat(4_096)), "bad-glob"));
    assert!(has(&agent(&"a".repeat(4_097)), "bad-glob"));
}

#[test]
fn patterns_and_references_of_a_file_are_bounded() {
    let tools = |property: &dyn Fn(usize) -> serde_json::Value, count: usize| {
        let properties: serde_json::Map<_, _> =
            (0..count).map(|i| (format!("p{i}"), property(i))).collect();
        let schema =
            serde_json::json!({"type": "object", "properties": properties, "$defs": {"a": {}}});
        check(&serde_json::json!({"tools": [{"name": "t", "inputSchema": schema}]}).to_string())
    };
    let pattern = |i: usize| serde_json::json!({"pattern": format!("^{i:030}$")});
    // A pattern of 32 bytes costs 64.
    assert!(!has(&tools(&pattern, 2_048), "bad-pattern"));
    assert!(has(&tools(&pattern, 2_049), "bad-pattern"));
    let reference = |_: usize| serde_json::json!({"$ref": "#/$defs/a"});
    assert!(!has(&tools(&reference, 2_000), "costly-schema"));
    assert!(has(&tools(&reference, 2_001), "costly-schema"));
}

#[test]
fn a_flood_of_notes_is_cut_and_stays_a_note() {
    let tools: Vec<_> = (0..600)
        .map(|i| serde_json::json!({"name": format!("t{i}"), "inputSchema": {"type": "object"}}))
        .collect();
    let checked = check(&serde_json::json!({"tools": tools}).to_string());
    assert!(checked.ok() && has(&checked, "too-many-problems"));
    assert_eq!(checked.diagnostics.len(), 501);
}

#[test]
fn documents_end_at_their_size() {
    let string = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert!(json(&string(1 << 19)).accepted().is_some());
    let over = json(&string((1 << 19) + 1));
    assert_eq!(rules(&over), ["document-too-large"]);
    assert_eq!(
        (over.diagnostics[0].position.line, over.diagnostics[0].position.column),
        (1, (1 << 19) + 1)
    );
    assert!(yaml(&string(1 << 19)).accepted().is_some());
    assert_eq!(rules(&yaml(&string((1 << 19) + 1))), ["document-too-large"]);
    let many = |values: usize| format!("[{}]", vec!["1"; values - 1].join(","));
    assert!(json(&many(200_000)).accepted().is_some());
    assert_eq!(rules(&json(&many(200_001))), ["too-many-values"]);
}

#[test]
fn values_in_yaml_end_at_their_number() {
    // Fewer bytes a value than any other way of writing them.
    let many = |values: usize| {
        format!("[{}]", vec!["~"; values - 1].join(","))
            .replace(",~,~,~,~,~,~,~,~", ",~,~,~,~,~,~,~,\n~")
    };
    assert!(yaml(&many(200_000)).accepted().is_some());
    assert_eq!(rules(&yaml(&many(200_001))), ["too-many-values"]);
}

#[test]
fn lines_of_yaml_that_are_not_simple_end_at_64_kib() {
    let line = |bytes: usize| format!("a: [{}, b: c]\n", "x".repeat(bytes - 11));
    let at = line(1 << 16);
    assert_eq!(at.len() - 1, 1 << 16);
    assert!(yaml(&at).accepted().is_some());
    let past = yaml(&format!("# 文\n{}", line((1 << 16) + 1)));
    assert_eq!(rules(&past), ["line-too-long"]);
    assert_eq!(past.diagnostics[0].position.line, 2);
    // What is simple, or JSON, may have any line.
    assert!(yaml(&format!("a: {}\n", "x".repeat(1 << 17))).accepted().is_some());
    assert!(yaml(&format!("[{}1]", "1,".repeat(1 << 16))).accepted().is_some());
}

#[test]
fn documents_to_hash_end_at_their_size() {
    let document = |text: &str| read::read(text.as_bytes(), Some(Format::Json), &Limits::DOCUMENT);
    let string = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert!(document(&string(8 << 20)).accepted().is_some());
    assert_eq!(rules(&document(&string((8 << 20) + 1))), ["document-too-large"]);
    let many = |values: usize| format!("[{}]", vec!["1"; values - 1].join(","));
    assert!(document(&many(250_000)).accepted().is_some());
    assert_eq!(rules(&document(&many(250_001))), ["too-many-values"]);
}

/// A capability manifest of exactly so many bytes, both as written and in canonical form.
fn capability(bytes: usize) -> String {
    let text = |key: &str| {
        format!(
            "{{\"agent_version\":\"1.0.0\",\"capability_flags\":{{\"supports_artifacts\":true,\"supports_group_chat\":true,\"supports_streaming\":true,\"supports_voice\":false}},\"permission_scopes\":[{{\"id\":\"a:b\",\"label_i18n_key\":\"{key}\",\"sensitivity\":\"low\"}}],\"schema_version\":\"1.0\",\"tools\":[{{\"description_i18n_key\":\"d\",\"input_schema\":{{\"additionalProperties\":false,\"type\":\"object\"}},\"name\":\"t\",\"permission_scope\":\"a:b\"}}]}}"
        )
    };
    let shell = text("").len();
    text(&"x".repeat(bytes - shell))
}

#[test]
fn capability_manifests_end_at_128_kib_and_warn_from_64_kib() {
    for (bytes, large, refused) in [
        (65_535, false, false),
        (65_536, true, false),
        (131_072, true, false),
        (131_073, false, true),
    ] {
        let text = capability(bytes);
        assert_eq!(text.len(), bytes);
        let checked = check(&text);
        assert_eq!(checked.dialect, Some(Dialect::Capability));
        assert_eq!(has(&checked, "manifest-large"), large, "{bytes}");
        assert_eq!(has(&checked, "manifest-too-large"), refused, "{bytes}");
        assert_eq!(checked.ok(), !refused, "{bytes}");
    }
    // White space counts as received, although the canonical form does not have it.
    let padded = capability(131_000) + &" ".repeat(73);
    assert!(has(&check(&padded), "manifest-too-large"));
}

#[test]
fn the_canonical_form_counts_even_where_the_source_is_shorter() {
    // In YAML a plain key needs no quotes, so many short keys are longer in canonical form.
    let keys: String = (0..14_000).map(|i| format!("a{i}: ~\n     ")).collect();
    let yaml = format!(
        "schema_version: \"1.0\"\ntools:\n- name: t\n  input_schema:\n   default:\n     {keys}\npermission_scopes: []\n"
    );
    assert!(yaml.len() > 131_072 || has(&check(&yaml), "manifest-too-large"));
    let flow: String = (0..11_000)
        .map(|i| format!("a{i}: ,{}", if i % 1_000 == 0 { "\n  " } else { "" }))
        .collect();
    let yaml = format!(
        "schema_version: \"1.0\"\nagent_version: 1.0.0\ntools: [{{name: t, input_schema: {{default: {{{flow}}}}}}}]\npermission_scopes: []\n"
    );
    assert!(yaml.len() < 131_072);
    assert!(has(&check(&yaml), "manifest-too-large"));
}

#[test]
fn a_document_in_no_dialect_says_so_at_its_root() {
    let checked = check("{\"hello\": \"world\"}");
    assert!(has(&checked, "unknown-dialect"));
    assert!(has(&check("[1, 2]"), "unknown-dialect"));
    assert!(has(&check("\"text\""), "unknown-dialect"));
    let named = Options { dialect: Some(Dialect::Tool), ..Options::default() };
    assert!(has(&compile::check(b"[1]", named), "wrong-type"));
}

#[test]
fn a_flood_of_problems_is_cut() {
    let fields: String = (0..2_000).map(|i| format!("zzz{i}: 1\n")).collect();
    let checked = check(&format!("manifest_version: \"1.0.0\"\n{fields}"));
    assert!(has(&checked, "too-many-problems"));
    assert!(checked.diagnostics.len() <= 501);
}

fn tool(name: &str, more: &str) -> Checked {
    let text = format!(
        "name: {name}\ndisplay_name: T\ndescription: d\nentry: t.py\ncommands: [{{name: c, description: d}}]\n{more}\n"
    );
    let checked = check(&text);
    assert!(checked.ok(), "{:?}", checked.diagnostics);
    checked
}

/// Judges files as a set: name of the file, directory, manifest.
fn together(files: &[(&str, &str, Checked)]) -> Vec<(String, String)> {
    let facts: Vec<Facts> = files.iter().map(|(_, _, c)| Facts::of(c).unwrap()).collect();
    let entries: Vec<Entry<'_>> = files
        .iter()
        .zip(&facts)
        .map(|((label, directory, _), facts)| Entry { label, directory, facts })
        .collect();
    set::check(&entries)
        .into_iter()
        .map(|(i, d)| {
            assert!(d.position.line >= 1);
            (files[i].0.to_owned(), format!("{} {} {}", d.rule, d.pointer, d.message))
        })
        .collect()
}

#[test]
fn names_clash_within_a_directory_after_folding_and_both_files_are_named() {
    let found = together(&[
        ("a.yaml", "x", tool("file_operator", "")),
        ("b.yaml", "x", tool("File-Operator", "")),
        ("c.yaml", "y", tool("file_operator", "")),
    ]);
    assert_eq!(
        found,
        [(
            "b.yaml".into(),
            "name-clash /name the name `File-Operator` clashes with `file_operator` in a.yaml"
                .into()
        )]
    );
}

#[test]
fn dependencies_must_exist_be_enabled_and_not_go_in_circles() {
    let found = together(&[
        ("a.yaml", "x", tool("alpha", "dependencies: [beta]")),
        ("b.yaml", "x", tool("beta", "dependencies: [gamma]")),
        ("c.yaml", "x", tool("gamma", "dependencies: [alpha, off, bta]")),
        ("d.yaml", "x", tool("off", "enabled: false\ndependencies: [alpha]")),
        ("e.yaml", "x", tool("fine", "dependencies: [alpha]")),
    ]);
    let of = |file: &str| {
        found.iter().filter(|(f, _)| f == file).map(|(_, m)| m.as_str()).collect::<Vec<_>>()
    };
    assert!(of("a.yaml")[0].starts_with("cyclic-dependency /dependencies/0"));
    assert!(of("b.yaml")[0].starts_with("cyclic-dependency"));
    let gamma = of("c.yaml");
    assert!(gamma[0].starts_with("cyclic-dependency"));
    // `off` is in the circle too: it depends on alpha.
    assert!(gamma[1].starts_with("cyclic-dependency"), "{gamma:?}");
    assert_eq!(gamma[2], "missing-dependency /dependencies/2 there is no tool `bta`");
    assert!(of("e.yaml").is_empty());
    let found = together(&[
        ("a.yaml", "x", tool("alpha", "dependencies: [off]")),
        ("b.yaml", "x", tool("off", "enabled: false")),
    ]);
    assert_eq!(
        found,
        [(
            "a.yaml".into(),
            "disabled-dependency /dependencies/0 the tool `off` is disabled in b.yaml".into()
        )]
    );
}

#[test]
fn a_long_chain_of_dependencies_needs_no_stack() {
    let files: Vec<_> = (0..5_000)
        .map(|i| {
            (
                "f.yaml",
                "x",
                tool(&format!("t{i}"), &format!("dependencies: [t{}]", (i + 1) % 5_000)),
            )
        })
        .collect();
    let found = together(&files);
    assert_eq!(found.len(), 5_000);
}
