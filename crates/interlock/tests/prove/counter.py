"""A counter over MCP, one request a line, that misbehaves as its first argument says. A thread answers each call."""

import json
import os
import sys
import threading
import time

mode, path = sys.argv[1], sys.argv[2]
out = threading.Lock()
lock = threading.Lock()
calls = 0
sequence = 0
entries = []


def say(message):
    with out:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def value():
    try:
        with open(path) as file:
            return int(file.read())
    except FileNotFoundError:
        return 0


def add(amount):
    before = value()
    time.sleep(0.02)
    # A name of its own, so that what two calls lose is an update and not an answer.
    mine = f"{path}.{threading.get_ident()}"
    with open(mine, "w") as file:
        file.write(str(before + amount))
    os.replace(mine, path)
    return before + amount


def book(amount):
    """Makes an entry if nobody else has meanwhile. Its number is taken first and used up either way, as a database's sequence is."""
    global sequence
    while True:
        with lock:
            sequence += 1
            number, before = sequence, len(entries)
        time.sleep(0.02 if amount == 1 else 0.01)
        with lock:
            if len(entries) == before:
                entries.append({"id": number, "amount": amount})
                return number
        if mode in ("conflict", "polite"):
            return None


def call(identity, params):
    global calls
    calls += 1
    if mode == "crash" and calls == 2:
        time.sleep(0.05)
        sys.stderr.write("out of memory, says the counter\n")
        os._exit(3)
    if mode == "never":
        return
    if mode in ("junk", "chatty"):
        with out:
            sys.stdout.write("counting...\n")
            sys.stdout.flush()
    if mode in ("conflict", "polite", "retry"):
        number = entries if params["name"] == "get" else book(params["arguments"]["amount"])
        failed = number is None and mode == "conflict"
        told = {"entries": number} if number is entries else {"id": number, "saved": True}
        text = "conflict, try again" if failed else json.dumps({"saved": False} if number is None else told)
        say({"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": text}], "isError": failed}})
        return
    if mode == "lagging" and params["name"] == "add":
        with lock:
            amount = params["arguments"]["amount"]
            threading.Timer(0.03, lambda: entries.append(amount)).start()
        # The answer comes before what it tells of.
        time.sleep(0.02)
        say({"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": "added"}]}})
        return
    if mode == "lagging":
        number = sum(entries)
    elif params["name"] == "get":
        number = value()
    elif mode == "safe":
        with lock:
            number = add(params["arguments"]["amount"])
    else:
        number = add(params["arguments"]["amount"])
    if mode == "unsteady":
        number = [str(number)] * (os.getpid() % 7 + 1)
    text = json.dumps({"value": number, "pid": os.getpid()})
    answer = {"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": text}]}}
    say(answer)
    if mode == "twice":
        say(answer)


TOOLS = [
    {
        "name": "add",
        "inputSchema": {
            "type": "object",
            "properties": {"amount": {"type": "integer", "minimum": 1}},
            "required": ["amount"],
        },
    },
    {"name": "get", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]
if mode == "careful":
    TOOLS[0] = {"name": "delete_all", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}}

if mode == "gone":
    sys.stderr.write("no licence\n")
    sys.exit(4)
if mode == "banner":
    print("\x1b[32mListening on port 3000\x1b[0m", flush=True)
    sys.exit(0)
if mode == "chatty":
    # A banner, a log in JSON, bytes that are no text, a line without an end of its own in front of an empty one, a long line.
    sys.stdout.buffer.write(b"\n  Counter v1 \xff\xfe\n{\"level\":\"info\"}\n[1, 2]\nnull\n" + b"." * 200000 + b"\r\n\n")
    sys.stdout.flush()
if mode == "flood":
    while True:
        print("all is well")
if mode == "mute":
    time.sleep(600)

for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if mode == "chatty":
        print("<-", method, flush=True)
    if method == "initialize" and mode != "stateless":
        info = {"name": "counter", "version": "1"}
        version = message["params"]["protocolVersion"]
        say({"jsonrpc": "2.0", "id": identity, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}})
    elif method == "server/discover" and mode == "stateless":
        say({"jsonrpc": "2.0", "id": identity, "result": {"supportedVersions": ["2026-07-28"], "capabilities": {}}})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        meta = message["params"].get("_meta", {})
        if mode == "stateless" and meta.get("io.modelcontextprotocol/protocolVersion") != "2026-07-28":
            say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32600, "message": "which revision?"}})
            continue
        threading.Thread(target=call, args=(identity, message["params"])).start()
    elif identity is not None:
        say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "no such method"}})
