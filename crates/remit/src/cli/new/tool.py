"""Serves my_tool.yaml: reads a request a line, writes an answer a line (docs/workers.md)."""

import json
import sys


def greet(parameters, settings):
    return {"text": f"{settings['greeting']}, {parameters['who']}!"}


COMMANDS = {"greet": greet}

for line in sys.stdin:
    request = json.loads(line)
    answer = {"id": request["id"]}
    try:
        command = COMMANDS[request["command"]]
        answer["result"] = command(request["parameters"], request["settings"])
    except Exception as error:
        # Standard error is for whoever writes the tool: `remit call --verbose` shows it.
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        answer["error"] = {"code": "FAILED", "message": str(error)}
    print(json.dumps(answer), flush=True)
