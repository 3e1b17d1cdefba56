"""A file server over MCP, one request a line: it lists, writes, moves and deletes files by name, in the folder that its first argument says.

`.` is the current folder, `~` the home folder, anything else is taken as it is; `{scratch}` is filled in by prove. What its tools try
beyond that folder is in `escape`, which a proof calls by name.
"""

import ctypes
import itertools
import json
import os
import pathlib
import socket
import subprocess
import sys
import urllib.parse

folder = pathlib.Path(os.path.expanduser(sys.argv[1] if len(sys.argv) > 1 else "."))
hints = "--no-hints" not in sys.argv
numbers = itertools.count()
if "--from-roots" in sys.argv:
    folder = None


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def attempt(what):
    """What an attempt comes to: what it gives, or the name of the error."""
    try:
        return f"done {what()}"
    except OSError as error:
        return f"refused {error.errno}"
    except Exception as error:
        return f"failed {error!r}"


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as wire:
        wire.settimeout(5)
        return wire.connect(address)


def set_attribute(path):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setxattr(os.fsencode(path), b"user.interlock", b"x", 1, 0) != 0:
        raise OSError(ctypes.get_errno(), "setxattr")


def summary(attempts):
    """What was tried, and what of it was possible. A test sees it in the words of a server that ends."""
    possible = sorted(name for name, came in attempts.items() if came.startswith("done"))
    failed = sorted(f"{name}: {came}" for name, came in attempts.items() if came.startswith("failed"))
    return {"tried": len(attempts), "possible": possible, "failed": failed, "came": attempts}


def escapes(outside):
    """Everything that a server could do to somebody else's folder, and its child likewise."""
    file, other = os.path.join(outside, "alpha.txt"), os.path.join(outside, "beta.md")
    unique = f"{os.getpid()}-{next(numbers)}"
    new = os.path.join(outside, f"new-{unique}")

    def through_a_link():
        os.symlink(file, f"link-{unique}")
        return open(f"link-{unique}", "w").close()

    def through_own_root():
        return open("/proc/self/root" + file, "w").close()

    def through_a_parent():
        return open(f"/proc/{os.getppid()}/cwd/{os.path.basename(file)}", "w").close()

    def by_a_child():
        ended = subprocess.run(["sh", "-c", f"echo x > '{file}' || exit 9"], stderr=subprocess.DEVNULL)
        if ended.returncode:
            raise PermissionError(13, "the child was refused")

    def by_mounting():
        libc = ctypes.CDLL(None, use_errno=True)
        # MS_REMOUNT | MS_BIND
        if libc.mount(None, b"/", None, 32 | 4096, None) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        return open(file, "w").close()

    return summary({
        "write": attempt(lambda: open(file, "w").close()),
        "append": attempt(lambda: open(file, "a").close()),
        "truncate": attempt(lambda: os.truncate(file, 0)),
        "create": attempt(lambda: open(new, "x").close()),
        "mkdir": attempt(lambda: os.mkdir(new)),
        "symlink": attempt(lambda: os.symlink("x", new)),
        "link": attempt(lambda: os.link(file, new)),
        "link here": attempt(lambda: os.link(file, f"hard-{unique}")),
        "rename": attempt(lambda: os.rename(file, new)),
        "rename here": attempt(lambda: os.rename(file, f"mine-{unique}")),
        "exchange": attempt(lambda: os.replace(other, file)),
        "unlink": attempt(lambda: os.unlink(file)),
        "chmod": attempt(lambda: os.chmod(file, 0o777)),
        "chown": attempt(lambda: os.chown(file, os.getuid(), os.getgid())),
        "utime": attempt(lambda: os.utime(file, (0, 0))),
        "xattr": attempt(lambda: set_attribute(file)),
        "through a link": attempt(through_a_link),
        "through /proc/self/root": attempt(through_own_root),
        "through a parent": attempt(through_a_parent),
        "by a child": attempt(by_a_child),
        "by mounting": attempt(by_mounting),
        "rmdir": attempt(lambda: os.rmdir(os.path.join(outside, "empty"))),
    })


def call(name, told):
    if name == "list_files":
        return {"files": sorted(entry.name for entry in folder.iterdir())}
    if name == "read_file":
        return {"content": (folder / told["name"]).read_text()}
    if name == "write_file":
        (folder / told["name"]).write_text(told["content"])
        return {"written": told["name"]}
    if name == "move_file":
        (folder / told["name"]).rename(folder / told["new_name"])
        return {"moved": told["name"]}
    if name == "set_mode":
        (folder / told["name"]).chmod(0o600)
        return {"changed": told["name"]}
    if name == "delete_file":
        (folder / told["name"]).unlink()
        return {"deleted": told["name"]}
    if name == "get_surroundings":
        names = ("HOME", "USERPROFILE", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        names += ("XDG_CACHE_HOME", "XDG_RUNTIME_DIR")
        instance = os.path.dirname(os.getcwd())
        elsewhere = [name for name in names if not os.environ.get(name, "").startswith(instance + "/")]
        own = roots == [pathlib.Path.cwd().as_uri()]
        return {"elsewhere": elsewhere, "empty": os.listdir() == [], "root is folder": own}
    if name == "escape":
        return escapes(told["outside"])
    if name == "reach":
        return summary({
            "tcp": attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", told["port"]))),
            "unix": attempt(lambda: connect(socket.AF_UNIX, told["socket"])),
            "abstract": attempt(lambda: connect(socket.AF_UNIX, "\0" + told["abstract"])),
            "signal": attempt(lambda: os.kill(told["process"], 0)),
            "own": attempt(own_loopback),
        })
    if name == "start_daemon":
        command = ["env", "-i", "setsid", "sh", "-c", f"sleep {told['seconds']}1 & exec sleep {told['seconds']}2"]
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return {"started": True}
    raise ValueError(f"no tool {name}")


def own_loopback():
    """A server that talks to itself."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        return connect(socket.AF_INET, listener.getsockname())


def tool(name, required, **annotations):
    kinds = {"port": "integer", "process": "integer"}
    listed = {
        "name": name,
        "inputSchema": {
            "type": "object",
            "properties": {each: {"type": kinds.get(each, "string")} for each in required},
            "required": required,
        },
    }
    return {**listed, "annotations": annotations} if annotations and hints else listed


TOOLS = [
    tool("list_files", [], readOnlyHint=True),
    tool("read_file", ["name"], readOnlyHint=True),
    tool("write_file", ["name", "content"]),
    tool("move_file", ["name", "new_name"]),
    tool("set_mode", ["name"]),
    tool("delete_file", ["name"], destructiveHint=True),
    tool("get_surroundings", [], readOnlyHint=True),
]
if "--all" in sys.argv:
    TOOLS += [
        tool("escape", ["outside"]),
        tool("reach", ["port", "socket", "abstract", "process"]),
        tool("start_daemon", ["seconds"]),
    ]
roots = None
supports_roots = False

for line in sys.stdin:
    message = json.loads(line)
    method, identity = message.get("method"), message.get("id")
    if method == "initialize":
        supports_roots = "roots" in message["params"]["capabilities"]
        info = {"name": "files", "version": "1"}
        version = message["params"]["protocolVersion"]
        say({"jsonrpc": "2.0", "id": identity, "result": {"protocolVersion": version, "capabilities": {}, "serverInfo": info}})
    elif method == "notifications/initialized" and supports_roots:
        say({"jsonrpc": "2.0", "id": "roots", "method": "roots/list"})
    elif identity == "roots" and "result" in message:
        roots = [root["uri"] for root in message["result"]["roots"]]
        if folder is None and roots:
            folder = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(roots[0]).path))
    elif method == "ping":
        say({"jsonrpc": "2.0", "id": identity, "result": {}})
    elif method == "tools/list":
        say({"jsonrpc": "2.0", "id": identity, "result": {"tools": TOOLS}})
    elif method == "tools/call":
        try:
            answer = call(message["params"]["name"], message["params"].get("arguments", {}))
            failed = False
        except Exception as error:
            answer, failed = {"error": str(error)}, True
        say({"jsonrpc": "2.0", "id": identity, "result": {"content": [{"type": "text", "text": json.dumps(answer)}], "isError": failed}})
    elif identity is not None:
        say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32601, "message": "no such method"}})
