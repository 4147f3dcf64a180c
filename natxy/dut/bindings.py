"""Writes the bindings of a testbed's subscribers for the gateways that need them.

A gateway that follows a rule of MAP (RFC 7597 section 5) needs that rule; a lwAFTR (RFC 7596) needs
an entry for each subscriber.
"""

from collections.abc import Callable, Iterator
from ipaddress import IPv6Network

from natxy.errors import ConfigurationError
from natxy.model.subscribers import Mechanism, SubscribersSection
from natxy.setting import Setting

FORMAT = Setting("format")
Lines = Iterator[str]


def csv(asked: SubscribersSection) -> Lines:
    """Yields a table: number, IPv6 address, IPv4 address and port set of each subscriber."""
    yield "number,ipv6,ipv4,psid,psid_bits,psid_offset_bits"
    port_set = f"{asked.psid_bits},{asked.offset_bits}"
    for number, one in enumerate(asked.subscribers()):
        yield f"{number},{one.ipv6},{one.ipv4},{one.psid},{port_set}"


def jool(asked: SubscribersSection) -> Lines:
    """Yields the commands for Jool's border relay of MAP-T (its man page: `jool_mapt fmrt`)."""
    yield f"jool_mapt instance add --netfilter --dmr {asked.gateway_prefix}"
    yield (
        f"jool_mapt fmrt add {asked.ipv6_prefix} {asked.ipv4_prefix} {asked.number_bits} "
        f"{asked.offset_bits}"
    )
    yield "jool_mapt global update map-t-type BR"


def snabb(asked: SubscribersSection) -> Lines:
    """Yields the binding table of Snabb's lwAFTR (its YANG schema snabb-softwire-v2 and later)."""
    port_set = f"psid-length {asked.psid_bits}; reserved-ports-bit-count {asked.offset_bits};"
    yield "softwire-config {"
    yield "  binding-table {"
    for one in asked.subscribers():
        yield (
            f"    softwire {{ ipv4 {one.ipv4}; psid {one.psid}; b4-ipv6 {one.ipv6}; "
            f"br-address {asked.gateway}; port-set {{ {port_set} }} }}"
        )
    yield "  }"
    yield "}"


def vpp(asked: SubscribersSection) -> Lines:
    """Yields the commands of FD.io VPP's plugin `map` (its help: `map add domain`).

    Encapsulation or translation is a setting of its interfaces, whose names Natxy does not know.
    """
    if asked.mechanism == "lw4o6":
        yield from _vpp_table(asked)
        return
    if asked.mechanism == "map-t" and IPv6Network(asked.gateway_prefix or "::/64").prefixlen != 64:
        # From 96 bits it makes another interface identifier, and takes IPv4 addresses from the
        # wrong octets (map_get_sfx and map_get_ip4 of VPP 26.06).
        raise ConfigurationError(
            f"subscribers.gateway_prefix: VPP translates no frame of {asked.gateway_prefix} right "
            "(expected a prefix of 64 bits)"
        )
    source = asked.gateway_prefix if asked.mechanism == "map-t" else asked.gateway
    yield (
        f"map add domain ip4-pfx {asked.ipv4_prefix} ip6-pfx {asked.ipv6_prefix} ip6-src {source} "
        f"ea-bits-len {asked.number_bits} psid-offset {asked.offset_bits} "
        f"psid-len {asked.psid_bits}"
    )


def _vpp_table(asked: SubscribersSection) -> Lines:
    """Yields a domain for each IPv4 address, and a rule for each of its PSIDs."""
    sharing = 2**asked.psid_bits
    for number, one in enumerate(asked.subscribers()):
        domain, psid = divmod(number, sharing)
        if psid == 0:
            prefix = "::/0" if asked.psid_bits else f"{one.ipv6}/128"
            yield (
                f"map add domain ip4-pfx {one.ipv4}/32 ip6-pfx {prefix} ip6-src {asked.gateway} "
                f"ea-bits-len 0 psid-offset {asked.offset_bits} psid-len {asked.psid_bits}"
            )
        if asked.psid_bits:
            yield f"map add rule index {domain} psid {psid} ip6-dst {one.ipv6}"


# Who reads them, and for which mechanisms.
FORMATS: dict[str, tuple[Callable[[SubscribersSection], Lines], tuple[Mechanism, ...]]] = {
    "csv": (csv, ("ds-lite", "lw4o6", "map-e", "map-t", "464xlat")),
    "jool": (jool, ("map-t",)),
    "snabb": (snabb, ("lw4o6",)),
    "vpp": (vpp, ("lw4o6", "map-e", "map-t")),
}


def bindings_of(asked: SubscribersSection, format_: str) -> Lines:
    """Returns the lines in one of FORMATS; ConfigurationError if it is not for the mechanism."""
    lines, mechanisms = FORMATS[format_]
    if asked.mechanism not in mechanisms:
        raise ConfigurationError(
            FORMAT,
            f': {format_} has no bindings of mechanism "{asked.mechanism}" (expected a testbed '
            f"with {' or '.join(mechanisms)}, or ",
            *(FORMAT, " csv)"),
        )
    return lines(asked)
