"""Reads a file that a user wrote, and names the line of what is wrong in it."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from natxy.errors import ConfigurationError
from natxy.model.refusal import first_refusal, path_text
from natxy.model.toml_lines import line_of

T = TypeVar("T")
ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
NESTED = "lists or tables are nested too deeply (expected a few levels)"


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
        line = line_of(self.text, path)
        where = self.name if line is None else f"{self.name}, line {line}"
        separator = ": " if path else " "
        raise ConfigurationError(f"{where}: {path_text(path)}{separator}{sentence}")


def _adapter(model: Any) -> TypeAdapter[Any]:
    """Returns the adapter of a model, which is built once."""
    if model not in ADAPTERS:
        ADAPTERS[model] = TypeAdapter(model)
    return ADAPTERS[model]
