//! The reference of rules is written from the tables; this holds the file to them.

use std::fmt::Write as _;
use std::path::Path;

use remit_manifest::diff::Verdict;

fn reference() -> String {
    let mut text = String::from(
        "# Rules\n\nThe ids are stable: scripts and suppressions may rely on them. This page is written from the\ntables in `crates/manifest/src/rules.rs` and `crates/manifest/src/diff/rules.rs`.\n\n## What a manifest is judged by\n\n`remit check` reports these. The severity is the usual one; a place may have another, and `--strict`\nturns warnings into errors.\n\n| rule | severity | what it asks |\n|---|---|---|\n",
    );
    for rule in remit_manifest::rules::ALL {
        writeln!(text, "| `{}` | {} | {} |", rule.id, rule.severity.as_str(), rule.summary)
            .unwrap();
    }
    text.push_str(
        "\n## What a change is reported under\n\n`remit diff` reports these. A change that needs consent is listed under `consent` as well as under\nits verdict.\n\n| rule | verdict | needs consent |\n|---|---|---|\n",
    );
    for rule in remit_manifest::diff::rules::ALL {
        let verdict = match rule.verdict {
            Verdict::Breaking => "breaking",
            Verdict::NonBreaking => "non-breaking",
        };
        writeln!(
            text,
            "| `{}` | {verdict} | {} |",
            rule.id,
            if rule.consent { "yes" } else { "no" }
        )
        .unwrap();
    }
    text
}

#[test]
fn the_reference_of_rules_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    if std::env::var_os("REMIT_BLESS").is_some() {
        std::fs::write(&path, reference()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == reference(), "run the tests with REMIT_BLESS=1 to write docs/rules.md anew");
}
