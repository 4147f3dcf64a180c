"""Reads the lines of a siitperf.conf: `key value # comment`."""

import codecs
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from natxy.errors import ConfigurationError
from natxy.model.source import bytes_of
from natxy.siitperf.keys import KEYS, OLDER_NAMES
from natxy.siitperf.kinds import Wrong

Warn = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Entry:
    line: int
    text: str
    value: Any


@dataclass(frozen=True, kw_only=True)
class Entries:
    """The values of a file by key; a key that is not in the file has its default."""

    name: str
    written: dict[str, Entry] = field(default_factory=dict)

    def value(self, key: str) -> Any:
        return self.written[key].value if key in self.written else KEYS[key].default

    def refuse(self, key: str, sentence: str) -> NoReturn:
        entry = self.written.get(key)
        where = self.name if entry is None else f"{self.name}, line {entry.line}"
        raise ConfigurationError(f"{where}: {key}: {sentence}")


def read_entries(path: Path, warn: Warn) -> Entries:
    name = str(path)
    written: dict[str, Entry] = {}
    # Only comments hold other letters than ASCII's, in the encoding of their authors' editors.
    written_by_others = bytes_of(path).removeprefix(codecs.BOM_UTF8)
    for line, words in _lines(written_by_others.decode("ascii", errors="replace")):
        where = f"{name}, line {line}"
        key = _known(words[0], where)
        if len(words) == 1:
            raise ConfigurationError(f"{where}: {key}: has no value (expected `{key} VALUE`)")
        if len(words) > 2:
            warn(
                f'{where}: {key}: "{" ".join(words[2:])}" is ignored (expected # before a comment)'
            )
        if key in written:
            warn(f"{where}: {key}: replaces the value in line {written[key].line}")
        written[key] = Entry(line=line, text=words[1], value=_value(key, words[1], where))
    return Entries(name=name, written=written)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the number of each line that is not empty, and its words before the comment."""
    for number, line in enumerate(text.split("\n"), start=1):
        if words := line.split("#")[0].split():
            yield number, words


def _known(word: str, where: str) -> str:
    key = OLDER_NAMES.get(word, word)
    if key in KEYS:
        return key
    near = difflib.get_close_matches(word, KEYS, n=1)
    hint = f"did you mean {near[0]}?" if near else "expected for example IPv6-L-Real"
    raise ConfigurationError(f"{where}: {word}: is not a known key ({hint})")


def _value(key: str, text: str, where: str) -> Any:
    try:
        return KEYS[key].kind.read(text)
    except Wrong as wrong:
        raise ConfigurationError(f'{where}: {key}: "{text}" {wrong}') from None
