"""Race, or none: an address is looked up and inserted in two statements, by a `def` tool.

`mcp` 1.x runs such a tool on its event loop, one call after another; 2.x runs it in a thread. The source is the same.
"""

import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

try:
    from mcp.server.mcpserver import MCPServer
except ModuleNotFoundError:
    from mcp.server.fastmcp import FastMCP as MCPServer

folder = Path(sys.argv[sys.argv.index("--data") + 1])
fixed = "--fixed" in sys.argv
server = MCPServer("signup")


def database() -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(folder / "members.db", isolation_level=None))


@server.tool()
def sign_up(email: str) -> str:
    """Makes somebody a member, once."""
    with database() as db:
        if fixed:
            db.execute("BEGIN IMMEDIATE")
        if db.execute("SELECT 1 FROM members WHERE email = ?", (email,)).fetchone():
            return f"{email} is a member already"
        with open(folder / "welcome.txt", "a", encoding="utf-8") as letters:
            letters.write(f"welcome, {email}\n")
            letters.flush()
            os.fsync(letters.fileno())
        db.execute("INSERT INTO members (email) VALUES (?)", (email,))
        if fixed:
            db.execute("COMMIT")
    return f"{email} is a member"


@server.tool()
def list_members() -> list[str]:
    """The addresses of all members."""
    with database() as db:
        return [email for (email,) in db.execute("SELECT email FROM members ORDER BY email")]


with database() as db:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("DROP TABLE IF EXISTS members")
    db.execute("CREATE TABLE members (email TEXT NOT NULL)")
server.run()
