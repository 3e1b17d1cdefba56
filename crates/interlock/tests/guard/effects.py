"""A server over MCP that writes down every effect it has: one line of a file each. A thread answers each call.

    effects.py FILE                        on standard input and output, one message a line
    effects.py FILE handshake | stateless  over HTTP, in the one era or the other; its first line is its address
"""

import http.server
import json
import os
import select
import socket
import sys
import threading
import time

path = sys.argv[1]
era = sys.argv[2] if len(sys.argv) > 2 else None
out = threading.Lock()
# The calls that run, by their id: set when they are cancelled.
running = {}
# The questions that were asked, by their id: set when they are answered.
asked = {}


def write(line):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, (line + "\n").encode())
    os.close(file)


def text(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def call(identity, params, headers, is_gone):
    """What a call comes to; nothing if whoever called is gone."""
    name, arguments = params["name"], params.get("arguments", {})
    if name == "crash":
        sys.stderr.write("out of memory, says the server\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "do":
        running[identity] = cancelled = threading.Event()
        write("begin " + arguments["name"])
        until = time.monotonic() + arguments.get("ms", 0) / 1000
        # It takes so long, or until there is such a file.
        while (left := until - time.monotonic()) > 0 and not os.path.exists(arguments.get("until", "")):
            if is_gone():
                write("gone " + arguments["name"])
                return None
            if cancelled.wait(min(left, 0.02)):
                write("cancelled " + arguments["name"])
                if arguments.get("obeys"):
                    return text("it was stopped", isError=True)
                cancelled.clear()
        write("end " + arguments["name"])
        del running[identity]
    if name == "ask":
        number = f"ask-{identity}"
        asked[number] = answered = threading.Event()
        schema = {"type": "object", "properties": {"really": {"type": "boolean"}}}
        params = {"message": "Really?", "requestedSchema": schema}
        say({"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params})
        answered.wait()
        write("answered " + arguments["name"])
        return text("it was answered")
    return text(json.dumps({"pid": os.getpid(), "meta": params.get("_meta"), "headers": headers}))


SCHEMA = {"type": "object"}
TOOLS = [
    {"name": "do", "inputSchema": SCHEMA},
    {"name": "crash", "inputSchema": SCHEMA},
    {"name": "ask", "inputSchema": SCHEMA},
    {"name": "look", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
]


def answer(message, headers=None, is_gone=lambda: False):
    """The answer to a request; nothing where none is wanted."""
    method, identity = message.get("method"), message.get("id")
    info = {"name": "effects", "version": "1"}
    more = {"resultType": "complete"} if era == "stateless" else {}
    if method == "initialize" and era != "stateless":
        version = message["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "server/discover" and era == "stateless":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "serverInfo": info}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = call(identity, message["params"], headers, is_gone)
    elif method == "ping":
        result = {}
    elif method == "notifications/cancelled":
        cancelled = running.get(message["params"]["requestId"])
        if cancelled:
            cancelled.set()
        return None
    elif identity is not None and method is not None:
        return {"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "no such method"}}
    else:
        return None
    return result and {"jsonrpc": "2.0", "id": identity, "result": {**more, **result}}


def say(message):
    if message:
        with out:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()


class Posted(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def is_gone(self):
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answered = answer(message, headers, self.is_gone)
        body = json.dumps(answered).encode() if answered else b""
        self.send_response(200 if answered else 202)
        if answered:
            self.send_header("content-type", "application/json")
            if message.get("method") == "initialize":
                self.send_header("mcp-session-id", "one")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        write("left " + self.headers.get("mcp-session-id", ""))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.send_error(405)

    def log_message(self, *_):
        pass


if era:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Posted)
    # Of clients that go away before their answer nothing is said.
    server.handle_error = lambda *_: None
    sys.stdout.write(f"http://127.0.0.1:{server.server_port}/mcp\n")
    sys.stdout.flush()
    server.serve_forever()

for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        asked.pop(message["id"], threading.Event()).set()
    elif message.get("method") == "tools/call":
        threading.Thread(target=lambda message: say(answer(message)), args=(message,), daemon=True).start()
    else:
        say(answer(message))
write("closed")
