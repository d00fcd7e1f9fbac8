"""Tries to get out. Each attempt is one function: what it returns is what it got, an OSError is a refusal.

An attempt runs in a child of the worker, so that what it does to itself does not matter to the next. Every
attempt is harmless where it succeeds: calls that change the machine are made with arguments that are
wrong, and reaching the check of the arguments counts as success.
"""

import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
attempts = {}

NUMBERS = {
    "x86_64": dict(
        ptrace=101, process_vm_readv=310, mount=165, umount2=166, pivot_root=155, unshare=272, setns=308, clone=56,
        clone3=435, openat2=437, io_uring_setup=425, bpf=321, add_key=248, keyctl=250, perf_event_open=298, userfaultfd=323,
        kexec_load=246, init_module=175, finit_module=313, delete_module=176, personality=135, reboot=169,
        swapon=167, quotactl=179, fanotify_init=300, memfd_create=319, name_to_handle_at=303, open_by_handle_at=304,
        sethostname=170, clock_settime=227, syslog=103, pidfd_getfd=438, pidfd_open=434, fsopen=430, open_tree=428,
        shmget=29, mq_open=240, iopl=172, modify_ldt=154, acct=163, lookup_dcookie=212, seccomp=317, settimeofday=164),
    "aarch64": dict(
        ptrace=117, process_vm_readv=270, mount=40, umount2=39, pivot_root=41, unshare=97, setns=268, clone=220,
        clone3=435, openat2=437, io_uring_setup=425, bpf=280, add_key=217, keyctl=219, perf_event_open=241, userfaultfd=282,
        kexec_load=104, init_module=105, finit_module=273, delete_module=106, personality=92, reboot=142, swapon=224,
        quotactl=60, fanotify_init=262, memfd_create=279, name_to_handle_at=264, open_by_handle_at=265,
        sethostname=161, clock_settime=112, syslog=116, pidfd_getfd=438, pidfd_open=434, fsopen=430, open_tree=428,
        shmget=194, mq_open=180, acct=89, lookup_dcookie=18, seccomp=277, settimeofday=170),
}[platform.machine()]


def attempt(function):
    attempts[function.__name__] = function
    return function


def system(name, *arguments):
    """Makes a system call and gives its result."""
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, "not on this machine")
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(NUMBERS[name]), *given)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def reached(name, *arguments):
    """Makes a system call that can only fail, and tells whether it failed for its arguments alone."""
    try:
        return system(name, *arguments)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise
        return error.strerror


def read(path):
    with open(path, "rb") as file:
        return file.read(4096).decode("latin-1")


def canary(text):
    """Gives a text if the secret is in it; anything else is not worth an escape."""
    if "canary" not in text:
        raise OSError(errno.ENOENT, "no secret in it")
    return text


# Reading what was not lent.

@attempt
def read_by_absolute_path(at):
    return canary(read(at["secret"]))


@attempt
def read_by_dotdot(at):
    return canary(read(at["lent"] + "/../outside/secret.txt"))


@attempt
def read_by_dotdot_from_the_tool(at):
    return canary(read(os.path.join(os.getcwd(), "../" * 12) + at["secret"].lstrip("/")))


@attempt
def read_by_a_link_that_was_lent(at):
    return canary(read(at["lent"] + "/link"))


@attempt
def read_by_a_linked_directory_that_was_lent(at):
    return canary(read(at["lent"] + "/linked/secret.txt"))


@attempt
def read_by_a_link_of_its_own(at):
    link = at["out"] + "/own-link"
    if not os.path.islink(link):
        os.symlink(at["secret"], link)
    return canary(read(link))


@attempt
def read_by_a_link_that_is_swapped_during_the_call(at):
    for _ in range(20000):
        try:
            text = read(at["lent"] + "/swap")
        except FileNotFoundError:
            continue
        if "canary" in text:
            return text
    raise OSError(errno.ENOENT, "never seen")


@attempt
def read_by_a_hard_link_of_its_own(at):
    os.link(at["secret"], at["out"] + "/hard")
    return canary(read(at["out"] + "/hard"))


@attempt
def read_by_renaming_it_here(at):
    os.rename(at["spare"], at["out"] + "/spare.txt")
    return canary(read(at["out"] + "/spare.txt"))


@attempt
def read_through_proc_self_root(at):
    return canary(read("/proc/self/root" + at["secret"]))


@attempt
def read_through_proc_self_cwd(at):
    return canary(read("/proc/self/cwd/" + "../" * 12 + at["secret"].lstrip("/")))


@attempt
def read_through_the_root_of_process_one(at):
    return canary(read("/proc/1/root" + at["secret"]))


@attempt
def read_through_the_root_of_any_process(at):
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                return canary(read(f"/proc/{name}/root{at['secret']}"))
            except OSError:
                pass
    raise OSError(errno.ENOENT, "through none of them")


@attempt
def read_through_a_map_of_files(at):
    return canary(read("/dev/fd/../../.." + at["secret"]))


@attempt
def read_by_handle(at):
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    mount = ctypes.c_int()
    system("name_to_handle_at", -100, at["lent"].encode(), handle, ctypes.byref(mount), 0)
    directory = os.open(at["lent"], os.O_RDONLY)
    return system("open_by_handle_at", directory, handle, os.O_RDONLY)


@attempt
def list_a_directory_that_was_not_lent(at):
    return os.listdir(os.path.dirname(at["secret"]))


@attempt
def list_the_root(at):
    return os.listdir("/")


@attempt
def learn_the_size_of_a_file(at):
    return os.stat(at["secret"]).st_size


@attempt
def watch_a_file(at):
    watch = libc.inotify_init1(0)
    if libc.inotify_add_watch(watch, at["secret"].encode(), 1) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return "watching"


@attempt
def read_the_users_of_the_machine(at):
    if len(read("/etc/passwd").splitlines()) == 1:
        raise OSError(errno.ENOENT, "only its own")
    return read("/etc/passwd")


@attempt
def read_the_environment_of_a_sibling(at):
    return canary(read(f"/proc/{at['sibling']}/environ"))


@attempt
def read_the_arguments_of_a_sibling(at):
    return canary(read(f"/proc/{at['sibling']}/cmdline"))


@attempt
def read_the_memory_of_process_one(at):
    os.close(os.open("/proc/1/mem", os.O_RDWR))
    return "open"


@attempt
def read_remits_data(at):
    return canary(read(at["data"] + "/store.db"))


@attempt
def read_remits_configuration(at):
    return canary(read(at["config"]))


# Changing what was not lent for that.

@attempt
def write_outside(at):
    with open(os.path.dirname(at["secret"]) + "/new", "w") as file:
        return file.write("x")


@attempt
def write_what_was_lent_for_reading(at):
    with open(at["lent"] + "/a.txt", "a") as file:
        return file.write("x")


@attempt
def truncate_what_was_lent_for_reading(at):
    os.truncate(at["lent"] + "/a.txt", 0)
    return "empty"


@attempt
def change_the_mode_of_what_was_lent(at):
    os.chmod(at["lent"] + "/a.txt", 0o666)
    return "changed"


@attempt
def change_the_mode_of_what_was_not(at):
    os.chmod(at["secret"], 0o666)
    return "changed"


@attempt
def change_the_times_of_what_was_lent(at):
    os.utime(at["lent"] + "/a.txt", (1, 1))
    return "changed"


@attempt
def change_the_owner_of_what_was_lent(at):
    os.chown(at["lent"] + "/a.txt", os.getuid(), os.getgid())
    return "changed"


@attempt
def add_an_attribute_to_what_was_lent(at):
    os.setxattr(at["lent"] + "/a.txt", "user.mark", b"x")
    return "added"


@attempt
def remove_what_was_lent(at):
    os.unlink(at["lent"] + "/spare.txt")
    return "gone"


@attempt
def write_through_a_link_of_its_own(at):
    link = at["out"] + "/through"
    os.symlink(at["lent"] + "/a.txt", link)
    with open(link, "a") as file:
        return file.write("x")


@attempt
def change_itself(at):
    with open(__file__, "ab") as file:
        return file.write(b"")


@attempt
def add_a_module_beside_itself(at):
    path = os.path.dirname(os.path.abspath(__file__)) + "/json.py"
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    os.unlink(path)
    return "added"


@attempt
def change_its_interpreter(at):
    os.close(os.open(os.__file__, os.O_WRONLY | os.O_APPEND))
    return "open for writing"


@attempt
def write_remits_data(at):
    with open(at["data"] + "/store.db", "a") as file:
        return file.write("x")


@attempt
def replace_remits_data(at):
    os.rename(at["data"], at["data"] + ".old")
    os.rename(at["data"] + ".old", at["data"])
    return "moved"


@attempt
def write_remits_configuration(at):
    with open(at["config"], "a") as file:
        return file.write("x")


@attempt
def open_the_core_pattern(at):
    os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
    return "open for writing"


@attempt
def open_the_sysrq_trigger(at):
    os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
    return "open for writing"


@attempt
def change_a_control_group(at):
    for path in ("/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/cgroup.procs"):
        if os.path.exists(path):
            os.close(os.open(path, os.O_WRONLY))
            return "open for writing"
    raise OSError(errno.ENOENT, "none to be seen")


# Devices and programs.

@attempt
def open_the_memory_of_the_machine(at):
    os.close(os.open("/dev/mem", os.O_RDONLY))
    return "open"


@attempt
def open_the_log_of_the_kernel(at):
    os.close(os.open("/dev/kmsg", os.O_RDONLY))
    return "open"


@attempt
def make_the_disk_a_file(at):
    path = at["out"] + "/disk"
    try:
        os.mknod(path, stat.S_IFBLK | 0o600, os.stat(at["out"]).st_dev)
        os.close(os.open(path, os.O_RDONLY))
    finally:
        if os.path.lexists(path):
            os.unlink(path)
    return "open"


@attempt
def run_a_program_of_its_own(at):
    path = os.path.join(os.environ["TMPDIR"], "program")
    shutil.copy(sys.executable, path)
    os.chmod(path, 0o755)
    return subprocess.check_output([path, "-I", "-S", "-c", "print('ran')"], stderr=subprocess.DEVNULL).decode()


@attempt
def run_a_program_from_memory(at):
    file = system("memfd_create", b"program", 0)
    with open(sys.executable, "rb") as source:
        os.write(file, source.read(1 << 20))
    return file


@attempt
def run_a_shell(at):
    return subprocess.check_output(["/bin/sh", "-c", "echo ran"]).decode()


@attempt
def run_a_program_that_raises_privileges(at):
    return subprocess.check_output(["/usr/bin/passwd", "--help"], stderr=subprocess.STDOUT).decode()


# The network.

@attempt
def connect_by_tcp(at):
    socket.create_connection(("127.0.0.1", at["tcp"]), 5).close()
    return "connected"


@attempt
def connect_by_tcp_6(at):
    socket.create_connection(("::1", at["tcp6"]), 5).close()
    return "connected"


@attempt
def send_by_udp(at):
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", at["udp"]))


@attempt
def ask_a_name_server(at):
    question = b"\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.connect(("127.0.0.1", at["udp"]))
        return asker.send(question)


@attempt
def connect_to_a_socket_in_the_file_system(at):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(at["unix"])
    return "connected"


@attempt
def connect_to_an_abstract_socket(at):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect("\0" + at["abstract"])
    return "connected"


@attempt
def listen_by_tcp(at):
    with socket.socket(socket.AF_INET) as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
    return "listening"


@attempt
def open_a_raw_socket(at):
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    return "open"


@attempt
def open_a_packet_socket(at):
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    return "open"


@attempt
def open_a_netlink_socket(at):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()
    return "open"


@attempt
def open_a_vsock(at):
    socket.socket(40, socket.SOCK_STREAM, 0).close()
    return "open"


@attempt
def open_a_crypto_socket(at):
    socket.socket(38, socket.SOCK_SEQPACKET, 0).close()
    return "open"


# Other processes.

@attempt
def signal_a_sibling(at):
    os.kill(at["sibling"], 0)
    return "allowed"


@attempt
def signal_remit(at):
    os.kill(at["remit"], 0)
    return "allowed"


@attempt
def trace_its_parent(at):
    system("ptrace", 0x4206, os.getppid(), 0, 0)
    system("ptrace", 17, os.getppid(), 0, 0)
    return "traced"


@attempt
def be_traced(at):
    return reached("ptrace", 0, 0, 0, 0)


@attempt
def read_the_memory_of_its_parent(at):
    return reached("process_vm_readv", os.getppid(), 0, 0, 0, 0, 0)


@attempt
def take_a_file_of_its_parent(at):
    return system("pidfd_getfd", system("pidfd_open", os.getppid(), 0), 0, 0)


@attempt
def become_another_user(at):
    os.setuid(12345)
    return "became"


@attempt
def be_more_important(at):
    os.setpriority(os.PRIO_PROCESS, 0, -10)
    return "is"


@attempt
def outlive_the_keeper(at):
    if libc.prctl(1, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return "allowed"


@attempt
def type_for_the_user(at):
    if libc.ioctl(0, 0x5412, b"x") < 0 and ctypes.get_errno() == errno.EPERM:
        raise OSError(errno.EPERM, "refused")
    return "reached"


@attempt
def share_memory_that_nobody_counts(at):
    mmap.mmap(-1, 4096).close()
    return "shared"


@attempt
def share_memory_through_a_device(at):
    with open("/dev/zero", "r+b", buffering=0) as file:
        mmap.mmap(file.fileno(), 4096).close()
    return "shared"


@attempt
def share_memory_of_system_v(at):
    segment = system("shmget", 0, 4096, 0o1600)
    libc.shmctl(segment, 0, 0)
    return segment


@attempt
def open_a_message_queue(at):
    return reached("mq_open", b"remit-test", os.O_CREAT | os.O_RDWR, 0o600, 0)


# What it is.

@attempt
def share_a_namespace_with_remit(at):
    shared = [name for name, link in at["namespaces"].items() if os.readlink("/proc/self/ns/" + name) == link]
    if not shared:
        raise OSError(errno.ENOENT, "none")
    return shared


def raising(path, make):
    """Makes a file in a way of its own, and tells whether it would run as its owner."""
    try:
        made = make(path)
        if isinstance(made, int):
            os.close(made)
        if not os.stat(path).st_mode & (stat.S_ISUID | stat.S_ISGID):
            raise OSError(errno.EPERM, "without the bits")
    finally:
        if os.path.isdir(path):
            os.rmdir(path)
        elif os.path.exists(path):
            os.unlink(path)
    return "left"


@attempt
def leave_a_program_that_raises_privileges(at):
    def make(path):
        shutil.copy(sys.executable, path)
        os.chmod(path, 0o4755)
    return raising(at["out"] + "/raise", make)


@attempt
def leave_one_by_its_open_file(at):
    def make(path):
        made = os.open(path, os.O_CREAT | os.O_WRONLY, 0o755)
        os.fchmod(made, 0o2755)
        return made
    return raising(at["out"] + "/raise-open", make)


@attempt
def make_one_that_raises_privileges(at):
    return raising(at["out"] + "/raise-new", lambda path: os.open(path, os.O_CREAT | os.O_WRONLY, 0o4755))


@attempt
def make_a_node_that_raises_privileges(at):
    return raising(at["out"] + "/raise-node", lambda path: os.mknod(path, stat.S_IFREG | 0o4755))


@attempt
def make_one_by_a_newer_call(at):
    how = struct.pack("QQQ", os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    return raising(at["out"] + "/raise-newer",
                   lambda path: system("openat2", -100, path.encode(), ctypes.create_string_buffer(how, 24), 24))


@attempt
def hold_up_who_opens_a_file(at):
    with open(at["lent"] + "/a.txt") as file:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return "held"


@attempt
def be_told_of_changes_by_signals(at):
    place = os.open(at["lent"], os.O_RDONLY)
    fcntl.fcntl(place, fcntl.F_NOTIFY, fcntl.DN_MODIFY)
    fcntl.fcntl(place, fcntl.F_NOTIFY, 0)
    return "told"


@attempt
def watch_what_was_lent(at):
    watch = libc.inotify_init1(0)
    if watch < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return watch


@attempt
def map_memory_that_grows_uncounted(at):
    mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100).close()
    return "mapped"


@attempt
def have_its_core_handed_on(at):
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except ValueError as error:
        raise OSError(errno.EPERM, str(error)) from error
    return "would"


@attempt
def have_a_capability(at):
    status = dict(line.split(":\t") for line in read("/proc/self/status").splitlines())
    held = {name: value for name, value in status.items() if name.startswith("Cap") and int(value, 16)}
    if not held:
        raise OSError(errno.ENOENT, "none")
    return held


@attempt
def gain_privileges_by_a_program(at):
    if "NoNewPrivs:\t1" in read("/proc/self/status"):
        raise OSError(errno.ENOENT, "not any more")
    return "could"


@attempt
def run_without_a_filter(at):
    if "Seccomp:\t2" in read("/proc/self/status"):
        raise OSError(errno.ENOENT, "has one")
    return "has none"


# The kernel.

@attempt
def make_a_user_namespace(at):
    return system("unshare", 0x10000000)


@attempt
def make_a_network_namespace(at):
    return system("unshare", 0x40000000)


@attempt
def make_a_namespace_with_a_process(at):
    pid = system("clone", 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[0]


@attempt
def make_a_process_by_a_newer_call(at):
    return reached("clone3", 0, 0)


@attempt
def join_a_namespace(at):
    return system("setns", os.open("/proc/self/ns/uts", os.O_RDONLY), 0)


@attempt
def change_the_root(at):
    os.chroot(at["out"])
    return "changed"


@attempt
def pivot_the_root(at):
    return reached("pivot_root", b".", b".")


@attempt
def mount_something(at):
    return system("mount", b"none", at["out"].encode(), b"tmpfs", 0, 0)


@attempt
def mount_by_a_newer_call(at):
    return system("fsopen", b"tmpfs", 0)


@attempt
def copy_a_mount(at):
    return system("open_tree", -100, at["out"].encode(), 1)


@attempt
def make_a_mount_writable_again(at):
    flags = 32 | 4096
    return system("mount", b"none", at["lent"].encode(), b"", flags, 0)


@attempt
def unmount_what_hides(at):
    return reached("umount2", at["data"].encode(), 2)


@attempt
def set_up_a_ring(at):
    return system("io_uring_setup", 1, ctypes.create_string_buffer(120))


@attempt
def load_a_kernel_program(at):
    return reached("bpf", 0, 0, 0)


@attempt
def add_a_key(at):
    return system("add_key", b"user", b"mark", b"x", 1, -2)


@attempt
def read_a_keyring(at):
    return reached("keyctl", 0, -3, 1, 0, 0)


@attempt
def watch_the_processor(at):
    return reached("perf_event_open", 0, 0, -1, -1, 0)


@attempt
def handle_page_faults(at):
    return system("userfaultfd", 1)


@attempt
def load_another_kernel(at):
    return reached("kexec_load", 0, 0, 0, 0xFFFF)


@attempt
def load_a_module(at):
    return reached("finit_module", -1, b"", 0)


@attempt
def unload_a_module(at):
    return reached("delete_module", b"no-such-module", 0)


@attempt
def change_its_personality(at):
    return system("personality", 0x0040000)


@attempt
def restart_the_machine(at):
    return reached("reboot", 1, 2, 3, 0)


@attempt
def swap_to_a_file(at):
    return reached("swapon", b"/no/such/file", 0)


@attempt
def set_quotas(at):
    return reached("quotactl", 0x800002FF, b"/no/such/file", 0, 0)


@attempt
def watch_the_file_system(at):
    return system("fanotify_init", 0, 0)


@attempt
def rename_the_machine(at):
    return reached("sethostname", b"x", -1)


@attempt
def set_the_clock(at):
    return reached("clock_settime", 0, 0)


@attempt
def read_the_kernels_messages(at):
    return reached("syslog", 10, 0, 0)


@attempt
def keep_accounts(at):
    return reached("acct", b"/no/such/file")


@attempt
def reach_the_ports_of_the_machine(at):
    return system("iopl", 3)


@attempt
def change_its_segments(at):
    return reached("modify_ldt", 0, ctypes.create_string_buffer(16), 16)


@attempt
def add_a_filter_of_its_own(at):
    return reached("seccomp", 2, 0, ctypes.create_string_buffer(8))


def run(name, at):
    """Runs an attempt in a child and gives its verdict."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            verdict = ["escaped", repr(attempts[name](at))[:200]]
        except (OSError, subprocess.SubprocessError) as error:
            verdict = ["refused", str(error)]
        except BaseException as error:
            verdict = ["broken", f"{type(error).__name__}: {error}"]
        os.write(writer, json.dumps(verdict).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as source:
        text = source.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else ["refused", "the attempt was killed"]


for line in sys.stdin.buffer:
    asked = json.loads(line)
    if asked["command"] == "list":
        answer = list(attempts)
    else:
        answer = run(asked["command"], asked["parameters"])
    os.write(1, json.dumps({"id": asked["id"], "result": answer}).encode() + b"\n")
