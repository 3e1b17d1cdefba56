"""Race: the version is compared in one statement and the page is written in another, so of two edits of one version both win."""

from typing import Any, Literal

from mcp.server.mcpserver.exceptions import ToolError

from kit import MCPServer, audit, create, database, fixed, serve

server = MCPServer("pages")

Page = Literal["home", "about"]


@server.tool()
def read_page(page: Page) -> dict[str, Any]:
    """A page with its version."""
    with database() as db:
        version, body = db.execute("SELECT version, body FROM pages WHERE page = ?", (page,)).fetchone()
    return {"page": page, "version": version, "body": body}


@server.tool()
def edit_page(page: Page, body: str, version: int = 1) -> dict[str, Any]:
    """Replaces a page, if it still has the version that was read."""
    with database() as db:
        if fixed:
            audit(f"edit {page}")
            edit = "UPDATE pages SET version = version + 1, body = ? WHERE page = ? AND version = ?"
            if db.execute(edit, (body, page, version)).rowcount == 0:
                raise ToolError("conflict: somebody else changed the page; read it and try again")
        else:
            (current,) = db.execute("SELECT version FROM pages WHERE page = ?", (page,)).fetchone()
            if current != version:
                raise ToolError("conflict: somebody else changed the page; read it and try again")
            audit(f"edit {page}")
            db.execute("UPDATE pages SET version = ?, body = ? WHERE page = ?", (version + 1, body, page))
    return {"page": page, "version": version + 1}


serve(
    server,
    lambda: create(
        "CREATE TABLE pages (page TEXT PRIMARY KEY, version INTEGER NOT NULL, body TEXT NOT NULL);"
        "INSERT INTO pages VALUES ('home', 1, 'Welcome'), ('about', 1, 'Us');"
    ),
)
