"""Runs a program on a terminal of its own, waits for a question, gives an answer, and says what was on the screen and how it ended."""

import json
import os
import pty
import select
import sys
import time

task = json.load(sys.stdin)
child, screen = pty.fork()
if child == 0:
    os.chdir(task["folder"])
    os.execvpe(task["command"][0], task["command"], {**os.environ, **task["environment"]})

seen = b""
answered = False
end = time.monotonic() + 300
while time.monotonic() < end:
    ready, _, _ = select.select([screen], [], [], 1)
    if not ready:
        continue
    try:
        piece = os.read(screen, 65536)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if not answered and task["question"].encode() in seen:
        os.write(screen, task["answer"].encode())
        answered = True
_, status = os.waitpid(child, 0)
json.dump({"seen": seen.decode(errors="replace"), "answered": answered, "code": os.waitstatus_to_exitcode(status)}, sys.stdout)
