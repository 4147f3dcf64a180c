"""Reads a file that a user wrote, and names the line of what is wrong in it."""

import json
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from natxy.errors import ConfigurationError
from natxy.model.refusal import first_refusal, path_text
from natxy.setting import Setting

T = TypeVar("T")
ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
NESTED = "lists or tables are nested too deeply (expected a few levels)"
# What a person writes is far below these; the time to read TOML grows with the square of a key.
MAX_BYTES = 4 * 2**20
MAX_TOML_CHARACTERS = 2**18
MAX_DOTS = 1000  # in a line
MAX_DEPTH = 50
# A TOML text's keys: the standard library's reader does not report their lines.
_TABLE = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*([\w"'][\w."'\- ]*?)\s*=""")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A text and its name; only the name where a program composed the values."""

    name: str | Setting
    text: str = ""

    @classmethod
    def read(cls, path: Path) -> "Source":
        try:
            return cls(name=str(path), text=bytes_of(path).decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ConfigurationError(f"{path}: cannot be read: is not text in UTF-8") from None

    def toml(self) -> dict[str, Any]:
        self._check_size()
        try:
            read = tomllib.loads(self.text)
            json.dumps(read, default=str)  # fails for a hexadecimal number of too many digits
        except ValueError as error:  # also a number of more digits than Python converts
            raise ConfigurationError(f"{self.name}: is not TOML: {error}") from None
        except RecursionError:
            raise ConfigurationError(f"{self.name}: {NESTED}") from None
        self._check_texts(read)
        return read

    def json(self) -> Any:
        try:
            read = json.loads(self.text)
        except ValueError as error:
            raise ConfigurationError(f"{self.name}: is not JSON: {error}") from None
        except RecursionError:
            raise ConfigurationError(f"{self.name}: {NESTED}") from None
        self._check_texts(read)
        return read

    def _check_size(self) -> None:
        if len(self.text) > MAX_TOML_CHARACTERS:
            raise ConfigurationError(
                f"{self.name}: has {len(self.text):,} characters (expected at most "
                f"{MAX_TOML_CHARACTERS:,})"
            )
        for number, line in enumerate(self.text.split("\n"), start=1):
            if line.count(".") > MAX_DOTS:
                raise ConfigurationError(
                    f"{self.name}, line {number}: has {line.count('.'):,} dots (expected at most "
                    f"{MAX_DOTS:,} in a line)"
                )

    def _check_texts(self, read: Any) -> None:
        """Refuses a NUL in a key or a text: no path, argument or name in the system can hold it."""
        for path, text in _texts_of(read):
            if len(path) > MAX_DEPTH:
                raise ConfigurationError(f"{self.name}: {NESTED}")
            if "\0" in text:
                self.refuse(path, "holds a NUL character (expected a text without)")
            if any("\ud800" <= character <= "\udfff" for character in text):
                self.refuse(path, "holds half of a character (expected text in Unicode)")

    def validated(self, model: type[T] | Any, value: Any, at: tuple[str, ...] = ()) -> T:
        """Returns the value as this model; `at` is the path of the value in the source."""
        try:
            # By way of JSON, since there a strict model takes a list as a tuple and text as a path.
            checked: T = _adapter(model).validate_json(json.dumps(value, default=str))
        except ValidationError as error:
            path, sentence = first_refusal(error, model)
            # The kind by which a model is chosen stands in the path, but is no key.
            kind = value.get("kind") if isinstance(value, dict) else None
            if path and path[0] == kind and kind not in value:
                path = path[1:]
            self.refuse((*at, *path), sentence)
        return checked

    def refuse(self, path: tuple[str, ...], *sentence: str | Setting) -> NoReturn:
        line = _line_of(self.text, path)
        where = "" if line is None else f", line {line}"
        separator = ": " if path else " "
        raise ConfigurationError(self.name, f"{where}: {path_text(path)}{separator}", *sentence)


def with_home(name: str) -> Path:
    """Returns the path with the home folder in place of ~; as in a shell, a user that nobody knows
    stays as it is."""
    try:
        return Path(name).expanduser()
    except RuntimeError:
        return Path(name)


def bytes_of(path: Path, most: int = MAX_BYTES) -> bytes:
    """Returns what a regular file holds: reading a pipe waits, and reading a device may not end."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ConfigurationError(
                f"{path}: cannot be read: is {_kind_of(path)} (expected a file)"
            )
        with path.open("rb") as file:
            read = file.read(most + 1)
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: no name of a file, such as one with NUL
        reason = getattr(error, "strerror", None) or "is not the name of a file"
        raise ConfigurationError(f"{path}: cannot be read: {reason}") from None
    if len(read) > most:
        raise ConfigurationError(f"{path}: is too large (expected at most {most:,} octets)")
    return read


def _kind_of(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    return "a pipe" if path.is_fifo() else "a device" if path.is_char_device() else "no file"


def _texts_of(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields each key and text, with the path of its place."""
    left: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while left:
        path, value = left.pop()
        members: Iterable[tuple[str, Any]] = ()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            yield from ((path, key) for key in value)
            members = value.items()
        elif isinstance(value, list):
            yield path, ""
            members = ((f"[{number}]", member) for number, member in enumerate(value))
        left += (((*path, name), member) for name, member in members)


def read_whole(model: type[T], path: Path, expected: str) -> tuple[T, Source]:
    """Returns what a TOML file describes, and its text, so that later errors can name the line."""
    source = Source.read(path)
    if not source.text.strip():
        raise ConfigurationError(f"{path}: is empty (expected {expected})")
    return source.validated(model, source.toml()), source


def _adapter(model: Any) -> TypeAdapter[Any]:
    """Returns the adapter of a model, which is built once."""
    if model not in ADAPTERS:
        ADAPTERS[model] = TypeAdapter(model)
    return ADAPTERS[model]


def _line_of(text: str, path: tuple[str, ...]) -> int | None:
    """Returns the line (from 1) of the key at this path, or of the nearest one that contains it."""
    keys = tuple(part for part in path if not part.startswith("["))
    best_line, best_length = None, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), start=1):
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
