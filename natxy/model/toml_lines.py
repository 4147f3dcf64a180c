"""Finds the line of a key in a TOML text, which the standard library's reader does not report."""

import re

_TABLE = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*([\w"'][\w."'\- ]*?)\s*=""")


def line_of(text: str, path: tuple[str, ...]) -> int | None:
    """Returns the line (from 1) of the key at this path, or of the nearest one that contains it."""
    keys = tuple(part for part in path if not part.startswith("["))
    best_line, best_length = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _TABLE.match(line):
            table = _parts(heading[1])
            found = table
        elif key := _KEY.match(line):
            found = (*table, *_parts(key[1]))
        else:
            continue
        if keys[: len(found)] == found and len(found) > best_length:
            best_line, best_length = number, len(found)
    return best_line


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
