"""Writes a list of tools for `cargo xtask reach` for a server in Go: where the bodies of the functions open that somebody wrote down.

    python3 places_go.py FOLDER OWNER/NAME COMMIT < NAMES > tools/OWNER+NAME.jsonl

Each line of NAMES is a tool, a file and a function, read from the server's own registrations: `Name`, `Type.Name` for a method, or `@LINE`
for the first function literal on or behind that line. Only text is looked at here: comments and literals are blanked, brackets are counted.
"""

import json
import pathlib
import re
import sys


def blanked(text: str) -> str:
    """The text with every comment and literal as long as it was, but empty."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|`[^`]*`|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
    return token.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def closing(text: str, at: int) -> int:
    """Where the bracket that opens at a place closes."""
    depth = 0
    for place in range(at, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return len(text)


def body(text: str, at: int) -> int | None:
    """The brace that opens the body of the function whose parameters open at a place."""
    place = closing(text, at) + 1
    while place < len(text):
        if text[place] in "([":
            place = closing(text, place)
        elif text[place] == "{":
            # `interface{}` and `struct{}` among the results are no bodies.
            if re.search(r"(interface|struct)\s*$", text[:place]):
                place = closing(text, place)
            else:
                return place
        place += 1
    return None


def parameters(text: str, function: str) -> int | None:
    """Where the parameters of a function open."""
    if function.startswith("@"):
        start = sum(len(line) for line in text.splitlines(True)[: int(function[1:]) - 1])
        found = re.compile(r"\bfunc\s*(\()").search(text, start)
    elif "." in function:
        owner, name = function.split(".")
        found = re.search(rf"^func\s*\(\s*(?:\w+\s+)?\*?{owner}(?:\[[^\]]*\])?\s*\)\s*{name}\s*(?:\[[^\]]*\])?(\()", text, re.M)
    else:
        found = re.search(rf"^func\s+{function}\s*(?:\[[^\]]*\])?(\()", text, re.M)
    return found.start(1) if found else None


def main() -> None:
    folder, repo, commit = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    print(json.dumps({"repo": repo, "commit": commit, "how": "read from the registrations; places by counting brackets"}))
    for line in sys.stdin:
        tool, file, function = line.split("\t")
        text = (folder / file).read_text(encoding="utf-8")
        plain = blanked(text)
        opens = parameters(plain, function.strip())
        place = body(plain, opens) if opens is not None else None
        if place is None:
            print(f"not found: {line.strip()}", file=sys.stderr)
            continue
        at = [plain.count("\n", 0, place) + 1, place - (plain.rfind("\n", 0, place) + 1) + 1]
        entry = {"tool": tool, "file": file, "function": function.strip(), "at": at, "async": False}
        print(json.dumps(entry, separators=(",", ":")))


if __name__ == "__main__":
    main()
