"""Notes over MCP that no tool shows: what the calls do is only in the server's files, or nowhere. A thread answers each call."""

import fcntl
import json
import os
import sqlite3
import sys
import threading
import time
import uuid

kind, mode = sys.argv[1], sys.argv[2]
out = threading.Lock()
lock = threading.Lock()
memory = []
path = os.path.join(os.getcwd(), {"json": "notes.json", "yaml": "notes.yaml", "rows": "notes.db"}.get(kind, "none"))
if kind == "beside":
    # As many servers do that are told no other place.
    kind, path = "json", os.path.join(os.path.dirname(os.path.abspath(__file__)), "notes.json")


def say(message):
    with out:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def load():
    if kind == "memory":
        return list(memory)
    if kind == "rows":
        with sqlite3.connect(path) as database:
            return [row[0] for row in database.execute("SELECT text FROM notes ORDER BY id")]
    try:
        with open(path) as file:
            return json.load(file) if kind == "json" else [line[2:] for line in file.read().splitlines()[1:]]
    except FileNotFoundError:
        return []


def save(notes):
    if kind == "memory":
        memory[:] = notes
        return
    if kind == "rows":
        with sqlite3.connect(path) as database:
            database.execute("DELETE FROM notes")
            database.executemany("INSERT INTO notes(text) VALUES (?)", [(note,) for note in notes])
        return
    # A name of its own, so that what two calls lose is an update and not an answer.
    mine = f"{path}.tmp.{threading.get_ident()}"
    with open(mine, "w") as file:
        file.write(json.dumps(notes) if kind == "json" else "notes:\n" + "".join(f"- {note}\n" for note in notes))
    os.replace(mine, path)


def remember(text):
    notes = load()
    # Long enough for calls to meet on a machine that is busy.
    time.sleep(0.1)
    save(notes + [text])


def keep(text):
    if mode == "safe":
        with lock:
            remember(text)
    elif mode == "flock":
        # Holds between processes too.
        with lock, open(path + ".lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            remember(text)
    else:
        remember(text)


def call(identity, params):
    if params["name"] == "import":
        try:
            with open(os.path.join(os.getcwd(), "inbox.txt")) as file:
                keep(file.read().strip() + params["arguments"]["text"])
            text = "imported"
        except FileNotFoundError:
            text = "Error: there is no inbox.txt"
    elif params["name"] == "weather":
        text = "fine"
    elif params["name"] == "dice":
        # Never the same, not even in what kind of answer it is.
        text = json.dumps({str(uuid.uuid4()): [uuid.uuid4().hex] * (uuid.uuid4().int % 5)})
    else:
        try:
            keep(params["arguments"]["text"])
            text = "remembered"
        except OSError as error:
            text = f"Error: {error}"
    say({"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": text}]}})


READ_ONLY = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [
    {"name": "remember", "inputSchema": TEXT},
    {"name": "import", "inputSchema": TEXT},
    {"name": "weather", "inputSchema": {"type": "object"}, "annotations": READ_ONLY},
    {"name": "dice", "inputSchema": {"type": "object"}, "annotations": READ_ONLY},
]
if kind == "rows":
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = wal")
        database.execute("CREATE TABLE IF NOT EXISTS notes(id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT)")

for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "quiet", "version": "1"}
        version = message["params"]["protocolVersion"]
        say({"jsonrpc": "2.0", "id": identity, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(identity, message["params"])).start()
    elif identity is not None:
        say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "no such method"}})
