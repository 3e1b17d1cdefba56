"""Counts, with a gap that hardly ever shows: between two processes in a file, or between two threads in memory. `safe` has a lock around it."""

import contextlib
import fcntl
import json
import os
import sys
import threading

path, where, mode = sys.argv[1:]
lock = threading.Lock()
out = threading.Lock()
counts = {}


@contextlib.contextmanager
def alone():
    if mode != "safe":
        yield
    elif where == "thread":
        with lock:
            yield
    else:
        with open(path + ".lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def stored():
    return int(open(path).read()) if os.path.exists(path) else 0


def add_in_file(amount):
    with alone():
        before = int(open(path).read()) if os.path.exists(path) else 0  # looks in process
        mine = path + ".tmp" + str(os.getpid())
        with open(mine, "w") as file:
            file.write(str(before + amount))
        os.replace(mine, path)  # acts in process


def add_in_memory(amount):
    with alone():
        before = counts.get("n", 0)  # looks in thread
        counts["n"] = before + amount  # acts in thread


def call(name, arguments):
    if name == "add":
        (add_in_memory if where == "thread" else add_in_file)(arguments["amount"])
        return "added"
    return str(counts.get("n", 0) if where == "thread" else stored())


def answer(message):
    method = message["method"]
    if method == "tools/call":
        text = call(message["params"]["name"], message["params"].get("arguments") or {})
        return {"content": [{"type": "text", "text": text}]}
    if method == "tools/list":
        amount = {"type": "object", "properties": {"amount": {"type": "integer", "minimum": 1}}, "required": ["amount"]}
        nothing = {"type": "object"}
        hints = {"readOnlyHint": True}
        return {"tools": [{"name": "add", "inputSchema": amount}, {"name": "get_count", "inputSchema": nothing, "annotations": hints}]}
    return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "counter", "version": "1"}}


def respond(message):
    text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)})
    with out:
        print(text, flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        threading.Thread(target=respond, args=[message]).start()
