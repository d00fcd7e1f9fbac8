//! Servers that people use, from npm and PyPI: every tool of each is called at least once.
//!
//! `scripts/mcp-servers.sh` installs them. Where they are not there these tests pass, and say so.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use remit_mcp::{
    Config, Identity, Launch, Revision, Server, State, Surroundings, ToolResult, Transport,
    snapshot,
};
use serde_json::{Value, json};

use crate::fake::{Fake, Says};
use crate::support::{around, keeper, long, until};

/// Lists tools that run only as tasks, which a plain call is told.
const ONLY_AS_TASKS: [&str; 1] = ["simulate-research-query"];

/// Finds where the servers are.
fn place() -> Option<PathBuf> {
    let named = std::env::var_os("REMIT_MCP_SERVERS").map(PathBuf::from);
    let cache = std::env::var_os("REMIT_CACHE").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache/remit"));
    let found = named.or_else(|| Some(cache.or_else(usual)?.join("mcp-servers")))?;
    let is_there = found.join("node_modules").is_dir() && found.join("python/bin/python").exists();
    if !is_there {
        println!("skipped: no real MCP servers; run scripts/mcp-servers.sh");
    }
    is_there.then_some(found)
}

fn npm(place: &Path, name: &str, args: &[&str]) -> Launch {
    let file = format!("node_modules/@modelcontextprotocol/server-{name}/dist/index.js");
    let file = place.join(file).to_str().unwrap().to_owned();
    let args = std::iter::once(file).chain(args.iter().map(|arg| (*arg).to_owned())).collect();
    Launch { command: "node".to_owned(), args, ..Launch::default() }
}

fn pypi(place: &Path, module: &str, args: &[&str]) -> Launch {
    let command = place.join("python/bin/python").to_str().unwrap().to_owned();
    let fixed = ["-m", module];
    let args = fixed.iter().chain(args).map(|arg| (*arg).to_owned()).collect();
    Launch { command, args, ..Launch::default() }
}

fn start(name: &str, launch: Launch) -> Server {
    start_in(name, launch, around())
}

fn start_in(name: &str, launch: Launch, around: Surroundings) -> Server {
    let mut config = Config::new(name, Transport::Stdio(launch));
    config.around = around;
    config.keeper = Some(keeper());
    // The machine may be busy.
    config.times.connect = Duration::from_secs(120);
    Server::new(config)
}

async fn called(server: &Server, tool: &str, arguments: Value) -> ToolResult {
    let result = server.call_tool(tool, &arguments, &long(), None).await;
    let result = result.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(!result.is_error, "{tool}: {:?}", result.content);
    assert!(result.content.as_array().is_some_and(|all| !all.is_empty()), "{tool}");
    result
}

fn text(result: &ToolResult) -> &str {
    result.content[0]["text"].as_str().unwrap_or_default()
}

/// Calls these tools in order, and shows that they are all there are, and that all become capabilities.
async fn all(server: &Server, calls: Vec<(&str, Value)>, revision: Revision) {
    let listing = server.list_tools(&long()).await.unwrap();
    let remote = Identity::Remote { url: "x".to_owned() };
    let taken = snapshot(server.name(), &listing, &remote);
    assert!(taken.refused.is_empty(), "{:?}", taken.refused);
    let names: BTreeSet<_> =
        listing.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let wanted: BTreeSet<_> = calls.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, wanted, "every tool is called");
    assert_eq!(taken.capabilities.len(), names.len());
    for (tool, arguments) in calls {
        if ONLY_AS_TASKS.contains(&tool) {
            let refused = server.call_tool(tool, &arguments, &long(), None).await;
            assert!(refused.map_or(true, |result| result.is_error), "{tool}");
        } else {
            called(server, tool, arguments).await;
        }
    }
    assert_eq!(server.state(), State::Ready { revision });
    server.stop().await;
}

#[tokio::test]
async fn everything() {
    let Some(place) = place() else { return };
    let server = start("everything", npm(&place, "everything", &[]));
    let client = server.client(&long()).await.unwrap();
    let steps = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = std::sync::Arc::clone(&steps);
    let sink = std::sync::Arc::new(move |_| *count.lock().unwrap() += 1);
    let slow = json!({"duration": 0.3, "steps": 3});
    server.call_tool("trigger-long-running-operation", &slow, &long(), Some(sink)).await.unwrap();
    assert_eq!(*steps.lock().unwrap(), 3, "progress came");
    let sum = called(&server, "get-sum", json!({"a": 2, "b": 40})).await;
    assert!(text(&sum).contains("42"), "{}", text(&sum));
    let weather = called(&server, "get-structured-content", json!({"location": "Chicago"})).await;
    assert!(weather.structured_content.is_some_and(|data| data.is_object()));
    let image = called(&server, "get-tiny-image", json!({})).await;
    let kinds: Vec<_> = image.content.as_array().unwrap().iter().map(|b| &b["type"]).collect();
    assert!(kinds.contains(&&json!("image")), "{kinds:?}");
    let resources = client.list_resources(&long()).await.unwrap();
    let uri = resources[0]["uri"].as_str().unwrap();
    assert!(client.read_resource(uri, &long()).await.unwrap()["contents"].is_array());
    assert!(!client.list_templates(&long()).await.unwrap().is_empty());
    let prompts = client.list_prompts(&long()).await.unwrap();
    let simple = prompts.iter().find(|prompt| prompt.get("arguments").is_none()).unwrap();
    let prompt = client.get_prompt(simple["name"].as_str().unwrap(), &json!({}), &long()).await;
    assert!(prompt.unwrap()["messages"].is_array());
    client.ping(&long()).await.unwrap();
    let zip =
        json!({"name": "a.gz", "data": "data:text/plain;base64,aGk=", "outputType": "resource"});
    let calls = vec![
        ("echo", json!({"message": "hi"})),
        ("get-annotated-message", json!({"messageType": "success", "includeImage": true})),
        ("get-env", json!({})),
        ("get-resource-links", json!({"count": 2})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-sum", json!({"a": 1, "b": 2})),
        ("get-tiny-image", json!({})),
        ("gzip-file-as-resource", zip),
        ("toggle-simulated-logging", json!({})),
        ("toggle-subscriber-updates", json!({})),
        ("trigger-long-running-operation", json!({"duration": 0.1, "steps": 1})),
        ("simulate-research-query", json!({"topic": "bees", "ambiguous": false})),
    ];
    // It is told no more of Remit's environment than it was given.
    let env = called(&server, "get-env", json!({})).await;
    let env: serde_json::Map<String, Value> = serde_json::from_str(text(&env)).unwrap();
    let is_known = |name: &String| Surroundings::NAMES.contains(&name.as_str());
    assert!(env.keys().all(is_known), "{:?}", env.keys().collect::<Vec<_>>());
    all(&server, calls, Revision::V20251125).await;
}

#[tokio::test]
async fn everything_over_http() {
    let Some(place) = place() else { return };
    let launch = npm(&place, "everything", &["streamableHttp"]);
    let mut config = Config::new("everything", Transport::LocalHttp(launch));
    config.around = around();
    config.keeper = Some(keeper());
    config.times.connect = Duration::from_secs(120);
    let server = Server::new(config);
    let mut events = server.events();
    let sum = called(&server, "get-sum", json!({"a": 2, "b": 40})).await;
    assert!(text(&sum).contains("42"), "{}", text(&sum));
    let steps = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = std::sync::Arc::clone(&steps);
    let sink = std::sync::Arc::new(move |_| *count.lock().unwrap() += 1);
    let slow = json!({"duration": 0.3, "steps": 3});
    server.call_tool("trigger-long-running-operation", &slow, &long(), Some(sink)).await.unwrap();
    assert_eq!(*steps.lock().unwrap(), 3, "progress came");
    // It tells of its log on the stream of the session.
    called(&server, "toggle-simulated-logging", json!({})).await;
    let heard = tokio::time::timeout(crate::support::LONG, events.recv()).await;
    assert!(heard.unwrap().is_ok());
    assert_eq!(server.state(), State::Ready { revision: Revision::V20251125 });
    server.stop().await;
}

#[tokio::test]
async fn filesystem() {
    let Some(place) = place() else { return };
    let files = tempfile::tempdir().unwrap();
    let root = files.path().canonicalize().unwrap();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    std::fs::write(root.join("a.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let server = start("fs", npm(&place, "filesystem", &[root.to_str().unwrap()]));
    let calls = vec![
        ("write_file", json!({"path": path("a.txt"), "content": "one\ntwo\n"})),
        ("read_file", json!({"path": path("a.txt")})),
        ("read_text_file", json!({"path": path("a.txt"), "head": 1})),
        ("read_media_file", json!({"path": path("a.png")})),
        ("read_multiple_files", json!({"paths": [path("a.txt")]})),
        (
            "edit_file",
            json!({"path": path("a.txt"), "edits": [{"oldText": "two", "newText": "2"}]}),
        ),
        ("create_directory", json!({"path": path("d")})),
        ("list_directory", json!({"path": path("")})),
        ("list_directory_with_sizes", json!({"path": path("")})),
        ("directory_tree", json!({"path": path("")})),
        ("move_file", json!({"source": path("a.txt"), "destination": path("d/b.txt")})),
        ("search_files", json!({"path": path(""), "pattern": "**/b.txt"})),
        ("get_file_info", json!({"path": path("d/b.txt")})),
        ("list_allowed_directories", json!({})),
    ];
    let outside = server
        .call_tool("read_text_file", &json!({"path": "/etc/hostname"}), &long(), None)
        .await
        .unwrap();
    assert!(outside.is_error && text(&outside).contains("denied"), "{:?}", outside.content);
    all(&server, calls, Revision::V20251125).await;
    assert_eq!(std::fs::read_to_string(root.join("d/b.txt")).unwrap(), "one\n2\n");
}

#[tokio::test]
async fn memory() {
    let Some(place) = place() else { return };
    let files = tempfile::tempdir().unwrap();
    let mut launch = npm(&place, "memory", &[]);
    let file = files.path().join("memory.jsonl").to_str().unwrap().to_owned();
    launch.env.insert("MEMORY_FILE_PATH".to_owned(), file);
    let server = start("memory", launch);
    let entity = json!({"name": "ann", "entityType": "person", "observations": ["likes tea"]});
    let relation = json!({"from": "ann", "to": "ann", "relationType": "is"});
    let calls = vec![
        ("create_entities", json!({"entities": [entity]})),
        ("create_relations", json!({"relations": [relation]})),
        (
            "add_observations",
            json!({"observations": [{"entityName": "ann", "contents": ["is 30"]}]}),
        ),
        ("search_nodes", json!({"query": "tea"})),
        ("open_nodes", json!({"names": ["ann"]})),
        ("read_graph", json!({})),
        (
            "delete_observations",
            json!({"deletions": [{"entityName": "ann", "observations": ["is 30"]}]}),
        ),
        ("delete_relations", json!({"relations": [relation]})),
        ("delete_entities", json!({"entityNames": ["ann"]})),
    ];
    all(&server, calls, Revision::V20251125).await;
}

#[tokio::test]
async fn time() {
    let Some(place) = place() else { return };
    let server = start("time", pypi(&place, "mcp_server_time", &["--local-timezone", "UTC"]));
    let convert =
        json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let got = called(&server, "convert_time", convert.clone()).await;
    assert!(text(&got).contains("21:00"), "{}", text(&got));
    let now = ("get_current_time", json!({"timezone": "Europe/Berlin"}));
    all(&server, vec![now, ("convert_time", convert)], Revision::V20260728).await;
}

#[tokio::test]
async fn git() {
    let Some(place) = place() else { return };
    let files = tempfile::tempdir().unwrap();
    let repo = files.path().to_str().unwrap();
    let git = |args: &[&str]| {
        let done = Command::new("git").arg("-C").arg(repo).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "t"]);
    git(&["config", "user.email", "t@example.com"]);
    git(&["commit", "-q", "--allow-empty", "-m", "first"]);
    std::fs::write(files.path().join("a.txt"), "one\n").unwrap();
    git(&["add", "a.txt"]);
    git(&["commit", "-q", "-m", "second"]);
    std::fs::write(files.path().join("a.txt"), "two\n").unwrap();
    let server = start("git", pypi(&place, "mcp_server_git", &["--repository", repo]));
    let with = |more: Value| {
        let mut given = json!({"repo_path": repo});
        given.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        given
    };
    let calls = vec![
        ("git_status", with(json!({}))),
        ("git_diff_unstaged", with(json!({}))),
        ("git_diff", with(json!({"target": "main"}))),
        ("git_add", with(json!({"files": ["a.txt"]}))),
        ("git_diff_staged", with(json!({}))),
        ("git_reset", with(json!({}))),
        ("git_add", with(json!({"files": ["a.txt"]}))),
        ("git_commit", with(json!({"message": "third"}))),
        ("git_log", with(json!({"max_count": 2}))),
        ("git_show", with(json!({"revision": "HEAD"}))),
        ("git_create_branch", with(json!({"branch_name": "side"}))),
        ("git_checkout", with(json!({"branch_name": "side"}))),
        ("git_branch", with(json!({"branch_type": "local"}))),
    ];
    all(&server, calls, Revision::V20260728).await;
}

#[tokio::test]
async fn fetch() {
    let Some(place) = place() else { return };
    let page =
        Fake::start(|_| Says::Other(200, "text/html", "<h1>Hello there</h1>".to_owned())).await;
    let args = ["--ignore-robots-txt", "--allow-private-ips"];
    let server = start("fetch", pypi(&place, "mcp_server_fetch", &args));
    let url = format!("http://{}/page", page.address);
    let raw =
        server.call_tool("fetch", &json!({"url": url, "raw": true}), &long(), None).await.unwrap();
    assert!(text(&raw).contains("Hello there"), "{:?}", raw.content);
    until("the request", || !page.asked.lock().unwrap().is_empty()).await;
    all(&server, vec![("fetch", json!({"url": url, "raw": true}))], Revision::V20260728).await;
    let prompts = start("fetch", pypi(&place, "mcp_server_fetch", &args));
    let client = prompts.client(&long()).await.unwrap();
    assert_eq!(client.list_prompts(&long()).await.unwrap()[0]["name"], "fetch");
    prompts.stop().await;
}
