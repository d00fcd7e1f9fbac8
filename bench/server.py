"""The parts that ask a server: calls over MCP and REST, manifests that are published, streams."""

from __future__ import annotations

import json
from pathlib import Path

import inputs
from calls import node
from harness import Bench, Time, say, span

PEERS = Path(__file__).resolve().parent / "peers"
MOST_LATE = 50


def rate(time: Time) -> str:
    return f"{1e9 / time.wall:,.0f}/s"


def calls(bench: Bench) -> None:
    """Calls a capability that does nothing from 64 connections, against servers that record nothing."""
    say("calls of a server")
    folder = bench.folder / "server"
    folder.mkdir()
    peers = [["typescript", [node(), str(PEERS / "mcp_server.mjs"), bench.packages]],
             ["python", [bench.python, str(PEERS / "mcp_server.py")]]]
    answer = {name: Time.of(time) for name, time in bench.ask(bench.rust, "server", str(folder), json.dumps(peers)).items()}
    ours, rest, many, echo = (answer[name] for name in ("mcp", "calls", "mcp of many", "echo"))
    what = "MCP tools/call over HTTP, recorded"
    bench.judge(what, ours, "axum POST echo of the same payload", echo, "CPU ≤ 3×", ours.cpu <= 3 * echo.cpu)
    for name, title, times in (("rmcp", "a minimal rmcp server", 1.5), ("typescript", "the TypeScript SDK's server", 15),
                               ("python", "the Python SDK's server", 15)):
        bench.add(what, ours, title, answer[name], faster=times)
    lean = answer["rmcp without sessions"]
    bench.notes.append("A server of rmcp that is told to keep no sessions and to send no streams, which few are, makes "
                       f"{rate(lean)} at {span(lean.cpu)} of CPU: here are {lean.wall / ours.wall:.2f} times as many.")
    bench.judge("POST /calls, recorded", rest, "the same over MCP", ours, "≤ 1.1×",
                rest.wall <= 1.1 * ours.wall and rest.cpu <= 1.1 * ours.cpu)
    bench.judge("the same among 10,000 capabilities, MCP", many, "among 10", ours, "CPU ± 10 %", abs(many.cpu - ours.cpu) <= 0.1 * ours.cpu)
    rates = ", ".join(f"{name} {rate(time)} at {span(time.cpu)} of CPU" for name, time in answer.items())
    bench.notes.append(f"Calls a second from 64 connections, and the CPU time of the server for one: {rates}.")


def publishing(bench: Bench) -> None:
    """Publishes manifests of 100 KB, every second one with changes in one tool of twenty."""
    say("manifests that are published")
    old = inputs.capability_manifest(102_400)
    files = [bench.write(f"publish_{name}.json", inputs.written(manifest))
             for name, manifest in (("old", old), ("new", inputs.next_version(old)))]
    ours = Time.of(bench.ask(bench.rust, "publish", str(bench.folder / "publish"), *files))
    bench.judge("PATCH of a 100 KB manifest, recorded", ours, "a hundredth of a second", Time(1e7, 1e7), "≥ 100/s", ours.wall <= 1e7)
    bench.notes.append(f"Manifests of 100 KB are published at {rate(ours)} from 8 connections.")


def streams(bench: Bench) -> None:
    """Sends events of one thread to a thousand subscribers, against a broadcast of bytes."""
    say("streams")
    answer = bench.ask(bench.rust, "streams", str(bench.folder / "streams"))
    ours, theirs = answer["remit"], answer["broadcast"]
    times = [Time(one["p99"] * 1e6, one["cpu"]) for one in (ours, theirs)]
    what = "an event to 1,000 subscribers (wall: p99 of its delivery; CPU of one)"
    bench.judge(what, times[0], "a minimal axum broadcast", times[1], f"p99 ≤ {MOST_LATE} ms", ours["p99"] <= MOST_LATE)
    bench.judge(what, times[0], "a minimal axum broadcast", times[1], "CPU ≤ 2×", ours["cpu"] <= 2 * theirs["cpu"])


def crowd(bench: Bench) -> None:
    """Calls among 2,000 who listen to a stream and 2,000 who send a request letter by letter."""
    say("a crowd")
    answer = bench.ask(bench.rust, "crowd", str(bench.folder / "crowd"))
    alone, among = (Time.of(answer[name]) for name in ("alone", "among"))
    what = "a call among 4,000 connections that listen or dawdle (wall: p99)"
    bench.judge(what, among, "the same alone", alone, "p99 ≤ 2×", among.wall <= 2 * alone.wall)
    bench.notes.append(f"Each of the 4,000 connections costs the server {answer['kib']:.1f} KiB (at most 64).")
