//! `remit check`.

use serde_json::{Value, json};

use crate::support::{TOOL, directory, remit, remit_with_input, repository};

#[test]
fn json_output_keeps_its_contract() {
    let dir = directory(&[("a.yaml", &format!("{TOOL}runtime: pyton\nextra: 1\n"))]);
    let run = remit(dir.path(), &["check", "--format", "json", "a.yaml"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.json(),
        json!({
            "files": [{
                "path": "a.yaml",
                "dialect": "tool",
                "ok": false,
                "diagnostics": [
                    {"rule": "unknown-value", "severity": "error", "message": "`pyton` is not one of `python`, `javascript`, `native`", "pointer": "/runtime", "line": 8, "column": 10, "help": "did you mean `python`?"},
                    {"rule": "unknown-field", "severity": "warning", "message": "a tool manifest has no field `extra`", "pointer": "/extra", "line": 9, "column": 1},
                ],
            }],
            "errors": 1,
            "warnings": 1,
        })
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn the_examples_are_fine_and_a_directory_is_walked() {
    let run = remit(&repository(""), &["check", "--format", "json", "examples"]);
    let report = run.json();
    assert_eq!(
        (run.code, &report["errors"], &report["warnings"]),
        (0, &json!(0), &json!(0)),
        "{report:#}"
    );
    let dialects: Vec<_> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["dialect"].as_str().unwrap())
        .collect();
    for dialect in ["capability", "tool", "skill", "agent", "mcp-tools"] {
        assert!(dialects.contains(&dialect), "{dialect}");
    }
}

#[test]
fn files_that_are_not_manifests_are_passed_over_in_directories_only() {
    let dir = directory(&[
        ("tool.yaml", TOOL),
        ("package.json", "{"),
        ("settings.json", "{\"editor\": true}"),
        ("deploy.yml", "kind: A\n---\nkind: B\n"),
        ("chart.yaml", "a: {{ .Values.x }}\n  b\n"),
        (
            "action.yml",
            "name: a\ndescription: b\ninputs: {x: {required: true}}\nruns: {using: node20}\n",
        ),
        ("extension/manifest.json", "{\"manifest_version\": 3, \"name\": \"x\", \"commands\": {}}"),
        ("node_modules/x/tool.yaml", "name: ["),
        (".kiro/agents/a.json", "{\"name\": \"a\", \"tools\": [\"read\"]}"),
    ]);
    let run = remit(dir.path(), &["check", "--format", "json"]);
    let paths: Vec<_> = run.json()["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(paths, ["./.kiro/agents/a.json", "./tool.yaml"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let run = remit(dir.path(), &["check"]);
    assert!(
        run.stdout.contains("ok: 2 manifests") && run.stdout.contains("passed over 5 files"),
        "{}",
        run.stdout
    );
    assert_eq!(
        remit(dir.path(), &["check", "--format", "json", "settings.json"]).rules(),
        ["unknown-dialect"]
    );
}

#[test]
fn human_output_shows_the_line_and_underlines_it() {
    let dir = directory(&[("a.yaml", &format!("{TOOL}runtime: pyton\n"))]);
    let run = remit(dir.path(), &["check", "a.yaml"]);
    assert_eq!(
        run.stdout,
        "error[unknown-value]: `pyton` is not one of `python`, `javascript`, `native`\n --> a.yaml:8:10\n  |\n8 | runtime: pyton\n  |          ^^^^^\n  |\nhelp: did you mean `python`?\n\n1 error in 1 of 1 manifest\n"
    );
    let coloured = remit(dir.path(), &["check", "--color", "always", "a.yaml"]);
    assert!(coloured.stdout.contains("\u{1b}["));
}

#[test]
fn what_a_manifest_says_cannot_steer_the_terminal() {
    let nasty = "na\u{202e}me\u{1b}[2J\u{200b}\u{e0041}";
    let text = format!(
        "{{\"manifest_version\": \"1.0.0\", \"type\": {}, {}: 1}}",
        json!(nasty),
        json!(nasty)
    );
    let dir = directory(&[("a.json", &text)]);
    for format in ["human", "json", "sarif", "github"] {
        let run = remit(dir.path(), &["check", "--format", format, "--color", "never", "a.json"]);
        let hidden = |c: char| c != '\n' && remit_model::text::is_hidden(c);
        assert!(!run.stdout.contains(hidden), "{format}: {:?}", run.stdout);
        assert_eq!(run.code, 1);
    }
    let run = remit(dir.path(), &["diff", "a.json", "a.json"]);
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{202e}'), "{:?}", run.stderr);
}

#[test]
fn a_file_name_cannot_steer_the_terminal_either() {
    let name = "\u{1b}[31mevil\u{202e}\n::error::x.yaml";
    let dir = directory(&[(name, TOOL), ("bad\u{1b}.yaml", "name: [")]);
    for arguments in
        [&["check", name][..], &["check", "."], &["check", "--dialect", "\u{202e}\u{1b}"]]
    {
        let run = remit(dir.path(), arguments);
        for text in [&run.stdout, &run.stderr] {
            assert!(!text.contains(|c| c != '\n' && remit_model::text::is_hidden(c)), "{text:?}");
            assert!(!text.contains("\n::error"), "{text:?}");
        }
    }
}

#[test]
fn a_file_given_twice_does_not_clash_with_itself() {
    let dir = directory(&[("t/x.yaml", TOOL)]);
    std::os::unix::fs::symlink("x.yaml", dir.path().join("t/link.yaml")).unwrap();
    let run = remit(dir.path(), &["check", "t/x.yaml", "t/x.yaml", "t", "./t/x.yaml"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
}

#[test]
fn agents_of_few_fields_are_recognised() {
    for text in [
        "{\"name\": \"a\", \"version\": \"1.0.0\", \"description\": \"d\", \"tools\": []}",
        "{\"name\": \"a\", \"version\": \"1.0.0\", \"tools\": ${tools}}",
        "{\"name\": \"a\", \"description\": \"d\"}",
        "{\"name\": \"a\", \"description\": \"d\", \"alowedTools\": [], \"mcpServer\": {}}",
    ] {
        let dir = directory(&[("a.json", text)]);
        let report = remit(dir.path(), &["check", "--format", "json", "a.json"]).json();
        assert_eq!(report["files"][0]["dialect"], "agent", "{text}");
    }
}

#[test]
fn strict_turns_warnings_and_old_formats_into_errors() {
    let dir = directory(&[
        ("a.yaml", &format!("{TOOL}extra: 1\n")),
        ("agent.json", "{\"name\": \"my agent\", \"tools\": [\"read\"]}"),
    ]);
    let run = remit(dir.path(), &["check", "."]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("shown with --notes"), "{}", run.stdout);
    assert!(remit(dir.path(), &["check", "--notes", "."]).stdout.contains("note[legacy-format]"));
    let strict = remit(dir.path(), &["check", "--strict", "--format", "json", "."]);
    assert_eq!(strict.code, 1);
    let report = strict.json();
    assert!(report["files"].as_array().unwrap().iter().all(|f| f["ok"] == false));
    assert_eq!(report["warnings"], 0);
}

#[test]
fn standard_input_is_read_and_the_dialect_can_be_named() {
    let dir = directory(&[]);
    let run = remit_with_input(dir.path(), &["check", "--format", "json", "-"], TOOL.as_bytes());
    assert_eq!(run.json()["files"][0]["dialect"], "tool");
    assert_eq!(run.json()["files"][0]["path"], "-");
    let named = ["check", "--format", "json", "--dialect", "skill", "-"];
    let run = remit_with_input(dir.path(), &named, TOOL.as_bytes());
    assert_eq!(run.json()["files"][0]["dialect"], "skill");
    assert_eq!(run.code, 1);
}

#[test]
fn sarif_names_known_rules_and_places() {
    let dir = directory(&[("a b.yaml", &format!("{TOOL}runtime: pyton\n"))]);
    let run = remit(dir.path(), &["check", "--format", "sarif", "a b.yaml"]);
    let log = run.json();
    assert_eq!(log["version"], "2.1.0");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unknown-value");
    assert_eq!(result["level"], "error");
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(log["runs"][0]["tool"]["driver"]["rules"][index]["id"], "unknown-value");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.yaml");
    assert_eq!(place["region"], json!({"startLine": 8, "startColumn": 10}));
    let _: Value = log;
}

#[test]
fn github_output_is_one_command_a_line() {
    let dir = directory(&[("a.yaml", &format!("{TOOL}runtime: pyton\n"))]);
    let run = remit(dir.path(), &["check", "--format", "github", "a.yaml"]);
    assert_eq!(
        run.stdout,
        "::error file=a.yaml,line=8,col=10,title=unknown-value::`pyton` is not one of `python`, `javascript`, `native`%0Ahelp: did you mean `python`?\n"
    );
}

#[test]
fn manifests_are_judged_together() {
    let tool = |name: &str, more: &str| TOOL.replace("greeter\n", &format!("{name}\n")) + more;
    let dir = directory(&[
        ("a.yaml", &tool("alpha", "dependencies: [beta]\n")),
        ("b.yaml", &tool("beta", "dependencies: [alpha]\n")),
        ("c.yaml", &tool("gamma", "dependencies: [nothing, off]\n")),
        ("d.yaml", &tool("off", "enabled: false\n")),
        ("e.yaml", &tool("Al-pha", "")),
    ]);
    let run = remit(dir.path(), &["check", "--format", "json", "."]);
    assert_eq!(
        run.rules(),
        [
            "cyclic-dependency",
            "cyclic-dependency",
            "missing-dependency",
            "disabled-dependency",
            "name-clash"
        ]
    );
    assert!(run.stdout.contains("clashes with `alpha` in ./a.yaml"));
    // One file alone looks at its neighbours, but speaks only of itself.
    let alone = remit(dir.path(), &["check", "--format", "json", "c.yaml"]);
    assert_eq!(alone.rules(), ["missing-dependency", "disabled-dependency"]);
    assert!(
        remit(dir.path(), &["check", "c.yaml"]).stdout.contains("dependencies: [nothing, off]")
    );
}

#[test]
fn many_files_are_all_reported_in_order() {
    let dir = directory(&[]);
    for i in 0..2_000 {
        std::fs::write(
            dir.path().join(format!("t{i:04}.yaml")),
            TOOL.replace("greeter\n", &format!("t{i}\n")),
        )
        .unwrap();
    }
    let run = remit(dir.path(), &["check", "--format", "json", "."]);
    let report = run.json();
    let files = report["files"].as_array().unwrap();
    assert_eq!((run.code, files.len()), (0, 2_000));
    assert!(files.is_sorted_by_key(|f| f["path"].as_str().unwrap().to_owned()));
    assert_eq!(run.stderr, "", "no progress bar in a pipe");
}
