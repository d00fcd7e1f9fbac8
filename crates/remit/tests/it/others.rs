//! `remit new`, `schema`, `completions`, `doctor`, and the arguments themselves.

use crate::support::{directory, remit};

#[test]
fn what_new_writes_checks_clean_in_yaml_and_json() {
    for (dialect, name) in [
        ("capability", "notes"),
        ("tool", "weather_now"),
        ("skill", "org.acme.tell-time"),
        ("agent", "reviewer"),
    ] {
        let dir = directory(&[]);
        for arguments in
            [vec!["new", dialect], vec!["new", dialect, name], vec!["new", dialect, name, "--json"]]
        {
            let run = remit(dir.path(), &arguments);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(run.stdout.contains("next: remit check"));
        }
        for file in [format!("{name}.yaml"), format!("{name}.json")] {
            let run = remit(dir.path(), &["check", "--strict", "--notes", &file]);
            assert_eq!(run.stdout, format!("ok: {file}\n"));
        }
        let yaml = std::fs::read_to_string(dir.path().join(format!("{name}.yaml"))).unwrap();
        assert!(
            yaml.lines().filter(|l| l.contains('#')).count() >= 8,
            "{dialect} teaches with comments"
        );
        // Written once, never overwritten.
        let again = remit(dir.path(), &["new", dialect, name]);
        assert_eq!(again.code, 2);
        assert!(again.stderr.contains("exists already"), "{}", again.stderr);
        assert!(remit(dir.path(), &["new", dialect, "-o", "-"]).stdout.contains('#'));
    }
}

#[test]
fn a_name_that_cannot_be_is_refused() {
    let dir = directory(&[]);
    for (dialect, name) in
        [("tool", "../evil"), ("tool", "a b"), ("agent", "under_score"), ("skill", "a/b")]
    {
        let run = remit(dir.path(), &["new", dialect, name]);
        assert_eq!(run.code, 2, "{name}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn schemas_are_json_and_completions_name_the_commands() {
    let dir = directory(&[]);
    for dialect in ["capability", "tool", "skill", "agent", "mcp-tools"] {
        let schema = remit(dir.path(), &["schema", dialect]).json();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["type"], "object");
    }
    for shell in ["bash", "zsh", "fish"] {
        let run = remit(dir.path(), &["completions", shell]);
        assert!(run.stdout.contains("canonical") && run.stdout.contains("doctor"));
    }
}

#[test]
fn doctor_finds_itself_well() {
    let dir = directory(&[]);
    let run = remit(dir.path(), &["doctor"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    let report = remit(dir.path(), &["doctor", "--format", "json"]).json();
    assert_eq!(report["ok"], true, "{report:#}");
}

#[test]
fn help_has_examples_and_wrong_usage_is_exit_code_two() {
    let dir = directory(&[]);
    for command in ["new", "check", "diff", "hash", "canonical", "schema", "completions", "doctor"]
    {
        let run = remit(dir.path(), &[command, "--help"]);
        assert_eq!(run.code, 0);
        assert!(run.stdout.contains("Examples:"), "{command}");
    }
    for arguments in [&["chek"][..], &["check", "--format", "xml"], &["diff", "one"], &[]] {
        let run = remit(dir.path(), arguments);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(!run.stderr.is_empty());
    }
    assert!(remit(dir.path(), &["chek"]).stderr.contains("check"), "did-you-mean for commands");
}
