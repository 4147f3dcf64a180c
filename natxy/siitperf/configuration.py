"""A siitperf.conf, read and checked as a whole.

A line is `key value # comment`.
"""

import codecs
import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any, NoReturn

from natxy.errors import ConfigurationError
from natxy.model.source import bytes_of
from natxy.model.trial_spec import Side as SideName
from natxy.siitperf.keys import KEYS, OLDER_NAMES, PARTS, Direction, Settings, Side, Wrong

Warn = Callable[[str], None]
FILE = Path("siitperf.conf")


@dataclass(frozen=True, kw_only=True)
class Entries:
    """The values of a file by key; a key that is not in the file has its default."""

    name: str
    written: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # the number of a key's line

    def value(self, key: str) -> Any:
        return self.written.get(key, KEYS[key].default)

    def refuse(self, key: str, sentence: str) -> NoReturn:
        where = f"{self.name}, line {self.lines[key]}" if key in self.lines else self.name
        raise ConfigurationError(f"{where}: {key}: {sentence}")


def read_entries(path: Path, warn: Warn) -> Entries:
    entries = Entries(name=str(path))
    # Only comments hold other letters than ASCII's, in the encoding of their authors' editors.
    written_by_others = bytes_of(path).removeprefix(codecs.BOM_UTF8)
    for line, words in _lines(written_by_others.decode("ascii", errors="replace")):
        where = f"{entries.name}, line {line}"
        key = _known(words[0], where)
        if len(words) == 1:
            raise ConfigurationError(f"{where}: {key}: has no value (expected `{key} VALUE`)")
        if len(words) > 2:
            warn(
                f'{where}: {key}: "{" ".join(words[2:])}" is ignored (expected # before a comment)'
            )
        if key in entries.lines:
            warn(f"{where}: {key}: replaces the value in line {entries.lines[key]}")
        entries.written[key], entries.lines[key] = _value(key, words[1], where), line
    return entries


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
        return KEYS[key].read(text)
    except Wrong as wrong:
        raise ConfigurationError(f'{where}: {key}: "{text}" {wrong}') from None


@dataclass(frozen=True, kw_only=True)
class Configuration(Settings):
    entries: Entries  # for errors, which name the line
    left: Side
    right: Side
    forward: Direction
    reverse: Direction

    @property
    def initiator(self) -> SideName:
        """The side that creates connections in a stateful test."""
        return "right" if self.stateful == 2 else "left"

    @property
    def initiators_ports(self) -> tuple[str, Direction]:
        """The initiator's direction, and the prefix of its keys."""
        return ("Fwd", self.forward) if self.initiator == "left" else ("Rev", self.reverse)

    @property
    def has_phase_2(self) -> bool:
        """False for a stateful test that consists of phase 1 only."""
        return self.has_forward or self.has_reverse

    @property
    def initiator_sends(self) -> bool:
        """True if the initiator sends in phase 2 as well."""
        return self.has_forward if self.initiator == "left" else self.has_reverse

    @property
    def sends_forward(self) -> bool:
        """True if frames are sent forward in one of the phases."""
        return self.has_forward or self.stateful == 1

    @property
    def sends_reverse(self) -> bool:
        return self.has_reverse or self.stateful == 2

    @property
    def varies_addresses(self) -> bool:
        return bool(self.left.varying or self.right.varying)

    @property
    def is_pure_ipv4(self) -> bool:
        """True if the foreground is IPv4 on both sides."""
        return self.left.ip_version == self.right.ip_version == 4


def read_configuration(path: Path, warn: Warn) -> Configuration:
    entries = read_entries(path, warn)
    configuration = Configuration(
        entries=entries,
        left=Side(**_values(entries, "left")),
        right=Side(**_values(entries, "right")),
        forward=Direction(**_values(entries, "forward")),
        reverse=Direction(**_values(entries, "reverse")),
        **_values(entries, "common"),
    )
    _check_directions(configuration)
    _check_ranges(configuration)
    _check_varying(configuration)
    _check_enumeration(configuration)
    _check_networks(configuration, warn)
    return _with_inferred(configuration)


def _values(entries: Entries, part: str) -> dict[str, Any]:
    return {key.field: entries.value(key.name) for key in PARTS[part]}


def _check_directions(configuration: Configuration) -> None:
    if not configuration.has_phase_2 and not configuration.stateful:
        configuration.entries.refuse("Forward", "is 0, as Reverse is (expected 1 for one of them)")
    needed = {
        "Forward": ("CPU-L-Send", "CPU-R-Recv") if configuration.sends_forward else (),
        "Reverse": ("CPU-R-Send", "CPU-L-Recv") if configuration.sends_reverse else (),
    }
    for direction, keys in needed.items():
        asks = direction if getattr(configuration, f"has_{direction.lower()}") else "Stateful"
        for key in keys:
            if configuration.entries.value(key) is None:
                configuration.entries.refuse(
                    key, f"is missing, and {asks} is active (expected the number of a CPU)"
                )


def _check_ranges(configuration: Configuration) -> None:
    """Refuses a -max key that is below its -min key."""
    entries = configuration.entries
    for part in PARTS.values():
        for key in part:
            if not key.name.endswith("-max"):
                continue
            lowest = entries.value(key.name.removesuffix("-max") + "-min")
            highest = entries.value(key.name)
            if lowest is not None and highest is not None and highest < lowest:
                entries.refuse(
                    key.name, f"{highest} is below the minimum (expected {lowest} or more)"
                )


def _check_varying(configuration: Configuration) -> None:
    entries = configuration.entries
    for letter, side in (("L", configuration.left), ("R", configuration.right)):
        if not side.varying:
            continue
        if configuration.left.networks > 1 or configuration.right.networks > 1:
            several = "Num-L-Nets" if configuration.left.networks > 1 else "Num-R-Nets"
            entries.refuse(
                f"IP-{letter}-var",
                f"addresses vary, but {several} is more than 1 (expected 0, or 1 network)",
            )
        _check_offsets(configuration, letter)
        for key in (f"IP-{letter}-min", f"IP-{letter}-max"):
            if entries.value(key) is None:
                entries.refuse(
                    key, f"is missing, and IP-{letter}-var is not 0 (expected 0 to 65535)"
                )


def _check_offsets(configuration: Configuration, letter: str) -> None:
    """Refuses varying addresses without an offset for the IP version of each side."""
    for version in {configuration.left.ip_version, configuration.right.ip_version}:
        key = f"IPv{version}-{letter}-offset"
        if configuration.entries.value(key) is None:
            offsets = "1 or 2" if version == 4 else "6 to 14"
            configuration.entries.refuse(
                key, f"is missing, and IP-{letter}-var is not 0 (expected {offsets})"
            )


def _check_enumeration(configuration: Configuration) -> None:
    ports, addresses = configuration.enumerated_ports, configuration.enumerated_addresses
    if not ports and not addresses:
        return
    entries = configuration.entries
    key = "Enumerate-ports" if ports else "Enumerate-ips"
    if not configuration.stateful:
        entries.refuse(key, "is used only by stateful tests (expected 0, or Stateful 1 or 2)")
    if ports and addresses and ports != addresses:
        entries.refuse("Enumerate-ips", f"differs from Enumerate-ports (expected {ports})")
    if ports and not addresses and configuration.varies_addresses:
        entries.refuse(
            "Enumerate-ips", f"is 0, but addresses vary and {key} is {ports} (expected {ports})"
        )
    if addresses and not ports and configuration.initiators_ports[1].varies:
        entries.refuse(
            "Enumerate-ports",
            f"is 0, but ports vary and {key} is {addresses} (expected {addresses})",
        )
    for letter, side in (("L", configuration.left), ("R", configuration.right)):
        if addresses and not side.varying:
            entries.refuse(
                f"IP-{letter}-var", "is 0, but addresses are enumerated (expected 1, 2 or 3)"
            )


def _check_networks(configuration: Configuration, warn: Warn) -> None:
    """Refuses several networks on the responder's side of a stateful test.

    Replies go to the addresses that their connections came from.
    """
    if not configuration.stateful:
        return
    for key, side in (("Num-L-Nets", configuration.left), ("Num-R-Nets", configuration.right)):
        if side.networks == 1:
            continue
        if (key == "Num-L-Nets") == (configuration.initiator == "left"):
            warn(f"{key}: is ignored, because replies go to the initiator's own addresses")
        else:
            configuration.entries.refuse(
                key, f"{side.networks} is not possible in a stateful test (expected 1)"
            )


def _with_inferred(configuration: Configuration) -> Configuration:
    """Returns the configuration of a stateful test with the responder's IPv4 address.

    It is the address that the responder's virtual IPv6 address embeds (RFC 6052, a prefix of 96
    bits). The initiator's IPv4 address is chosen by the gateway and learned in phase 1.
    """
    if not configuration.stateful:
        return configuration
    if configuration.initiator == "left":
        return replace(configuration, right=_inferred(configuration.right))
    return replace(configuration, left=_inferred(configuration.left))


def _inferred(responder: Side) -> Side:
    virtual = responder.ipv6_virtual
    if responder.ip_version != 4 or responder.ipv4_real is not None or virtual is None:
        return responder
    embedded = IPv4Address(int(IPv6Address(virtual)) % 2**32)
    return replace(responder, ipv4_real=str(embedded))
