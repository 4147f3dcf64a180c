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


# Numbers as C reads them: 0x is hexadecimal, another leading 0 is octal.
NUMBERS = (
    (re.compile(r"[+-]?0[xX][0-9A-Fa-f]+"), 16),
    (re.compile(r"[+-]?0[0-7]*"), 8),
    (re.compile(r"[+-]?[1-9]\d*"), 10),
)


def _number(text: str) -> int | None:
    for pattern, base in NUMBERS:
        if pattern.fullmatch(text):
            return int(text, base)
    return None


@dataclass(frozen=True)
class Whole:
    """A whole number, decimal, with 0x, or octal with a leading 0."""

    lowest: int
    highest: int

    def read(self, text: str) -> int:
        value = _number(text)
        if value is None:
            raise Wrong(f"is not a whole number (expected {self.lowest} to {self.highest})")
        if not self.lowest <= value <= self.highest:
            raise Wrong(f"is out of range (expected {self.lowest} to {self.highest})")
        return value


@dataclass(frozen=True)
class OneOf:
    """One of a few numbers."""

    numbers: tuple[int, ...]

    def read(self, text: str) -> int:
        if text not in [str(number) for number in self.numbers]:
            raise Wrong(f"is an unknown value (expected {' or '.join(map(str, self.numbers))})")
        return int(text)


@dataclass(frozen=True)
class Switch:
    """A number that is true unless it is 0."""

    def read(self, text: str) -> bool:
        value = _number(text)
        if value is None:
            raise Wrong("is not a whole number (expected 0 or 1)")
        return value != 0


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
