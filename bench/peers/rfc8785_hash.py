"""Canonicalise and hash with PyPI's rfc8785 and hashlib: wall and CPU nanoseconds of one call."""

import hashlib
import json
import statistics
import sys
import time

import rfc8785

ROUNDS = 15


def main() -> None:
    with open(sys.argv[1], "rb") as file:
        value = json.loads(file.read())

    def work() -> str:
        return hashlib.sha256(rfc8785.dumps(value)).hexdigest()

    digest = work()
    calls, start = 0, time.perf_counter()
    while time.perf_counter() - start < 0.5:
        work()
        calls += 1
    batch = max(1, calls // 10)
    walls, cpus = [], []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(batch):
            work()
        walls.append((time.perf_counter_ns() - wall) / batch)
        cpus.append((time.process_time_ns() - cpu) / batch)
    print(json.dumps({"wall": statistics.median(walls), "cpu": statistics.median(cpus), "hash": digest}))


main()
