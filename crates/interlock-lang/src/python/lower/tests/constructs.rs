//! The constructs of the language, one by one.

use expect_test::expect;

use super::{linked, program};

#[test]
fn what_is_awaited_suspends_only_where_it_waits_itself() {
    let text = r#"
import asyncio

total = 0


async def read() -> int:
    return total


async def add(n: int) -> None:
    global total
    before = await read()
    total = before + n
    await asyncio.gather(read(), *(read() for _ in range(n)))
    await asyncio.wait_for(read(), timeout=1)
    asyncio.create_task(read())
    await asyncio.to_thread(print_all, n)
    async with asyncio.TaskGroup() as group:
        group.create_task(read())


def print_all(n):
    for i in range(n):
        if i in (1, 2):
            continue
        yield i
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up
        4       write blind shared ::server.py::total

        7     fn read(), async
        8       total = read shared ::server.py::total
        8       return total

        11    fn add(n), async
        13      before = call read()
        14      write blind shared ::server.py::total from before, n
        15      together
                branch
        15        read = call read()
                branch
        15        loop over each _
        15          _ = derived from n
        15          read.2 = call read()
        15      suspend
        16      read.3 = call read()
        17      spawn
        17        read.4 = call read()
        18      suspend
        18      print_all = call print_all(n)
        18      suspend
        19      TaskGroup = new
        19      group = TaskGroup from TaskGroup
        19      suspend
        19      try
        20        spawn
        20          read.5 = call read()
                finally
        19        __aexit__ = derived from TaskGroup
        19        suspend

        23    fn print_all(n), interleaves anywhere
        24      loop a limited number of times i
        24        i = derived from n
        25        check i
                  then
        26          continue
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn arguments_by_name_come_where_they_belong() {
    let text = r#"
import json


class Store:
    path: str = "x"

    def save(self, key, *, data, mode="w"):
        with open(self.path, mode) as f:
            json.dump(data, f)


def put(key, value=None, store=None):
    store.save(key, data=value)


s = Store()
put("a", store=s, value={"b": 1})
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up
        17      Store = new
        17      write blind shared ::server.py::s from Store
        18      call put("a", ?, ::server.py::s), not awaited

        8     fn Store.save(key, data, mode)
        9       path = read shared this.path
        9       f = read file this.path
        10      write blind file this.path from data

        13    fn put(key, value, store)
        14      arg = derived from value
        14      call Store.save(key, value, "w") on store, not awaited
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn failures_and_their_ends() {
    let text = r#"
import os
from contextlib import suppress


def load(path):
    try:
        with open(path) as f:
            text = f.read()
    except FileNotFoundError:
        text = ""
    except OSError as error:
        raise ValueError(str(error)) from error
    else:
        os.remove(path)
    finally:
        os.rmdir(path)
    with suppress(FileNotFoundError), open(path) as g:
        g.read()
    assert text, "empty"
    return text
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up

        6     fn load(path)
        7       try
        8         f = read file path
        9         text = derived from f
        15        delete file path
                catch error
        10        check error
                  then
        11          text.2 = ""
                  else
        13          throw
                finally
        7         text.3 = derived from text, text.2
        17        delete file path
        18      try
        18        g = read file path
                catch
        20      check text.3
                else
        20        throw
        21      return text.3
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn decisions_by_match_and_by_expression() {
    let text = r#"
import os


def act(command, path):
    match command:
        case "add" | "put":
            os.mkdir(path)
        case {"remove": target}:
            os.remove(target)
        case _ if path:
            os.rmdir(path)
        case _:
            pass
    name = path if command else None
    if not name or command is None:
        return
    while (n := len(name)) > 3:
        name = name[1:]
    return [x for x in os.listdir(path) if x != name], {k: v for k, v in name.items()}
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up

        5     fn act(command, path)
        7       check command if command is one of ["add", "put"]
                then
        8         write exclusive file path
                else
        9         check command
                  then
        9           target = derived from command
        10          delete file target
                  else
        11          check command
                    then
        11            check path
                      then
        12              delete file path
        15      name = derived from path, command
        16      check name, command
                else
        17        return
        18      loop without limit
        18        name.2 = derived from name, name.3
        18        n = derived from name.2
        18        check name.2
                  else
        18          break
        19        name.3 = derived from name.2
        18      name.4 = name.2 from name.2
        20      listdir = read total of file path
        20      loop over each x
        20        x = listdir[?] from listdir
        20      items = read shared name.2
        20      loop over each item
        20        item = items[?] from items
        20        k = item["0"] from item
        20        v = item["1"] from item
        20      return listdir, x, name.4, items, k, v
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn closures_and_decorators() {
    let text = r#"
import functools
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("x")


def logged(fn):
    @functools.wraps(fn)
    async def inner(*args, **kwargs):
        return await fn(*args, **kwargs)
    return inner


def build(server, folder):
    count = 0

    @server.tool(description="adds")
    async def add(name: str):
        nonlocal count
        count += 1
        with open(f"{folder}/{name}", "x") as f:
            f.write(name)

    return add


@mcp.tool()
@logged
async def remove(name: str):
    import os
    os.remove(name)


build(mcp, "notes")
"#;
    expect![[r#"
        server.py
        1     fn module() at start-up
        5       FastMCP = call 'mcp.server.fastmcp.FastMCP'("x"), not awaited
        29      logged = call logged(fn remove), not awaited
        29      write blind shared ::server.py::remove from logged
        35      call build(::server.py::mcp, "notes"), not awaited

        8     fn logged(fn)
        12      function = fn inner with fn
        12      return function

        9     fn inner(args, kwargs) with fn, async
        11      arg = derived from kwargs
        11      fields = derived from kwargs
        11      fn.2 = call remove(args, fields)
        11      return fn.2

        15    fn build(server, folder)
        16      count = new
        16      write blind shared count
        25      function = fn add with count, folder
        25      return function

        18    fn add(name) with count, folder handles add, async
        21      count.2 = read shared count
        21      write blind shared count from count.2
        22      f = write exclusive file folder + "/" + name
        23      write exclusive file folder + "/" + name from name

        28    fn remove(name), async
        32      delete file name

        9     fn inner(args, kwargs) with fn handles remove, async
        11      arg = derived from kwargs
        11      fn.2 = call fn remove(kwargs.name)
        11      return fn.2
    "#]]
    .assert_eq(&program(text));
}

#[test]
fn packages_and_what_they_pass_on() {
    let program = linked(&[
        ("app/__init__.py", "from .store import save\nfrom . import tools\n"),
        (
            "app/store.py",
            "import os.path\nimport os\n\ndef save(p):\n    if not os.path.exists(p):\n        os.mkdir(p)\n",
        ),
        ("app/tools/__init__.py", "from ..store import *\n"),
        ("app/tools/notes.py", "from app.tools import save as keep\n\ndef note(p):\n    keep(p)\n"),
        (
            "main.py",
            "import app.tools.notes\nfrom app import save, tools\n\nsave('a')\napp.tools.notes.note('b')\ntools.notes.note('c')\n",
        ),
    ]);
    expect![[r#"
        app/__init__.py
        1     fn module() at start-up
        app/store.py
        1     fn module() at start-up

        4     fn save(p)
        5       exists = read existence of file p
        5       check exists
                else
        6         write exclusive file p
        app/tools/__init__.py
        1     fn module() at start-up
        app/tools/notes.py
        1     fn module() at start-up

        3     fn note(p)
        4       call save(p), not awaited
        main.py
        1     fn module() at start-up
        4       call save("a"), not awaited
        5       call note("b"), not awaited
        6       call note("c"), not awaited
    "#]]
    .assert_eq(&program.to_string());
    assert_eq!(program.notes, []);
}
