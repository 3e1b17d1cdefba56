"""Race: who owns a deed is checked before the log is written and trusted after it, so a former owner can still delete it."""

import asyncio
from contextlib import nullcontext
from typing import Literal

from mcp.server.mcpserver.exceptions import ToolError

from kit import MCPServer, audit, fixed, serve

server = MCPServer("deeds")

Person = Literal["ada", "grace"]
owners: dict[str, str] = {}
lock = asyncio.Lock()


def guarded():
    return lock if fixed else nullcontext()


def check(deed: str, user: str) -> None:
    if owners.get(deed) != user:
        raise ToolError(f"{user} has no deed {deed}")


@server.tool()
async def transfer_deed(deed: str, user: Person, to: Person) -> str:
    """Gives a deed of the user to somebody else."""
    async with guarded():
        check(deed, user)
        await asyncio.to_thread(audit, f"{user} gives {deed} to {to}")
        owners[deed] = to
        return f"{deed} belongs to {to}"


@server.tool()
async def delete_deed(deed: str, user: Person) -> str:
    """Deletes a deed of the user."""
    async with guarded():
        check(deed, user)
        await asyncio.to_thread(audit, f"{user} deletes {deed}")
        owners.pop(deed, None)
        return f"{deed} is deleted"


@server.tool()
async def list_deeds() -> dict[str, str]:
    """Who owns which deed."""
    async with guarded():
        return dict(owners)


def start() -> None:
    owners.clear()
    owners.update({"D-17": "ada", "D-18": "grace"})


serve(server, start)
