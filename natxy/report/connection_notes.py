"""Notes about connections under the figures of a stateful gateway, one sentence each."""

from collections.abc import Iterator

from natxy.model.measurement import ConnectionConditions, TrialCounts
from natxy.report.numbers import rate

UNKNOWN = "unknown"
NOT_LOGGED = "off"


def connection_notes(
    connections: ConnectionConditions | None, counts: TrialCounts
) -> Iterator[str]:
    if connections is not None:
        yield _phase_1(connections)
        if connections.initiator_order:
            yield _phase_2(connections)
        yield _table(connections)
        if connections.logging not in (None, NOT_LOGGED):
            yield f"The gateway logged new connections: {connections.logging}."
        if connections.timeout_s is None and counts.needed_timeout_s:
            yield (
                "The timeout of the gateway's connections is unknown. It must be more than "
                f"{counts.needed_timeout_s:g} s, since connections had to live that long."
            )
    yield from _faults(counts)


def _phase_1(of: ConnectionConditions) -> str:
    kind = "TCP connections" if of.transport == "tcp" else "connections"
    made = f"{of.count:,} {kind}" if of.count is not None else kind
    speed = f" at {rate(of.rate_fps)} a second ({of.rate_origin})" if of.rate_fps else ""
    ranges = f"{of.ranges} source ports, destination ports and addresses"
    order = f"in {of.order} order" + (f" from {ranges}" if of.ranges else "")
    handshake = (
        ", each by SYN, SYN/ACK and ACK, in phases of their own" if of.transport == "tcp" else ""
    )
    return f"Phase 1: {made}{speed}{handshake}, initiated on the {of.initiator}, {order}."


def _phase_2(of: ConnectionConditions) -> str:
    return (
        f"Phase 2: the initiator uses the connections in {of.initiator_order} order, the "
        f"responder in {of.responder_order} order."
    )


def _table(of: ConnectionConditions) -> str:
    known = {
        "entries": f"{of.table_entries:,}" if of.table_entries is not None else UNKNOWN,
        "hash size": f"{of.hash_size:,}" if of.hash_size is not None else UNKNOWN,
        "timeout": f"{of.timeout_s:g} s" if of.timeout_s is not None else UNKNOWN,
    }
    said = ", ".join(f"{name} {value}" for name, value in known.items())
    each = (
        f" ({of.count / of.hash_size:.4g} connections per bucket)"
        if of.count and of.hash_size
        else ""
    )
    return f"The gateway's connection tracking table: {said}{each}."


def _faults(counts: TrialCounts) -> Iterator[str]:
    if counts.lost_connections:
        yield (
            f"{counts.lost_connections:,} of {counts.trials:,} trials failed because the gateway "
            f"lost connections. In the first one: {counts.how_lost}"
        )
    if counts.changed:
        yield f"{counts.changed:,} connections got another mapping during a trial."
    if counts.wrong:
        yield f"{counts.wrong:,} replies were delivered to another connection."
    if counts.collided:
        yield (
            f"{counts.collided:,} of these replies were sent to an external address and port that "
            "two connections shared."
        )
