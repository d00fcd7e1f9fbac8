//! Every way out that we know of, tried for real.
//!
//! The attempts are in `tests/tools/escape.py`, and some again in a native program. Each is made twice:
//! confined, where it must be refused, and with the sandbox off, where most of them must succeed. The
//! second run proves that the first one can fail.

use std::collections::BTreeMap;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use remit_exec::process::{Confinement, Kind, Plan, Sandbox};
use serde_json::{Value, json};

use crate::support::{is_root, marker, plan, plan_in, result, start};

/// Are the attempts that need no privilege: with the sandbox off every one of them succeeds.
const ALWAYS: &[&str] = &[
    "read_by_absolute_path",
    "read_by_dotdot",
    "read_by_dotdot_from_the_tool",
    "read_by_a_link_that_was_lent",
    "read_by_a_linked_directory_that_was_lent",
    "read_by_a_link_of_its_own",
    "read_by_a_link_that_is_swapped_during_the_call",
    "read_by_a_hard_link_of_its_own",
    "read_by_renaming_it_here",
    "read_through_proc_self_root",
    "read_through_proc_self_cwd",
    "list_a_directory_that_was_not_lent",
    "learn_the_size_of_a_file",
    "watch_a_file",
    "read_the_users_of_the_machine",
    "read_remits_data",
    "read_remits_configuration",
    "write_outside",
    "write_what_was_lent_for_reading",
    "truncate_what_was_lent_for_reading",
    "change_the_mode_of_what_was_lent",
    "change_the_mode_of_what_was_not",
    "change_the_times_of_what_was_lent",
    "change_the_owner_of_what_was_lent",
    "remove_what_was_lent",
    "write_through_a_link_of_its_own",
    "change_itself",
    "add_a_module_beside_itself",
    "write_remits_data",
    "replace_remits_data",
    "write_remits_configuration",
    "run_a_program_of_its_own",
    "run_a_program_from_memory",
    "run_a_shell",
    "connect_by_tcp",
    "send_by_udp",
    "ask_a_name_server",
    "connect_to_a_socket_in_the_file_system",
    "connect_to_an_abstract_socket",
    "listen_by_tcp",
    "open_a_netlink_socket",
    "be_traced",
    "read_the_memory_of_its_parent",
    "outlive_the_keeper",
    "type_for_the_user",
    "share_memory_that_nobody_counts",
    "share_memory_through_a_device",
    "share_memory_of_system_v",
    "make_a_process_by_a_newer_call",
    "change_its_personality",
    "add_a_filter_of_its_own",
    "share_a_namespace_with_remit",
    "gain_privileges_by_a_program",
    "run_without_a_filter",
    "leave_a_program_that_raises_privileges",
    "leave_one_by_its_open_file",
    "make_one_that_raises_privileges",
    "make_a_node_that_raises_privileges",
    "make_one_by_a_newer_call",
    "hold_up_who_opens_a_file",
    "be_told_of_changes_by_signals",
    "watch_what_was_lent",
    "map_memory_that_grows_uncounted",
    "have_its_core_handed_on",
];

/// Are the attempts that root of the machine succeeds with, where the sandbox is off.
const ROOT: &[&str] = &[
    "read_through_the_root_of_process_one",
    "read_through_the_root_of_any_process",
    "read_by_handle",
    "change_its_interpreter",
    "open_the_core_pattern",
    "open_a_raw_socket",
    "open_a_packet_socket",
    "become_another_user",
    "make_a_network_namespace",
    "join_a_namespace",
    "change_the_root",
    "pivot_the_root",
    "mount_something",
    "copy_a_mount",
    "restart_the_machine",
    "swap_to_a_file",
    "rename_the_machine",
    "have_a_capability",
];

/// Is what the attempts are about: files that are lent, files that are not, servers, a sibling.
struct Scene {
    _directory: tempfile::TempDir,
    base: PathBuf,
    at: Value,
    sibling: Child,
    swapping: Arc<AtomicBool>,
    swapper: Option<std::thread::JoinHandle<()>>,
    _servers: (TcpListener, Option<TcpListener>, UdpSocket, UnixListener, UnixListener),
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().canonicalize().unwrap();
        for name in ["lent", "out", "out/data", "outside", "tools"] {
            fs::create_dir(base.join(name)).unwrap();
        }
        for name in
            ["outside/secret.txt", "outside/spare.txt", "out/data/store.db", "lent/remit.yaml"]
        {
            fs::write(base.join(name), "canary").unwrap();
        }
        for name in ["lent/a.txt", "lent/spare.txt", "lent/swap"] {
            fs::write(base.join(name), "lent").unwrap();
        }
        symlink(base.join("outside/secret.txt"), base.join("lent/link")).unwrap();
        symlink("../outside", base.join("lent/linked")).unwrap();
        let tool = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tools/escape.py");
        fs::copy(tool, base.join("tools/escape.py")).unwrap();
        let abstract_name = marker("abstract");
        let servers = (
            TcpListener::bind("127.0.0.1:0").unwrap(),
            TcpListener::bind("[::1]:0").ok(),
            UdpSocket::bind("127.0.0.1:0").unwrap(),
            UnixListener::bind(base.join("lent/socket")).unwrap(),
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(&abstract_name).unwrap())
                .unwrap(),
        );
        let sibling = Command::new("sleep").arg("600").env("SECRET", "canary").spawn().unwrap();
        let port6 = servers.1.as_ref().map(|one| one.local_addr().unwrap().port());
        let at = json!({
            "secret": base.join("outside/secret.txt"),
            "spare": base.join("outside/spare.txt"),
            "lent": base.join("lent"),
            "out": base.join("out"),
            "data": base.join("out/data"),
            "config": base.join("lent/remit.yaml"),
            "unix": base.join("lent/socket"),
            "abstract": abstract_name,
            "tcp": servers.0.local_addr().unwrap().port(),
            "tcp6": port6.unwrap_or(1),
            "udp": servers.2.local_addr().unwrap().port(),
            "sibling": sibling.id(),
            "remit": std::process::id(),
            "namespaces": namespaces(),
        });
        let swapping = Arc::new(AtomicBool::new(true));
        let swapper = Some(std::thread::spawn({
            let (base, swapping) = (base.clone(), Arc::clone(&swapping));
            move || swap(&base, &swapping)
        }));
        Self { _directory: directory, base, at, sibling, swapping, swapper, _servers: servers }
    }

    fn confinement(&self) -> Confinement {
        let lent = Confinement {
            read: vec![self.base.join("lent")],
            write: vec![self.base.join("out")],
            hidden: vec![self.base.join("out/data"), self.base.join("lent/remit.yaml")],
            ..Confinement::default()
        };
        lent.resolved().unwrap()
    }

    async fn plan(&self, kind: Kind, entry: &str, sandbox: Sandbox) -> Plan {
        let plan = plan_in(&self.base.join("tools"), kind, entry).await;
        Plan { confinement: self.confinement(), sandbox, ..plan }
    }
}

/// Gives the namespaces of this process, by name.
fn namespaces() -> BTreeMap<&'static str, PathBuf> {
    let names = ["ipc", "mnt", "net", "pid", "user", "uts"];
    names
        .into_iter()
        .map(|name| (name, fs::read_link(format!("/proc/self/ns/{name}")).unwrap()))
        .collect()
}

/// Makes a lent name now a file and now a link out of what is lent, without a pause between them.
fn swap(base: &std::path::Path, swapping: &AtomicBool) {
    let (name, next) = (base.join("lent/swap"), base.join("next"));
    while swapping.load(Ordering::Relaxed) {
        symlink(base.join("outside/secret.txt"), &next).unwrap();
        fs::rename(&next, &name).unwrap();
        fs::write(&next, "lent").unwrap();
        fs::rename(&next, &name).unwrap();
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.swapping.store(false, Ordering::Relaxed);
        let _ = self.swapper.take().map(std::thread::JoinHandle::join);
        let _ = self.sibling.kill();
        let _ = self.sibling.wait();
    }
}

type Verdicts = BTreeMap<String, (String, String)>;

/// Makes every attempt of a tool.
async fn attempt_all(scene: &Scene, plan: &Plan) -> Verdicts {
    let mut worker = start(plan).await;
    let names = result(&mut worker, "list", json!({})).await;
    let mut verdicts = Verdicts::new();
    for name in names.as_array().unwrap() {
        let name = name.as_str().unwrap();
        let got = result(&mut worker, name, scene.at.clone()).await;
        let word = |index: usize| got[index].as_str().unwrap().to_owned();
        verdicts.insert(name.to_owned(), (word(0), word(1)));
    }
    worker.end().await;
    verdicts
}

fn with(verdicts: &Verdicts, verdict: &str) -> Vec<String> {
    let said = verdicts.iter().filter(|(_, (said, _))| said == verdict);
    said.map(|(name, (_, detail))| format!("{name}: {detail}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_attempt_of_a_python_tool_gets_out() {
    let scene = Scene::new();
    let plan = scene.plan(Kind::Python, "escape.py", Sandbox::On).await;
    let verdicts = attempt_all(&scene, &plan).await;
    assert_eq!(with(&verdicts, "escaped"), Vec::<String>::new());
    assert_eq!(with(&verdicts, "broken"), Vec::<String>::new());
    assert!(verdicts.len() >= 60, "{} attempts", verdicts.len());
    for name in ALWAYS.iter().chain(ROOT) {
        assert!(verdicts.contains_key(*name), "there is no attempt {name}");
    }
    // And nothing has changed.
    let text = |name: &str| fs::read_to_string(scene.base.join(name)).unwrap();
    for name in ["outside/secret.txt", "outside/spare.txt", "out/data/store.db", "lent/remit.yaml"]
    {
        assert_eq!(text(name), "canary");
    }
    assert_eq!(text("lent/a.txt"), "lent");
    assert!(!scene.base.join("outside/new").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_sandbox_most_attempts_get_out() {
    let scene = Scene::new();
    let plan = scene.plan(Kind::Python, "escape.py", Sandbox::Off).await;
    let verdicts = attempt_all(&scene, &plan).await;
    assert_eq!(with(&verdicts, "broken"), Vec::<String>::new());
    let escaped = with(&verdicts, "escaped").len();
    assert!(escaped * 2 > verdicts.len(), "{escaped} of {}", verdicts.len());
    let root: &[&str] = if is_root() { ROOT } else { &[] };
    for name in ALWAYS.iter().chain(root) {
        let (verdict, detail) = &verdicts[*name];
        assert_eq!(verdict, "escaped", "{name}: {detail}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_attempt_of_a_native_program_gets_out_and_most_do_without_the_sandbox() {
    let scene = Scene::new();
    fs::copy(env!("CARGO_BIN_EXE_remit-native-probe"), scene.base.join("tools/probe")).unwrap();
    let plan = scene.plan(Kind::Native, "probe", Sandbox::On).await;
    let confined = attempt_all(&scene, &plan).await;
    assert_eq!(with(&confined, "escaped"), Vec::<String>::new());
    let plan = scene.plan(Kind::Native, "probe", Sandbox::Off).await;
    let open = attempt_all(&scene, &plan).await;
    assert!(with(&open, "escaped").len() * 2 > open.len(), "{open:?}");
}

#[tokio::test]
async fn with_network_a_tool_connects_and_still_gets_nothing_else() {
    let scene = Scene::new();
    let mut plan = scene.plan(Kind::Python, "escape.py", Sandbox::On).await;
    plan.confinement.network = true;
    let verdicts = attempt_all(&scene, &plan).await;
    assert_eq!(verdicts["share_a_namespace_with_remit"].1, "['net']");
    let mut open = with(&verdicts, "escaped");
    open.retain(|one| !one.starts_with("connect_by_tcp_6"));
    let names: Vec<_> = open.iter().map(|one| one.split(':').next().unwrap()).collect();
    assert_eq!(
        names,
        [
            "ask_a_name_server",
            "connect_by_tcp",
            "listen_by_tcp",
            "open_a_netlink_socket",
            "send_by_udp",
            "share_a_namespace_with_remit"
        ]
    );
}

#[tokio::test]
async fn a_test_tool_is_as_confined_as_any() {
    // The plans of the other tests are made the same way.
    let mut worker = start(&plan("escape.py").await).await;
    let at = json!({"secret": "/etc/hosts"});
    let got = result(&mut worker, "learn_the_size_of_a_file", at).await;
    assert_eq!(got[0], "refused");
}
