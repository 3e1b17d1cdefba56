"""A server over MCP, one request a line, that writes down every effect it has: one line of a file each. A thread answers each call."""

import json
import os
import sys
import threading
import time

path = sys.argv[1]
out = threading.Lock()


def say(message):
    with out:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def write(line):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, (line + "\n").encode())
    os.close(file)


def call(identity, params):
    arguments = params.get("arguments", {})
    if params["name"] == "crash":
        sys.stderr.write("out of memory, says the server\n")
        sys.stderr.flush()
        os._exit(3)
    if params["name"] == "do":
        write("begin " + arguments["name"])
        time.sleep(arguments.get("ms", 0) / 1000)
        write("end " + arguments["name"])
    text = json.dumps({"pid": os.getpid()})
    say({"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": text}]}})


SCHEMA = {"type": "object"}
TOOLS = [
    {"name": "do", "inputSchema": SCHEMA},
    {"name": "crash", "inputSchema": SCHEMA},
    {"name": "look", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
]

for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "effects", "version": "1"}
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        say({"jsonrpc": "2.0", "id": identity, "result": result})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(identity, message["params"]), daemon=True).start()
    elif method == "ping":
        say({"jsonrpc": "2.0", "id": identity, "result": {}})
    elif identity is not None and method is not None:
        say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "no such method"}})
