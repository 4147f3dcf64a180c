"""Reads a file that a user wrote, and names the line of what is wrong in it."""

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from natxy.errors import ConfigurationError
from natxy.model.refusal import first_refusal, path_text

T = TypeVar("T")
ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
NESTED = "lists or tables are nested too deeply (expected a few levels)"
# A TOML text's keys: the standard library's reader does not report their lines.
_TABLE = re.compile(r"^\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""^\s*([\w"'][\w."'\- ]*?)\s*=""")


@dataclass(frozen=True, kw_only=True)
class Source:
    """A text and its name; only the name where a program composed the values."""

    name: str
    text: str = ""

    @classmethod
    def read(cls, path: Path) -> "Source":
        try:
            return cls(name=str(path), text=path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ConfigurationError(f"{path}: there is no such file") from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "is not text in UTF-8"
            raise ConfigurationError(f"{path}: cannot be read: {reason}") from None

    def toml(self) -> dict[str, Any]:
        try:
            read = tomllib.loads(self.text)
            json.dumps(read, default=str)  # fails for a hexadecimal number of too many digits
            return read
        except ValueError as error:  # also a number of more digits than Python converts
            raise ConfigurationError(f"{self.name}: is not TOML: {error}") from None
        except RecursionError:
            raise ConfigurationError(f"{self.name}: {NESTED}") from None

    def json(self) -> Any:
        try:
            return json.loads(self.text)
        except ValueError as error:
            raise ConfigurationError(f"{self.name}: is not JSON: {error}") from None
        except RecursionError:
            raise ConfigurationError(f"{self.name}: {NESTED}") from None

    def validated(self, model: type[T] | Any, value: Any, at: tuple[str, ...] = ()) -> T:
        """Returns the value as this model; `at` is the path of the value in the source."""
        try:
            # By way of JSON, since there a strict model takes a list as a tuple and text as a path.
            checked: T = _adapter(model).validate_json(json.dumps(value, default=str))
        except ValidationError as error:
            path, sentence = first_refusal(error, model)
            self.refuse((*at, *path), sentence)
        return checked

    def refuse(self, path: tuple[str, ...], sentence: str) -> NoReturn:
        line = _line_of(self.text, path)
        where = self.name if line is None else f"{self.name}, line {line}"
        separator = ": " if path else " "
        raise ConfigurationError(f"{where}: {path_text(path)}{separator}{sentence}")


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
