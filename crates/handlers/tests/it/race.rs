//! Things that happen at the same time.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use tempfile::TempDir;

use crate::worker::{Worker, files};

#[test]
fn fifty_writers_of_one_name_all_succeed_under_different_names() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("report.txt");
    let written: Vec<(String, String)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..50)
            .map(|n| {
                let (directory, path) = (directory.path(), &path);
                scope.spawn(move || {
                    let content = format!("writer {n}");
                    let asked = json!({"filePath": path, "content": content});
                    let answer = files(directory, "write_file", asked);
                    (answer.result()["path"].as_str().unwrap().to_owned(), content)
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let names: BTreeSet<_> = written.iter().map(|(path, _)| path).collect();
    assert_eq!(names.len(), 50);
    assert!(names.contains(&path.to_str().unwrap().to_owned()));
    for (path, content) in &written {
        assert_eq!(&fs::read_to_string(path).unwrap(), content);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 50);
}

/// Exchanges a directory inside for a link that leads out, again and again.
struct Swapped {
    directory: TempDir,
}

impl Swapped {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir_all(at("allowed/place")).unwrap();
        fs::create_dir(at("outside")).unwrap();
        fs::write(at("allowed/place/file"), "inside").unwrap();
        fs::write(at("outside/file"), "CANARY").unwrap();
        symlink(at("outside"), at("allowed/other")).unwrap();
        Self { directory }
    }

    fn while_swapping(&self, work: impl FnOnce(&Path)) {
        let allowed = self.directory.path().join("allowed");
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (one, two) = (allowed.join("place"), allowed.join("other"));
                while !stop.load(Ordering::Relaxed) {
                    renameat_with(CWD, &one, CWD, &two, RenameFlags::EXCHANGE).unwrap();
                }
            });
            // The swapping must end also when the work fails, or the scope would wait for ever.
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&allowed)));
            stop.store(true, Ordering::Relaxed);
            if let Err(panic) = outcome {
                std::panic::resume_unwind(panic);
            }
        });
    }
}

#[test]
fn a_link_swapped_in_during_the_call_leads_nowhere() {
    let swapped = Swapped::new();
    swapped.while_swapping(|allowed| {
        let mut worker = Worker::start("file_operator");
        let settings = json!({"allowed_directories": allowed});
        let asked = json!({"filePath": allowed.join("place/file")});
        let (mut inside, mut refused) = (0, 0);
        for turn in 0..200_000 {
            let answer = worker.ask("read_file", asked.clone(), settings.clone());
            match answer.code() {
                "" => {
                    assert_eq!(answer.result()["content"], "inside");
                    inside += 1;
                }
                "NOT_ALLOWED" => refused += 1,
                other => panic!("{other}: {}", answer.value),
            }
            if turn >= 1000 && inside > 20 && refused > 20 {
                return;
            }
        }
        panic!("the race was not seen from both sides: {inside} inside, {refused} refused");
    });
}

#[test]
fn a_file_is_not_written_through_a_link_swapped_in() {
    let swapped = Swapped::new();
    swapped.while_swapping(|allowed| {
        let mut worker = Worker::start("file_operator");
        let settings = json!({"allowed_directories": allowed});
        let (mut written, mut refused) = (0, 0);
        for turn in 0..20_000 {
            let asked =
                json!({"filePath": allowed.join(format!("place/new{turn}")), "content": "x"});
            match worker.ask("write_file", asked, settings.clone()).code() {
                "" => written += 1,
                "NOT_ALLOWED" => refused += 1,
                other => panic!("{other}"),
            }
            if turn >= 300 && written > 10 && refused > 10 {
                return;
            }
        }
        panic!("the race was not seen from both sides: {written} written, {refused} refused");
    });
    let outside = swapped.directory.path().join("outside");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
}

#[test]
fn a_check_before_the_use_would_lose_that_race() {
    let swapped = Swapped::new();
    swapped.while_swapping(|allowed| {
        let path = allowed.join("place/file");
        for _ in 0..5_000_000 {
            let checked = fs::canonicalize(&path).is_ok_and(|real| real.starts_with(allowed));
            if checked && fs::read_to_string(&path).is_ok_and(|text| text == "CANARY") {
                return;
            }
        }
        panic!("a careless reader was never caught, so the other tests prove nothing");
    });
}
