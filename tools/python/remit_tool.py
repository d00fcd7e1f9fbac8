"""Write a Remit tool in Python: one function a command.

    from remit_tool import ToolError, command, run

    @command
    def greet(parameters, call):
        if not parameters["name"]:
            raise ToolError("NO_NAME", "say whom to greet")
        return {"greeting": "Hello, " + parameters["name"]}

    run()

A function gets the parameters, checked against the manifest, and the call: `call.settings`,
`call.id`, `call.timeout` in seconds, and `call.progress(fraction, message)`. What it returns is the
result; `Result` adds a message, binary data, or that it is partial. It needs nothing but the standard
library, and the contract it speaks is docs/workers.md. Copy this file beside your tool.
"""

import _thread
import json
import os
import sys

_commands = {}


class ToolError(Exception):
    """Is an error for the model and the person: a code in upper case, and what to do differently."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Result:
    """Is a result with more to it: a sentence for the model, bytes, or that some of it is missing."""

    def __init__(self, value, message=None, data=None, partial=False):
        self.fields = {"result": value}
        if message is not None:
            self.fields["message"] = message
        if data is not None:
            import base64

            self.fields["base64"] = base64.b64encode(data).decode()
        if partial:
            self.fields["partial"] = True


class Call:
    """Is the call a command is run for."""

    def __init__(self, request, write):
        context = request.get("context", {})
        self.id = context.get("call_id")
        self.timeout = context.get("timeout_ms", 0) / 1000
        self.settings = request.get("settings") or {}
        self._request, self._write = request["id"], write

    def progress(self, fraction, message=None):
        """Says how far it has come, from 0 to 1."""
        said = {"fraction": min(max(float(fraction), 0.0), 1.0)}
        if message is not None:
            said["message"] = message
        self._write({"id": self._request, "progress": said})


def command(name=None):
    """Registers a function as the command of its own name, or of another: `@command("read-file")`."""
    if callable(name):
        _commands[name.__name__] = name
        return name

    def register(function):
        _commands[name or function.__name__] = function
        return function

    return register


def run(concurrent=1):
    """Serves requests until standard input ends. A service may serve several at a time, in threads."""
    # What the tool prints, or a program it starts, must not get between the answers.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = _thread.allocate_lock()

    def write(line):
        text = line if isinstance(line, bytes) else _encode(line)
        with lock:
            out.write(text)
            out.flush()

    serve = _beside(concurrent, write) if concurrent > 1 else (lambda request: write(_answer(request, write)))
    for text in sys.stdin.buffer:
        request = json.loads(text)
        if request.get("ping"):
            write({"id": request["id"], "pong": True})
        else:
            serve(request)


def _beside(concurrent, write):
    import threading

    slots = threading.Semaphore(concurrent)

    def work(request):
        try:
            write(_answer(request, write))
        finally:
            slots.release()

    def serve(request):
        slots.acquire()
        threading.Thread(target=work, args=(request,), daemon=True).start()

    return serve


def _encode(line):
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _answer(request, write):
    try:
        function = _commands.get(request["command"])
        if function is None:
            raise ToolError("UNKNOWN_COMMAND", "this tool has no command " + request["command"])
        got = function(request.get("parameters") or {}, Call(request, write))
        fields = got.fields if isinstance(got, Result) else {"result": got}
        return _encode({"id": request["id"], **fields})
    except ToolError as error:
        code, said = error.code, str(error)
    except Exception as error:
        import traceback

        traceback.print_exc()
        code, said = "TOOL_FAILED", f"{type(error).__name__}: {error}"
    return _encode({"id": request["id"], "error": {"code": code, "message": said}})
