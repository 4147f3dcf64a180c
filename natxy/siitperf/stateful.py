"""Converts the arguments of a stateful test to [connections].

In siitperf's phase 2 the initiator's frames have ports of series of their own. Here they use the
connections that phase 1 created, in the order of these series.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, prod
from typing import Any

from natxy.errors import ConfigurationError
from natxy.model.source import Source
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.model.trial_spec import MAX_TRIAL_NS
from natxy.siitperf.arguments import Arguments, Preliminary
from natxy.siitperf.configuration import Configuration, Warn

ORDERS = ("fixed", "increasing", "decreasing", "pseudorandom")  # 0 to 3
PSEUDORANDOM = 3
MS_PER_S = 1000
LONGEST_MS = MAX_TRIAL_NS // 10**6
# Drawing with repetition needs a table with 8 octets for each combination. So many combinations
# always fit the memory; and with more than so many a frame, hardly one is drawn twice.
ALWAYS_DRAWN = 2**24
DRAWN_PER_FRAME = 16


@dataclass(frozen=True, kw_only=True)
class Variation:
    """A port or address that varies; the initiator's connections are combinations of these."""

    key: str
    order: int  # the key's value
    values: int


def variations(configuration: Configuration) -> tuple[Variation, ...]:
    """Returns the variations with more than one value."""
    return tuple(each for each in _all_variations(configuration) if each.values > 1)


def _all_variations(configuration: Configuration) -> Iterator[Variation]:
    way, ports = configuration.initiators_ports
    for end, order, values in (
        ("sport", ports.varying_source_port, ports.source_ports),
        ("dport", ports.varying_destination_port, ports.destination_ports),
    ):
        there = order or configuration.enumerated_ports
        yield Variation(key=f"{way}-var-{end}", order=order, values=values if there else 1)
    for letter, side in (("L", configuration.left), ("R", configuration.right)):
        values = side.field_values if side.varying else 1
        yield Variation(key=f"IP-{letter}-var", order=side.varying, values=values)


def connections_of(
    configuration: Configuration, arguments: Arguments, warn: Warn
) -> ConnectionsSection | None:
    """Returns the section, None for a stateless test."""
    asked = arguments.preliminary
    if asked is None:
        return None
    _check_length(arguments, asked)
    _check_combinations(configuration)
    foreground = asked.foreground_frames(arguments.n, arguments.m)
    order = phase_1_order(configuration, foreground, warn)
    # Frames that repeat a connection are entries in siitperf's table as well, so their number is
    # checked after the trial (judgement.missing_entries).
    least: dict[str, Any] = {"incomplete": "stop"}
    if order != "repeating":
        least = {"incomplete": "accept", "minimum": asked.table_entries}
    return _section(
        configuration,
        warn,
        count=asked.preliminary_frames,
        rate_fps=asked.preliminary_rate_fps,
        order=order,
        delay_s=_delay_s(asked),
        sample=0,
        **least,
    )


def all_connections(configuration: Configuration, warn: Warn) -> ConnectionsSection | None:
    """Returns the section with all combinations, for a configuration without the argument N."""
    if not configuration.stateful:
        return None
    _check_combinations(configuration)
    count = prod(each.values for each in variations(configuration))
    order = phase_1_order(configuration, count, warn)
    return _section(configuration, warn, count=count, order=order)


def _section(configuration: Configuration, warn: Warn, **members: Any) -> ConnectionsSection:
    written = {
        "initiator": configuration.initiator,
        "initiator_order": initiator_order(configuration, warn),
        "responder_order": ORDERS[configuration.responder_tuples],
        **members,
    }
    source = Source(name=configuration.entries.name)
    connections: ConnectionsSection = source.validated(ConnectionsSection, written)
    return connections


def _delay_s(asked: Preliminary) -> float:
    """Returns D in seconds, at least the shortest delay, which siitperf rounds to milliseconds."""
    least_us = ceil(1000 * asked.shortest_delay_ms)
    return max(1000 * asked.preliminary_delay_ms, least_us) / 10**6


def _check_length(arguments: Arguments, asked: Preliminary) -> None:
    phase_2_ms = MS_PER_S * arguments.duration_s + arguments.timeout_ms
    if asked.preliminary_delay_ms > LONGEST_MS - phase_2_ms:
        raise ConfigurationError(
            f"D: {asked.preliminary_delay_ms} makes the test longer than a day (expected at most "
            f"{LONGEST_MS - phase_2_ms})"
        )


def _check_combinations(configuration: Configuration) -> None:
    varying = variations(configuration)
    combinations = prod(each.values for each in varying)
    if combinations > MAX_CONNECTIONS:
        widest = max(varying, key=lambda each: each.values)
        configuration.entries.refuse(
            widest.key,
            f"its {widest.values} values and the other ranges make {combinations} connections "
            f"(expected at most {MAX_CONNECTIONS}: narrow the ranges)",
        )


def phase_1_order(configuration: Configuration, frames: int, warn: Warn) -> str:
    """Returns the order in which phase 1 creates connections with so many foreground frames."""
    varying = variations(configuration)
    combinations = prod(each.values for each in varying)
    enumerated = configuration.enumerated_ports or configuration.enumerated_addresses
    if enumerated and frames <= combinations:
        return ORDERS[enumerated]
    if enumerated:
        key = "Enumerate-ports" if configuration.enumerated_ports else "Enumerate-ips"
        if enumerated == PSEUDORANDOM:  # as siitperf
            configuration.entries.refuse(
                key,
                f"is {PSEUDORANDOM}, but the {combinations} combinations are fewer than the "
                f"{frames} foreground preliminary frames (expected a smaller N, or wider ranges)",
            )
        warn(
            f"{key}: is ignored: the {combinations} combinations are fewer than the {frames} "
            "foreground preliminary frames, so they are drawn with repetition"
        )
        return "repeating"
    in_turn = [each for each in varying if each.order != PSEUDORANDOM]
    if len(varying) == 1 and in_turn and frames <= combinations:
        return ORDERS[in_turn[0].order]
    if in_turn:
        keys = ", ".join(each.key for each in in_turn)
        warn(f"{keys}: ignored in phase 1, which draws values where nothing is enumerated")
    if combinations <= max(ALWAYS_DRAWN, DRAWN_PER_FRAME * frames):
        return "repeating"
    warn(
        f"Enumerate-ports: 0 is ignored: {frames} frames would hardly draw one of {combinations} "
        "combinations twice, so each is sent at most once, in pseudorandom order"
    )
    return ORDERS[PSEUDORANDOM]


def initiator_order(configuration: Configuration, warn: Warn) -> str:
    """Returns the order in which phase 2 uses the connections: that of the varying keys.

    It is pseudorandom where their orders differ.
    """
    varying = variations(configuration)
    orders = {each.order for each in varying}
    agreed = orders.pop() if len(orders) == 1 else PSEUDORANDOM if orders else 0
    order = ORDERS[agreed]
    odd = [each.key for each in varying if ORDERS[each.order] != order]
    if odd and configuration.initiator_sends:
        warn(
            f"{', '.join(odd)}: ignored in phase 2, which uses the connections of phase 1 in "
            f"{order} order"
        )
    return order
