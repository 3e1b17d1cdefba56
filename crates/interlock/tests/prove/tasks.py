"""Tasks over MCP whose faults are easily overlooked, and right ones that are easily taken for wrong. A thread answers each call."""

import json
import os
import sys
import threading
import time
import uuid

mode = sys.argv[1]
out = threading.Lock()
lock = threading.Lock()
is_read = False


def say(message):
    with out:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


PATH = {"logs": "logs/tasks.json", "template": "tasks.tmpl"}.get(mode, "tasks.json")


def load():
    try:
        with open(PATH) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def save(tasks):
    os.makedirs(os.path.dirname(PATH) or ".", exist_ok=True)
    mine = f"{PATH}.tmp.{threading.get_ident()}"
    with open(mine, "w") as file:
        json.dump(tasks, file)
    os.replace(mine, PATH)


def text(*names, **others):
    properties = {name: {"type": "string"} for name in names}
    return {"inputSchema": {"type": "object", "properties": properties, "required": list(names)}, "annotations": others}


READS = {"readOnlyHint": True}
TOOLS = {
    # Only what is completed is lost: tasks are created under a lock.
    "completed": {"create_task": text("title"), "complete_task": text("title"), "list_tasks": text(**READS)},
    # Nothing may be written before the guidelines were read.
    "guided": {"create_task": text("title"), "list_tasks": text(**READS), "get_guidelines": text(**READS)},
    # A flag that is raised again and again: that it was lost beside another would never show.
    "flag": {"enable_all": text(), "list_tasks": text(**READS)},
    # Right, with a label that sounds like a key.
    "labelled": {"create_task": text("title", "requestId"), "list_tasks": text(**READS)},
    # Right, beside a reader that never says the same.
    "noisy": {"create_task": text("title"), "list_tasks": text(**READS), "get_stats": text(**READS)},
    "choosy": {"create_task": text("title", "priority", "status"), "list_tasks": text(**READS)},
    "logs": {"create_task": text("title")},
    "template": {"create_task": text("title")},
}[mode]


class Refused(Exception):
    pass


def change(title, state):
    tasks = load()
    time.sleep(0.1)
    tasks[title] = state
    save(tasks)


def call(name, arguments):
    global is_read
    if name == "list_tasks":
        return load()
    if name == "get_guidelines":
        is_read = True
        return {"text": "be brief"}
    if name == "get_stats":
        return {str(uuid.uuid4()): [uuid.uuid4().hex] * (uuid.uuid4().int % 5)}
    if mode == "guided" and not is_read:
        raise Refused("Call get_guidelines first.")
    for argument, values in {"priority": ["low", "high"], "status": ["open", "done"]}.items():
        if mode == "choosy" and arguments[argument] not in values:
            raise Refused(f"Invalid {argument}. Must be one of: {', '.join(values)}")
    if name == "create_task" and mode in ("completed", "labelled", "noisy"):
        with lock:
            tasks = load()
            tasks.setdefault(arguments["title"], []).append(arguments.get("requestId", "open"))
            save(tasks)
        return {"ok": True}
    if name == "complete_task" and arguments["title"] not in load():
        raise Refused(f"Task {arguments['title']} not found")
    change(arguments.get("title", "all"), "done" if name == "complete_task" else "open")
    return {"ok": True}


def answer(identity, params):
    try:
        told, is_error = call(params["name"], params.get("arguments", {})), False
    except Refused as refused:
        told, is_error = {"error": str(refused)}, True
    content = [{"type": "text", "text": json.dumps(told)}]
    say({"jsonrpc": "2.0", "id": identity, "result": {"content": content, "isError": is_error}})


for line in sys.stdin:
    message = json.loads(line)
    identity, method = message.get("id"), message.get("method")
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        information = {"name": "tasks", "version": "1.0.0"}
        say({"jsonrpc": "2.0", "id": identity, "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": identity, "result": {"tools": [{"name": name, **tool} for name, tool in TOOLS.items()]}})
    elif method == "tools/call":
        threading.Thread(target=answer, args=(identity, message["params"])).start()
    elif identity is not None:
        say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "not found"}})
