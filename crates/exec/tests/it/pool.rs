//! Warm workers: who gets which, and until when.

use std::sync::Arc;
use std::time::{Duration, Instant};

use remit_exec::process::{Answer, Key, Pool, PoolOptions, Until, WorkerError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::{
    Asked, LONG, NONE, eventually, ignore, key, launcher, marker, misbehave, processes_with,
};

fn pool(options: PoolOptions) -> Pool {
    Pool::new(launcher(), options)
}

async fn call_within(
    pool: &Pool,
    key: &Arc<Key>,
    command: &str,
    parameters: Value,
    timeout: Duration,
) -> Result<Answer, WorkerError> {
    let asked = Asked::new(command, parameters);
    let cancel = CancellationToken::new();
    let until = Until { deadline: Instant::now() + timeout, cancel: &cancel };
    pool.call(key, &asked.request(), until, &ignore).await
}

async fn calls(pool: &Pool, key: &Arc<Key>) -> Value {
    let answer = call_within(pool, key, "echo", json!({}), LONG).await.unwrap();
    answer.outcome.unwrap()["calls"].clone()
}

#[tokio::test]
async fn a_warm_worker_is_used_again() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    for number in 1..=5 {
        assert_eq!(calls(&pool, &key).await, number);
    }
    assert_eq!((pool.state().started, pool.state().reused, pool.state().idle), (1, 4, 1));
    pool.shutdown().await;
    assert_eq!(pool.state().idle, 0);
}

#[tokio::test]
async fn a_worker_is_for_one_user_one_plan_and_one_configuration() {
    let pool = pool(PoolOptions::default());
    let first = key(misbehave().await);
    let other_user = Arc::new(Key { user: "bob".to_owned(), ..(*first).clone() });
    let other_settings = Arc::new(Key { settings: "new".to_owned(), ..(*first).clone() });
    let mut other = (*first).clone();
    other.plan.confinement.network = true;
    for key in [first, other_user, other_settings, Arc::new(other)] {
        assert_eq!(calls(&pool, &key).await, 1);
    }
    assert_eq!((pool.state().started, pool.state().idle), (4, 4));
    pool.shutdown().await;
}

#[tokio::test]
async fn a_worker_is_replaced_after_so_many_calls() {
    let pool = pool(PoolOptions { most_calls: 3, ..PoolOptions::default() });
    let key = key(misbehave().await);
    for number in [1, 2, 3, 1, 2, 3, 1] {
        assert_eq!(calls(&pool, &key).await, number);
    }
    assert_eq!(pool.state().started, 3);
    pool.shutdown().await;
}

#[tokio::test]
async fn a_worker_is_replaced_after_any_failure() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    let short = Duration::from_millis(30);
    let failures = [
        ("exit", json!({"code": 0}), LONG, "TOOL_ENDED"),
        ("say", json!({"line": "hello"}), LONG, "BAD_ANSWER"),
        ("flood", json!({}), LONG, "OUTPUT_TOO_LARGE"),
        ("sleep", json!({"seconds": 600}), short, "TIMED_OUT"),
    ];
    for (command, parameters, timeout, code) in failures {
        assert_eq!(calls(&pool, &key).await, 1, "before {command}");
        let error = call_within(&pool, &key, command, parameters, timeout).await.unwrap_err();
        assert_eq!(error.code(), code);
        assert_eq!(pool.state().idle, 0);
    }
    pool.shutdown().await;
}

#[tokio::test]
async fn an_error_of_the_tool_itself_keeps_its_worker() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    let missing = json!({"path": "/no/such/file"});
    let answer = call_within(&pool, &key, "read", missing, LONG).await.unwrap();
    assert_eq!(answer.outcome.unwrap_err().code, "TOOL_FAILED");
    assert_eq!(calls(&pool, &key).await, 2);
    pool.shutdown().await;
}

#[tokio::test]
async fn a_worker_that_died_while_it_waited_is_not_used() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    let answer = call_within(&pool, &key, "echo", json!({}), LONG).await.unwrap();
    assert_eq!(answer.outcome.unwrap()["calls"], 1);
    let marker = marker("pool-dead");
    call_within(&pool, &key, "grandchild", json!({"marker": marker}), LONG).await.unwrap();
    eventually("it starts", || processes_with(&marker).len() == 1).await;
    // The tool's own process is what the grandchild's namespace begins with.
    kill_keeper_of(&marker);
    eventually("it ends", || processes_with(&marker).is_empty()).await;
    assert_eq!(calls(&pool, &key).await, 1);
    assert_eq!(pool.state().started, 2);
    pool.shutdown().await;
}

fn kill_keeper_of(marker: &str) {
    let status = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    // Its parent is the first process of the namespace, and that one's parent is the keeper.
    let tool = status(processes_with(marker)[0]);
    let keeper = i32::try_from(status(tool)).unwrap();
    let keeper = rustix::process::Pid::from_raw(keeper).unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_at_the_same_time_have_workers_of_their_own() {
    let options = PoolOptions { most_busy: 3, most_idle_of_a_kind: 2, ..PoolOptions::default() };
    let (pool, key) = (pool(options), key(misbehave().await));
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let (pool, key) = (pool.clone(), Arc::clone(&key));
            tokio::spawn(async move {
                call_within(&pool, &key, "sleep", json!({"seconds": 0.2}), LONG).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    // At most three ran at once, at most two of them were kept.
    let state = pool.state();
    assert!((3..=6).contains(&state.started), "{state:?}");
    assert!((1..=2).contains(&state.idle), "{state:?}");
    pool.shutdown().await;
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_gives_up_in_time() {
    let (pool, key) =
        (pool(PoolOptions { most_busy: 1, ..PoolOptions::default() }), key(misbehave().await));
    let long = call_within(&pool, &key, "sleep", json!({"seconds": 0.5}), LONG);
    let short = call_within(&pool, &key, "echo", json!({}), Duration::from_millis(100));
    let (long, short) = tokio::join!(long, short);
    long.unwrap();
    assert_eq!(short.unwrap_err(), WorkerError::TimedOut);
    pool.shutdown().await;
}

#[tokio::test]
async fn idle_workers_are_bounded_in_number() {
    let pool = pool(PoolOptions { most_idle: 2, ..PoolOptions::default() });
    let first = key(misbehave().await);
    let user = |name: &str| Arc::new(Key { user: name.to_owned(), ..(*first).clone() });
    for name in ["a", "b", "c"] {
        assert_eq!(calls(&pool, &user(name)).await, 1);
    }
    assert_eq!(pool.state().idle, 2);
    // The one that had waited longest went.
    assert_eq!(calls(&pool, &user("c")).await, 2);
    assert_eq!(calls(&pool, &user("b")).await, 2);
    assert_eq!(calls(&pool, &user("a")).await, 1);
    pool.shutdown().await;
}

#[tokio::test]
async fn idle_workers_are_bounded_in_age() {
    let pool = pool(PoolOptions { idle_for: Duration::from_millis(50), ..PoolOptions::default() });
    pool.prewarm(&key(misbehave().await), 2).await.unwrap();
    assert_eq!(pool.state().started, 2);
    eventually("they are ended", || pool.state().idle == 0).await;
    pool.shutdown().await;
}

#[tokio::test]
async fn a_prewarmed_worker_serves_the_first_call() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    pool.prewarm(&key, 1).await.unwrap();
    assert_eq!(calls(&pool, &key).await, 1);
    assert_eq!((pool.state().started, pool.state().reused), (1, 1));
    pool.shutdown().await;
}

#[tokio::test]
async fn shutdown_ends_busy_workers_and_lets_no_call_start() {
    let (pool, key) = (pool(PoolOptions::default()), key(misbehave().await));
    let marker = marker("shutdown");
    let asked = json!({"marker": marker, "then": "sleep"});
    let busy = tokio::spawn({
        let (pool, key) = (pool.clone(), Arc::clone(&key));
        async move { call_within(&pool, &key, "grandchild", asked, LONG).await }
    });
    eventually("it starts", || processes_with(&marker).len() == 1).await;
    pool.shutdown().await;
    assert_eq!(processes_with(&marker), NONE);
    assert_eq!(busy.await.unwrap().unwrap_err(), WorkerError::Cancelled);
    let late = call_within(&pool, &key, "echo", json!({}), LONG).await;
    assert_eq!(late.unwrap_err(), WorkerError::Cancelled);
}
