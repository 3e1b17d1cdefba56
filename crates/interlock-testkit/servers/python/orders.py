"""Race: an order is seen to be pending, then charged, then marked as paid, so it is charged twice."""

from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from kit import MCPServer, audit, create, database, fixed, serve

server = MCPServer("orders")


@server.tool()
def list_orders() -> list[dict[str, Any]]:
    """All orders: id, status and how often each was charged."""
    with database() as db:
        rows = db.execute("SELECT id, status, charges FROM orders ORDER BY id").fetchall()
    return [{"order_id": id, "status": status, "charges": charges} for id, status, charges in rows]


@server.tool()
def pay_order(order_id: int) -> dict[str, Any]:
    """Pays an order that is pending."""
    with database() as db:
        if fixed:
            pay = "UPDATE orders SET status = 'paid', charges = charges + 1 WHERE id = ? AND status = 'pending'"
            if db.execute(pay, (order_id,)).rowcount == 0:
                raise ToolError(f"order {order_id} is not pending")
            audit(f"charge order {order_id}")
        else:
            row = db.execute("SELECT status FROM orders WHERE id = ?", (order_id,)).fetchone()
            if row != ("pending",):
                raise ToolError(f"order {order_id} is not pending")
            audit(f"charge order {order_id}")
            db.execute("UPDATE orders SET status = 'paid', charges = charges + 1 WHERE id = ?", (order_id,))
    return {"order_id": order_id, "status": "paid"}


serve(
    server,
    lambda: create(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, status TEXT NOT NULL, charges INTEGER NOT NULL);"
        "INSERT INTO orders VALUES (1001, 'pending', 0), (1002, 'pending', 0);"
    ),
)
