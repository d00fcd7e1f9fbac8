"""The smallest server of the official Python SDK: one tool that does nothing. Says where it listens."""

import logging
import os
import socket
import sys
import threading

import uvicorn
from mcp.server import MCPServer

server = MCPServer("bench", log_level="ERROR")


@server.tool(name="bench.noop_0", structured_output=False)
async def noop(n: int) -> str:
    return "null"


def until_input_closes() -> None:
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=until_input_closes, daemon=True).start()
# What costs it least: no sessions, and answers that are no streams.
app = server.streamable_http_app(json_response=True, stateless_http=True)
listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
logging.disable(logging.CRITICAL)
uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False)).run(sockets=[listener])
