"""Makes the threads of a Python program take turns at other places than usual.

A thread pauses, with the interpreter's lock released, only where the interpreter itself may hand the lock on: when a function begins, when
a built-in or library function has come back, and when a loop goes round. Between two plain assignments it never does, so neither do we.
Only worker threads pause: a pause of the main thread or of an event loop's thread would hold up everybody.

Orders come in lines through a named pipe, one for each process: `arm RUN SEED LONGEST BUDGET`, with nanoseconds, `hold RUN 0`, for the race windows
that are in a file beside it (`_interlock_windows.py`), and `disarm RUN`. Each is answered by a file. The thread that reads them is asleep in between
and known to nobody.
"""

import _thread
import os
import sys
import time

# What is told of one run at most.
MOST_TICKS = 1000

_main = _thread.get_ident()
_run = None
_held = None
_pipe = -1
_tool = None
_is_users = {}


class _Run:
    def __init__(self, seed, longest, left):
        self.seed = seed
        self.longest = longest
        self.left = left
        self.threads = {}
        self.passed = {}
        self.ticks = []
        self.interval = sys.getswitchinterval()
        self.packages = _packages_of_main()


def begin(folder):
    """Listens for orders in that folder, in this process and in those that it forks."""
    _listen(folder)
    os.register_at_fork(after_in_child=lambda: _begin_in_child(folder))
    if not hasattr(sys, "monitoring"):
        # A running thread cannot be traced from outside in these versions, so every thread has the gate from its first step.
        import threading

        threading.settrace(_gate)


def _begin_in_child(folder):
    global _main, _run, _held
    _main = _thread.get_ident()
    _run = None
    if _held is not None:
        _held.end()
        _held = None
    try:
        os.close(_pipe)
        _listen(folder)
    except OSError:
        pass


def _listen(folder):
    global _pipe
    path = os.path.join(folder, "%d.pipe" % os.getpid())
    try:
        os.mkfifo(path, 0o600)
    except FileExistsError:
        # The same process, after an exec.
        pass
    # Both ends, so that a read waits for the next order instead of telling that nobody is at the other end.
    _pipe = os.open(path, os.O_RDWR)
    _thread.start_new_thread(_obey, (_pipe, folder))


def _obey(pipe, folder):
    rest = b""
    while True:
        try:
            rest += os.read(pipe, 4096)
        except OSError:
            return
        while b"\n" in rest:
            line, rest = rest.split(b"\n", 1)
            try:
                order, run, numbers = line.split(b" ", 2)
                obey = {b"arm": _arm, b"hold": _hold}.get(order, _disarm)
                obey(run.decode(), [int(word) for word in numbers.split()], folder)
            except Exception:
                # Without an answer the other side knows that it was not obeyed.
                pass


def _arm(name, numbers, folder):
    global _run
    run = _Run(*numbers)
    _is_users.clear()
    sys.setswitchinterval(1e-6)
    _run = run
    if hasattr(sys, "monitoring"):
        _monitor()
    _answer(folder, name, "armed", "")


def _hold(name, _numbers, folder):
    global _held
    import importlib.util
    import json

    windows = sys.modules.get("_interlock_windows")
    if windows is None:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_interlock_windows.py")
        spec = importlib.util.spec_from_file_location("_interlock_windows", path)
        windows = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(windows)
        sys.modules["_interlock_windows"] = windows
    with open(os.path.join(folder, "windows.json"), encoding="utf-8") as file:
        meant = json.load(file)
    whose = _Whose(_packages_of_main())
    _held = windows.Run(meant, lambda path: _judge(whose, path), _main)
    _held.begin()
    _answer(folder, name, "armed", "")


class _Whose:
    def __init__(self, packages):
        self.packages = packages


def _disarm(name, _numbers, folder):
    global _run, _held
    run, _run = _run, None
    held, _held = _held, None
    if held is not None:
        held.end()
        _answer(folder, name, "free", "".join(["%d %s\n" % tick for tick in held.ticks]))
        return
    if hasattr(sys, "monitoring") and _tool is not None:
        sys.monitoring.set_events(_tool, 0)
    if run is not None:
        sys.setswitchinterval(run.interval)
    lines = ["%d %s\n" % tick for tick in (run.ticks[:MOST_TICKS] if run else [])]
    _answer(folder, name, "free", "".join(lines))


def _answer(folder, name, word, text):
    path = os.path.join(folder, "%d.%s.%s" % (os.getpid(), name, word))
    with open(path + ".new", "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    os.rename(path + ".new", path)


# ---- Whose code it is. ----

_standard = os.path.dirname(os.__file__) + os.sep
_installed = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _packages_of_main():
    """The packages that are the server itself, where it was installed: the one that was run, or that its start script names."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    if spec is not None:
        return {spec.name.split(".")[0]}
    file = getattr(main, "__file__", None)
    if not file or file.endswith(".py"):
        return set()
    modules = [getattr(value, "__module__", None) for value in list(vars(main).values())]
    return {module.split(".")[0] for module in modules if isinstance(module, str)}


def _users(run, file):
    known = _is_users.get(file)
    if known is None:
        known = _is_users[file] = _judge(run, file)
    return known


def _judge(run, file):
    if file.startswith("<"):
        # Code that was given on the command line; otherwise it is code that the library makes, such as a named tuple's.
        return file == "<string>" and not hasattr(sys.modules.get("__main__"), "__file__")
    for installed in _installed:
        if installed in file:
            package = file.rsplit(installed, 1)[1].split(os.sep)[0]
            return (package[:-3] if package.endswith(".py") else package) in run.packages
    return not file.startswith(_standard) and file != __file__


# ---- Where a thread pauses. ----


def _mix(number):
    number = (number + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return number ^ (number >> 31)


def _choose(run, thread, code, offset):
    """Nanoseconds to pause here; `mod.rs` describes the seeds. The more often a thread comes by a place, the less it pauses there."""
    place = (thread, code, offset)
    times = run.passed[place] = run.passed.get(place, 0) + 1
    if run.seed == 0:
        return run.longest // times
    if run.seed in (1, 2):
        return (run.longest if thread == run.seed - 1 else run.longest // 5) // times
    chance = _mix(_mix(_mix(run.seed) ^ thread) ^ (code.co_firstlineno << 20) ^ offset)
    return (chance >> 8) % run.longest // times if chance % 2 == 0 else 0


def _has_loop():
    events = sys.modules.get("asyncio.events")
    return events is not None and events._get_running_loop() is not None


def _pause(run, code, offset, line):
    me = _thread.get_ident()
    if me == _main or _has_loop():
        return
    thread = run.threads.setdefault(me, len(run.threads))
    pause = _choose(run, thread, code, offset)
    if 0 < pause <= run.left:
        run.left -= pause
        if len(run.ticks) < MOST_TICKS:
            run.ticks.append((time.monotonic_ns(), "pause %s:%s" % (os.path.basename(code.co_filename), line(code, offset))))
        time.sleep(pause / 1e9)


# ---- Python 3.12 and later: the interpreter tells, in all threads. ----


def _monitor():
    global _tool
    monitoring = sys.monitoring
    events = monitoring.events
    if _tool is None:
        # The numbers that no kind of tool has been given.
        for number in (4, 3):
            if monitoring.get_tool(number) is None:
                monitoring.use_tool_id(number, "interlock")
                _tool = number
                break
        else:
            raise RuntimeError("no number is free")
        monitoring.register_callback(_tool, events.PY_START, _on_start)
        monitoring.register_callback(_tool, events.CALL, _on_call)
        monitoring.register_callback(_tool, events.C_RETURN, _on_return)
        monitoring.register_callback(_tool, events.C_RAISE, _on_return)
        monitoring.register_callback(_tool, events.JUMP, _on_jump)
    # What was switched off as not the user's may be judged differently now.
    monitoring.restart_events()
    monitoring.set_events(_tool, events.PY_START | events.CALL | events.JUMP)


def _line(code, offset):
    for begin_offset, end_offset, line in code.co_lines():
        if begin_offset <= offset < end_offset:
            return line
    return code.co_firstlineno


def _on_start(code, offset):
    run = _run
    if run is None:
        return None
    if not _users(run, code.co_filename):
        return sys.monitoring.DISABLE
    return _pause(run, code, offset, _line)


def _on_call(code, _offset, _callable, _first):
    run = _run
    return None if run is None or _users(run, code.co_filename) else sys.monitoring.DISABLE


def _on_return(code, offset, _callable, _first):
    run = _run
    if run is not None and _users(run, code.co_filename):
        _pause(run, code, offset, _line)


def _on_jump(code, offset, destination):
    run = _run
    if run is None:
        return None
    if not _users(run, code.co_filename):
        return sys.monitoring.DISABLE
    return _pause(run, code, offset, _line) if destination < offset else None


# ---- Before 3.12: a thread watches itself. ----


def _gate(frame, _event, _argument):
    run = _run
    if run is not None and _users(run, frame.f_code.co_filename):
        if sys.getprofile() is None:
            sys.setprofile(_watch)
        _pause(run, frame.f_code, frame.f_lasti, lambda _code, _offset: frame.f_lineno)
    return None


def _watch(frame, event, _argument):
    run = _run
    if run is None:
        sys.setprofile(None)
    elif event in ("c_return", "c_exception") and _users(run, frame.f_code.co_filename):
        _pause(run, frame.f_code, frame.f_lasti, lambda _code, _offset: frame.f_lineno)
