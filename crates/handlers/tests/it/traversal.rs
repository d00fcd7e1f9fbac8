//! Ways out of a directory that attackers try, all of them refused.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::Worker;

const CANARY: &str = "CANARY-8f2c1b";

/// Lists ways to write "one up", from public lists of such attacks.
const UPS: &[&str] = &[
    "../",
    "..\\",
    "..//",
    "..\\\\",
    ".././",
    "./../",
    "....//",
    "....\\\\",
    "...//",
    ".../",
    "..../",
    "..;/",
    "..%00/",
    "%2e%2e/",
    "%2e%2e%2f",
    "..%2f",
    "%2e./",
    ".%2e/",
    "..%5c",
    "%2e%2e%5c",
    "%2E%2E%2F",
    "%252e%252e%252f",
    "..%252f",
    "..%255c",
    "%c0%ae%c0%ae/",
    "%c0%ae%c0%ae%c0%af",
    "..%c0%af",
    "..%c1%9c",
    "%e0%80%ae%e0%80%ae/",
    "..%e0%80%af",
    "%uff0e%uff0e/",
    "..%u2215",
    "..%u2216",
    "%u002e%u002e%u002f",
    "..0x2f",
    "0x2e0x2e0x2f",
    "0x2e0x2e/",
    "..%c0%2f",
    "．．/",
    "．．／",
    "‥/",
    "..／",
    "..∕",
    "..⁄",
    ".. /",
    " ../",
    "../ ",
    "..\t/",
    "..\n/",
    "..\u{0}/",
    "..\r\n/",
    ".\u{200b}./",
    "..\u{202e}/",
    "%2e%2e\\",
    "..\\/",
    "/..",
    "\\..\\",
    "/../",
    "/./../",
    "a/../../",
    "a/b/../../../",
];

/// Lists things that are tried as they are.
const WHOLE: &[&str] = &[
    "/etc/passwd",
    "//etc/passwd",
    "///etc///passwd",
    "/./etc/passwd",
    "/etc/./passwd",
    "/etc/passwd\u{0}",
    "/etc/passwd%00",
    "/etc/passwd%00.jpg",
    "/etc/passwd\u{0}.txt",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "~/.ssh/id_rsa",
    "~root/.bashrc",
    "/proc/self/environ",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/Cargo.toml",
    "/proc/1/root/etc/passwd",
    "/proc/self/fd/0",
    "/dev/fd/0",
    "/dev/stdin",
    "/proc/thread-self/root/etc/passwd",
    "/sys/kernel/../../etc/passwd",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "\\\\server\\share\\file",
    "//server/share/file",
    "\\\\?\\C:\\x",
    "\\etc\\passwd",
    "/etc/passwd.",
    "/etc/passwd...",
    "/etc/passwd ",
    " /etc/passwd",
    "/etc/passwd/",
    "/etc/passwd/.",
    "/%65tc/passwd",
    "%2fetc%2fpasswd",
    "/etc%2fpasswd",
    "..",
    ".",
    "...",
    "....",
    ". .",
    ".. ",
    "",
    " ",
    "/",
    "//",
    "\u{0}",
    "\n",
    "$HOME/.ssh/id_rsa",
    "${HOME}/x",
    "`id`",
    "$(id)",
    "|id",
    "; id",
    "php://filter/resource=/etc/passwd",
    "expect://id",
    "data://text/plain,x",
    "zip:///etc/passwd",
    "/var/www/../../etc/passwd",
    "/etc/shadow",
    "/home/user/.ssh/authorized_keys",
    "/proc/self/maps",
    "/proc/self/mem",
    "/dev/mem",
    "/dev/kmem",
    "/run/secrets/x",
    "con",
    "nul",
    "aux.txt",
    "a:b:$DATA",
];

struct Ground {
    directory: TempDir,
    root: PathBuf,
}

/// Makes an allowed directory with a canary in every place an attack could reach.
fn ground() -> Ground {
    let directory = TempDir::new().unwrap();
    let root = directory.path().join("allowed");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::create_dir(directory.path().join("allowed-not")).unwrap();
    for place in ["secret.txt", "allowed-not/secret.txt"] {
        fs::write(directory.path().join(place), CANARY).unwrap();
    }
    Ground { directory, root }
}

fn attempts(root: &Path) -> Vec<String> {
    let root = root.to_str().unwrap();
    let mut attempts = Vec::new();
    for up in UPS {
        for times in [1, 2, 8] {
            let climb = up.repeat(times);
            for target in ["secret.txt", "etc/passwd"] {
                attempts.push(format!("{climb}{target}"));
                attempts.push(format!("{root}/{climb}{target}"));
                attempts.push(format!("{root}/sub/{climb}{target}"));
            }
        }
    }
    for whole in WHOLE {
        attempts.push((*whole).to_owned());
        attempts.push(format!("{root}/{whole}"));
    }
    attempts.push(format!("{root}-not/secret.txt"));
    attempts.push(format!("{root}\\..\\secret.txt"));
    attempts.push(format!("{root}/../secret.txt"));
    attempts.push(format!("{root}/../allowed-not/secret.txt"));
    attempts.push(format!("{root}{root}/../secret.txt"));
    attempts.extend(from_corpora());
    attempts
}

/// Reads further lists, where there are some beside the checkout: a line an attempt.
fn from_corpora() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/traversal");
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let texts = files.filter_map(|file| fs::read(file.path()).ok());
    let lines: Vec<String> = texts
        .flat_map(|text| {
            String::from_utf8_lossy(&text).lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    eprintln!("{} attempts from the corpora", lines.len());
    lines
}

fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn innocent(written: &str, root: &Path) -> bool {
    // These name the allowed directory itself, or an odd but harmless name right in it.
    let below = Path::new(written).strip_prefix(root).unwrap_or(Path::new(written));
    let text = below.to_string_lossy();
    !Path::new(&*text).is_absolute()
        && !text.contains("..")
        && !["%2", "%5", "%c", "%C", "%e", "%u", "%0"].iter().any(|code| text.contains(code))
        && !text.contains(['\\', '\0', '\n', '\r', '\t'])
        && !text.contains("://")
}

#[test]
fn no_attempt_reads_what_is_outside() {
    let ground = ground();
    let settings = json!({"allowed_directories": ground.root});
    let mut worker = Worker::start("file_operator");
    let attempts = attempts(&ground.root);
    eprintln!("{} attempts", attempts.len());
    for written in &attempts {
        for (command, parameters) in [
            ("read_file", json!({"filePath": written, "encoding": "utf8"})),
            ("list_directory", json!({"directoryPath": written})),
            ("search_files", json!({"searchPath": written, "pattern": "*"})),
        ] {
            let answer = worker.ask(command, parameters, settings.clone());
            let shown = answer.value["result"].to_string();
            assert!(
                !shown.contains(CANARY) && !shown.contains("root:"),
                "{command} {written:?}: {shown}"
            );
            assert!(!shown.contains("secret.txt"), "{command} {written:?}: {shown}");
            let harmless = innocent(written, &ground.root) && command != "read_file";
            assert!(harmless || !answer.code().is_empty(), "{command} {written:?}: {shown}");
        }
    }
}

#[test]
fn no_attempt_writes_outside_and_none_makes_a_trap() {
    let ground = ground();
    let before = tree(ground.directory.path());
    let settings = json!({"allowed_directories": ground.root});
    let mut worker = Worker::start("file_operator");
    for written in attempts(&ground.root) {
        let parameters: Value =
            json!({"filePath": written, "content": "x", "createDirectories": true});
        let answer = worker.ask("write_file", parameters, settings.clone());
        if answer.code().is_empty() {
            assert!(innocent(&written, &ground.root), "{written:?}: {}", answer.value);
        }
    }
    let outside = |tree: BTreeMap<PathBuf, Vec<u8>>| -> BTreeMap<PathBuf, Vec<u8>> {
        tree.into_iter().filter(|(path, _)| !path.starts_with(&ground.root)).collect()
    };
    assert_eq!(outside(tree(ground.directory.path())), outside(before));
}

#[test]
fn the_attempts_would_succeed_without_the_guard() {
    // The list is worth something only if it works against a program that joins and opens.
    let ground = ground();
    let leaks = attempts(&ground.root)
        .iter()
        .filter(|written| {
            fs::read_to_string(ground.root.join(written)).is_ok_and(|text| text.contains(CANARY))
        })
        .count();
    assert!(leaks > 10, "{leaks}");
}
