//! The same in Python.

use expect_test::{Expect, expect};

use super::check_program;
use crate::{Source, knowledge::Knowledge, link::link, python::LANGUAGE};

fn check(tree: &str, expected: &Expect) {
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
            note server.py:6: tools that are no coroutines run in threads from mcp 2 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
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
            note server.py:11: tools that are no coroutines run in threads from mcp 2 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
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
            note server.py:6: tools that are no coroutines run in threads from mcp 2 on, and one after the other before; the settings allow both versions, so what only meets in threads is reported with medium confidence
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
