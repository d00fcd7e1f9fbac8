//! `file_operator` on ordinary files.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::{Answer, Worker, files, read};

fn with(name: &str, bytes: &[u8]) -> TempDir {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(name), bytes).unwrap();
    directory
}

fn write(directory: &Path, parameters: Value) -> Answer {
    files(directory, "write_file", parameters)
}

fn names(answer: &Answer) -> Vec<String> {
    let entries = answer.result()["entries"].as_array().unwrap();
    entries.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn text_is_read_in_the_charset_it_is_in() {
    let directory = with("a.txt", "héllo 世界\n".as_bytes());
    let answer = read(directory.path(), &directory.path().join("a.txt"));
    assert_eq!(answer.result()["content"], "héllo 世界\n");
    assert_eq!(answer.result()["type"], "text");
    assert_eq!(answer.result()["encoding"], "utf-8");
    assert_eq!(answer.result()["size"], 14);

    let (gbk, _, _) = encoding_rs::GBK.encode("这是一个用国标编码写成的文件,足够长,可以被认出来。");
    let directory = with("gbk.txt", &gbk);
    let path = directory.path().join("gbk.txt");
    let named = json!({"filePath": path, "encoding": "gbk"});
    let answer = files(directory.path(), "read_file", named);
    assert!(answer.result()["content"].as_str().unwrap().starts_with("这是一个"));
    assert_eq!(answer.message(), "");
    let guessed = read(directory.path(), &path);
    assert!(guessed.result()["content"].as_str().unwrap().starts_with("这是一个"));
    assert!(guessed.message().contains("GBK"), "{}", guessed.message());

    let odd = json!({"filePath": path, "encoding": "klingon"});
    assert_eq!(files(directory.path(), "read_file", odd).code(), "INVALID_PARAMETER");
}

#[test]
fn bytes_come_as_base64() {
    let directory = with("x.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rdata");
    let answer = read(directory.path(), &directory.path().join("x.bin"));
    assert_eq!(answer.result()["type"], "binary");
    assert_eq!(answer.value["base64"], "iVBORw0KGgoAAAANZGF0YQ==");
    let directory = with("t.txt", b"hi");
    let asked = json!({"filePath": directory.path().join("t.txt"), "encoding": "base64"});
    assert_eq!(files(directory.path(), "read_file", asked).value["base64"], "aGk=");
}

#[test]
fn a_file_is_read_up_to_its_largest_size() {
    let directory = with("a.txt", b"12345");
    let path = directory.path().join("a.txt");
    let ask = |most: u64| {
        let settings = json!({"allowed_directories": [directory.path()], "max_file_size": most});
        Worker::start("file_operator").ask("read_file", json!({"filePath": path}), settings)
    };
    assert_eq!(ask(5).result()["content"], "12345");
    assert_eq!(ask(4).code(), "TOO_LARGE");
}

#[test]
fn a_long_text_comes_in_pieces_that_are_the_whole() {
    let whole: String = (0..400_000).map(|n| format!("{n}\n")).collect();
    let directory = with("long.txt", whole.as_bytes());
    let path = directory.path().join("long.txt");
    let mut worker = Worker::start("file_operator");
    let settings = json!({"allowed_directories": directory.path()});
    let (mut read, mut offset, mut pieces) = (String::new(), 0, 0);
    loop {
        let asked = json!({"filePath": path, "offset": offset});
        let answer = worker.ask("read_file", asked, settings.clone());
        read.push_str(answer.result()["content"].as_str().unwrap());
        pieces += 1;
        match answer.result()["next_offset"].as_u64() {
            Some(next) => {
                assert!(answer.partial());
                offset = next;
            }
            None => break,
        }
    }
    assert!(pieces > 2);
    assert!(read == whole);
    let asked = json!({"filePath": path, "offset": 2, "limit": 3});
    let answer = worker.ask("read_file", asked, settings);
    assert_eq!(answer.result()["content"], "1\n2");
    assert!(!answer.partial());
}

#[test]
fn a_binary_file_that_does_not_fit_is_an_error_and_one_that_does_is_not() {
    let most = (((1 << 20) - 4096) - (64 << 10)) / 4 * 3;
    let directory = with("fits.bin", &vec![0; most]);
    assert!(read(directory.path(), &directory.path().join("fits.bin")).value["base64"].is_string());
    let directory = with("large.bin", &vec![0; most + 1]);
    assert_eq!(read(directory.path(), &directory.path().join("large.bin")).code(), "TOO_LARGE");
}

#[test]
fn nothing_is_allowed_unless_it_is_said() {
    let directory = with("a.txt", b"x");
    let path = directory.path().join("a.txt");
    let mut worker = Worker::start("file_operator");
    for settings in [
        json!({}),
        json!({"allowed_directories": ""}),
        json!({"allowed_directories": " , "}),
        json!({"allowed_directories": []}),
    ] {
        let answer = worker.ask("read_file", json!({"filePath": path}), settings);
        assert_eq!(answer.code(), "NOT_ALLOWED");
    }
    let relative = json!({"allowed_directories": "tmp"});
    assert_eq!(worker.ask("read_file", json!({"filePath": path}), relative).code(), "BAD_SETTING");
}

#[test]
fn several_directories_may_be_allowed_and_a_comma_needs_the_list() {
    let directory = TempDir::new().unwrap();
    for name in ["one", "two, three"] {
        fs::create_dir(directory.path().join(name)).unwrap();
        fs::write(directory.path().join(name).join("f"), name).unwrap();
    }
    let one = directory.path().join("one");
    let both = json!({"allowed_directories": [one, directory.path().join("two, three")]});
    let mut worker = Worker::start("file_operator");
    for name in ["one", "two, three"] {
        let asked = json!({"filePath": directory.path().join(name).join("f")});
        assert_eq!(worker.ask("read_file", asked, both.clone()).result()["content"], name);
    }
    assert_eq!(worker.ask("read_file", json!({"filePath": "f"}), both).code(), "NOT_ALLOWED");
    let text = json!({"allowed_directories": format!("{} , /nonexistent", one.display())});
    let answer = worker.ask("read_file", json!({"filePath": "f"}), text);
    assert_eq!(answer.result()["content"], "one");
}

#[test]
fn links_inside_are_followed_and_links_out_are_not() {
    let outside = with("secret.txt", b"CANARY");
    let directory = with("real.txt", b"inside");
    let at = |name: &str| directory.path().join(name);
    symlink("real.txt", at("in")).unwrap();
    symlink(outside.path().join("secret.txt"), at("out")).unwrap();
    symlink(outside.path(), at("dir")).unwrap();
    symlink("..", at("up")).unwrap();
    symlink("/proc/self/root", at("root")).unwrap();
    symlink("loop", at("loop")).unwrap();
    assert_eq!(read(directory.path(), &at("in")).result()["content"], "inside");
    let name = directory.path().file_name().unwrap().to_str().unwrap();
    for path in ["out", "dir/secret.txt", "root/etc/passwd", "loop", &format!("up/{name}/real.txt")]
    {
        let answer = read(directory.path(), &at(path));
        assert_eq!(answer.code(), "NOT_ALLOWED", "{path}: {}", answer.value);
    }
    let listed = files(directory.path(), "list_directory", json!({"directoryPath": at("dir")}));
    assert_eq!(listed.code(), "NOT_ALLOWED");
    let into = json!({"filePath": at("dir/new.txt"), "content": "x"});
    assert_eq!(write(directory.path(), into).code(), "NOT_ALLOWED");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[test]
fn an_allowed_directory_that_is_a_link_goes_by_both_names() {
    let directory = with("real.txt", b"inside");
    fs::create_dir(directory.path().join("target")).unwrap();
    fs::write(directory.path().join("target/f"), "x").unwrap();
    symlink("target", directory.path().join("link")).unwrap();
    for name in ["link", "target"] {
        let answer = read(&directory.path().join("link"), &directory.path().join(name).join("f"));
        assert_eq!(answer.result()["content"], "x", "{name}");
    }
}

#[test]
fn what_is_no_ordinary_file_is_not_read_and_not_waited_for() {
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    mkfifoat(CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("dir")).unwrap();
    for name in ["pipe", "socket", "dir"] {
        assert_eq!(read(directory.path(), &at(name)).code(), "NOT_A_FILE", "{name}");
    }
    for path in ["/dev/null", "/dev/zero", "/dev/tty"] {
        let code = read(Path::new("/dev"), Path::new(path)).code().to_owned();
        assert!(["NOT_A_FILE", "NOT_FOUND"].contains(&code.as_str()), "{path}: {code}");
    }
    let whole = Path::new("/");
    for path in ["/proc/self/environ", "/proc/version", "/sys/kernel/uevent_seqnum"] {
        let answer = read(whole, Path::new(path));
        assert!(["NOT_A_FILE", "NOT_FOUND"].contains(&answer.code()), "{path}: {}", answer.value);
    }
    assert_eq!(read(whole, Path::new("/proc/self/root/etc/passwd")).code(), "NOT_ALLOWED");
    let listed = files(whole, "list_directory", json!({"directoryPath": "/proc"}));
    assert_eq!(listed.code(), "NOT_ALLOWED");
}

#[test]
fn a_file_is_written_and_an_old_one_is_left_alone() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("note.txt");
    let asked = json!({"filePath": path, "content": "one"});
    let first = write(directory.path(), asked.clone());
    assert_eq!(first.result()["path"], path.to_str().unwrap());
    assert_eq!(first.result()["renamed"], false);
    for expected in ["note (1).txt", "note (2).txt"] {
        let again = write(directory.path(), asked.clone());
        assert_eq!(again.result()["path"], directory.path().join(expected).to_str().unwrap());
        assert!(again.message().contains(expected), "{}", again.message());
    }
    // A link that leads nowhere is a name that is taken, not a way to write where it leads.
    let target = directory.path().join("target");
    symlink(&target, directory.path().join("dangling")).unwrap();
    let asked = json!({"filePath": directory.path().join("dangling"), "content": "x"});
    assert_eq!(write(directory.path(), asked).result()["renamed"], true);
    assert!(!target.exists());
}

#[test]
fn directories_are_made_only_when_asked_for() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a/b/c.txt");
    let mut asked = json!({"filePath": path, "content": "x"});
    assert_eq!(write(directory.path(), asked.clone()).code(), "NOT_FOUND");
    assert!(!directory.path().join("a").exists());
    asked["createDirectories"] = true.into();
    let answer = write(directory.path(), asked);
    assert_eq!(answer.result()["created_directories"].as_array().unwrap().len(), 2);
    assert_eq!(fs::read_to_string(path).unwrap(), "x");
}

#[test]
fn content_is_written_in_the_encoding_that_was_asked_for() {
    let directory = TempDir::new().unwrap();
    let ask = |name: &str, content: &str, encoding: &str| {
        let path = directory.path().join(name);
        let asked = json!({"filePath": path, "content": content, "encoding": encoding});
        (write(directory.path(), asked).code().to_owned(), fs::read(path).ok())
    };
    assert_eq!(ask("b", "AAH/", "base64").1.unwrap(), [0, 1, 255]);
    assert_eq!(ask("g", "中", "gbk").1.unwrap(), [0xd6, 0xd0]);
    assert_eq!(ask("x", "no base64!", "base64"), ("INVALID_PARAMETER".to_owned(), None));
    assert_eq!(ask("y", "😀", "gbk"), ("INVALID_PARAMETER".to_owned(), None));
    assert_eq!(ask("z", "a", "utf-16le"), ("INVALID_PARAMETER".to_owned(), None));
}

#[test]
fn a_file_is_written_up_to_its_largest_size() {
    let directory = TempDir::new().unwrap();
    let ask = |content: &str| {
        let settings = json!({"allowed_directories": directory.path(), "max_file_size": 3});
        let asked = json!({"filePath": directory.path().join("f"), "content": content});
        Worker::start("file_operator").ask("write_file", asked, settings)
    };
    assert_eq!(ask("1234").code(), "TOO_LARGE");
    assert_eq!(ask("123").code(), "");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn a_write_that_cannot_be_leaves_nothing_behind() {
    let directory = TempDir::new().unwrap();
    let long = directory.path().join("x".repeat(256));
    let answer = write(directory.path(), json!({"filePath": long, "content": "x"}));
    assert_eq!(answer.code(), "INVALID_PATH");
    let root = write(directory.path(), json!({"filePath": directory.path(), "content": "x"}));
    assert_eq!(root.code(), "INVALID_PATH");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_is_listed_in_order() {
    let directory = with("b.txt", b"12");
    fs::create_dir(directory.path().join("a")).unwrap();
    fs::write(directory.path().join(".hidden"), "").unwrap();
    symlink("b.txt", directory.path().join("c")).unwrap();
    let ask = |hidden: bool| {
        let asked = json!({"directoryPath": directory.path(), "showHidden": hidden});
        files(directory.path(), "list_directory", asked)
    };
    let answer = ask(false);
    assert_eq!(names(&answer), ["a", "b.txt", "c"]);
    let entries = &answer.result()["entries"];
    assert_eq!(entries[0]["type"], "directory");
    assert_eq!((&entries[1]["type"], &entries[1]["size"]), (&json!("file"), &json!(2)));
    assert!(entries[1]["modified"].as_str().unwrap().ends_with('Z'));
    assert_eq!(entries[2]["type"], "symlink");
    assert_eq!(answer.result()["hidden"], 1);
    assert_eq!(names(&ask(true)), [".hidden", "a", "b.txt", "c"]);
    let file = json!({"directoryPath": directory.path().join("b.txt")});
    assert_eq!(files(directory.path(), "list_directory", file).code(), "NOT_A_DIRECTORY");
    let none = json!({"directoryPath": directory.path().join("none")});
    assert_eq!(files(directory.path(), "list_directory", none).code(), "NOT_FOUND");
}

#[test]
fn a_list_and_a_search_hold_as_many_as_they_may_and_no_more() {
    let directory = TempDir::new().unwrap();
    for n in 0..2000 {
        fs::write(directory.path().join(format!("{n:04}.txt")), "").unwrap();
    }
    let list =
        || files(directory.path(), "list_directory", json!({"directoryPath": directory.path()}));
    let search = || {
        let asked = json!({"searchPath": directory.path(), "pattern": "*.txt"});
        files(directory.path(), "search_files", asked)
    };
    let matches = |answer: &Answer| answer.result()["matches"].as_array().unwrap().len();
    assert_eq!((names(&list()).len(), list().partial()), (2000, false));
    assert_eq!((matches(&search()), search().partial()), (2000, false));
    fs::write(directory.path().join("2000.txt"), "").unwrap();
    assert_eq!((names(&list()).len(), list().partial()), (2000, true));
    assert_eq!((matches(&search()), search().partial()), (2000, true));
}

#[test]
fn a_list_of_long_names_fits_into_an_answer() {
    let directory = TempDir::new().unwrap();
    // Each takes six bytes a character in JSON.
    for n in 0..1000 {
        fs::write(directory.path().join(format!("{}{n}", "\u{1}".repeat(240))), "").unwrap();
    }
    let answer =
        files(directory.path(), "list_directory", json!({"directoryPath": directory.path()}));
    assert!(answer.partial());
    assert!(names(&answer).len() > 500);
}

fn found(directory: &Path, pattern: &str) -> Vec<String> {
    let asked = json!({"searchPath": directory, "pattern": pattern});
    let answer = files(directory, "search_files", asked);
    let prefix = format!("{}/", directory.display());
    let matches = answer.result()["matches"].as_array().unwrap();
    let paths = matches.iter().map(|m| m["path"].as_str().unwrap());
    paths.map(|path| path.strip_prefix(&prefix).unwrap().to_owned()).collect()
}

#[test]
fn files_are_found_by_name_or_by_path() {
    let outside = with("out.txt", b"");
    let directory = with("a.txt", b"");
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("sub/deep")).unwrap();
    for name in ["sub/b.txt", "sub/deep/c.txt", "sub/deep/d.md"] {
        fs::write(at(name), "").unwrap();
    }
    symlink(outside.path(), at("link")).unwrap();
    symlink("..", at("sub/up")).unwrap();
    assert_eq!(found(directory.path(), "*.txt"), ["a.txt", "sub/b.txt", "sub/deep/c.txt"]);
    assert_eq!(found(directory.path(), "sub/**/*.txt"), ["sub/b.txt", "sub/deep/c.txt"]);
    assert_eq!(found(directory.path(), "sub/*.txt"), ["sub/b.txt"]);
    assert_eq!(found(directory.path(), "?.{md,txt}").len(), 4);
    assert_eq!(found(directory.path(), "l*"), ["link"]);
    for pattern in ["../*", "/etc/*", "a/../../*", "[", ""] {
        let asked = json!({"searchPath": directory.path(), "pattern": pattern});
        let answer = files(directory.path(), "search_files", asked);
        assert_eq!(answer.code(), "INVALID_PARAMETER", "{pattern}");
    }
}

#[test]
fn a_search_goes_as_deep_as_it_may_and_no_deeper() {
    let directory = TempDir::new().unwrap();
    let mut path = directory.path().to_owned();
    for _ in 0..32 {
        path.push("d");
    }
    fs::create_dir_all(path.join("d")).unwrap();
    fs::write(path.join("at"), "").unwrap();
    fs::write(path.join("d/past"), "").unwrap();
    let ask = |pattern: &str| {
        let asked = json!({"searchPath": directory.path(), "pattern": pattern});
        files(directory.path(), "search_files", asked)
    };
    assert_eq!(ask("at").result()["matches"].as_array().unwrap().len(), 1);
    let past = ask("past");
    assert_eq!(past.result()["matches"].as_array().unwrap().len(), 0);
    assert!(past.partial(), "{}", past.value);
}
