"""Does on request what a tool must not do. Speaks the contract by hand: what is tested is Remit."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

calls = 0
kept = []


def say(line):
    os.write(1, line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")


def start_sleeper(marker):
    """Starts a grandchild in a session of its own, as daemons do."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            code = "import signal, time\nfor n in range(1, 32):\n" \
                   "  if n not in (9, 19): signal.signal(n, signal.SIG_IGN)\ntime.sleep(600)"
            os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", code, marker])
        os._exit(0)
    os.wait()


def serve(request):
    global calls
    calls += 1
    what, given, ident = request["command"], request.get("parameters") or {}, request["id"]
    result = None
    if what == "echo":
        result = {**request, "env": dict(os.environ), "calls": calls, "pid": os.getpid()}
    elif what == "sleep":
        time.sleep(given["seconds"])
    elif what == "grandchild":
        start_sleeper(given["marker"])
        result = "started"
        if given.get("then") == "sleep":
            time.sleep(600)
    elif what == "orphan_and_die":
        start_sleeper(given["marker"])
        os._exit(0)
    elif what == "flood":
        block = b"x" * 65536
        for _ in range(10 * 1024 ** 3 // len(block)):
            os.write(1, block)
    elif what == "flood_lines":
        while True:
            say({"id": ident, "progress": {"fraction": 0.5, "message": "x" * 1000}})
    elif what == "line":
        # An answer of exactly so many bytes, without the line's end.
        empty = len(json.dumps({"id": ident, "result": ""}))
        result = "x" * (given["bytes"] - empty)
    elif what == "progress":
        for step in range(given["steps"]):
            say({"id": ident, "progress": {"fraction": step / given["steps"], "message": f"step {step}"}})
    elif what == "mutter":
        os.write(2, b"m" * given["bytes"] + b"the end")
    elif what == "say":
        say(given["line"].replace("ID", ident).encode() + b"\n")
        time.sleep(600)
    elif what == "answer_twice":
        say({"id": ident, "result": 1})
        result = 2
    elif what == "exit":
        os.write(2, b"last words")
        os._exit(given["code"])
    elif what == "abort":
        os.abort()
    elif what == "close":
        os.close(1)
        time.sleep(600)
    elif what == "hold":
        # Whoever holds this end never sees the pipe closed by the other.
        kept.append(os.open("/proc/self/fd/0", os.O_WRONLY))
        if given.get("close"):
            os.close(1)
            time.sleep(600)
        start_sleeper(given["marker"])
        result = "held"
    elif what == "fork_bomb":
        result = bomb(given["most"])
    elif what == "memory":
        kept.append(bytearray(given["bytes"]))
        kept[-1][::4096] = b"x" * len(kept[-1][::4096])
        result = len(kept[-1])
    elif what == "memory_together":
        result = together(given["children"], given["bytes"])
    elif what == "spin":
        while True:
            pass
    elif what == "file":
        result = fill(given)
    elif what == "descriptors":
        try:
            while True:
                kept.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            result = [len(kept), error.errno]
    elif what == "inherited":
        result = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]
    elif what == "limits":
        result = {name: resource.getrlimit(getattr(resource, name))[1]
                  for name in dir(resource) if name.startswith("RLIMIT_")}
    elif what == "read":
        result = open(given["path"]).read()
    elif what == "write":
        with open(given["path"], "w") as file:
            file.write(given["text"])
        result = True
    elif what == "tmp":
        tmp = os.environ["TMPDIR"]
        result = sorted(os.listdir(tmp))
        with open(os.path.join(tmp, "left"), "w") as file:
            file.write("x")
    elif what == "import":
        __import__(given["module"])
        result = True
    elif what == "dead_child":
        result = subprocess.call([sys.executable, "-I", "-S", "-c", "import os; os.kill(0, 9)"])
    say({"id": ident, "result": result})


def bomb(most):
    """Forks until it may not, and gives how many there were."""
    children = []
    try:
        while len(children) < most:
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(children)


def together(children, size):
    """Lets children take memory at the same time and gives how many got it."""
    start, go = os.pipe()
    pids = []
    for _ in range(children):
        pid = os.fork()
        if pid == 0:
            taken = bytearray(size)
            taken[::4096] = b"x" * len(taken[::4096])
            os.close(go)
            os.read(start, 1)
            os._exit(0)
        pids.append(pid)
    time.sleep(1)
    os.close(go)
    return [os.waitpid(pid, 0)[1] for pid in pids].count(0)


def fill(given):
    """Writes so many bytes into a file and gives how many there are."""
    path = os.path.join(given.get("directory") or os.environ["TMPDIR"], given["name"])
    with open(path, "wb", buffering=0) as file:
        try:
            while file.tell() < given["bytes"]:
                file.write(b"x" * min(65536, given["bytes"] - file.tell()))
        except OSError:
            pass
    return os.path.getsize(path)


for text in sys.stdin.buffer:
    asked = json.loads(text)
    if asked.get("ping"):
        if not os.path.exists(os.path.join(os.environ["TMPDIR"], "ill")):
            say({"id": asked["id"], "pong": True})
        continue
    try:
        serve(asked)
    except (OSError, MemoryError) as error:
        said = f"{type(error).__name__}: {error}"
        say({"id": asked["id"], "error": {"code": "TOOL_FAILED", "message": said}})
