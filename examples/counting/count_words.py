"""Counts words. Nothing but the worker contract: a request a line, an answer a line."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    words = request["parameters"]["text"].split()
    result = {"words": len(words), "longest": max(words, key=len, default="")}
    print(json.dumps({"id": request["id"], "result": result}), flush=True)
