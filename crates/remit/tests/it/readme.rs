//! What the README shows is what happens.

use crate::support::{directory, remit, repository};

fn readme() -> String {
    std::fs::read_to_string(repository("README.md")).unwrap()
}

#[test]
fn the_first_screen_is_true() {
    let root = repository("");
    let readme = readme();
    assert!(readme.contains(remit(&root, &["check", "examples"]).stdout.trim()));
    let run = remit(
        &root,
        &["diff", "examples/mcp-tools/weather.old.json", "examples/mcp-tools/weather.new.json"],
    );
    // The names and hashes at the top are left out there.
    let shown = run.stdout.split_once("\n\n").unwrap().1;
    assert!(readme.contains(shown), "README.md does not show\n{shown}");
}

#[test]
fn the_example_of_a_call_is_true() {
    let data = directory(&[]);
    let data = data.path().to_str().unwrap();
    let shown = r#"remit call count_words.count '{"text": "to be or not to be"}' --tools examples/counting --approve"#;
    let input = r#"{"text": "to be or not to be"}"#;
    let arguments = [
        "call",
        "count_words.count",
        input,
        "--tools",
        "examples/counting",
        "--approve",
        "--data",
        data,
    ];
    let run = remit(&repository(""), &arguments);
    assert!(
        readme().contains(&format!("$ {shown}\n{}", run.stdout)),
        "{}{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn the_example_of_a_mistake_is_true() {
    let dir = directory(&[]);
    let made = remit(dir.path(), &["new", "tool", "weather"]).stdout;
    assert!(readme().contains(&made), "README.md does not show\n{made}");
    let path = dir.path().join("weather.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("runtime: python ", "runtime: pyton ")).unwrap();
    let shown = remit(dir.path(), &["check", "weather.yaml"]).stdout;
    assert!(readme().contains(&shown), "README.md does not show\n{shown}");
}
