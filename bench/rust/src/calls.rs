//! Calls through the whole pipeline against what the database alone gives, and among few and many
//! capabilities.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use remit_engine::Engine;
use remit_engine::catalog::{Catalog, Settings, Source};
use remit_engine::policy::Policy;
use remit_model::{Binding, Call, Capability, Dialect, Manifest, Permission, Sensitivity};
use serde_json::{Value, json};

use crate::bare::{Bare, Write};
use crate::house::{self, Nothing};
use crate::measure::{cpu, median};

const CALLERS: usize = 64;
const CALLS_EACH: usize = 100;
const ROUNDS: usize = 9;

fn name(number: usize) -> String {
    format!("bench.noop_{number}")
}

pub fn catalog(capabilities: usize) -> Catalog {
    let mut manifest = Manifest::new(Dialect::Tool);
    manifest.capabilities = (0..capabilities)
        .map(|number| Capability {
            name: name(number),
            description: "does nothing".to_owned(),
            input_schema: json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": false}),
            output_schema: None,
            permission: Permission::Scope("bench:run".to_owned()),
            sensitivity: Some(Sensitivity::Low),
            timeout_ms: None,
            binding: Binding::Human,
        })
        .collect();
    let source = Source {
        name: "bench".to_owned(),
        origin: "bench".to_owned(),
        root: None,
        manifest,
        hash: "0".repeat(64),
        settings: Ok(Settings::default()),
        problem: None,
    };
    Catalog::build(vec![source], Arc::new(Policy::default()))
}

fn call(number: u64, caller: usize, capabilities: usize) -> Call {
    let capability = name(number as usize % capabilities);
    house::call(number, &format!("thread-{caller}"), capability, json!({"n": number}))
}

/// Makes calls from many callers at once; gives wall and CPU time of one in nanoseconds.
async fn through_the_pipeline(
    engine: &Engine,
    capabilities: usize,
    numbers: &Arc<AtomicU64>,
) -> (f64, f64) {
    let (wall, used) = (Instant::now(), cpu());
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (engine, numbers) = (engine.clone(), Arc::clone(numbers));
            tokio::spawn(async move {
                for _ in 0..CALLS_EACH {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    let ended = engine.run(call(number, caller, capabilities)).await;
                    assert!(ended.outcome.is_success(), "{ended:?}");
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
    per_call(wall, used)
}

fn per_call(wall: Instant, used: std::time::Duration) -> (f64, f64) {
    let calls = (CALLERS * CALLS_EACH) as f64;
    (wall.elapsed().as_secs_f64() * 1e9 / calls, (cpu() - used).as_secs_f64() * 1e9 / calls)
}

async fn database_alone(bare: &Arc<Bare>, numbers: &Arc<AtomicU64>) -> (f64, f64) {
    let (wall, used) = (Instant::now(), cpu());
    let callers: Vec<_> = (0..CALLERS)
        .map(|thread| {
            let (bare, numbers) = (Arc::clone(bare), Arc::clone(numbers));
            tokio::spawn(async move {
                for _ in 0..CALLS_EACH {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    bare.write(Write::Begin { number, thread }).await;
                    bare.write(Write::End { number, thread }).await;
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("a caller");
    }
    per_call(wall, used)
}

/// Measures in turns.
pub fn run(folder: &Path) -> Value {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let numbers = Arc::new(AtomicU64::new(0));
        let engine = house::engine(&folder.join("data"), Arc::new(Nothing));
        engine.swap(catalog(10));
        // A number with as many digits as most that follow.
        let sample = house::call(1_000_000, "sample", name(0), json!({"n": 100_000}));
        let bodies = house::bodies(&engine, sample).await;
        let bare = Arc::new(Bare::open(folder, CALLERS, &name(0), bodies));
        let contestants =
            ["engine, 10 capabilities", "group commit alone", "engine, 10000 capabilities"];
        let mut figures = vec![(Vec::new(), Vec::new()); contestants.len()];
        for round in 0..=ROUNDS {
            for (which, (walls, cpus)) in figures.iter_mut().enumerate() {
                let (wall, used) = match which {
                    0 | 2 => {
                        let capabilities = if which == 0 { 10 } else { 10_000 };
                        engine.swap(catalog(capabilities));
                        through_the_pipeline(&engine, capabilities, &numbers).await
                    }
                    _ => database_alone(&bare, &numbers).await,
                };
                // The first round warms up.
                if round > 0 {
                    walls.push(wall);
                    cpus.push(used);
                }
            }
        }
        let mut answer = json!({});
        for (name, (walls, cpus)) in contestants.iter().zip(figures) {
            answer[name] = json!({"wall": median(walls), "cpu": median(cpus)});
        }
        answer
    })
}
