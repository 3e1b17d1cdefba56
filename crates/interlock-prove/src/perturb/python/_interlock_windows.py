"""Holds race windows open: what comes behind a call or an `await` in certain lines goes on later.

Functions of the files that are meant get code that was compiled once more from the same source, in which calls and `await`s in those lines pass
through here:

    rows = json.loads(path.read_text())     ->  rows = callee(json.loads, place)(callee(path.read_text, place)())
    rows = await self.load()                ->  rows = await awaited(self.load(), place)

A coroutine that has given way to the loop is woken later; one that has not is no place where others come in between, and stays none. A thread that
has no loop sleeps where the interpreter may hand its lock on, behind a function that is written in C or stands in Python's library. Where there is
a loop, or only the main thread, all of the process stands still, which only another process can use.
"""

import _thread
import ast
import builtins
import gc
import os
import sys
import time
import types

# Seconds, and how often for one thread or task at one place.
HOLD = 0.06
TIMES = 2
# What all standstills of a run may come to.
STANDSTILL = 0.4
MOST_TICKS = 1000
LARGEST = 4 << 20

_CALLEE, _AWAITED = "__interlock_callee__", "__interlock_awaited__"
_run = None


class Run:
    """One time of holding, from `begin` to `end`."""

    def __init__(self, windows, is_users, main):
        self.windows = windows
        self.is_users = is_users
        self.main = main
        self.ticks = []
        self.times = {}
        self.left = STANDSTILL
        self.changed = []

    def begin(self):
        global _run
        setattr(builtins, _CALLEE, _callee)
        setattr(builtins, _AWAITED, _awaited)
        compiled = {}
        for function in [it for it in gc.get_objects() if type(it) is types.FunctionType]:
            code = function.__code__
            file = code.co_filename
            if file not in compiled:
                compiled[file] = self._compile(file)
            again = compiled[file].get(_name(code))
            if again is not None and again.co_freevars == code.co_freevars:
                self.changed.append((function, code))
                function.__code__ = again
        _run = self

    def end(self):
        global _run
        _run = None
        for function, code in self.changed:
            function.__code__ = code
        self.changed = []

    def take(self, who, place, word):
        """Whether this is to be held; then it is told."""
        times = self.times[who, place] = self.times.get((who, place), 0) + 1
        if times > TIMES:
            return False
        if len(self.ticks) < MOST_TICKS:
            self.ticks.append((time.monotonic_ns(), "%s %s" % (word, place)))
        return True

    def _compile(self, file):
        """The functions of a file by name and line; none if no window is in it. A name that two have stays as it is."""
        path = os.path.realpath(file)
        inside = [window for window in self.windows if path.endswith(os.sep + window["file"])]
        try:
            if not inside or not self.is_users(file) or os.path.getsize(path) > LARGEST:
                return {}
            with open(path, "rb") as source:
                tree = ast.parse(source.read(), file)
            tree = ast.fix_missing_locations(_Marker(inside).visit(tree))
            whole = compile(tree, file, "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError, RecursionError):
            return {}
        found, twice, left = {}, set(), [whole]
        while left:
            for code in left.pop().co_consts:
                if isinstance(code, types.CodeType):
                    left.append(code)
                    if _name(code) in found:
                        twice.add(_name(code))
                    found[_name(code)] = code
        return {name: code for name, code in found.items() if name not in twice}


def _name(code):
    return (code.co_name, code.co_firstlineno)


class _Marker(ast.NodeTransformer):
    """Lets calls and `await`s in the windows' lines pass through here."""

    def __init__(self, windows):
        self.windows = windows

    def _place(self, node):
        for window in self.windows:
            if window["first"] <= node.lineno <= window["last"]:
                return "%s:%d" % (window["file"], node.lineno)
        return None

    def _through(self, function, value, place):
        return ast.copy_location(ast.Call(ast.Name(function, ast.Load()), [value, ast.Constant(place)], []), value)

    def visit_Await(self, node):
        # The call that is awaited makes the coroutine; nothing is done yet when it comes back.
        if isinstance(node.value, ast.Call):
            self.generic_visit(node.value)
        else:
            node.value = self.visit(node.value)
        place = self._place(node)
        if place is not None:
            node.value = self._through(_AWAITED, node.value, place)
        return node

    def visit_Call(self, node):
        place = self._place(node)
        self.generic_visit(node)
        if place is not None:
            node.func = self._through(_CALLEE, node.func, place)
        return node


# ---- Calls. ----

# What these give depends on who calls them.
_OF_FRAMES = (locals, globals, vars, dir, eval, exec, super, __import__, sys._getframe)
_IN_C = (
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
_LIBRARY = os.path.dirname(os.__file__) + os.sep
_IS_HEAP_TYPE = 1 << 9


def _hands_over(function):
    """Whether the interpreter may hand its lock on when this comes back."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        return _is_library(function.__code__.co_filename)
    if isinstance(function, type):
        module = sys.modules.get(function.__module__)
        return not function.__flags__ & _IS_HEAP_TYPE or _is_library(getattr(module, "__file__", None) or "")
    return isinstance(function, _IN_C)


def _is_library(file):
    return file.startswith("<frozen ") or (file.startswith(_LIBRARY) and "-packages" + os.sep not in file)


def _loop():
    events = sys.modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()


def _callee(function, place):
    run = _run
    if run is None or any(function is other for other in _OF_FRAMES):
        return function
    me = _thread.get_ident()
    is_worker = me != run.main and _loop() is None
    if is_worker and not _hands_over(function):
        return function

    def through(*arguments, **named):
        value = function(*arguments, **named)
        if is_worker:
            if run.take(me, place, "hold"):
                time.sleep(HOLD)
        elif run.left >= HOLD and run.take(me, place, "stall"):
            run.left -= HOLD
            time.sleep(HOLD)
        return value

    return through


# ---- Awaits. ----


def _steps(awaitable):
    code = getattr(awaitable, "gi_code", None)
    # Old coroutines are generators.
    if code is not None and code.co_flags & 0x100:
        return awaitable
    if not hasattr(type(awaitable), "__await__"):
        raise TypeError("object %s can't be used in 'await' expression" % type(awaitable).__name__)
    return awaitable.__await__()


@types.coroutine
def _awaited(awaitable, place):
    steps = _steps(awaitable)
    answer = error = None
    while True:
        try:
            if error is not None:
                step = steps.throw(error)
            elif answer is None:
                step = next(steps)
            else:
                step = steps.send(answer)
        except StopIteration as end:
            return end.value
        answer = error = None
        try:
            answer = yield step
            # Whoever gives way without waiting for anything is next in turn, and nothing makes it wait.
            run, loop = _run, _loop()
            if run is not None and loop is not None and step is not None and answer is None:
                asyncio = sys.modules["asyncio"]
                if run.take(id(asyncio.current_task()), place, "hold"):
                    yield from asyncio.sleep(HOLD).__await__()
        except GeneratorExit:
            close = getattr(steps, "close", None)
            if close is not None:
                close()
            raise
        except BaseException as thrown:
            # It is for whoever waits inside.
            error = thrown
