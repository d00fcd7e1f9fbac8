"""A small MCP server over HTTP on the port in PORT, with one tool. Only the standard library."""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in asked:
            return self.reply(202, b"")
        result = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {}},
            "tools/call": {"content": [{"type": "text", "text": str(os.getpid())}]},
        }.get(asked["method"])
        answer = {"jsonrpc": "2.0", "id": asked["id"]}
        if result is None:
            answer["error"] = {"code": -32601, "message": "no"}
        else:
            answer["result"] = result
        self.reply(200, json.dumps(answer).encode())

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
