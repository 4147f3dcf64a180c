"""Number -> four-tuple, written from docs/decisions/0008-number-to-flow.md and
0020-enumerations-permuted-as-a-whole.md alone: the engine's source is not looked at, so that both
are not wrong alike."""

import itertools
from dataclasses import dataclass, replace
from typing import Any

WORD = 2**64


@dataclass(frozen=True, kw_only=True)
class Values:
    source_port: int
    destination_port: int
    source_field: int
    destination_field: int
    network: int

    @property
    def swapped(self) -> "Values":
        return Values(
            source_port=self.destination_port,
            destination_port=self.source_port,
            source_field=self.destination_field,
            destination_field=self.source_field,
            network=self.network,
        )


def place_of(number: int, mix: dict[str, int]) -> tuple[str, int]:
    """The kind of a stream's frame, and its ordinal within the kind."""
    n, m = mix["n"], mix["m"]
    quotient, remainder = divmod(number, n)
    if remainder < m:
        return "foreground", quotient * m + remainder
    return "background", quotient * (n - m) + remainder - m


def mixed(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WORD
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def derive(seed: int, use: int) -> int:
    return mixed((mixed(seed) + (use + 1) * 0x9E3779B97F4A7C15) % WORD)


def seed_of(trial_seed: int, direction: str, kind: str) -> int:
    return derive(trial_seed, 2 * (direction == "reverse") + (kind == "background"))


def size_of(series: dict[str, Any]) -> int:
    return 1 if series["mode"] == "fixed" else int(series["max"]) - int(series["min"]) + 1


def value_of(series: dict[str, Any], ordinal: int, word: int) -> int:
    low, high, size = int(series["min"]), int(series["max"]), size_of(series)
    match series["mode"]:
        case "fixed":
            return low
        case "increasing":
            return low + ordinal % size
        case "decreasing":
            return high - ordinal % size
        case _:
            return low + ((word % WORD >> 32) * size >> 32)


def independent(traffic: dict[str, Any], ordinal: int, seed: int) -> Values:
    ports = mixed(ordinal ^ derive(seed, 0))
    addresses = mixed(ports ^ derive(seed, 1))
    networks = {"mode": "pseudorandom", "min": 0, "max": traffic["networks"] - 1}
    return Values(
        source_port=value_of(traffic["source_port"], ordinal, ports),
        destination_port=value_of(traffic["destination_port"], ordinal, ports << 32),
        source_field=value_of(traffic["source_field"], ordinal, addresses),
        destination_field=value_of(traffic["destination_field"], ordinal, addresses << 24),
        network=value_of(networks, ordinal, addresses << 48),
    )


def scramble(half: int, key: int) -> int:
    bits = (half % 2**32) ^ key
    bits = bits * 0x7FEB352D % 2**32
    bits ^= bits >> 15
    return bits * 0x846CA68B % 2**32


def permuted(rank: int, size: int, key: int) -> int:
    k = next(k for k in itertools.count(1) if 4**k >= size)
    height = -(-size // 2**k)
    keys = [derive(key, round_) % 2**32 for round_ in range(4)]
    while True:
        y, x = divmod(rank, 2**k)
        for round_ in (0, 2):
            x ^= scramble(y, keys[round_]) // 2 ** (32 - k)
            y = (y + scramble(x, keys[round_ + 1]) * height // 2**32) % height
        rank = y * 2**k + x
        if rank < size:
            return rank


def enumerated(traffic: dict[str, Any], ordinal: int, seed: int) -> Values:
    source_ports = size_of(traffic["source_port"])
    destination_ports = size_of(traffic["destination_port"])
    sources = source_ports * size_of(traffic["source_field"])
    destinations = destination_ports * size_of(traffic["destination_field"])
    rank = ordinal
    if traffic["selection"] == "enumerate-decreasing":
        rank = sources * destinations - 1 - ordinal
    if traffic["selection"] == "enumerate-pseudorandom":
        rank = permuted(rank, sources * destinations, derive(seed, 2))
    destination, source = divmod(rank, sources)
    return Values(
        source_port=traffic["source_port"]["min"] + source % source_ports,
        destination_port=traffic["destination_port"]["min"] + destination % destination_ports,
        source_field=traffic["source_field"]["min"] + source // source_ports,
        destination_field=traffic["destination_field"]["min"] + destination // destination_ports,
        network=0,
    )


def port_of(index: int, ports: dict[str, int] | None, subscriber: int) -> int:
    """The port with this index in the subscriber's port set (RFC 7597 appendix B.1).

    P = R * M * i + M * PSID + j: there are R subscribers, with M ports that follow each other.
    """
    if ports is None:
        return index
    r = 1 << ports["psid_bits"]
    m = (1 << 16 - ports["offset_bits"]) // r
    i, j = index // m, index % m
    if ports["offset_bits"] > 0:
        i += 1  # the ports of i = 0 belong to nobody
    return r * m * i + m * (subscriber % r) + j


def values_of(traffic: dict[str, Any], ordinal: int, seed: int) -> Values:
    chosen = independent if traffic["selection"] == "independent" else enumerated
    values = chosen(traffic, ordinal, seed)
    source, destination = (traffic.get(f"{end}_port_set") for end in ("source", "destination"))
    return replace(
        values,
        source_port=port_of(values.source_port, source, values.source_field),
        destination_port=port_of(values.destination_port, destination, values.destination_field),
    )
