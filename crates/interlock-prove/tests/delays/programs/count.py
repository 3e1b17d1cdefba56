"""Two callers, the second 10 ms after the first: read a number, add one, write it back."""

import sys
import threading
import time


def call(late):
    time.sleep(late)
    with open("count") as file:
        count = int(file.read() or "-1")
    with open("count", "w") as file:
        file.write(str(count + 1))


print("ready", flush=True)
for _ in sys.stdin:
    callers = [threading.Thread(target=call, args=(late,)) for late in (0, 0.01)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    print("done", flush=True)
