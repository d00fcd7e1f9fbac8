"""What the parts of the benchmarks have in common: running, timing, and the table."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Time:
    """Is wall and CPU time of one run, in nanoseconds."""

    wall: float
    cpu: float

    @staticmethod
    def of(answer: dict) -> Time:
        return Time(answer["wall"], answer["cpu"])


@dataclass
class Row:
    """Is one line of the table."""

    what: str
    ours: Time
    against: str
    theirs: Time
    target: str
    ok: bool
    slower: bool = True  # the ratio says how much longer ours takes, rather than theirs

    def cells(self) -> list[str]:
        def ratio(ours: float, theirs: float) -> str:
            return f"{ours / theirs:.2f}×" if self.slower else f"{theirs / ours:.1f}×"

        return [self.what, span(self.ours.wall), span(self.ours.cpu), self.against, span(self.theirs.wall),
                span(self.theirs.cpu), ratio(self.ours.wall, self.theirs.wall),
                ratio(self.ours.cpu, self.theirs.cpu), self.target, "ok" if self.ok else "MISSED"]


HEAD = ["what", "Remit wall", "CPU", "against", "wall", "CPU", "ratio wall", "ratio CPU", "target", "verdict"]


def span(nanoseconds: float) -> str:
    """Writes a time with three digits and its unit."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 999.5 * size else f"{nanoseconds / size:.0f} {unit}"
    return f"{nanoseconds:.0f} ns"


def say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


class Bench:
    """Holds where everything is, and the rows so far."""

    def __init__(self, folder: Path, files: int) -> None:
        self.folder = folder
        self.files = files
        self.remit = os.environ["BENCH_REMIT"]
        self.rust = os.environ["BENCH_RUST"]
        self.empty = os.environ["BENCH_EMPTY"]
        self.python = os.environ["BENCH_PYTHON"]
        self.packages = os.environ["BENCH_PACKAGES"]
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.failed = False

    def ask(self, *words: str) -> dict:
        """Runs a program that answers with one JSON object."""
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words[:3])} failed:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def timed(self, *words: str) -> Time:
        """Runs a command that must succeed."""
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter_ns()
        done = subprocess.run(words, capture_output=True, text=True)
        wall = time.perf_counter_ns() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words[:3])} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return Time(wall, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e9)

    def add(self, what: str, ours: Time, against: str, theirs: Time, *, within: float = 0, faster: float = 0) -> None:
        """Adds a row: ours may take at most `within` times theirs, or must be `faster` times as fast."""
        if within:
            ok, target = ours.wall <= within * theirs.wall, f"≤ {within:.3g}×"
        else:
            ok, target = theirs.wall >= faster * ours.wall, f"≥ {faster:g}×" if faster != 1 else "faster"
        self.rows.append(Row(what, ours, against, theirs, target, ok, slower=bool(within)))

    def judge(self, what: str, ours: Time, against: str, theirs: Time, target: str, ok: bool) -> None:
        """Adds a row with a target of its own."""
        self.rows.append(Row(what, ours, against, theirs, target, ok))

    def write(self, name: str, data: bytes) -> str:
        path = self.folder / name
        path.write_bytes(data)
        return str(path)


def middle(times: list[Time]) -> Time:
    return Time(statistics.median(t.wall for t in times), statistics.median(t.cpu for t in times))


def table(rows: list[Row]) -> str:
    lines = [HEAD, *(row.cells() for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    written = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]
    return "\n".join([written[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *written[1:]])
