"""Two callers count together, each with a look and an act; what they were asked decides how they are run. The tests name lines of this file."""

import asyncio
import sys
import threading

count = {"n": 0}


def add():
    value = count.get("n")
    count["n"] = value + 1


def look():
    return count["n"]


def add_without_a_gap():
    value = look()
    count["n"] = value + 1


async def add_behind_a_thread():
    value = await asyncio.get_running_loop().run_in_executor(None, look)
    count["n"] = value + 1


async def looked_late():
    await asyncio.sleep(0.001)
    return count["n"]


async def add_at_once():
    value = await looked_late()
    count["n"] = value + 1


async def looked():
    return count["n"]


async def add_without_waiting():
    value = await looked()
    count["n"] = value + 1


async def add_in_turn():
    value = count["n"]
    await asyncio.sleep(0)
    count["n"] = max(count["n"], value) + 1


async def add_locked(lock):
    async with lock:
        value = await asyncio.get_running_loop().run_in_executor(None, look)
        count["n"] = value + 1


async def add_cancelled():
    try:
        await asyncio.wait_for(asyncio.get_running_loop().create_future(), 0.001)
    except asyncio.TimeoutError:
        count["n"] += 1


def in_threads(work):
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


async def together(work):
    await asyncio.gather(work(), work())


async def together_locked():
    lock = asyncio.Lock()
    await asyncio.gather(add_locked(lock), add_locked(lock))


HOW = {
    "threads": lambda: in_threads(add),
    "no gap": lambda: in_threads(add_without_a_gap),
    "behind a thread": lambda: asyncio.run(together(add_behind_a_thread)),
    "at once": lambda: asyncio.run(together(add_at_once)),
    "without waiting": lambda: asyncio.run(together(add_without_waiting)),
    "in turn": lambda: asyncio.run(together(add_in_turn)),
    "locked": lambda: asyncio.run(together_locked()),
    "cancelled": lambda: asyncio.run(together(add_cancelled)),
    "main": lambda: (add(), add()),
}

print("ready", flush=True)
for line in sys.stdin:
    count["n"] = 0
    HOW[line.strip()]()
    print(2 - count["n"], flush=True)
