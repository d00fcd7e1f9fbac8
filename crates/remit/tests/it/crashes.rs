//! Remit is killed at every point of a call: nothing acknowledged is lost, nothing runs twice, and
//! what was under way is unknown.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use serde_json::json;

use crate::calls::{call, house};
use crate::support::command;

/// Where Remit is killed, what the record says afterwards, and how often the tool has run once the
/// same call was made again.
const POINTS: [(&str, &str, usize); 5] = [
    // Nothing was recorded: the repeated call is the first.
    ("BeforeIntent", "succeeded", 1),
    // The person had not answered: it is known not to have run.
    ("AfterIntent", "cancelled", 0),
    ("AfterAnswer", "outcome_unknown", 0),
    ("AfterExecution", "outcome_unknown", 1),
    ("AfterOutcome", "succeeded", 1),
];

fn killed_at(point: &str, id: &str, input: &str, place: &Path) {
    let arguments = ["call", "demo.append", input, "--approve", "--call-id", id, "--data", "data"];
    let output = command(place).args(arguments).env("REMIT_STOP_AT", point).output().unwrap();
    assert_eq!(
        output.status.signal(),
        Some(9),
        "{point}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// How many kills are made one after another before several are made side by side, each in a place of
/// its own: most of a kill is waiting.
const ALONE: usize = 100;
const LANES: usize = 8;

#[test]
fn killed_at_any_point_nothing_is_lost_and_nothing_runs_twice() {
    let cycles = std::env::var("REMIT_SOAK_KILLS").ok().and_then(|n| n.parse().ok());
    let cycles: usize = cycles.unwrap_or(ALONE);
    let lanes = if cycles > ALONE { LANES } else { 1 };
    std::thread::scope(|scope| {
        for lane in 0..lanes {
            scope.spawn(move || kills((lane..cycles).step_by(lanes)));
        }
    });
    println!("{cycles} kills");
}

fn kills(cycles: impl Iterator<Item = usize>) {
    let dir = house();
    let place = fs::canonicalize(dir.path()).unwrap();
    fs::create_dir(place.join("out")).unwrap();
    let policy = format!(
        "capabilities:\n  - {{match: demo.append, scope: demo:write, sensitivity: high}}\nscopes:\n  \"demo:write\": {{write: [{}]}}\n",
        place.join("out").display()
    );
    fs::write(place.join("remit.yaml"), policy).unwrap();
    for (count, cycle) in cycles.enumerate() {
        // By count: the lanes together must not each see only some of the points.
        let (point, want, runs) = POINTS[count % POINTS.len()];
        let id = format!("kill-{cycle}");
        let file = place.join(format!("out/{cycle}"));
        let input = json!({"file": file}).to_string();
        killed_at(point, &id, &input, &place);
        let again = call(&place, &["demo.append", &input, "--approve", "--call-id", &id]).json();
        assert_eq!(again["outcome"], want, "{point}, cycle {cycle}: {again}");
        let ran = fs::read_to_string(&file).unwrap_or_default().lines().count();
        assert_eq!(ran, runs, "{point}, cycle {cycle}");
    }
    let verify = crate::support::remit(&place, &["log", "verify", "--data", "data"]);
    assert_eq!(verify.code, 0, "{}", verify.stdout);
}
