"""ICMP errors in words: "500 x ICMP fragmentation needed, MTU 1280, from 198.18.0.1"."""

from collections.abc import Iterable, Sequence

from natxy.model.port_result import IcmpError

SHOWN = 4  # sorts of errors that one sentence lists

# Keys are (type, code): RFC 792, RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.
ICMPV4_WORDS = {
    (3, 0): "no route (network unreachable)",
    (3, 1): "host unreachable",
    (3, 2): "protocol unreachable",
    (3, 3): "port unreachable",
    (3, 4): "fragmentation needed",
    (3, 5): "source route failed",
    (3, 6): "network unknown",
    (3, 7): "host unknown",
    (3, 8): "source host isolated",
    (3, 9): "network prohibited",
    (3, 10): "host prohibited",
    (3, 11): "network unreachable for this type of service",
    (3, 12): "host unreachable for this type of service",
    (3, 13): "prohibited by a filter",
    (3, 14): "host precedence violation",
    (3, 15): "precedence cutoff",
    (4, 0): "source quench",
    (11, 0): "TTL exceeded",
    (11, 1): "fragment reassembly time exceeded",
    (12, 0): "parameter problem",
    (12, 1): "required option missing",
    (12, 2): "bad length",
}
# RFC 4443.
ICMPV6_WORDS = {
    (1, 0): "no route",
    (1, 1): "prohibited by a filter",
    (1, 2): "beyond the scope of the source address",
    (1, 3): "address unreachable",
    (1, 4): "port unreachable",
    (1, 5): "source address failed the policy",
    (1, 6): "route rejected",
    (2, 0): "packet too big",
    (3, 0): "hop limit exceeded",
    (3, 1): "fragment reassembly time exceeded",
    (4, 0): "erroneous header field",
    (4, 1): "unknown next header",
    (4, 2): "unknown IPv6 option",
}


def icmp_words(error: IcmpError) -> str:
    """Returns count, meaning and source of one sort of error."""
    name, words = ("ICMP", ICMPV4_WORDS) if error.ip_version == 4 else ("ICMPv6", ICMPV6_WORDS)
    what = words.get((error.type, error.code), f"type {error.type} code {error.code}")
    mtu = "" if error.mtu is None else f", MTU {error.mtu}"
    return f"{error.count:,} x {name} {what}{mtu}, from {error.source}"


def icmp_list(errors: Iterable[IcmpError]) -> str:
    """Returns the most frequent sorts, and the count of all others; empty without an error."""
    sorts = merged(errors)
    said = [icmp_words(error) for error in sorts[:SHOWN]]
    if others := sum(error.count for error in sorts[SHOWN:]):
        said.append(f"{others:,} of other sorts")
    return "; ".join(said)


def merged(errors: Iterable[IcmpError]) -> tuple[IcmpError, ...]:
    """Adds up the errors that are alike; returns the most frequent first, without examples."""
    alike: dict[Sequence[object], IcmpError] = {}
    for error in errors:
        key = (error.ip_version, error.type, error.code, error.mtu, error.source)
        count = error.count + (alike[key].count if key in alike else 0)
        alike[key] = error.model_copy(update={"count": count, "example": ""})
    return tuple(sorted(alike.values(), key=lambda error: -error.count))
