"""Race: the balance is checked in one statement and both balances are written in others, so money is spent twice.

The twin without the race does not wait for the lock: one of two calls that meet is told to try again.
"""

import sqlite3
import uuid
from typing import Any, Literal

from mcp.server.mcpserver.exceptions import ToolError

from kit import MCPServer, audit, create, database, fixed, serve

server = MCPServer("wallet")

Person = Literal["ada", "grace"]


def balance_of(db: sqlite3.Connection, person: str) -> int:
    (balance,) = db.execute("SELECT balance FROM accounts WHERE person = ?", (person,)).fetchone()
    return balance


@server.tool()
def transfer(source: Person, target: Person, amount: int = 60) -> dict[str, Any]:
    """Moves money; refused when there is too little of it. Each account starts with 100."""
    receipt = str(uuid.uuid4())
    with database(wait=0 if fixed else 10) as db:
        if fixed:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise ToolError("another transfer is under way, try again") from error
        have, other = balance_of(db, source), balance_of(db, target)
        if source == target or not 0 < amount <= have:
            raise ToolError(f"{source} cannot send {amount} to {target}")
        audit(f"{receipt}: {amount} from {source} to {target}")
        db.execute("UPDATE accounts SET balance = ? WHERE person = ?", (have - amount, source))
        db.execute("UPDATE accounts SET balance = ? WHERE person = ?", (other + amount, target))
        db.execute("UPDATE last SET receipt = ?", (receipt,))
        if fixed:
            db.execute("COMMIT")
    return {"moved": amount, "receipt": receipt}


@server.tool()
def balances() -> dict[str, Any]:
    """What everybody has, and the receipt of the last transfer."""
    with database() as db:
        db.execute("BEGIN")
        accounts = dict(db.execute("SELECT person, balance FROM accounts").fetchall())
        (receipt,) = db.execute("SELECT receipt FROM last").fetchone()
        return {"accounts": accounts, "last_receipt": receipt}


serve(
    server,
    lambda: create(
        "CREATE TABLE accounts (person TEXT PRIMARY KEY, balance INTEGER NOT NULL);"
        "INSERT INTO accounts VALUES ('ada', 100), ('grace', 100);"
        "CREATE TABLE last (receipt TEXT); INSERT INTO last VALUES (NULL);"
    ),
)
