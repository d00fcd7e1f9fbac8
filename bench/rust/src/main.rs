//! The in-process half of the benchmarks: measures and prints one JSON object.
//!
//! `bench/run.py` calls this, compares with the peers and makes the table. Everything here panics on
//! bad input: only the harness calls it.

mod bare;
mod calls;
mod cold;
mod crowd;
mod house;
mod http;
mod load;
mod measure;
mod oneshot;
mod phases;
mod serve;
mod spawn;
mod streams;
mod together;
mod warm;

use std::hint::black_box;
use std::path::Path;

use measure::{Task, race};
use remit_manifest::diff;
use remit_manifest::read::{self, Format, Limits};
use remit_model::{Dialect, Node, canonical};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let answer = match args.as_slice() {
        ["phases", folder] => phases::run(Path::new(folder)),
        ["canonical", file] => canonicalise(file),
        ["diff", old, new, old_half, new_half] => differ([old, new], [old_half, new_half]),
        ["calls", folder] => calls::run(Path::new(folder)),
        ["spawn", rounds, commands] => spawn::run(rounds.parse().expect("a number"), commands),
        [what @ ("warm" | "together" | "cold"), folder, remit, runtime, program, tools, entry] => {
            let tool = warm::Tool { runtime, program, folder: Path::new(tools), entry };
            let run = match *what {
                "warm" => warm::run,
                "together" => together::run,
                _ => cold::run,
            };
            run(Path::new(folder), Path::new(remit), &tool)
        }
        ["serve", which @ ..] => serve::run(which),
        ["server", folder, peers] => {
            let peers: Vec<(String, Vec<String>)> = serde_json::from_str(peers).expect("commands");
            block_on(load::run(folder, &peers))
        }
        ["streams", folder] => block_on(streams::run(folder)),
        ["crowd", folder] => block_on(crowd::run(folder)),
        ["publish", folder, old, new] => block_on(streams::publish(folder, [old, new])),
        ["oneshot", remit, program] => oneshot::run(Path::new(remit), Path::new(program)),
        _ => panic!(
            "phases DIR | canonical FILE | diff OLD NEW OLD NEW | calls DIR | spawn ROUNDS COMMANDS | \
             warm|together|cold DIR REMIT RUNTIME PROGRAM TOOLS ENTRY | oneshot REMIT PROGRAM | serve WHICH | \
             server DIR PEERS | streams DIR | crowd DIR | publish DIR OLD NEW"
        ),
    };
    println!("{answer}");
}

fn block_on(work: impl Future<Output = Value>) -> Value {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

fn load(file: &str) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn tree(bytes: &[u8]) -> Node {
    let reading = read::read(bytes, Some(Format::Json), &Limits::DOCUMENT);
    reading.accepted().expect("the document is accepted").clone()
}

/// Compares the manifest hash with plain serialising and hashing of the same value.
fn canonicalise(file: &str) -> Value {
    let bytes = load(file);
    let node = tree(&bytes);
    let value: Value = serde_json::from_slice(&bytes).expect("JSON");
    let mut tasks = [
        Task::new("remit", || {
            black_box(canonical::hash(black_box(&node)));
        }),
        Task::new("serde_json", || {
            let text = serde_json::to_vec(black_box(&value)).expect("serialises");
            black_box(Sha256::digest(&text));
        }),
        Task::new("canonical alone", || {
            black_box(canonical::canonical(black_box(&node)));
        }),
        Task::new("sha256 alone", || {
            black_box(Sha256::digest(black_box(&bytes)));
        }),
    ];
    let mut answer = race(&mut tasks);
    answer["hash"] = json!(canonical::hash(&node));
    answer["bytes"] = json!(canonical::canonical(&node).len());
    answer
}

/// Compares the diff of two manifests with reading them, and with the diff of two half as large.
fn differ(whole: [&str; 2], half: [&str; 2]) -> Value {
    let [old, new] = whole.map(load);
    let [old_half, new_half] = half.map(load);
    let (a, b) = (tree(&old), tree(&new));
    let (c, d) = (tree(&old_half), tree(&new_half));
    let changes = diff::diff(Dialect::Capability, &a, &b);
    let mut tasks = [
        Task::new("diff", || {
            black_box(diff::diff(Dialect::Capability, black_box(&a), black_box(&b)));
        }),
        Task::new("diff half", || {
            black_box(diff::diff(Dialect::Capability, black_box(&c), black_box(&d)));
        }),
        Task::new("read", || {
            for bytes in [&old, &new] {
                black_box(read::read(black_box(bytes), Some(Format::Json), &Limits::MANIFEST));
            }
        }),
        Task::new("serde_json", || {
            for bytes in [&old, &new] {
                let value: Value = serde_json::from_slice(black_box(bytes)).expect("JSON");
                black_box(value);
            }
        }),
    ];
    let mut answer = race(&mut tasks);
    answer["breaking"] = json!(changes.breaking.len());
    answer["non_breaking"] = json!(changes.non_breaking.len());
    answer["consent"] = json!(changes.consent.len());
    let all = changes.breaking.iter().chain(&changes.non_breaking);
    answer["witnesses"] = json!(all.filter(|change| change.witness.is_some()).count());
    answer
}
