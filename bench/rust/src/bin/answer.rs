//! A native tool that does nothing: answers each request and ends with its input.

use std::io::{BufRead as _, Write as _};

fn main() {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let request: serde_json::Value =
            serde_json::from_str(&line.expect("a line")).expect("JSON");
        let answer = serde_json::json!({"id": request["id"], "result": request["parameters"]});
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("somebody reads");
    }
}
