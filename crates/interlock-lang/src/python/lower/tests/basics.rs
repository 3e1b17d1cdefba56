//! The plainest server.

use expect_test::expect;

use super::program;

#[test]
fn a_tool_reads_changes_and_writes_a_file() {
    let text = r#"
import json
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("notes")
NOTES = "notes.json"


def load():
    with open(NOTES) as f:
        return json.load(f)


@mcp.tool()
def add_note(text: str) -> str:
    notes = load()
    notes.append(text)
    with open(NOTES, "w") as f:
        json.dump(notes, f)
    return "ok"


if __name__ == "__main__":
    mcp.run()
"#;
    expect![[r#"
        24    server on stdio: add_note
        server.py
        1     fn module() at start-up
        5       FastMCP = call 'mcp.server.fastmcp.FastMCP'("notes"), not awaited
        23      check is "__main__"
                then
        24        call 'run'() on ::server.py::mcp, not awaited

        9     fn load()
        10      f = read file ::server.py::NOTES
        11      load = derived from f
        11      return load

        14    fn add_note(text) handles add_note
        16      notes = call load(), not awaited
        17      write append shared notes from text
        18      f = derived
        19      write blind file ::server.py::NOTES from notes
        20      returned = "ok"
        20      return returned
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn memory_is_read_and_written_around_a_suspension() {
    let text = r#"
import asyncio
from pathlib import Path
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("counter")
counts: dict[str, int] = {}
lock = asyncio.Lock()
STATE = Path.home() / ".state" / "x.json"


@mcp.tool(name="count_up")
async def count(key: str) -> int:
    current = counts.get(key, 0)
    await asyncio.sleep(0.1)
    counts[key] = current + 1
    return counts[key]


@mcp.tool
async def safe(key: str) -> int:
    async with lock:
        counts[key] += 1
        await asyncio.sleep(0.1)
    data = STATE.read_text()
    tmp = STATE.with_suffix(".tmp")
    tmp.write_text(data + key)
    tmp.replace(STATE)
    return 1
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up
        6       FastMCP = call 'mcp.server.fastmcp.FastMCP'("counter"), not awaited
        8       Lock = new mutex
        9       home = ::pathlib::Path.home
        9       Path.joinpath = home + "/" + ".state" from home
        9       Path.joinpath.2 = Path.joinpath + "/" + "x.json" from Path.joinpath

        12    fn count(key) handles count_up, async
        14      current = read shared ::server.py::counts[key]
        15      sleep fixed
        15      suspend
        16      write blind shared ::server.py::counts[key] from current
        17      entry = read shared ::server.py::counts[key]
        17      return entry

        20    fn safe(key) handles safe, async
        22      acquire ::server.py::lock
        22      __aenter__ = derived
        22      suspend
        22      try
        23        entry = read shared ::server.py::counts[key]
        23        write blind shared ::server.py::counts[key] from entry
        24        sleep fixed
        24        suspend
                finally
        22        release ::server.py::lock
        22        __aexit__ = derived
        22        suspend
        25      data = read file ::server.py::STATE
        26      tmp = ::server.py::STATE + ".tmp"
        27      arg = derived from data, key
        27      write blind file tmp from data, key
        28      rename file tmp to file ::server.py::STATE
        29      returned = "1"
        29      return returned
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn a_row_is_looked_for_and_inserted() {
    let text = r#"
import sqlite3
from fastmcp import FastMCP

server = FastMCP("users")


class Store:
    def __init__(self, path: str):
        self.conn = sqlite3.connect(path)

    def add(self, name: str) -> None:
        row = self.conn.execute("SELECT id FROM users WHERE name = ?", (name,)).fetchone()
        if row is None:
            self.conn.execute("INSERT INTO users (name) VALUES (?)", (name,))
            self.conn.commit()


store = Store("users.db")


@server.tool()
def add_user(name: str):
    store.add(name)
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up
        5       FastMCP = call 'fastmcp.FastMCP'("users"), not awaited
        19      Store = new
        19      call Store.__init__("users.db") on Store
        19      write blind shared ::server.py::store from Store

        9     fn Store.__init__(path)
        10      connect = new
        10      write blind shared this.conn from connect

        12    fn Store.add(name)
        13      arg = derived from name
        13      execute = read row "users"[name].{id} via this.conn
        13      row = derived from execute
        14      check row
                else
        15        arg.2 = derived from name
        15        write exclusive row "users"[name].{name} from name via this.conn
        16        commit via this.conn

        22    fn add_user(name) handles add_user, interleaves perhaps anywhere
        24      call Store.add(name) on ::server.py::store, not awaited
        22    note: tools that are no coroutines run in threads from fastmcp 3 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
    "#]].assert_eq(&program(text));
}
