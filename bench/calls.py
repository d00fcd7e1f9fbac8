"""The parts that make calls: many at once, of warm tools, of cold ones."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from harness import Bench, Time, say, span

CHECKOUT = Path(__file__).resolve().parent.parent
REQUEST = {"id": "1", "command": "count", "parameters": {"text": "to be or not to be"}, "settings": {},
           "context": {"call_id": "call-1", "timeout_ms": 5000}}
POLICY = """\
capabilities:
  - {match: "*", scope: "bench:run", sensitivity: low}
"""
MANIFEST = """\
manifest_version: "1.0.0"
name: answer
display_name: Answer
description: Answers with what it is given
version: "1.0.0"
type: sync
runtime: native
entry: answer
commands:
  - name: count
    description: Gives back its input.
    parameters: {type: object, properties: {text: {type: string}}}
"""


def interpreter(name: str, *question: str) -> str:
    """Gives the interpreter itself: what `PATH` names may be a script that looks for it, which would flatter Remit."""
    return subprocess.run([name, *question], check=True, capture_output=True, text=True).stdout.strip()


def python() -> str:
    return interpreter("python3", "-I", "-c", "import sys; print(sys.executable)")


def node() -> str:
    return interpreter("node", "-p", "process.execPath")


def many(bench: Bench) -> None:
    """Calls a capability that does nothing from 64 callers at once, each call durably recorded twice."""
    say("calls from 64 callers")
    folder = bench.folder / "calls"
    folder.mkdir()
    answer = bench.ask(bench.rust, "calls", str(folder))
    few, many = Time.of(answer["engine, 10 capabilities"]), Time.of(answer["engine, 10000 capabilities"])
    alone = Time.of(answer["group commit alone"])
    bench.add("a call that does nothing, recorded", few, "SQLite group commit of the same rows", alone, within=1 / 0.6)
    bench.add("the same among 10,000 capabilities", many, "among 10", few, within=1.25)


def tools() -> list[tuple[str, str, str, Path, str]]:
    """Gives the tools that are called: language, runtime, interpreter, directory and entry."""
    return [("Python", "python", python(), CHECKOUT / "examples" / "counting", "count_words.py"),
            ("JavaScript", "javascript", node(), CHECKOUT / "tools" / "javascript", "count_words.js")]


def tool(bench: Bench, what: str, runtime: str, program: str, folder: Path, entry: str) -> dict[str, Time]:
    """Measures calls of one tool."""
    data = bench.folder / f"{what}-{runtime}"
    data.mkdir()
    answer = bench.ask(bench.rust, what, str(data), bench.remit, runtime, program, str(folder), entry)
    return {name: Time.of(times) for name, times in answer.items()}


def warm(bench: Bench) -> None:
    """Calls a tool that waits for calls, through everything, against the pipe to it and the commits alone."""
    for language, *which in tools():
        say(f"warm {language} tools, from 16 callers and from one")
        many, one = tool(bench, "together", *which), tool(bench, "warm", *which)
        ours, pipe = many["pipeline"], many["pipe"]
        bench.judge(f"warm {language} calls from 16 callers, recorded", ours, "the pipes to 16 such workers", pipe,
                    "CPU ≤ 5×", ours.cpu <= 5 * pipe.cpu)
        ours, between, commits = one["pipeline"], one["pipe between commits"], one["two commits"]
        bench.judge(f"a warm {language} call from one caller, recorded", ours, "the pipe between two commits", between,
                    "wall ≤ 1×", ours.wall <= between.wall)
        pipe = one["pipe"]
        bench.notes.append(
            f"From one caller a warm {language} call takes {ours.cpu / pipe.cpu:.1f}× the CPU of the pipe, {span(pipe.cpu)}: "
            f"it pays for two whole commits, which alone take {span(commits.cpu)} of CPU and {span(commits.wall)}. "
            f"The pipe between them takes {between.cpu / pipe.cpu:.1f}×. From 16 callers the pipes between commits take "
            f"{many['pipe between commits'].cpu / many['pipe'].cpu:.1f}× the CPU of the pipes.")


def home(bench: Bench, name: str) -> tuple[Path, list[str]]:
    """Makes a folder and gives the options of a call that is recorded there."""
    folder = bench.folder / name
    folder.mkdir()
    (folder / "remit.yaml").write_text(POLICY)
    return folder, ["--config", str(folder / "remit.yaml"), "--data", str(folder / "data")]


def cold(bench: Bench) -> None:
    """Calls Python tools that no process waits for, in an engine and with a whole command, against the interpreter."""
    say("a cold Python tool")
    _, *which = tools()[0]
    _, program, folder, entry = which
    both = tool(bench, "cold", *which)
    bench.add("a cold Python call in a running engine, recorded", both["call"], "python3 -I tool.py until it answers",
              both["bare"], within=1.3)
    _, options = home(bench, "cold")
    call = [bench.remit, "call", "count_words.count", json.dumps(REQUEST["parameters"]), "--tools", str(folder), *options]
    bare = {"words": [program, "-I", str(folder / entry)], "input": json.dumps(REQUEST) + "\n"}
    # Found the way the bare one is: without a version manager's script.
    commands = json.dumps([{"words": call, "path": str(Path(program).parent)}, bare])
    bench.ask(bench.rust, "spawn", "3", commands)
    ours, theirs = bench.ask(bench.rust, "spawn", "40", commands)["runs"]
    if ours["code"] != 0 or theirs["code"] != 0:
        sys.exit(f"a cold call failed: {ours['code']}, {theirs['code']}")
    bench.add("`remit call` of a Python tool, the whole command", Time.of(ours), "python3 -I tool.py", Time.of(theirs),
              within=1.3)


def confined(bench: Bench) -> None:
    """Starts a native program confined, asks it once and ends it, against the same without confinement."""
    say("a confined native process")
    folder, options = home(bench, "confined")
    program = shutil.copy(Path(bench.rust).with_name("answer"), folder / "answer")
    (folder / "answer.yaml").write_text(MANIFEST)
    answer = bench.ask(bench.rust, "oneshot", bench.remit, str(program))
    ours, theirs = Time.of(answer["confined"]), Time.of(answer["bare"])
    bench.judge("a confined native process, one request", ours, "the same program, not confined", theirs,
                "≤ 20 ms more", ours.wall <= theirs.wall + 20e6)
    call = [bench.remit, "call", "answer.count", json.dumps(REQUEST["parameters"]), "--tools", str(folder), *options]
    whole = bench.ask(bench.rust, "spawn", "20", json.dumps([call]))["runs"][0]
    if whole["code"] != 0:
        sys.exit("a native call failed")
    bench.notes.append(f"As a whole `remit call` of that program takes {span(whole['wall'])} and {span(whole['cpu'])} of CPU.")
