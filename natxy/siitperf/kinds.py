"""Kinds of values in a siitperf.conf and of arguments: each reads a text or refuses it."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Protocol

from natxy.model.addresses import EXAMPLES, IpVersion, not_of_a_host, version_of

UNUSED = {4: "0.0.0.0", 6: "::"}


class Wrong(Exception):
    """Refuses a value; the message continues a sentence that begins with the value."""


class Kind(Protocol):
    def read(self, text: str) -> Any:
        """Returns the value, or raises Wrong."""


DECIMAL = re.compile(r"[+-]?[0-9]+")
HEXADECIMAL = re.compile(r"[+-]?0[xX][0-9A-Fa-f]*")
# Numbers as C's %i reads them: 0x is hexadecimal, another leading 0 is octal.
WITH_A_BASE = (
    (re.compile(r"[+-]?0[xX][0-9A-Fa-f]+"), 16),
    (re.compile(r"[+-]?0[0-7]*"), 8),
    (re.compile(r"[+-]?[1-9][0-9]*"), 10),
)


def _number(text: str, base: int, expected: str) -> int:
    try:
        return int(text, base)
    except ValueError:  # more digits than Python converts
        raise Wrong(f"is out of range (expected {expected})") from None


def _decimal(text: str, expected: str) -> int:
    """Returns the number; a leading 0 changes nothing."""
    if DECIMAL.fullmatch(text):
        return _number(text, 10, expected)
    if HEXADECIMAL.fullmatch(text):
        raise Wrong(f"is hexadecimal, which siitperf reads as 0 (expected {expected}, decimal)")
    raise Wrong(f"is not a whole number (expected {expected})")


def _with_a_base(text: str, expected: str) -> int:
    for pattern, base in WITH_A_BASE:
        if pattern.fullmatch(text):
            return _number(text, base, expected)
    raise Wrong(f"is not a whole number (expected {expected})")


@dataclass(frozen=True)
class Whole:
    """A whole number, decimal."""

    lowest: int
    highest: int

    def read(self, text: str) -> int:
        return self._within(_decimal(text, self._expected))

    @property
    def _expected(self) -> str:
        return f"{self.lowest} to {self.highest}"

    def _within(self, value: int) -> int:
        if not self.lowest <= value <= self.highest:
            raise Wrong(f"is out of range (expected {self._expected})")
        return value


@dataclass(frozen=True)
class WholeWithBase(Whole):
    """A whole number, decimal, hexadecimal with 0x, or octal with a leading 0."""

    def read(self, text: str) -> int:
        return self._within(_with_a_base(text, self._expected))


@dataclass(frozen=True)
class OneOf:
    """One of a few numbers."""

    numbers: tuple[int, ...]

    def read(self, text: str) -> int:
        expected = " or ".join(map(str, self.numbers))
        value = _decimal(text, expected)
        if value not in self.numbers:
            raise Wrong(f"is an unknown value (expected {expected})")
        return value


@dataclass(frozen=True)
class Switch:
    """A number that is true unless it is 0."""

    def read(self, text: str) -> bool:
        return _decimal(text, "0 or 1") != 0


@dataclass(frozen=True)
class Address:
    """An IP address; the unspecified address stands for an unused one and is read as None."""

    version: IpVersion

    def read(self, text: str) -> str | None:
        if version_of(text) != self.version:
            raise Wrong(
                f"is not an IPv{self.version} address (expected for example "
                f"{EXAMPLES[self.version]}, or {UNUSED[self.version]} for an unused address)"
            )
        if ip_address(text).is_unspecified:
            return None
        if sentence := not_of_a_host(text):
            raise Wrong(sentence)
        return text


@dataclass(frozen=True)
class Mac:
    def read(self, text: str) -> str:
        """Returns the address in lower case; an octet may have one digit."""
        if not re.fullmatch(r"[0-9A-Fa-f]{1,2}(:[0-9A-Fa-f]{1,2}){5}", text):
            raise Wrong("is not a MAC address (expected for example 02:00:00:00:00:01)")
        return ":".join(f"{int(octet, 16):02x}" for octet in text.split(":"))
