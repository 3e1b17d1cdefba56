//! Names that a server gives its tools besides what they are registered as: by a method of its own in the place of the library's, or
//! because another server takes it over. In Python.

use expect_test::expect;

use super::python::check;

#[test]
fn what_an_object_was_made_with_stands_before_the_names_of_its_tools() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class Prefixed(FastMCP):
    def __init__(self, name, prefix):
        super().__init__(name)
        self.prefix = prefix
    def tool(self, name=None, **options):
        def decorator(work):
            return super(Prefixed, self).tool(name=f"{self.prefix}_{name or work.__name__}", **options)(work)
        return decorator
notes = Prefixed("notes", "notes")
tasks = Prefixed("tasks", prefix="tasks")
@notes.tool()
async def add(text: str) -> str: return text
@tasks.tool(name="remove")
async def drop(text: str) -> str: return text
@tasks.tool("list", description="all of them")
async def everything() -> str: return ""
"#,
        &expect![[r#"
            server.py:12 add: notes_add
            server.py:14 drop: tasks_remove
            server.py:16 everything: tasks_list
        "#]],
    );
}

#[test]
fn a_name_that_is_put_together_of_a_constant_and_the_function() {
    check(
        r#"
//- server.py
from mcp.server.fastmcp import FastMCP
PREFIX = "acme"
class Named(FastMCP):
    def tool(self, name=None, description=None):
        def decorator(fn):
            if name is None:
                chosen = fn.__name__
            else:
                chosen = name
            register = super(Named, self).tool(name=f"{PREFIX}_{chosen}", description=description)
            return register(fn)
        return decorator
    def add_tool(self, fn, name=None, **rest):
        super().add_tool(fn, name=f"{PREFIX}_{name or fn.__name__}", **rest)
mcp = Named("x")
@mcp.tool()
async def add(text: str) -> str: return text
@mcp.tool(name="remove")
async def drop(text: str) -> str: return text
async def show(text: str) -> str: return text
mcp.add_tool(show)
"#,
        &expect![[r#"
            server.py:16 add: acme_add
            server.py:18 drop: acme_remove
            server.py:20 show: acme_show
        "#]],
    );
}

#[test]
fn a_method_in_place_of_the_librarys_that_registers_through_another_keeps_the_names() {
    check(
        r#"
//- errors.py
from functools import wraps
from inspect import isroutine
from typing import Generic, TypeVar
from fastmcp import FastMCP
T = TypeVar("T")
def handled(fn):
    @wraps(fn)
    async def wrapper(*args, **kwargs):
        try:
            return await fn(*args, **kwargs)
        except ValueError as error:
            raise RuntimeError(str(error)) from error
    return wrapper
class Careful(FastMCP[T], Generic[T]):
    def _register(self, fn, kwargs):
        return super().tool(handled(fn), **kwargs)
    def tool(self, name_or_fn=None, **kwargs):
        if isroutine(name_or_fn):
            return self._register(name_or_fn, kwargs)
        if isinstance(name_or_fn, str):
            kwargs = {**kwargs, "name": name_or_fn}
        elif name_or_fn is not None:
            return super().tool(name_or_fn, **kwargs)
        def decorator(fn):
            return self._register(fn, kwargs)
        return decorator
//- jira.py
from errors import Careful
jira = Careful(name="Jira", instructions="about issues")
@jira.tool(tags={"read"}, annotations={"readOnlyHint": True})
async def search(text: str) -> str:
    return text
@jira.tool("remove")
async def drop(text: str) -> str:
    return text
@jira.tool
async def plain(text: str) -> str:
    return text
//- server.py
from errors import Careful
from jira import jira
class Main(Careful[str]):
    pass
main = Main(name="Main")
main.mount(jira, namespace="jira")
"#,
        &expect![[r#"
            errors.py:7 wrapper: jira_search (read-only)
            errors.py:7 wrapper: jira_remove
            errors.py:7 wrapper: jira_plain
        "#]],
    );
}

#[test]
fn a_method_in_place_of_the_librarys_that_hands_all_on_changes_no_name() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class Counting(FastMCP):
    def tool(self, *args, **kwargs):
        self.count = getattr(self, "count", 0) + 1
        return super().tool(*args, **kwargs)
mcp = Counting("x")
@mcp.tool()
async def add(text: str) -> str: return text
@mcp.tool(name="remove")
async def drop(text: str) -> str: return text
@mcp.tool
async def plain(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:7 add: add
            server.py:9 drop: remove
            server.py:11 plain: plain
        "#]],
    );
}

#[test]
fn servers_that_are_taken_over_in_each_spelling() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from parts import audio, make_video, Text, within, bare
NAMESPACE = "sound"
main = FastMCP("main")
main.mount(audio, prefix=NAMESPACE)
video = make_video("v")
main.mount(video, "video")
text = Text()
main.mount(text.mcp, namespace="text")
main.mount(bare)
main.mount(within, prefix="deep")
//- parts.py
from fastmcp import FastMCP
audio = FastMCP("audio")
@audio.tool
async def play(name: str) -> str: return name
def make_video(name):
    server = FastMCP(name)
    @server.tool()
    async def show(name: str) -> str: return name
    return server
class Text:
    def __init__(self):
        self.mcp = FastMCP("text")
        self.mcp.tool(name="write")(self.write_line)
    async def write_line(self, line: str) -> str: return line
bare = FastMCP("bare")
@bare.tool
async def own(name: str) -> str: return name
within = FastMCP("within")
inner = FastMCP("inner")
within.mount(inner)
@inner.tool
async def below(name: str) -> str: return name
"#,
        &expect![[r#"
            parts.py:3 play: sound_play
            parts.py:7 show: video_show
            parts.py:14 Text.write_line: text_write
            parts.py:16 own: own
            parts.py:21 below: deep_below
        "#]],
    );
}

#[test]
fn servers_that_a_loop_takes_over() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
main = FastMCP("main")
audio = FastMCP("audio")
video = FastMCP("video")
@audio.tool
async def play(name: str) -> str: return name
@video.tool
async def show(name: str) -> str: return name
async def setup():
    for prefix, server in [("sound", audio), ("sight", video)]:
        await main.import_server(prefix, server)
"#,
        &expect![[r#"
            server.py:5 play: sound_play
            server.py:7 show: sight_show
        "#]],
    );
}

#[test]
fn a_server_that_is_taken_over_twice_has_its_tools_under_both_names() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
main = FastMCP("main")
disk = FastMCP("disk")
@disk.tool
async def read(name: str) -> str: return name
main.mount(disk, prefix="old")
main.mount(disk, prefix="new")
"#,
        &expect![[r#"
            server.py:4 read: old_read, new_read
        "#]],
    );
}

#[test]
fn a_web_application_takes_over_no_tools() {
    check(
        r#"
//- server.py
from fastapi import FastAPI
from fastmcp import FastMCP
app = FastAPI()
mcp = FastMCP("x")
@mcp.tool
async def read(name: str) -> str: return name
app.mount("/mcp", mcp)
app.mount("/more", mcp.http_app())
"#,
        &expect![[r#"
            server.py:5 read: read
            http server.py:8: 1 handlers
        "#]],
    );
}
