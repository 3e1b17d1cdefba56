"""Writes a list of tools for `cargo xtask reach`: what Python's own parser finds at the decorators of a server.

    python3 places.py FOLDER OWNER/NAME COMMIT [--prefix FILE=PREFIX]… > tools/OWNER+NAME.jsonl

Names come from the decorator or from the function, places from the syntax tree. A server that tells its tools apart itself is read by hand:
`--tool NAME=FILE:FUNCTION` puts one more tool on the list. Tests, examples and what lies beside the server are left out with `--only FOLDER`.
"""

import argparse
import ast
import json
import pathlib


def name_of(decorator: ast.expr, function: str) -> str | None:
    call = decorator if isinstance(decorator, ast.Call) else None
    callee = call.func if call else decorator
    if not (isinstance(callee, ast.Attribute) and callee.attr == "tool"):
        return None
    given = [arg for arg in (call.args if call else []) if isinstance(arg, ast.Constant)]
    given += [word.value for word in (call.keywords if call else []) if word.arg == "name"]
    texts = [arg.value for arg in given if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return texts[0] if texts else function


def entry(tool: str, file: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    body = node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    first = body[1] if documented and len(body) > 1 else body[0]
    if first.lineno == node.lineno:
        return None
    at = [first.lineno, first.col_offset + 1]
    awaits = isinstance(node, ast.AsyncFunctionDef)
    return json.dumps({"tool": tool, "file": file, "function": node.name, "at": at, "async": awaits}, separators=(",", ":"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("repo")
    parser.add_argument("commit")
    parser.add_argument("--prefix", action="append", default=[])
    parser.add_argument("--tool", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    prefixes = dict(prefix.split("=") for prefix in options.prefix)
    by_hand = dict(tool.split("=") for tool in options.tool)
    how = "decorators by Python's own parser" + ("; the rest read by hand" if by_hand else "")
    print(json.dumps({"repo": options.repo, "commit": options.commit, "how": how}))
    for path in sorted(options.folder.rglob("*.py")):
        file = path.relative_to(options.folder).as_posix()
        if any(part.startswith((".", "test", "example")) for part in file.split("/")):
            continue
        if options.only and not any(file.startswith(folder) for folder in options.only):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):
            continue
        prefix = next((prefix for start, prefix in prefixes.items() if file.startswith(start)), "")
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            names = [name_of(decorator, node.name) for decorator in node.decorator_list]
            names = [prefix + name for name in names if name]
            names += [tool for tool, place in by_hand.items() if place == f"{file}:{node.name}"]
            for line in filter(None, (entry(name, file, node) for name in names)):
                print(line)


main()
