//! The few things done with mounts, in words.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
    mount_change, mount_remount, move_mount, open_tree, unmount,
};

use super::while_;

/// Are directories that nearly every machine has, for the private root to be put on for a moment.
const STAGES: [&str; 4] = ["/tmp", "/mnt", "/run", "/var"];

/// Is what every mount of a confined process has: no programs that raise privileges, no devices.
pub(super) const PLAIN: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID
    .union(MountAttrFlags::MOUNT_ATTR_NODEV)
    .union(MountAttrFlags::MOUNT_ATTR_NOEXEC);

/// Makes a new file system that is not yet anywhere.
pub(super) fn fresh(
    kind: &str,
    options: &[(&str, &str)],
    flags: MountAttrFlags,
) -> Result<OwnedFd, Errno> {
    let making = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&making, *key, *value)?;
    }
    fsconfig_create(&making)?;
    fsmount(&making, FsMountFlags::FSMOUNT_CLOEXEC, flags)
}

/// Puts a mount on a place.
pub(super) fn attach(mount: &OwnedFd, place: &OwnedFd) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", place, "", flags)
}

/// Says how the names on the way to a place may be resolved.
#[derive(Clone, Copy)]
pub(super) enum Links {
    /// The path is the system's: links are followed.
    Follow,
    /// The path was resolved before: a link on the way is an attack, or a change since then.
    Refuse,
}

/// Copies what is mounted at a place, with all below it.
pub(super) fn copy_tree(path: &Path, links: Links) -> Result<OwnedFd, Errno> {
    let resolve = match links {
        Links::Follow => ResolveFlags::empty(),
        Links::Refuse => ResolveFlags::NO_SYMLINKS,
    };
    let place = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    open_tree(&place, "", flags)
}

/// Tells whether an open file is a directory.
pub(super) fn is_directory(file: &OwnedFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode).is_dir())
}

/// Says what to do about parts of a path that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// Make directories, and a file or directory at the end.
    Make { directory: bool },
    /// Give up.
    Fail,
}

/// Opens a place below a root, following no links at all.
pub(super) fn place(root: &OwnedFd, path: &Path, missing: Missing) -> Result<OwnedFd, Errno> {
    let names: Vec<_> = path.components().filter(|part| part.as_os_str() != "/").collect();
    let mut here = root.try_clone().map_err(|_| Errno::MFILE)?;
    for (index, name) in names.iter().enumerate() {
        let name = name.as_os_str();
        let open = || {
            let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            openat2(&here, name, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
        };
        let found = match (open(), missing) {
            (Err(Errno::NOENT), Missing::Make { directory }) => {
                if directory || index + 1 < names.len() {
                    mkdirat(&here, name, Mode::from_raw_mode(0o755))?;
                } else {
                    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::WRONLY;
                    openat(&here, name, flags, Mode::from_raw_mode(0o644))?;
                }
                open()?
            }
            (found, _) => found?,
        };
        here = found;
    }
    Ok(here)
}

/// Keeps what happens to mounts here from being seen outside.
pub(super) fn make_private() -> Result<(), String> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(while_("mount namespaces: cannot make mounts private"))
}

/// Puts a new root on some directory and gives the directory's name.
pub(super) fn stage_root(root: &OwnedFd) -> Result<&'static str, String> {
    for stage in STAGES {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(place) = openat2(CWD, stage, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            attach(root, &place).map_err(while_("cannot place the private root"))?;
            return Ok(stage);
        }
    }
    Err(format!("none of {} is a directory to place the private root on", STAGES.join(", ")))
}

/// Makes a mount the root of this namespace and lets go of the old one.
pub(super) fn pivot(root: &OwnedFd) -> Result<(), String> {
    rustix::process::fchdir(root)
        .and_then(|()| rustix::process::pivot_root(".", "."))
        .and_then(|()| unmount(".", UnmountFlags::DETACH))
        .and_then(|()| rustix::process::chdir("/"))
        .map_err(while_("cannot enter the private root"))
}

/// Changes the flags of one mount.
pub(super) fn reflag(mount: impl AsFd, flags: MountFlags) -> Result<(), Errno> {
    let place = format!("/proc/self/fd/{}", mount.as_fd().as_raw_fd());
    mount_remount(place.as_str(), MountFlags::BIND | flags, "")
}

/// Opens a place by the name it has in the table of mounts.
pub(super) fn place_of_mount(path: &Path) -> Result<OwnedFd, Errno> {
    openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Is one line of the table of mounts.
pub(super) struct Mounted {
    pub(super) path: std::path::PathBuf,
    pub(super) flags: MountFlags,
    /// The kind of file system, `ext4` or `proc`.
    pub(super) kind: String,
}

/// Lists the mounts of this namespace.
pub(super) fn mounted() -> Result<Vec<Mounted>, String> {
    let table = std::fs::read("/proc/self/mountinfo").map_err(while_("cannot list mounts"))?;
    Ok(table.split(|byte| *byte == b'\n').filter_map(parse_mount).collect())
}

fn parse_mount(line: &[u8]) -> Option<Mounted> {
    use std::os::unix::ffi::OsStringExt;
    let mut words = line.split(|byte| *byte == b' ').skip(4);
    let path = std::ffi::OsString::from_vec(unescape(words.next()?)).into();
    let mut flags = MountFlags::empty();
    for option in words.next()?.split(|byte| *byte == b',') {
        flags |= match option {
            b"ro" => MountFlags::RDONLY,
            b"nosuid" => MountFlags::NOSUID,
            b"nodev" => MountFlags::NODEV,
            b"noexec" => MountFlags::NOEXEC,
            _ => MountFlags::empty(),
        };
    }
    let kind = words.skip_while(|word| *word != b"-").nth(1)?;
    Some(Mounted { path, flags, kind: String::from_utf8_lossy(kind).into_owned() })
}

/// Turns `\040` and its like back into what they stand for.
fn unescape(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if let (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) =
            (first, rest)
        {
            out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = after;
        } else {
            out.push(*first);
        }
    }
    out
}

/// Gives a process that is first of its namespace a `/proc` that shows that namespace.
pub(super) fn renew_proc() -> Result<(), String> {
    make_private()?;
    let proc = fresh("proc", &[], PLAIN).map_err(while_("cannot make /proc"))?;
    let at = openat(CWD, "/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(while_("cannot open /proc"))?;
    attach(&proc, &at).map_err(while_("cannot mount /proc"))
}

/// Sets the highest process id of this process namespace. Kernels before 6.14 have one for all.
pub(super) fn set_pid_max(most: u64) -> std::io::Result<()> {
    if !has_pid_max_of_its_own() {
        return Err(std::io::ErrorKind::Unsupported.into());
    }
    let proc = fresh("proc", &[], PLAIN)?;
    let file =
        openat(&proc, "sys/kernel/pid_max", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    File::from(file).write_all(most.to_string().as_bytes())
}

/// Tells whether `pid_max` belongs to the namespace. On an older kernel root would set it for the
/// whole machine.
fn has_pid_max_of_its_own() -> bool {
    let name = rustix::system::uname();
    let text = name.release().to_string_lossy().into_owned();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (6, 14),
        _ => false,
    }
}

/// Makes a symbolic link below a root unless something has that name.
pub(super) fn link(root: &OwnedFd, name: &Path, to: &Path) -> Result<(), Errno> {
    let (Some(parent), Some(last)) = (name.parent(), name.file_name()) else { return Ok(()) };
    let parent = match place(root, parent, Missing::Make { directory: true }) {
        Ok(parent) => parent,
        // Lies behind something that is mounted: what is there counts.
        Err(_) => return Ok(()),
    };
    if rustix::fs::statat(&parent, last, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        return Ok(());
    }
    rustix::fs::symlinkat(to, &parent, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_mount_table_is_read() {
        let line =
            br"36 35 98:0 /mnt1 /a\040b\134c ro,noexec,relatime master:1 - ext3 /dev/root rw";
        let got = parse_mount(line).unwrap();
        assert_eq!(got.path, Path::new(r"/a b\c"));
        assert_eq!(got.flags, MountFlags::RDONLY | MountFlags::NOEXEC);
        assert_eq!(got.kind, "ext3");
        assert!(parse_mount(b"").is_none());
    }
}
