"""Race: a row is read, changed in Python and written back; `def` tools run in threads."""

from typing import Literal

from kit import MCPServer, audit, create, database, fixed, serve

server = MCPServer("counters")


@server.tool()
def increment(name: Literal["views", "likes"], by: int = 1) -> dict[str, int]:
    """Raises a counter and says what it has become."""
    with database() as db:
        if fixed:
            change = "UPDATE counters SET value = value + ? WHERE name = ? RETURNING value"
            (value,) = db.execute(change, (by, name)).fetchone()
            audit(f"{name} +{by}")
        else:
            (value,) = db.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
            audit(f"{name} +{by}")
            value += by
            db.execute("UPDATE counters SET value = ? WHERE name = ?", (value, name))
    return {name: value}


@server.tool()
def list_counters() -> dict[str, int]:
    """All counters."""
    with database() as db:
        return dict(db.execute("SELECT name, value FROM counters ORDER BY name").fetchall())


serve(
    server,
    lambda: create(
        "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);"
        "INSERT INTO counters VALUES ('likes', 0), ('views', 0);"
    ),
)
