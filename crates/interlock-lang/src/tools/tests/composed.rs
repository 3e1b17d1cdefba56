//! Tools of servers in Python that are put together: classes that keep the server, methods that register in its place, tools made of
//! other tools, methods that are announced and registered by their object.

use expect_test::expect;

use super::python::check;

#[test]
fn a_prefix_of_the_object_stands_before_the_names() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
mcp = FastMCP("x")
class Base:
    prefix = "base"
    def __init__(self, server, area="inner"):
        self.server = server
        self.area = area
    def register(self):
        self.server.tool(name=self.prefix + "_add")(self.add)
        self.server.add_tool(self.drop, name=f"{self.prefix}_drop")
        self.server.tool(self.show, name=f"{self.area}.show")
    async def add(self, text: str) -> str: return text
    async def drop(self, text: str) -> str: return text
    async def show(self, text: str) -> str: return text
notes = Base(mcp, "notes")
notes.register()
tasks = Base(mcp, area="tasks")
"#,
        &expect![[r#"
            server.py:12 Base.add: base_add
            server.py:13 Base.drop: base_drop
            server.py:14 Base.show: notes.show, tasks.show
        "#]],
    );
}

#[test]
fn classes_that_say_their_prefix_register_through_the_class_above() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
mcp = FastMCP("x")
class Base:
    prefix = ""
    def __init__(self, server):
        self.server = server
        self.server.tool(name=f"{self.prefix}_list")(self.list)
    async def list(self) -> str: return self.prefix
class Notes(Base):
    prefix = "notes"
class Tasks(Base):
    prefix = "tasks"
Notes(mcp)
Tasks(mcp)
"#,
        &expect![[r#"
            server.py:8 Base.list: notes_list, tasks_list
        "#]],
    );
}

#[test]
fn a_class_that_keeps_a_server_registers_by_a_method_of_its_own() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
class App:
    def __init__(self, name):
        self.mcp = FastMCP(name)
        self.tools = {}
    def tool(self, *args, **kwargs):
        def deco(fn):
            self.tools[fn.__name__] = fn
            self.mcp.tool(*args, **kwargs)(fn)
            return fn
        return deco
    def run(self):
        self.mcp.run()
app = App("x")
@app.tool()
async def add(text: str) -> str: return text
@app.tool(name="remove")
async def drop(text: str) -> str: return text
app.run()
"#,
        &expect![[r#"
            server.py:15 add: add
            server.py:17 drop: remove
            stdio server.py:13: 2 handlers
        "#]],
    );
}

#[test]
fn a_class_that_keeps_a_server_names_the_tools_itself() {
    check(
        r#"
//- app.py
from mcp.server.fastmcp import FastMCP
class App:
    def __init__(self, name):
        self.mcp = FastMCP(name)
    def tool(self, name=None):
        def deco(fn):
            self.mcp.add_tool(fn, name=f"app_{name or fn.__name__}")
            return fn
        return deco
//- server.py
from app import App
app = App("x")
@app.tool()
async def add(text: str) -> str: return text
@app.tool("remove")
async def drop(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:3 add: app_add
            server.py:5 drop: app_remove
        "#]],
    );
}

#[test]
fn a_class_that_answers_by_hand_keeps_what_its_decorator_is_handed() {
    check(
        r#"
//- server.py
from mcp.server import Server
class App:
    def __init__(self):
        self.server = Server("x")
        self.tools = {}
        @self.server.call_tool()
        async def call(name, arguments):
            return await self.tools[name](**arguments)
    def tool(self, name=None):
        def deco(fn):
            self.tools[name or fn.__name__] = fn
            return fn
        return deco
app = App()
@app.tool()
async def add(text: str) -> str: return text
@app.tool(name="remove")
async def drop(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:6 call: add, remove
        "#]],
    );
}

#[test]
fn a_decorator_of_a_class_that_only_keeps_functions_registers_nothing() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
mcp = FastMCP("x")
class Hooks:
    def __init__(self):
        self.hooks = {}
    def tool(self):
        def deco(fn):
            self.hooks[fn.__name__] = fn
            return fn
        return deco
hooks = Hooks()
@hooks.tool()
async def before(text: str) -> str: return text
@mcp.tool()
async def add(text: str) -> str: return text
"#,
        &expect![[r#"
            server.py:14 add: add
        "#]],
    );
}

#[test]
fn tools_that_are_made_of_other_tools() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from fastmcp.tools import Tool
mcp = FastMCP("x")
@mcp.tool
async def add(text: str) -> str: return text
shouted = Tool.from_tool(add, name="add_loudly")
mcp.add_tool(shouted)
async def find(text: str) -> str: return text
finder = Tool.from_function(find, name="search")
mcp.add_tool(finder)
mcp.add_tool(Tool.from_tool(finder, name="search_all", description="all"))
mcp.add_tool(Tool.from_tool(tool=finder, name="search_again"))
async def instead(**arguments) -> str: return "x"
mcp.add_tool(Tool.from_tool(add, name="add_checked", transform_fn=instead))
"#,
        &expect![[r#"
            server.py:4 add: add, add_loudly, add_checked
            server.py:8 find: search, search_all, search_again
            server.py:13 instead: add_checked
        "#]],
    );
}

#[test]
fn a_server_that_is_taken_over_with_other_names() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from parts import audio, video
main = FastMCP("main")
main.mount(audio, prefix="sound", tool_names={"play": "start_music"})
main.mount(video, namespace="sight")
async def setup():
    await main.import_server(video, prefix="again")
//- parts.py
from fastmcp import FastMCP
audio = FastMCP("audio")
@audio.tool
async def play(name: str) -> str: return name
@audio.tool
async def stop(name: str) -> str: return name
video = FastMCP("video")
@video.tool
async def show(name: str) -> str: return name
"#,
        &expect![[r#"
            parts.py:3 play: start_music
            parts.py:5 stop: sound_stop
            parts.py:8 show: sight_show, again_show
        "#]],
    );
}

#[test]
fn methods_that_are_announced_and_registered_by_their_object() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from fastmcp.contrib.mcp_mixin import MCPMixin, mcp_prompt, mcp_resource, mcp_tool
mcp = FastMCP("x")
class Notes(MCPMixin):
    @mcp_tool()
    async def plain(self, text: str) -> str: return text
    @mcp_tool(name="add", description="adds")
    async def add_note(self, text: str) -> str: return text
    @mcp_resource(uri="notes://all")
    async def all(self) -> str: return ""
    @mcp_prompt()
    async def ask(self) -> str: return ""
    async def own(self) -> str: return ""
notes = Notes()
notes.register_all(mcp_server=mcp, prefix="notes")
class Tasks(MCPMixin):
    @mcp_tool()
    async def list(self) -> str: return ""
    @mcp_tool(name="drop")
    async def drop_task(self) -> str: return ""
Tasks().register_tools(mcp, prefix="tasks", separator="-")
class Plain(MCPMixin):
    @mcp_tool("named")
    async def show(self) -> str: return ""
    @mcp_tool()
    async def hide(self) -> str: return ""
plain = Plain()
plain.register_all(mcp)
class Base(MCPMixin):
    @mcp_tool()
    async def ping(self) -> str: return ""
class First(Base):
    def __init__(self, server, prefix):
        self.register_all(server, prefix=prefix, tool_separator=".")
class Second(Base):
    @mcp_tool()
    async def pong(self) -> str: return ""
First(mcp, "first")
for part in [Second()]:
    part.register_all(mcp, prefix="second")
"#,
        &expect![[r#"
            server.py:5 Notes.plain: notes_plain
            server.py:7 Notes.add_note: notes_add
            server.py:9 Notes.all: no tool
            server.py:11 Notes.ask: no tool
            server.py:17 Tasks.list: tasks-list
            server.py:19 Tasks.drop_task: tasks-drop
            server.py:23 Plain.show: named
            server.py:25 Plain.hide: hide
            server.py:30 Base.ping: first.ping, second_ping
            server.py:36 Second.pong: second_pong
        "#]],
    );
}

#[test]
fn one_class_is_registered_for_each_of_its_objects() {
    check(
        r#"
//- server.py
from fastmcp import FastMCP
from fastmcp.contrib.mcp_mixin import MCPMixin, mcp_tool
mcp = FastMCP("x")
class Notes(MCPMixin):
    @mcp_tool()
    async def add(self, text: str) -> str: return text
Notes().register_all(mcp, prefix="mine")
Notes().register_all(mcp, prefix="yours")
"#,
        &expect![[r#"
            server.py:5 Notes.add: mine_add, yours_add
        "#]],
    );
}
