#!/usr/bin/env python3
"""Measures Remit against its peers and prints one table; `make bench` sets up what it needs.

Every figure is a ratio inside this run: contestants take turns on the same machine with the same
inputs, and the median counts. Exit code 0 even if a target is missed, unless --strict says otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import calls
import hostile
import inputs
import server
from harness import Bench, Time, middle, say, span, table

HERE = Path(__file__).resolve().parent
MOST_MILLISECONDS = 100
MOST_MEBIBYTES = 64


@dataclass
class Refusal:
    """Is what refusing one input took, in milliseconds and mebibytes."""

    name: str
    wall: float
    cpu: float
    mebibytes: float

    def __str__(self) -> str:
        return f"{self.wall:7.1f} ms wall {self.cpu:7.1f} ms CPU {self.mebibytes:6.1f} MiB  {self.name}"


def many_files(bench: Bench) -> None:
    """Checks a folder of tool manifests, against pydantic and PyYAML, and says where the time goes."""
    folder = bench.folder / "tools"
    say(f"writing {bench.files} tool manifests")
    total = inputs.tool_folder(folder, bench.files)
    seen = json.loads(subprocess.run([bench.remit, "check", "--format", "json", str(folder)],
                                     capture_output=True, text=True).stdout)
    if len(seen["files"]) != bench.files or seen["errors"] or seen["warnings"]:
        worst = next((f for f in seen["files"] if f["diagnostics"]), None)
        sys.exit(f"the generated manifests must be faultless: {len(seen['files'])} files, {json.dumps(worst)[:1500]}")
    say("checking them with both, in turns")
    ours, theirs = [], []
    peer = str(HERE / "peers" / "pydantic_check.py")
    for _ in range(3):
        theirs.append(bench.timed(bench.python, peer, str(folder)))
        ours += [bench.timed(bench.remit, "check", str(folder)) for _ in range(5)]
    what = f"check {bench.files:,} tool manifests of {total / bench.files / 1000:.1f} kB"
    bench.add(what, middle(ours), "pydantic v2 + PyYAML (C), 2 processes", middle(theirs), faster=12)
    phases(bench, folder, middle(ours))


STAGES = ["list the folder", "load the file", "read YAML into a tree", "check the tree",
          "note what other files must know", "judge the files together", "give memory back"]


def phases(bench: Bench, folder: Path, whole: Time) -> None:
    say("looking where the time goes")
    stages = bench.ask(bench.rust, "phases", str(folder))
    inside = {name: stages[name] for name in STAGES}
    rest = whole.cpu - sum(inside.values())
    lines = [f"Where the CPU time of one `remit check` over {bench.files:,} files goes "
             f"({span(whole.cpu)}, {span(whole.cpu / bench.files)} a file; stages timed one by one on one thread):"]
    for name, t in (*inside.items(), ("all else: start, walk, threads, output", rest)):
        lines.append(f"  {name:62} {span(t) if t > 0 else '-':>9}  {100 * t / whole.cpu:5.1f} %")
    bench.notes.append("\n".join(lines))


def canonical_form(bench: Bench) -> None:
    """Canonicalises and hashes 100 KB, against plain serialising and two peers."""
    say("canonical form")
    file = bench.write("canonical.json", inputs.written(inputs.capability_manifest(102_400)))
    ours = bench.ask(bench.rust, "canonical", file)
    npm = bench.ask("node", str(HERE / "peers" / "canonicalize.mjs"), bench.packages, file)
    pypi = bench.ask(bench.python, str(HERE / "peers" / "rfc8785_hash.py"), file)
    if not ours["hash"] == npm["hash"] == pypi["hash"]:
        sys.exit(f"the hashes differ: {ours['hash']}, npm {npm['hash']}, PyPI {pypi['hash']}")
    what = f"canonicalise + SHA-256, {ours['bytes'] / 1024:.0f} KB"
    mine = Time.of(ours["remit"])
    bench.add(what, mine, "serde_json::to_vec + SHA-256", Time.of(ours["serde_json"]), within=3)
    bench.add(what, mine, "npm canonicalize + node:crypto", Time.of(npm), faster=1)
    bench.add(what, mine, "PyPI rfc8785 + hashlib", Time.of(pypi), faster=1)
    bench.notes.append(f"Of canonicalise + SHA-256, writing takes {span(ours['canonical alone']['wall'])} "
                       f"and the digest {span(ours['sha256 alone']['wall'])}.")


def differences(bench: Bench) -> None:
    """Compares two versions of 128 KB, against reading them and against 64 KB."""
    say("diff")
    files = []
    for size in (131_072, 65_536):
        old = inputs.capability_manifest(size)
        new = inputs.next_version(old)
        for name, manifest in (("old", old), ("new", new)):
            files.append(bench.write(f"{name}_{size}.json", inputs.written(manifest)))
    for file in files:
        bench.timed(bench.remit, "check", file)
    times = bench.ask(bench.rust, "diff", *files)
    whole = Time.of(times["diff"])
    bench.add("diff of two 128 KB manifests", whole, "reading both", Time.of(times["read"]), within=5)
    bench.add("diff of two 128 KB manifests", whole, "diff of two 64 KB ones", Time.of(times["diff half"]), within=2.3)
    bench.notes.append(
        f"That diff finds {times['breaking']} breaking, {times['non_breaking']} non-breaking and {times['consent']} consent "
        f"changes with {times['witnesses']} witnesses; serde_json parses both files in {span(times['serde_json']['wall'])}.")


def start_up(bench: Bench) -> None:
    """Checks one file, against starting a program that does nothing."""
    say("start-up")
    (bench.folder / "one").mkdir()
    file = bench.write("one/tool.yaml", inputs.tool_manifest(inputs.random.Random(3), 1, 3072).encode())
    commands = json.dumps([[bench.remit, "check", file], [bench.empty]])
    bench.ask(bench.rust, "spawn", "20", commands)
    ours, theirs = bench.ask(bench.rust, "spawn", "300", commands)["runs"]
    bench.add("check one file", Time.of(ours), "an empty Rust program", Time.of(theirs), within=3)


def refusals(bench: Bench) -> None:
    """Tries inputs that mean harm: each must be refused, quickly and in little memory."""
    say("inputs that mean harm")
    folder = bench.folder / "hostile"
    folder.mkdir()
    results, wrong = [], []
    for name, file, data in hostile.inputs():
        path = folder / file
        if isinstance(data, int):
            with path.open("wb") as out:
                out.truncate(data)
        else:
            path.write_bytes(data)
        for verb in ("check", "hash"):
            answer = bench.ask(bench.rust, "spawn", "5", json.dumps([[bench.remit, verb, str(path)]]))
            run = answer["runs"][0]
            best = Time.of(run["best"])
            if run["code"] == 1:
                results.append(Refusal(f"{verb}: {name}", best.wall / 1e6, best.cpu / 1e6, answer["kilobytes"] / 1024))
            elif run["code"] != 0:
                wrong.append(f"{verb}: {name}: {'died of a signal, or was ended after 10 s' if run['code'] is None else 'exit code %s' % run['code']}")
            elif verb == "check":
                wrong.append(f"{verb}: {name}: was accepted")
        path.unlink()
    slow = max(results, key=lambda r: r.wall)
    large = max(results, key=lambda r: r.mebibytes)
    slow_ok, large_ok = slow.wall <= MOST_MILLISECONDS, large.mebibytes <= MOST_MEBIBYTES
    bench.failed |= not (slow_ok and large_ok) or bool(wrong)
    lines = [f"{len(results)} refusals of inputs that mean harm (check and hash; the best of 5 times, the most memory):",
             f"  slowest      {slow.wall:7.1f} ms   target ≤ {MOST_MILLISECONDS} ms   {'ok' if slow_ok else 'MISSED':6}  {slow.name}",
             f"  most memory  {large.mebibytes:7.1f} MiB  target ≤ {MOST_MEBIBYTES} MiB   {'ok' if large_ok else 'MISSED':6}  {large.name}"]
    ranked = sorted(results, key=lambda r: -r.wall)
    over = [r for r in ranked if r.wall > MOST_MILLISECONDS or r.mebibytes > MOST_MEBIBYTES]
    lines += [f"  {'over' if r in over else 'next'}: {r}" for r in over + [r for r in ranked if r not in over][:5]]
    lines += [f"  WRONG {line}" for line in wrong]
    bench.notes.append("\n".join(lines))


PARTS = {"files": many_files, "canonical": canonical_form, "diff": differences, "start": start_up,
         "calls": calls.many, "warm": calls.warm, "cold": calls.cold, "confined": calls.confined,
         "server": server.calls, "publish": server.publishing, "streams": server.streams, "crowd": server.crowd, "refused": refusals}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    parser.add_argument("--only", choices=PARTS, action="append", help="run this part only (may be repeated)")
    parser.add_argument("--files", type=int, default=10_000, help="how many tool manifests to check")
    parser.add_argument("--keep", type=Path, help="write the inputs here and leave them")
    options = parser.parse_args()
    busy = os.getloadavg()[0]
    if options.keep:
        shutil.rmtree(options.keep, ignore_errors=True)
        options.keep.mkdir(parents=True)
    with tempfile.TemporaryDirectory(prefix="remit-bench-") as folder:
        bench = Bench(options.keep or Path(folder), options.files)
        for name, part in PARTS.items():
            if not options.only or name in options.only:
                part(bench)
    print(f"\n{os.cpu_count()} cores; a ratio is inside this run; medians; CPU is the sum over all threads and processes")
    if busy > 0.5:
        print(f"other work was running (load {busy:.1f} at the start): the ratios hold better than the times")
    if bench.rows:
        print(f"\n{table(bench.rows)}")
    for note in bench.notes:
        print(f"\n{note}")
    missed = bench.failed or any(not row.ok for row in bench.rows)
    print(f"\n{'a target was MISSED' if missed else 'every target is met'}")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
