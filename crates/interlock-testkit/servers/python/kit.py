"""What the Python servers share: their options, their folder, and how they are served.

    python NAME.py --data FOLDER [--fixed] [--listen PORT]

Without `--listen` a server speaks over stdio. With it, it prints its URL and offers `POST /reset`, which puts it back to its first
state.
"""

import argparse
import asyncio
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

from mcp.server.mcpserver import MCPServer

parser = argparse.ArgumentParser()
parser.add_argument("--data", type=Path, required=True)
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--listen", type=int)
options = parser.parse_args()

# How many requests are worked on at once over HTTP.
AT_ONCE = 8

# Whether this is the twin without the race.
fixed: bool = options.fixed


def data(name: str) -> Path:
    """A path below the server's own folder."""
    return options.data / name


def database(wait: float = 10.0) -> closing[sqlite3.Connection]:
    """The database, by a connection that belongs to one call; transactions are begun by hand."""
    return closing(sqlite3.connect(data("data.db"), isolation_level=None, timeout=wait))


def create(schema: str) -> None:
    """Makes the database. With the log beside it, readers never wait for a writer."""
    with database() as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(schema)


def audit(line: str) -> None:
    """A line that is on the disk when this returns: what lies between a check and an act in many a server."""
    with open(data("audit.log"), "a", encoding="utf-8") as log:
        log.write(line + "\n")
        log.flush()
        os.fsync(log.fileno())


def fresh(start: Callable[[], None]) -> None:
    """The first state. What an earlier instance left is gone: these servers are about calls that meet, not about what survives a crash."""
    options.data.mkdir(parents=True, exist_ok=True)
    for left in options.data.iterdir():
        left.unlink()
    start()


def serve(server: MCPServer, start: Callable[[], None]) -> None:
    """Serves the tools; `start` makes the first state."""
    fresh(start)
    if options.listen is None:
        server.run()
        return

    import uvicorn
    from starlette.requests import Request
    from starlette.responses import Response

    @server.custom_route("/reset", methods=["POST"])
    async def reset(_request: Request) -> Response:
        fresh(start)
        return Response(status_code=204)

    listener = socket.create_server(("127.0.0.1", options.listen))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app()
    slots = asyncio.Semaphore(AT_ONCE)

    async def bounded(scope, receive, send) -> None:
        """Whoever sends many calls at once waits for his own."""
        async with slots if scope.get("method") == "POST" else nullcontext():
            await app(scope, receive, send)

    uvicorn.Server(uvicorn.Config(bounded, log_level="warning")).run(sockets=[listener])
