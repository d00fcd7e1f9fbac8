//! The private root: a file system in which only what is lent exists.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{MountAttrFlags, MountFlags};

use super::super::confine::{Confinement, SCRATCH};
use super::super::plan::Plan;
use super::mounts::{self, Links, Missing, PLAIN};
use super::{script, while_};

/// Are the system's libraries: every program of the machine needs some of them.
const LIBRARIES: [&str; 8] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/local/lib64",
];
/// Are files of the system that programs expect and that say nothing about anybody.
const SETTINGS: [&str; 5] = [
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
    "/usr/share/zoneinfo",
];
/// Are the files that name resolution and TLS need.
const NETWORK: [&str; 8] = [
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
];
/// Are the devices that hold nothing. `/dev/zero` is not among them: memory shared through it is
/// counted against no limit.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/random", "/dev/urandom"];
/// Are file systems that show the machine itself. They may be mounted below what is lent.
const KERNEL: [&str; 9] = [
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "debugfs",
    "tracefs",
    "securityfs",
];
/// Are links that programs expect.
const LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/dev/shm", SCRATCH),
];
/// Are files written for the program: it is user 0 of its namespace and there is no other.
const WRITTEN: [(&str, &str); 2] =
    [("/etc/passwd", "root:x:0:0::/.scratch:/bin/false\n"), ("/etc/group", "root:x:0:\n")];
/// Is how many files the scratch directory may hold.
const MOST_SCRATCH_FILES: &str = "65536";

/// Says what may be done with something that is lent. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    Read,
    Write,
    Run,
    Device,
}

/// Is one thing the program was lent.
#[derive(Clone, Debug)]
pub(super) struct Lent {
    pub(super) path: PathBuf,
    pub(super) mode: Mode,
    pub(super) is_directory: bool,
}

/// Is what stands at a place of the private root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Lend(Mode, Whose),
    Hide,
}

/// Says who named a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// This file: links are followed, and it may be missing.
    System,
    /// The operator or the tool: no link is followed, and it must be there.
    Plan,
}

type Layout = BTreeMap<PathBuf, What>;

/// Makes the private root, enters it, and gives what is in it.
pub(super) fn enter(plan: &Plan) -> Result<Vec<Lent>, String> {
    let script = script::interpreter(plan)?;
    let layout = thin(&layout(plan, script.as_ref().map(|script| script.real.as_path())));
    mounts::make_private()?;
    let mut trees = Vec::new();
    for (path, what) in &layout {
        if let Some(tree) = open(path, *what)? {
            trees.push((path.as_path(), *what, tree));
        }
    }
    let root = mounts::fresh("tmpfs", &[("mode", "0755"), ("size", "1m")], MountAttrFlags::empty())
        .map_err(while_("cannot make the private root"))?;
    let stage = Path::new(mounts::stage_root(&root)?);
    let mut lent = Vec::new();
    for (path, what, tree) in &trees {
        let is_directory = put(&root, path, tree, &layout)?;
        if let What::Lend(mode, _) = what {
            lent.push(Lent { path: path.to_path_buf(), mode: *mode, is_directory });
        }
    }
    let kept = furnish(&root, &plan.confinement, &layout, &mut lent)?;
    if let Some(script) = script {
        mounts::link(&root, &script.named, &script.real).map_err(while_("cannot make a link"))?;
    }
    reflag(stage, &layout, &kept)?;
    mounts::pivot(&root)?;
    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    rustix::mount::mount_remount("/", MountFlags::BIND | flags, "")
        .map_err(while_("cannot make the private root read-only"))?;
    Ok(lent)
}

/// Lists all that is asked for, and what is hidden.
fn layout(plan: &Plan, interpreter: Option<&Path>) -> Layout {
    let mut layout = Layout::new();
    let mut lend = |path: &Path, mode: Mode, whose: Whose| {
        let what = layout.entry(path.to_owned()).or_insert(What::Lend(mode, whose));
        match what {
            What::Lend(had, by) if mode > *had || (mode == *had && *by == Whose::System) => {
                *what = What::Lend(mode, whose);
            }
            What::Lend(..) | What::Hide => {}
        }
    };
    let network: &[&str] = if plan.confinement.network { &NETWORK } else { &[] };
    for (paths, mode) in [
        (&LIBRARIES[..], Mode::Run),
        (&SETTINGS[..], Mode::Read),
        (network, Mode::Read),
        (&DEVICES[..], Mode::Device),
    ] {
        paths.iter().for_each(|path| lend(Path::new(path), mode, Whose::System));
    }
    plan.program.lent().chain(interpreter).for_each(|path| lend(path, Mode::Run, Whose::Plan));
    plan.confinement.read.iter().for_each(|path| lend(path, Mode::Read, Whose::Plan));
    plan.confinement.write.iter().for_each(|path| lend(path, Mode::Write, Whose::Plan));
    for path in &plan.confinement.hidden {
        layout.insert(path.clone(), What::Hide);
    }
    layout
}

/// Leaves out what lies in something that is lent the same way already, and what hides nothing.
fn thin(layout: &Layout) -> Layout {
    let mut thin = Layout::new();
    for (path, what) in layout {
        let around = path.ancestors().skip(1).find_map(|above| thin.get(above));
        let needed = match (what, around) {
            (What::Hide, Some(What::Lend(..))) => true,
            (What::Hide, _) => false,
            (What::Lend(..), None | Some(What::Hide)) => true,
            (What::Lend(mode, _), Some(What::Lend(outer, _))) => {
                mode != outer && !(*mode == Mode::Read && matches!(outer, Mode::Run | Mode::Write))
            }
        };
        if needed {
            thin.insert(path.clone(), *what);
        }
    }
    thin
}

/// Opens what is to stand at a place: a copy of the tree outside, or something empty.
fn open(path: &Path, what: What) -> Result<Option<OwnedFd>, String> {
    let cannot = |error: Errno| match error {
        Errno::LOOP => format!(
            "`{}` leads through a symbolic link that was not there when it was lent; lend it again",
            path.display()
        ),
        error => format!("`{}` cannot be lent: {error}", path.display()),
    };
    match what {
        // A link at the top of the file system is copied as a link.
        What::Lend(_, Whose::System) if path.is_symlink() && is_top(path) => Ok(None),
        What::Lend(_, Whose::System) => match mounts::copy_tree(path, Links::Follow) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
            tree => tree.map(Some).map_err(cannot),
        },
        What::Lend(_, Whose::Plan) => {
            mounts::copy_tree(path, Links::Refuse).map(Some).map_err(cannot)
        }
        What::Hide => match rustix::fs::statat(CWD, path, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() => {
                mounts::fresh("tmpfs", &[("mode", "0755"), ("size", "4k")], PLAIN)
                    .map(Some)
                    .map_err(cannot)
            }
            Ok(_) => {
                mounts::copy_tree(Path::new("/dev/null"), Links::Follow).map(Some).map_err(cannot)
            }
            Err(error) => Err(format!(
                "`{}` must stay out of reach and is not there ({error}); create it, or lend less",
                path.display()
            )),
        },
    }
}

fn is_top(path: &Path) -> bool {
    path.parent() == Some(Path::new("/"))
}

/// Puts a tree where it belongs and tells whether it is a directory.
fn put(root: &OwnedFd, path: &Path, tree: &OwnedFd, layout: &Layout) -> Result<bool, String> {
    let cannot = |error: Errno| format!("`{}` cannot be placed: {error}", path.display());
    let directory = mounts::is_directory(tree).map_err(cannot)?;
    let around = path.ancestors().skip(1).find_map(|above| layout.get(above));
    let missing = match around {
        // Inside something lent the place is there already, and nothing is made on the real disk.
        Some(What::Lend(..)) => Missing::Fail,
        Some(What::Hide) | None => Missing::Make { directory },
    };
    let place = mounts::place(root, path, missing).map_err(cannot)?;
    mounts::attach(tree, &place).map_err(cannot)?;
    Ok(directory)
}

/// Adds what the program expects of any system, and gives the mounts that have their flags already.
fn furnish(
    root: &OwnedFd,
    confinement: &Confinement,
    layout: &Layout,
    lent: &mut Vec<Lent>,
) -> Result<Vec<PathBuf>, String> {
    let make = |path: &str| {
        mounts::place(root, Path::new(path), Missing::Make { directory: true })
            .map_err(while_(&format!("cannot make `{path}`")))
    };
    let bytes = confinement.limits.file_bytes.max(4096).to_string();
    let options = [("mode", "0700"), ("size", bytes.as_str()), ("nr_inodes", MOST_SCRATCH_FILES)];
    let scratch = mounts::fresh("tmpfs", &options, PLAIN)
        .map_err(while_("cannot make the scratch directory"))?;
    mounts::attach(&scratch, &make(SCRATCH)?)
        .map_err(while_("cannot place the scratch directory"))?;
    lent.push(Lent { path: SCRATCH.into(), mode: Mode::Write, is_directory: true });
    let mut kept = vec![PathBuf::from(SCRATCH)];
    // Some containers do not let a namespace mount its own. Programs do without, and see nothing.
    let read_only = PLAIN | MountAttrFlags::MOUNT_ATTR_RDONLY;
    if let Ok(proc) = mounts::fresh("proc", &[("subset", "pid")], read_only) {
        mounts::attach(&proc, &make("/proc")?).map_err(while_("cannot place /proc"))?;
        lent.push(Lent { path: "/proc".into(), mode: Mode::Read, is_directory: true });
        kept.push("/proc".into());
    }
    for (path, text) in WRITTEN {
        let path = Path::new(path);
        if path.ancestors().all(|above| !layout.contains_key(above)) {
            write(root, path, text).map_err(while_("cannot write the user's name"))?;
            lent.push(Lent { path: path.to_owned(), mode: Mode::Read, is_directory: false });
        }
    }
    link_all(root, confinement, layout).map_err(while_("cannot make a link"))?;
    Ok(kept)
}

fn write(root: &OwnedFd, path: &Path, text: &str) -> std::io::Result<()> {
    use rustix::fs::{Mode as Bits, OFlags, openat};
    use std::io::Write;
    let parent = path.parent().unwrap_or(path);
    let parent = mounts::place(root, parent, Missing::Make { directory: true })?;
    let name = path.file_name().unwrap_or_default();
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(&parent, name, flags, Bits::from_raw_mode(0o644))?;
    std::fs::File::from(file).write_all(text.as_bytes())
}

fn link_all(root: &OwnedFd, confinement: &Confinement, layout: &Layout) -> Result<(), Errno> {
    for path in LIBRARIES.map(Path::new).into_iter().filter(|path| is_top(path)) {
        if let Ok(to) = std::fs::read_link(path) {
            mounts::link(root, path, &to)?;
        }
    }
    for (name, to) in LINKS {
        mounts::link(root, Path::new(name), Path::new(to))?;
    }
    for (name, to) in &confinement.aliases {
        mounts::link(root, name, to)?;
    }
    // For programs that know no `TMPDIR`, where nothing of `/tmp` is lent.
    let used = layout.keys().chain(confinement.aliases.keys()).any(|path| path.starts_with("/tmp"));
    if used { Ok(()) } else { mounts::link(root, Path::new("/tmp"), Path::new(SCRATCH)) }
}

/// Gives every mount below the stage the flags of what was lent there.
fn reflag(stage: &Path, layout: &Layout, kept: &[PathBuf]) -> Result<(), String> {
    for mounted in mounts::mounted()? {
        let Ok(inside) = mounted.path.strip_prefix(stage) else { continue };
        let path = Path::new("/").join(inside);
        if kept.contains(&path) {
            continue;
        }
        let Some(what) = path.ancestors().find_map(|above| layout.get(above)) else { continue };
        let lent = matches!(what, What::Lend(mode, _) if *mode != Mode::Device);
        if lent && KERNEL.contains(&mounted.kind.as_str()) {
            return Err(format!(
                "`{}` shows the machine itself ({}) inside what is lent; lend the directories beside it",
                path.display(),
                mounted.kind
            ));
        }
        let add = match what {
            What::Hide | What::Lend(Mode::Read, _) => {
                MountFlags::RDONLY | MountFlags::NODEV | MountFlags::NOEXEC
            }
            What::Lend(Mode::Run, _) => MountFlags::RDONLY | MountFlags::NODEV,
            What::Lend(Mode::Write, _) => MountFlags::NODEV | MountFlags::NOEXEC,
            What::Lend(Mode::Device, _) => MountFlags::RDONLY | MountFlags::NOEXEC,
        };
        let cannot =
            |error: Errno| format!("`{}` cannot be given its flags: {error}", path.display());
        let place = mounts::place_of_mount(&mounted.path).map_err(cannot)?;
        mounts::reflag(&place, mounted.flags | MountFlags::NOSUID | add).map_err(cannot)?;
    }
    Ok(())
}
