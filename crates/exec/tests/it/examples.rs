//! The examples that ship beside the helper modules.

use remit_exec::process::{Kind, Plan};
use serde_json::json;

use crate::support::{call, checkout, plan_in, result, start};

async fn examples() -> [Plan; 2] {
    [
        plan_in(&checkout("tools/python"), Kind::Python, "count_words.py").await,
        plan_in(&checkout("tools/javascript"), Kind::JavaScript, "count_words.js").await,
    ]
}

#[tokio::test]
async fn both_count_words() {
    for plan in examples().await {
        let mut worker = start(&plan).await;
        let got = result(&mut worker, "count", json!({"text": "the whole nine yards"})).await;
        assert_eq!(got, json!({"words": 4, "longest": "whole"}));
        let got = result(&mut worker, "count_slowly", json!({"steps": 1})).await;
        assert_eq!(got, json!({"steps": 1}));
        worker.end().await;
    }
}

#[tokio::test]
async fn both_read_what_they_are_lent_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().canonicalize().unwrap();
    std::fs::create_dir(base.join("lent")).unwrap();
    std::fs::write(base.join("lent/a.txt"), "one two\nthree").unwrap();
    std::fs::write(base.join("b.txt"), "one").unwrap();
    for mut plan in examples().await {
        plan.confinement.read.push(base.join("lent"));
        let mut worker = start(&plan).await;
        let answer =
            call(&mut worker, "count_file", json!({"path": base.join("lent/a.txt")})).await;
        let answer = answer.unwrap();
        assert_eq!(answer.outcome.unwrap(), json!({"words": 3}));
        assert!(answer.message.is_some());
        let answer = call(&mut worker, "count_file", json!({"path": base.join("b.txt")})).await;
        assert_eq!(answer.unwrap().outcome.unwrap_err().code, "CANNOT_READ");
        worker.end().await;
    }
}

#[tokio::test]
async fn both_report_what_goes_wrong_and_go_on() {
    for plan in examples().await {
        let mut worker = start(&plan).await;
        let answer = call(&mut worker, "nonsense", json!({})).await.unwrap();
        assert_eq!(answer.outcome.unwrap_err().code, "UNKNOWN_COMMAND");
        let answer = call(&mut worker, "count", json!({"text": 7})).await.unwrap();
        assert_eq!(answer.outcome.unwrap_err().code, "TOOL_FAILED");
        let got = result(&mut worker, "count", json!({"text": "on"})).await;
        assert_eq!(got["words"], 1);
        worker.end().await;
    }
}
