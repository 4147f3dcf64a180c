"""Refuses addresses of a testbed that contradict each other.

If a host's address is also the gateway's own, or is behind both of its ports, the gateway does not
forward the frames to that host, and the trial would count them as lost.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn

from natxy.model.address_range import AddressRange
from natxy.model.addresses import IpVersion, version_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_spec import Side

SIDES: tuple[Side, ...] = ("left", "right")
OTHER: dict[Side, Side] = {"left": "right", "right": "left"}


@dataclass(frozen=True, kw_only=True)
class _Used:
    """An address of the frames, with the range in which it varies."""

    side: Side
    key: str
    text: str
    range: AddressRange

    @property
    def version(self) -> IpVersion:
        return 4 if self.key.startswith("ipv4") else 6

    @property
    def where(self) -> tuple[str, ...]:
        """The key to blame: the one that varies the address, else the address itself."""
        if self.range.field_at is not None:
            return ("traffic", f"{self.side}_field")
        if self.range.network_at is not None:
            return ("traffic", f"{self.side}_networks")
        return ("tester", self.side, self.key)

    @property
    def varies(self) -> bool:
        return self.where[0] == "traffic"

    @property
    def what(self) -> str:
        """The subject of a sentence that follows `where`."""
        if not self.varies:
            return self.text
        low, high = self.range.ends
        return f"{self.key} {low} to {high}"


def check_addresses(testbed: Testbed, source: Source) -> None:
    """Raises ConfigurationError with the key of the first address that is wrong."""
    used = [each for side in SIDES for each in _used(testbed, side)]
    for each in used:
        _check_special(each, source)
        _check_next_hops(each, testbed, source)
        _check_own(each, testbed, source)
    for side in SIDES:
        _check_own_next_hop(testbed, side, source)
        _check_tunnel(used, testbed, side, source)
    _check_apart(used, source)
    _check_own_apart(used, testbed, source)


def _used(testbed: Testbed, side: Side) -> Iterator[_Used]:
    port = testbed.tester.port(side)
    for key in _keys(testbed, side):
        text: str | None = getattr(port, key)
        if text is not None:
            found = AddressRange.of(testbed.traffic, side, text)
            yield _Used(side=side, key=key, text=text, range=found)


def _keys(testbed: Testbed, side: Side) -> Iterator[str]:
    """Yields the keys of the addresses that frames of this testbed have on one side."""
    traffic, asked = testbed.traffic, testbed.connections
    own, far = traffic.ip_version(side), traffic.ip_version(OTHER[side])
    if traffic.m:
        yield f"ipv{own}_real"
        # The gateway itself chooses the address under which the other side sees an initiator.
        if own != far and (asked is None or asked.initiator != side):
            yield f"ipv{far}_virtual"
    if traffic.has_background and not (traffic.m and own == 6):
        yield "ipv6_real"


def _check_special(used: _Used, source: Source) -> None:
    special = used.range.special()
    if special is not None:
        sentence = f"{used.what} includes {special} addresses (expected hosts' addresses only)"
        source.refuse(used.where, sentence)


def _check_next_hops(used: _Used, testbed: Testbed, source: Source) -> None:
    """Refuses an address that is also a next hop, since next hops are the gateway's own."""
    cabled = _is_cabled(testbed, used.version)
    for side in SIDES:
        key = f"next_hop_ipv{used.version}"
        hop: str | None = getattr(testbed.tester.port(side), key)
        if hop is None or (cabled and side != used.side):
            continue
        if used.range.holds(hop):
            _refuse(used, f"tester.{side}.{key}", hop, source)


def _is_cabled(testbed: Testbed, version: IpVersion) -> bool:
    """Returns whether the ports are connected to each other: each is the other's next hop."""
    hops = {side: getattr(testbed.tester.port(side), f"next_hop_ipv{version}") for side in SIDES}
    real = {side: getattr(testbed.tester.port(side), f"ipv{version}_real") for side in SIDES}
    given = [(hop, real[OTHER[side]]) for side, hop in hops.items() if hop is not None]
    return all(host is not None and _same(hop, host) for hop, host in given)


def _check_own(used: _Used, testbed: Testbed, source: Source) -> None:
    """Refuses a range that contains one of this side's `own_addresses`.

    The gateway uses these as its next hops. One of them may be the varied address itself.
    """
    port = testbed.tester.port(used.side)
    given = [port.ipv4_real, port.ipv4_virtual, port.ipv6_real, port.ipv6_virtual]
    for own in port.own_addresses:
        if used.varies and used.range.holds(own) and not any(_same(own, a) for a in given if a):
            _refuse(used, f"tester.{used.side}.own_addresses", own, source)


def _check_own_next_hop(testbed: Testbed, side: Side, source: Source) -> None:
    port = testbed.tester.port(side)
    given: list[tuple[tuple[str, ...], str]] = [
        (("own_addresses",), own) for own in port.own_addresses
    ]
    if port.tunnel is not None:
        given.append((("tunnel", "address"), port.tunnel.address))
    for where, own in given:
        key = f"next_hop_ipv{version_of(own)}"
        hop: str | None = getattr(port, key)
        if hop is not None and _same(own, hop):
            source.refuse(
                ("tester", side, *where),
                f"{own} is also tester.{side}.{key} (expected another address)",
            )


def _check_tunnel(used: list[_Used], testbed: Testbed, side: Side, source: Source) -> None:
    """Refuses an end of a tunnel that is an address of the frames in it, or the other tunnel's.

    The gateway would take the frames to it for its own, or send them out at the wrong port.
    """
    tunnel = testbed.tester.port(side).tunnel
    if tunnel is None:
        return
    ends = {"address": tunnel.address, "gateway": tunnel.gateway}
    for each in used:
        for key, end in ends.items():
            if each.range.holds(end):
                _refuse(each, f"tester.{side}.tunnel.{key}", end, source)
    other = testbed.tester.port(OTHER[side]).tunnel
    if side == "right" and other is not None and _same(tunnel.address, other.address):
        source.refuse(
            ("tester", side, "tunnel", "address"),
            f"{tunnel.address} is also tester.left.tunnel.address (expected another address)",
        )


def _check_apart(used: list[_Used], source: Source) -> None:
    for one in used:
        for other in used:
            if one.side == "right" and other.side == "left" and one.range.meets(other.range):
                blamed, also = (other, one) if other.varies and not one.varies else (one, other)
                _refuse(blamed, f"tester.{also.side}.{also.key}", also.text, source)


def _check_own_apart(used: list[_Used], testbed: Testbed, source: Source) -> None:
    """Refuses `own_addresses` of one side that the other side uses too."""
    for side in SIDES:
        for own in testbed.tester.port(side).own_addresses:
            for each in used:
                if each.side != side and each.range.holds(own):
                    _refuse(each, f"tester.{side}.own_addresses", own, source)
    left, right = (testbed.tester.port(side).own_addresses for side in SIDES)
    for own in right:
        if any(_same(own, other) for other in left):
            source.refuse(
                ("tester", "right", "own_addresses"),
                f"{own} is also in tester.left.own_addresses (expected another address)",
            )


def _refuse(used: _Used, key: str, address: str, source: Source) -> NoReturn:
    if used.varies:
        sentence = f"{used.what} includes {key}, {address} (expected a range without it)"
    else:
        sentence = f"{used.what} is also {key} (expected another address)"
    source.refuse(used.where, sentence)


def _same(one: str, other: str) -> bool:
    return ip_address(one) == ip_address(other)
