"""Looks at a page with Chromium, over the pipe of its debugging protocol.

Reads from standard input {"url", "ready", "read", "shots": [{"scheme", "width", "height", "file"}]}: for each shot the page is opened in that
colour scheme and size, the "steps" are done if there are any ({"ready", "do", "picture"?}: awaited, pictured, done), `ready` (JavaScript) is awaited, a picture is taken, and what `read` comes to is reported. Writes to standard output
{"seen": [...], "steps": [[...]], "troubles": [...]}: steps are what each came to, for each shot; troubles are exceptions and whatever the browser refused or complained of.
"""

import base64
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time

task = json.load(sys.stdin)
pipes = os.pipe() + os.pipe()
# Chromium reads from 3 and writes to 4, which these may be themselves.
to_read, to_write, from_read, from_write = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipes)


def wire():
    os.dup2(to_read, 3)
    os.dup2(from_write, 4)


profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
browser = subprocess.Popen(
    ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
     "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir=" + profile.name, "about:blank"],
    pass_fds=(3, 4), preexec_fn=wire, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
for end in pipes + (to_read, from_write):
    os.close(end)
rest, count, troubles, results = b"", 0, [], []


def heard():
    global rest
    while b"\0" not in rest:
        chunk = os.read(from_read, 1 << 16)
        if not chunk:
            raise SystemExit("the browser ended")
        rest += chunk
    line, rest = rest.split(b"\0", 1)
    return json.loads(line)


def ask(method, session=None, **params):
    global count
    count += 1
    question = {"id": count, "method": method, "params": params}
    if session:
        question["sessionId"] = session
    os.write(to_write, json.dumps(question).encode() + b"\0")
    while True:
        message = heard()
        if message.get("id") == count:
            if "error" in message and method in ("Runtime.evaluate", "Page.captureScreenshot"):
                # The page has just been left for another; whoever waits asks again.
                return {"result": {}, "trouble": message["error"]}
            if "error" in message:
                raise SystemExit(f"{method}: {message['error']}")
            return message["result"]
        if message.get("method") == "Runtime.exceptionThrown":
            troubles.append(message["params"]["exceptionDetails"])
        elif message.get("method") == "Log.entryAdded" and message["params"]["entry"]["level"] in ("warning", "error"):
            troubles.append(message["params"]["entry"])


def look(shot):
    target = ask("Target.createTarget", url="about:blank")["targetId"]
    session = ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ("Page", "Runtime", "Log"):
        ask(domain + ".enable", session)
    ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": shot["scheme"]}])
    ask("Emulation.setDeviceMetricsOverride", session, width=shot["width"], height=shot["height"], deviceScaleFactor=1,
        mobile=False)
    ask("Page.navigate", session, url=task["url"])

    def evaluate(text):
        return ask("Runtime.evaluate", session, expression=text, returnByValue=True)["result"].get("value")

    def wait_for(text):
        patience = time.monotonic() + 60
        while not evaluate(text):
            if time.monotonic() > patience:
                troubles.append({"text": "it was never ready: " + text, "page": evaluate("document.body.innerText")})
                return False
            time.sleep(0.05)
        return True

    def picture(name):
        patience = time.monotonic() + 60
        taken = {}
        while "data" not in taken:
            taken = ask("Page.captureScreenshot", session, format="png", captureBeyondViewport=True)
            if "data" not in taken and time.monotonic() > patience:
                raise SystemExit(f"no picture can be taken: {taken['trouble']}")
            time.sleep(0.0 if "data" in taken else 0.05)
        data = taken["data"]
        with open(name, "wb") as file:
            file.write(base64.b64decode(data))

    results.append([])
    for step in task.get("steps", []):
        if not wait_for(step["ready"]):
            break
        if "picture" in step:
            picture(step["picture"].replace(".png", "-%d.png" % shot["width"]))
        results[-1].append(evaluate(step["do"]))
    wait_for(task["ready"])
    picture(shot["file"])
    seen = evaluate(task["read"])
    ask("Target.closeTarget", targetId=target)
    return seen


try:
    json.dump({"seen": [look(shot) for shot in task["shots"]], "steps": results, "troubles": troubles}, sys.stdout)
finally:
    browser.kill()
    browser.wait()
