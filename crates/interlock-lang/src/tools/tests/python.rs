//! The same in Python.

use expect_test::{Expect, expect};

use super::check_program;
use crate::{Source, knowledge::Knowledge, link::link, python::LANGUAGE};

pub(super) fn check(tree: &str, expected: &Expect) {
    let mut files: Vec<(String, String)> = vec![];
    for line in tree.lines() {
        match (line.strip_prefix("//- "), files.last_mut()) {
            (Some(path), _) => files.push((path.trim().to_owned(), String::new())),
            (None, Some((_, text))) => text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    let modules = files.iter().map(|(path, text)| LANGUAGE.module(&Source { path, text })).collect();
    let knowledge = Knowledge::of(LANGUAGE).unwrap();
    check_program(&link(LANGUAGE, modules, &[], &knowledge), expected);
}

#[test]
fn a_function_is_registered_in_every_spelling() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from fastmcp.tools import Tool, tool
NAME = "named_by_constant"
mcp = FastMCP("x")
@mcp.tool
def bare(a: int) -> int: return a
@mcp.tool("positional")
def p(a: int) -> int: return a
@mcp.tool(name=NAME)
def c(a: int) -> int: return a
def plain(a: int) -> int: return a
mcp.tool()(plain)
def made(a: int) -> int: return a
mcp.add_tool(Tool.from_function(made, name="from_function"))
@tool(name="standalone")
def alone(a: int) -> int: return a
class Service:
    async def method(self, a: int) -> int: return a
service = Service()
mcp.add_tool(service.method, name="of_method")
"#,
        &expect![[r#"
            server.py:5 bare: bare
            server.py:7 p: positional
            server.py:9 c: named_by_constant
            server.py:11 plain: plain
            server.py:13 made: from_function
            server.py:15 alone: standalone
            server.py:18 Service.method: of_method
            note server.py:5: tools that are no coroutines run in threads from fastmcp 3 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
        "#]],
    );
}

#[test]
fn a_server_of_which_only_the_way_to_register_is_known() {
    check(
        r#"
//- server.py
from typing import Any, Protocol
from mcp.server.fastmcp import FastMCP
class HasTools(Protocol):
    name: str
def register(server: Any) -> None:
    @server.tool()
    def one() -> int: return 1
def register_more(server: HasTools) -> None:
    @server.tool()
    def two() -> int: return 2
mcp = FastMCP("x")
register(mcp)
register_more(mcp)
"#,
        &expect![[r#"
            server.py:6 one: one
            server.py:9 two: two
        "#]],
    );
}

#[test]
fn wrappers_around_wrappers_keep_the_name() {
    check(
        r#"
//- server.py
from functools import wraps
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
def limited(work):
    @wraps(work)
    def inner(*args, **kwargs):
        return work(*args, **kwargs)
    return inner
def errors(kind):
    def decorator(work):
        @wraps(work)
        def inner(*args, **kwargs):
            try:
                return work(*args, **kwargs)
            except Exception as error:
                raise ValueError(kind) from error
        return inner
    return decorator
@mcp.tool()
@errors("one")
@limited
def add(a: int) -> int: return a
@mcp.tool()
@errors("two")
def drop(a: int) -> int: return a
"#,
        &expect![[r#"
            server.py:11 inner: add
            server.py:11 inner: drop
        "#]],
    );
}

#[test]
fn the_tools_of_a_mounted_server_of_a_class_of_the_tree_have_its_prefix() {
    check(
        r#"
//- main.py
from own import OwnServer
from jira import jira
main = OwnServer("main")
main.mount(jira, namespace="jira")
//- own.py
from fastmcp import FastMCP
class OwnServer(FastMCP):
    def note(self) -> None:
        pass
//- jira.py
from own import OwnServer
jira = OwnServer("jira")
@jira.tool()
async def search(text: str) -> str:
    return text
"#,
        &expect![[r#"
            jira.py:3 search: jira_search
        "#]],
    );
}

#[test]
fn the_tools_of_a_mounted_server_have_its_prefix() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from weather import weather
main = FastMCP("main")
news = FastMCP("news")
@news.tool
def headlines() -> str: return ""
main.mount(weather, prefix="weather")
main.mount("news", news)
@main.tool
def own() -> str: return ""
//- weather.py
from fastmcp import FastMCP
weather = FastMCP("weather")
@weather.tool
def forecast(city: str) -> str: return city
"#,
        &expect![[r#"
            server.py:5 headlines: news_headlines
            server.py:9 own: own
            weather.py:3 forecast: weather_forecast
            note server.py:5: tools that are no coroutines run in threads from fastmcp 3 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
        "#]],
    );
}

#[test]
fn names_that_are_told_apart_by_constants() {
    check(
        r#"
//- server.py
from enum import Enum
from mcp.server import Server
server = Server("x")
DROP = "drop"
class Names(str, Enum):
    ADD = "add"
    LIST = "list"
@server.call_tool()
async def call(name: str, arguments: dict):
    match name:
        case Names.ADD: return add(arguments)
        case Names.LIST.value: return listed(arguments)
        case "show" | "tell": return listed(arguments)
    if name == DROP: return drop(arguments)
    if name in ("one", "two"): return drop(arguments)
    if name == "three" or name == "four": return drop(arguments)
def add(arguments): return []
def drop(arguments): return []
def listed(arguments): return []
"#,
        &expect![[r#"
            server.py:8 call: add, list, show, tell, drop, one, two, three, four
        "#]],
    );
}

#[test]
fn a_server_that_is_given_its_handlers() {
    check(
        r#"
//- server.py
from mcp.server import Server
async def answer(ctx, params):
    if params.name == "add": return await add(params.arguments)
    elif params.name == "drop": return await drop(params.arguments)
async def add(arguments): return 1
async def drop(arguments): return 1
server = Server("x", on_call_tool=answer)
"#,
        &expect![[r#"
            server.py:2 answer: add, drop
        "#]],
    );
}

#[test]
fn requests_that_are_answered_by_hand() {
    check(
        r#"
//- server.py
import json, sys
def add(arguments): return 1
def drop(arguments): return 1
TOOLS = {"add": {"description": "adds", "handler": add}, "drop": {"description": "drops", "handler": drop}}
def handle(request):
    method = request.get("method")
    params = request.get("params", {})
    if method == "tools/call":
        name = params.get("name")
        return TOOLS[name]["handler"](params.get("arguments"))
for line in sys.stdin:
    print(json.dumps(handle(json.loads(line))))
"#,
        &expect![[r#"
            server.py:5 handle: add, drop
            note server.py:5: tools that are no coroutines run in threads from mcp 2 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
        "#]],
    );
}

#[test]
fn a_class_per_tool_in_a_dictionary() {
    check(
        r#"
//- server.py
from abc import ABC, abstractmethod
from mcp.server import Server
class Base(ABC):
    name: str
    @abstractmethod
    async def execute(self, arguments): ...
class Add(Base):
    name = "add"
    async def execute(self, arguments): return []
class Drop(Base):
    name = "drop"
    async def execute(self, arguments): return []
TOOLS = {tool.name: tool for tool in [Add(), Drop()]}
server = Server("x")
@server.call_tool()
async def call(name, arguments):
    return await TOOLS[name].execute(arguments)
"#,
        &expect![[r#"
            server.py:15 call: add, drop
        "#]],
    );
}

#[test]
fn what_another_library_calls_a_tool_is_none() {
    check(
        r#"
//- server.py
from langchain_core.tools import tool
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
@tool
def search(query: str) -> str: return query
@mcp.tool()
def own() -> str: return ""
"#,
        &expect![[r#"
            server.py:6 own: own
        "#]],
    );
}

#[test]
fn a_constant_names_what_is_kept_in_a_dictionary() {
    check(
        r#"
//- server.py
from mcp.server import Server
ADD = "add_note"
DROP = "drop_note"
class Notes:
    def __init__(self):
        self.handlers = {ADD: self.add, DROP: self.drop}
        self.server = Server("x")
        self.server.call_tool()(self.call)
    async def add(self, arguments): return []
    async def drop(self, arguments): return []
    async def call(self, name, arguments):
        handler = self.handlers.get(name)
        return await handler(arguments)
Notes()
"#,
        &expect![[r#"
            server.py:11 Notes.call: add_note, drop_note
        "#]],
    );
}

#[test]
fn a_server_of_the_tree_that_overrides_how_tools_are_registered() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class Logged(FastMCP):
    def tool(self, *args, **kwargs):
        def decorator(func):
            self.seen[func.__name__] = func
            return FastMCP.tool(self, *args, **kwargs)(func)
        return decorator
class App:
    def __init__(self):
        self.mcp = Logged("x")
        @self.mcp.tool()
        async def add(text: str) -> str: return text
        @self.mcp.tool(name="remove")
        async def drop(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:11 add: add
            server.py:13 drop: remove
        "#]],
    );
}

#[test]
fn what_a_decorator_says_by_name_is_not_taken_for_the_name() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class Tagged(FastMCP):
    def tool(self, name=None, tags=None, title=None):
        return super().tool(name, title=title)
mcp = Tagged("x")
@mcp.tool(tags="text")
def add(text: str) -> str: return text
@mcp.tool("remove", tags="text")
def drop(text: str) -> str: return text
@mcp.tool(title="All", name="list")
def all(text: str) -> str: return text
@mcp.tool(title="Count")
def count(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:6 add: add
            server.py:8 drop: remove
            server.py:10 all: list
            server.py:12 count: count
            note server.py:6: tools that are no coroutines run in threads from fastmcp 3 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
        "#]],
    );
}

#[test]
fn a_tool_method_of_a_class_that_is_no_server_registers_nothing() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class Box:
    def tool(self, work):
        self.kept = work
mcp = FastMCP("x")
@mcp.tool()
async def add(text: str) -> str: return text
box = Box()
def other(text: str) -> str: return text
box.tool(other)
"#,
        &expect![[r#"
            server.py:6 add: add
        "#]],
    );
}

#[test]
fn a_module_for_each_tool() {
    check(
        r#"
//- server.py
from mcp.server import Server
from tools import add, drop
app = Server("x")
MODULES = [add, drop]
BY_NAME = {module.DEFINITION.name: module for module in MODULES}
@app.list_tools()
async def list_tools():
    return [module.DEFINITION for module in MODULES]
@app.call_tool()
async def call_tool(name, arguments):
    if name not in BY_NAME:
        raise ValueError(name)
    return BY_NAME[name].run(arguments)
//- tools/__init__.py
//- tools/add.py
from mcp.types import Tool
DEFINITION = Tool(name="add_note", description="d", inputSchema={"type": "object"})
def run(arguments):
    return helper(arguments)
def helper(arguments):
    return []
//- tools/drop.py
from mcp.types import Tool
DEFINITION = Tool(name="drop_note", description="d", inputSchema={"type": "object"})
def run(arguments):
    return []
"#,
        &expect![[r#"
            server.py:6 list_tools: no tool
            server.py:9 call_tool: add_note, drop_note
        "#]],
    );
}

#[test]
fn a_registry_whose_decorator_keeps_a_record_of_each_tool() {
    check(
        r#"
//- server.py
from dataclasses import dataclass
from mcp.server import Server
@dataclass
class Definition:
    name: str
    handler: object
class Registry:
    def __init__(self):
        self._tools = {}
    def register(self, *, name):
        def decorator(func):
            self._tools[name] = Definition(name=name, handler=func)
            return func
        return decorator
    def get(self, name):
        return self._tools.get(name)
    def call(self, name, arguments):
        tool = self.get(name)
        if not tool:
            return {"error": name}
        return tool.handler(arguments)
registry = Registry()
@registry.register(name="add_note")
def handle_add(arguments):
    return []
@registry.register(name="drop_note")
def handle_drop(arguments):
    return []
app = Server("x")
@app.call_tool()
async def call_tool(name, arguments):
    return registry.call(name, arguments)
"#,
        &expect![[r#"
            server.py:30 call_tool: add_note, drop_note
        "#]],
    );
}

#[test]
fn methods_that_are_looked_up_by_a_name_with_a_prefix() {
    check(
        r#"
//- server.py
from mcp.server import Server
class Tools:
    def __init__(self):
        self.server = Server("x")
        @self.server.call_tool()
        async def call_tool(name, arguments):
            method = getattr(self, f"tool_{name}", None)
            if method is None:
                raise ValueError(name)
            return await method(**arguments)
    async def tool_add(self, text): return text
    async def tool_drop(self, text): return text
    async def other(self): return None
"#,
        &expect![[r#"
            server.py:5 call_tool: add, drop
        "#]],
    );
}

#[test]
fn methods_and_partials_that_a_loop_registers() {
    check(
        r#"
//- server.py
from functools import partial
from fastmcp import FastMCP
class Tools:
    async def add(self, text: str) -> str: return text
    async def drop(self, text: str) -> str: return text
    async def other(self, text: str) -> str: return text
async def find(store, text: str) -> str: return text
async def show(store, text: str) -> str: return text
mcp = FastMCP("x")
tools = Tools()
for name in ["add", "drop"]:
    mcp.tool(name=name)(getattr(tools, name))
for name, work in {"find": find, "show": show}.items():
    mcp.tool(name=name)(partial(work, tools))
"#,
        &expect![[r#"
            server.py:4 Tools.add: add
            server.py:5 Tools.drop: drop
            server.py:7 find: find
            server.py:8 show: show
        "#]],
    );
}

#[test]
fn what_another_wrapper_has_made_of_the_function_is_registered_for_each_that_is_decorated() {
    check(
        r#"
//- server.py
import functools
from fastmcp import FastMCP
mcp = FastMCP("x")
known = []
def handled(what):
    def around(work):
        @functools.wraps(work)
        async def run(*args, **options):
            try:
                return await work(*args, **options)
            except ValueError as wrong:
                raise RuntimeError(what) from wrong
        return run
    return around
def offer(name, what):
    def registered(work):
        made = mcp.local_provider.add_tool(handled(what)(work))
        known.append((name, made))
        return made
    return registered
@offer("add", "Add")
async def add(text: str) -> str: return text
@offer("drop", "Drop")
async def drop(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:7 run: add
            server.py:7 run: drop
        "#]],
    );
}

#[test]
fn a_member_of_an_enumeration_names_a_tool() {
    check(
        r#"
//- server.py
from enum import Enum
from fastmcp import FastMCP
class Names(str, Enum):
    ADD = "git_add"
    DROP = "git_drop"
mcp = FastMCP("x")
@mcp.tool(name=Names.ADD.value)
async def add(text: str) -> str: return text
@mcp.tool(name=Names.DROP)
async def drop(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:7 add: git_add
            server.py:9 drop: git_drop
        "#]],
    );
}

#[test]
fn a_decorator_of_the_class_that_answers_requests_itself_registers() {
    check(
        r#"
//- server.py
class Server:
    def __init__(self):
        self.tools = {}
        self.fill()
    def tool(self, name):
        def register(function):
            self.tools[name] = {"function": function, "description": function.__doc__}
            return function
        return register
    def fill(self):
        @self.tool("add")
        async def add(text: str): return text
        @self.tool("drop")
        async def forget(text: str): return text
    async def handle(self, request):
        params = request.get("params", {})
        if request.get("method") == "tools/call":
            name = params.get("name")
            return await self.tools[name]["function"](**params.get("arguments", {}))
"#,
        &expect![[r#"
            server.py:15 Server.handle: add, drop
        "#]],
    );
}

#[test]
fn a_method_of_the_class_that_answers_requests_itself_registers_for_others() {
    check(
        r#"
//- protocol.py
class Server:
    def __init__(self):
        self.tools = {}
    def add_tool(self, name, description, schema, handler):
        self.tools[name] = {"name": name, "description": description, "handler": handler}
    async def handle(self, request):
        params = request.get("params", {})
        if request.get("method") == "tools/call":
            return await self.answer(params)
    async def answer(self, params):
        tool = self.tools[params.get("name")]
        return await self.run(tool["handler"], params.get("arguments", {}))
    async def run(self, handler, arguments):
        return await handler(**arguments)
//- server.py
from protocol import Server
class Notes:
    def __init__(self):
        self.server = Server()
        self.server.add_tool("add", "adds a note", {"type": "object"}, self.add)
        self.server.add_tool("drop", "drops a note", {"type": "object"}, self.forget)
    async def add(self, text): return text
    async def forget(self, text): return text
"#,
        &expect![[r#"
            protocol.py:6 Server.handle: no tool
            server.py:7 Notes.add: add
            server.py:8 Notes.forget: drop
        "#]],
    );
}

#[test]
fn a_method_that_is_called_like_a_registration_of_a_class_that_answers_nothing_registers_nothing() {
    check(
        r#"
//- server.py
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
class Bench:
    def tool(self, name):
        def note(function): return function
        return note
bench = Bench()
@bench.tool("hammer")
async def hammer(text: str): return text
@mcp.tool()
async def add(text: str): return text
"#,
        &expect![[r#"
            server.py:10 add: add
        "#]],
    );
}

#[test]
fn a_method_that_is_called_like_a_registration_beside_another_class_that_answers_registers_nothing() {
    check(
        r#"
//- server.py
class Bench:
    def tool(self, name, function): return function
class Server:
    async def add(self, text): return text
    async def drop(self, text): return text
    async def handle(self, request):
        if request.get("method") == "tools/call":
            name = request.get("params", {}).get("name")
            if name == "add": return await self.add("x")
            if name == "drop": return await self.drop("x")
def hammer(text): return text
Bench().tool("hammer", hammer)
"#,
        &expect![[r#"
            server.py:6 Server.handle: add, drop
        "#]],
    );
}
