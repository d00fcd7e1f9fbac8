"""A small MCP server on two pipes that misbehaves as it is told. Only the standard library.

    server.py [--era modern|older|both|silent] [--fault NAME] [--say TEXT] [--tools N] [--pid FILE]
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time

parser = argparse.ArgumentParser()
parser.add_argument("--era", default="older")
parser.add_argument("--revision", default=None)
parser.add_argument("--fault", default="")
parser.add_argument("--say", default="")
parser.add_argument("--tools", type=int, default=0)
parser.add_argument("--page", type=int, default=0)
parser.add_argument("--pid", default="")
parser.add_argument("--once", default="")
asked = parser.parse_args()

lock = threading.Lock()
cancelled = []
replies = {}
MODERN = "2026-07-28"


def send(message):
    line = json.dumps(message, ensure_ascii=False) + "\n"
    with lock:
        sys.stdout.write(line)
        sys.stdout.flush()


def raw(text):
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def answer(ident, result):
    send({"jsonrpc": "2.0", "id": ident, "result": result})


def refuse(ident, code, message, data=None):
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    send({"jsonrpc": "2.0", "id": ident, "error": error})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name):
    return {"name": name, "description": name, "inputSchema": {"type": "object"}}


NAMES = [
    "echo", "env", "hang", "late", "crash", "flood", "noise", "malformed", "nothing", "large", "strays", "twice",
    "progress", "fails", "ask", "batch", "structured", "cancelled", "change", "daemon", "sleepless", "picture",
]


def call(ident, params):
    name, given = params["name"], params.get("arguments") or {}
    if name == "echo":
        answer(ident, text(json.dumps(given, ensure_ascii=False)))
    elif name == "env":
        answer(ident, text(json.dumps(dict(os.environ))))
    elif name == "hang":
        pass
    elif name == "late":
        time.sleep(given.get("seconds", 0.1))
        answer(ident, text("late"))
    elif name == "crash":
        sys.stderr.write("about to crash, token hunter2-hunter2\n")
        sys.stderr.flush()
        os._exit(given.get("code", 3))
    elif name == "flood":
        line = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\n"
        for _ in range(200):
            raw(line * 1000)
        answer(ident, text("flooded"))
    elif name == "noise":
        raw("hello, I log to the wrong stream\n\n{\"level\":\"info\"}\n")
        answer(ident, text("noisy"))
    elif name == "malformed":
        raw('{"jsonrpc":"2.0","id":%s,"result":\n' % ident)
    elif name == "nothing":
        raw('{"jsonrpc":"2.0","id":%s}\n' % ident)
    elif name == "large":
        answer(ident, text("x" * given["bytes"]))
    elif name == "strays":
        for stray in (999999, "never", None, -5, ident):
            answer(stray, text("stray"))
        answer(ident, text("second"))
    elif name == "twice":
        answer(ident, text("first"))
        answer(ident, text("second"))
        refuse(ident, -32000, "third")
    elif name == "progress":
        token = (params.get("_meta") or {}).get("progressToken")
        for done in range(1, 5):
            send({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
                "progressToken": token, "progress": done, "total": 4, "message": "step %d" % done}})
        answer(ident, text("done"))
    elif name == "fails":
        answer(ident, text("it did not work", isError=True))
    elif name == "ask":
        if asked.era == "modern":
            if "inputResponses" in params:
                answer(ident, text(json.dumps([params["inputResponses"], params.get("requestState")]),
                                   resultType="complete"))
            else:
                answer(ident, {"resultType": "input_required", "requestState": "s1", "inputRequests": {
                    "q": {"method": "elicitation/create", "params": {"message": "who?"}}}})
            return
        number = "ask-%s" % ident
        done = threading.Event()
        replies[number] = [done, None]
        send({"jsonrpc": "2.0", "id": number, "method": given.get("method", "elicitation/create"),
              "params": {"message": "who?"}})
        done.wait(10)
        answer(ident, text(json.dumps(replies[number][1])))
    elif name == "batch":
        raw(json.dumps([
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
            {"jsonrpc": "2.0", "id": ident, "result": text("batched")}]) + "\n")
    elif name == "structured":
        answer(ident, text("{}", structuredContent={"sum": 3}))
    elif name == "cancelled":
        answer(ident, text(json.dumps(cancelled)))
    elif name == "change":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        send({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "a:b"}})
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}})
        answer(ident, text("changed"))
    elif name == "daemon":
        # One that leaves the process group, the terminal and its parent.
        started = subprocess.Popen(
            [sys.executable, "-c",
             "import os,sys,time\nos.setsid()\nif os.fork(): os._exit(0)\n"
             "print(os.getpid(), flush=True)\ntime.sleep(600)"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answer(ident, text(started.stdout.readline().decode().strip()))
    elif name == "sleepless":
        subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
        answer(ident, text(str(os.getpid())))
    elif name == "picture":
        answer(ident, {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]})
    else:
        refuse(ident, -32602, "unknown tool: " + name)


def listed(cursor):
    names = NAMES + ["tool_%d" % n for n in range(asked.tools)]
    if not asked.page:
        return {"tools": [tool(name) for name in names]}
    start = int(cursor or 0)
    page = {"tools": [tool(name) for name in names[start:start + asked.page]]}
    if start + asked.page < len(names):
        page["nextCursor"] = str(start + asked.page)
    if asked.fault == "circle":
        page["nextCursor"] = "7"
    return page


CAN = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}


def request(ident, method, params):
    meta = params.get("_meta") or {}
    says_modern = meta.get("io.modelcontextprotocol/protocolVersion")
    if asked.era == "modern" and says_modern != MODERN:
        return refuse(ident, -32602, "speak %s" % MODERN)
    if asked.era == "future":
        return refuse(ident, -32022, "no", {"supported": ["2027-01-01"], "requested": says_modern})
    if method == "server/discover":
        if asked.era in ("modern", "both"):
            return answer(ident, {"supportedVersions": [MODERN], "capabilities": CAN, "resultType": "complete",
                                  "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "py", "version": "1"}}})
        if asked.era == "silent":
            return None
        if asked.era == "empty":
            return answer(ident, {})
        if asked.era == "unsure" and "refused" not in replies:
            replies["refused"] = True
            return refuse(ident, -32022, "no", {"supported": [MODERN]})
        if asked.era == "unsure":
            return answer(ident, {"supportedVersions": [MODERN], "capabilities": CAN})
        if asked.era == "brittle":
            os._exit(9)
        return refuse(ident, -32601, "there is no method server/discover")
    if method == "initialize":
        if asked.fault == "slow-start":
            time.sleep(600)
        if asked.fault == "refuses":
            return refuse(ident, -32000, "not today")
        revision = asked.revision or params["protocolVersion"]
        return answer(ident, {"protocolVersion": revision, "capabilities": CAN,
                              "serverInfo": {"name": "py", "version": "1"}, "instructions": "be kind"})
    if method == "ping":
        return answer(ident, {})
    if method == "tools/list":
        return answer(ident, listed(params.get("cursor")))
    if method == "tools/call":
        return call(ident, params)
    if method == "subscriptions/listen":
        send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {
            "_meta": {"io.modelcontextprotocol/subscriptionId": ident}, "notifications": params["notifications"]}})
        return None
    if method == "resources/list":
        return answer(ident, {"resources": [{"uri": "a:b", "name": "b"}]})
    if method == "resources/templates/list":
        return answer(ident, {"resourceTemplates": [{"uriTemplate": "a:{x}", "name": "x"}]})
    if method == "resources/read":
        return answer(ident, {"contents": [{"uri": params["uri"], "text": "contents"}]})
    if method == "prompts/list":
        return answer(ident, {"prompts": [{"name": "p"}]})
    if method == "prompts/get":
        return answer(ident, {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]})
    return refuse(ident, -32601, "there is no method " + method)


def main():
    if asked.pid:
        with open(asked.pid, "a") as file:
            file.write("%d\n" % os.getpid())
    if asked.say:
        sys.stderr.write(asked.say + "\n")
        sys.stderr.flush()
    if asked.fault == "dies":
        os._exit(7)
    if asked.fault == "dies-once" and not os.path.exists(asked.once):
        open(asked.once, "w").close()
        os._exit(7)
    if asked.fault == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if asked.fault == "banner":
        raw("Welcome to the server!\n")
    if asked.fault == "html":
        raw("<html>\n" * 3 + '{"jsonrpc": "what is this?"}\n')
    if asked.fault == "unread":
        # Says it is ready and then never reads again.
        line = sys.stdin.readline()
        refuse(json.loads(line)["id"], -32601, "no")
        line = sys.stdin.readline()
        request(json.loads(line)["id"], "initialize", json.loads(line)["params"])
        time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        method, ident = message.get("method"), message.get("id")
        if method == "notifications/cancelled":
            cancelled.append(message["params"]["requestId"])
        elif method is None:
            if ident in replies:
                replies[ident][1] = {k: message.get(k) for k in ("result", "error")}
                replies[ident][0].set()
        elif ident is not None:
            params = message.get("params") or {}
            if method == "tools/call" and params.get("name") in ("late", "ask"):
                threading.Thread(target=request, args=(ident, method, params), daemon=True).start()
            else:
                request(ident, method, params)
    if asked.fault == "stubborn":
        time.sleep(600)


main()
