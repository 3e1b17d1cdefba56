"""A server made with the Python SDK that keeps a list of names in a file: read, wait, write. Its tool is a `def`, which runs in a thread and so goes on
whatever becomes of its call.

    journal.py FILE
"""

import json
import os
import sys
import time

from mcp.server.mcpserver import MCPServer

path = sys.argv[1]
server = MCPServer("journal")


def read() -> list[str]:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return []


def mark(name: str, what: str) -> None:
    with open(f"{path}.{what}", "a", encoding="utf-8") as file:
        file.write(name + "\n")


@server.tool()
def add(name: str, ms: int = 0, until: str = "") -> str:
    """Adds a name to the list. It takes so long, or until there is such a file."""
    mark(name, "begun")
    names = read()
    end = time.monotonic() + ms / 1000
    while (left := end - time.monotonic()) > 0 and not (until and os.path.exists(until)):
        time.sleep(min(left, 0.01))
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump([*names, name], file)
    os.rename(f"{path}.new", path)
    mark(name, "ended")
    return "added"


server.run()
