"""Two threads count together, with a look and an act; what they were asked decides how they are run."""

import asyncio
import sys
import threading

count = {"n": 0}
TIMES = 10


def add():
    value = count.get("n")
    count["n"] = value + 1


def work():
    for _ in range(TIMES):
        add()


async def work_in_the_loop():
    work()


def in_threads():
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


async def beside_a_loop():
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(None, work) for _ in range(2)))


async def in_a_loop():
    await asyncio.gather(work_in_the_loop(), work_in_the_loop())


def in_a_loop_of_a_thread():
    worker = threading.Thread(target=lambda: asyncio.run(in_a_loop()))
    worker.start()
    worker.join()


def main():
    # One loop for all questions, so that its worker threads live on, as a server's do.
    runner = asyncio.new_event_loop()
    print("ready", flush=True)
    for line in sys.stdin:
        count["n"] = 0
        how = line.strip()
        if how == "threads":
            in_threads()
        elif how == "executor":
            runner.run_until_complete(beside_a_loop())
        elif how == "main":
            work()
            work()
        elif how == "loop":
            in_a_loop_of_a_thread()
        elif how == "path":
            import sitecustomize

            here = [folder for folder in sys.path if folder.endswith("modules")]
            print(here, getattr(sitecustomize, "WHOSE", None), sys.getswitchinterval(), threading.active_count(), flush=True)
            continue
        print(2 * TIMES - count["n"], flush=True)


main()
