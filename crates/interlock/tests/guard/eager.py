"""A server on standard input and output that runs whatever it gets: every reading that some parser would make of a line counts as meant.

    eager.py FILE

Each tool that it runs is a line `ran NAME` of the file; each message that it heeds besides is a line `did METHOD` or, if it came without an id,
`told METHOD`. Of the readings of one line each counts once.
"""

import json
import os
import re
import sys

path = sys.argv[1]


def write(lines):
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, "".join(line.replace("\n", " ") + "\n" for line in lines).encode("utf-8", "replace"))
    os.close(file)


def first(pairs):
    return dict(reversed(pairs))


def folded(pairs):
    """As Go reads: names without regard to case, also of the two letters that fold into ASCII, and the last one counts."""
    return {name.replace("\u017f", "s").replace("\u212a", "k").lower(): value for name, value in pairs}


READINGS = [
    json.JSONDecoder(strict=False, object_pairs_hook=dict),
    json.JSONDecoder(strict=False, object_pairs_hook=first),
    json.JSONDecoder(strict=False, object_pairs_hook=folded),
]


def values(decoder, text):
    """All values of a text, one behind the other, and what stands between them is passed over."""
    at = 0
    while (start := re.compile(r"[\[{]").search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            at = start.start() + 1


def flat(value, depth=0):
    if isinstance(value, list) and depth < 8:
        for one in value:
            yield from flat(one, depth + 1)
    elif isinstance(value, dict):
        yield value


def get(message, name):
    return message.get(name, message.get(name.lower()))


def heed(message):
    """What a message makes it do."""
    method, params = get(message, "method"), get(message, "params")
    if not isinstance(method, str):
        return None
    if method == "tools/call":
        if isinstance(params, list) and params:
            return f"ran {params[0]}"
        if isinstance(params, dict) and get(params, "name") is not None:
            return f"ran {get(params, 'name')}"
        return None
    return f"did {method}" if get(message, "id") is not None else f"told {method}"


INFO = {"name": "eager", "version": "1"}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ["pay", "refund", "look"]]
ABLE = {"capabilities": {"tools": {}, "prompts": {}, "resources": {}}, "serverInfo": INFO}


def result(message):
    method, params = message.get("method"), message.get("params")
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), **ABLE}
    if method == "server/discover":
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"], **ABLE}
    if method == "tools/list":
        return {"resultType": "complete", "tools": TOOLS}
    return {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


for line in sys.stdin.buffer:
    deeds, answers = {}, {}
    for encoding in ["utf-8", "latin-1"]:
        text = line.decode(encoding, "replace")
        for piece in [text, *re.split("[\r\v\f\x1c-\x1e\x85\u2028\u2029]", text)]:
            for decoder in READINGS:
                for value in values(decoder, piece):
                    for message in flat(value):
                        deed = heed(message)
                        if deed is not None:
                            deeds[deed] = True
                        if isinstance(message.get("id"), int) and isinstance(message.get("method"), str):
                            answers[message["id"]] = message
    write(deeds)
    for identity, message in answers.items():
        try:
            answer = result(message)
        except AttributeError:
            answer = {}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": identity, "result": answer}) + "\n")
    sys.stdout.flush()
