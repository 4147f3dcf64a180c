"""Notes under the figures of a measurement: media, connections, what trials counted, and noise."""

from collections.abc import Iterable, Iterator, Sequence

from natxy.model.coded import duration
from natxy.model.deviation import STANDING
from natxy.model.disturbance import FAR_NS, Disturbance
from natxy.model.measurement import (
    Conditions,
    ConnectionConditions,
    Measurement,
    Media,
    TrialCounts,
)
from natxy.model.port_result import IcmpError, icmp_list
from natxy.model.remark import BOUNDS, Topic
from natxy.model.traffic_checks import PACKET_SOCKETS
from natxy.report.numbers import rate

WAYS = {
    "both": "→ left ({left}) to right ({right}) and ← right to left at once",
    "forward": "→ left ({left}) to right ({right}) only",
    "reverse": "← right ({right}) to left ({left}) only",
}
VALIDATED = {
    "forward": "→ left ({left}) to right ({right}), then ← right to left in validation",
    "reverse": "← right ({right}) to left ({left}), then → left to right in validation",
}
FRAME_SIZES = "Frame sizes are those of IPv6; IPv4 frames are 20 bytes smaller."
UNKNOWN = "unknown"
NOT_LOGGED = "off"
COUNTED = {
    "misdelivered": "frames were misdelivered",
    "duplicated": "frames were duplicated",
    "reordered": "frames were reordered",
    "changed": "connections got another mapping during a trial",
    "wrong": "replies were delivered to another connection",
    "collided": "of these replies were sent to an external address and port that two connections "
    "shared",
}
SHARED_SHOWN = 3


def measurement_notes(measurements: Sequence[Measurement]) -> list[str]:
    """Returns the notes under the table; trials of all measurements are counted together."""
    counts = TrialCounts.total(measurement.counts for measurement in measurements)
    said = [note for measurement in measurements for note in _notes(measurement, counts)]
    return list(dict.fromkeys(said))


def counted(counts: TrialCounts, *names: str) -> Iterator[str]:
    """Yields a note for each of these counters that is not 0."""
    yield from (f"{count:,} {COUNTED[name]}." for name in names if (count := getattr(counts, name)))


def _is_validated(conditions: Conditions) -> bool:
    return conditions.connections is not None and conditions.connections.validated


def _notes(measurement: Measurement, counts: TrialCounts) -> Iterator[str]:
    conditions = measurement.conditions
    left, right = f"IPv{conditions.left_ip_version}", f"IPv{conditions.right_ip_version}"
    way = (VALIDATED if _is_validated(conditions) else WAYS)[conditions.direction]
    yield f"{way.format(left=left, right=right)}. Rates are per direction. {FRAME_SIZES}"
    yield from media_notes(conditions)
    yield from _explanations(measurement, counts)
    if counts.worst_lateness_ns:
        yield (
            "In valid trials, frames were sent at most "
            f"{duration(counts.worst_lateness_ns)} after they were due."
        )
    yield from noise_notes(counts)
    yield from counted(counts, "misdelivered", "duplicated", "reordered")
    if counts.gaps:
        yield (
            f"Over all trials, {counts.lost:,} frames were lost, in {counts.gaps:,} gaps of the "
            "numbering."
        )


def _conformity(measurement: Measurement) -> Iterator[str]:
    if not measurement.reference:
        yield "No RFC defines this measurement."
    elif measurement.deviations:
        deviations = "; ".join(map(str, measurement.deviations))
        yield f"Does not conform to {measurement.reference}: {deviations}."
    else:
        yield f"Conforms to {measurement.reference}, except for: {'; '.join(map(str, STANDING))}."


def _explanations(measurement: Measurement, counts: TrialCounts) -> Iterator[str]:
    """Yields the notes that no table replaces."""
    yield from measurement.conditions.formats
    yield from _conformity(measurement)
    yield from map(str, measurement.remarks)
    yield from connection_notes(measurement.conditions.connections, counts)
    yield from icmp_notes(counts.icmp_errors)
    reasons = BOUNDS | {Topic.LOST_AT_MOST}
    explained = any(remark.code in reasons for remark in measurement.remarks)
    if not explained and any(any(figure.lower_bound) for figure in measurement.figures):
        yield (
            "≥ marks a lower bound: trials above this value stayed invalid, or it is the highest "
            "value that was tried."
        )
    yield from verification_notes(counts)
    if counts.negative_delays and any(figure.unit == "ns" for figure in measurement.figures):
        yield (
            f"{counts.negative_delays:,} delays were negative, because the clocks are not exact. "
            "They count as 0."
        )
    yield from checksum_notes(counts)


def media_notes(conditions: Conditions) -> Iterator[str]:
    yield from device_notes((conditions.left_media, conditions.right_media))
    if conditions.left_media is None or conditions.right_media is None:
        return
    sides = f"left {_port(conditions.left_media)}, right {_port(conditions.right_media)}"
    if conditions.theoretical_fps is None:
        yield f"Media: {sides}. There is no theoretical limit."
    else:
        yield (
            f"Media: {sides}. The slower side carries {rate(conditions.theoretical_fps)} fps "
            f"{_at_size(conditions)}, per direction (RFC 8219 appendix A)."
        )


def _at_size(conditions: Conditions) -> str:
    connections = conditions.connections
    if connections is None or connections.transport == "udp":
        return "at this frame size"
    return "at this frame size, or of TCP segments without data if only those are measured"


def device_notes(both: Iterable[Media | None]) -> Iterator[str]:
    """Yields a note if the kind of the tester's ports limits the figures."""
    if PACKET_SOCKETS in {media.driver for media in both if media is not None}:
        yield (
            f"The tester's ports are packet sockets ({PACKET_SOCKETS}). They reach about half the "
            "rate of AF_XDP, with longer delays."
        )


def _port(media: Media) -> str:
    if media.speed_mbps is None:
        return f"{media.driver}, which has no rate"
    if media.speed_mbps % 1000:
        return f"{media.driver} at {media.speed_mbps} Mb/s"
    return f"{media.driver} at {media.speed_mbps // 1000} Gb/s"


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
            f"lost connections. In the first one, {counts.how_lost}."
        )
    yield from counted(counts, "changed", "wrong", "collided")


def icmp_notes(errors: Iterable[IcmpError]) -> Iterator[str]:
    """Yields a note if there are errors. Gateways may limit errors, so they do not count losses."""
    if said := icmp_list(errors):
        yield f"The gateway answered frames of the trials with ICMP errors: {said}."


def verification_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields a note if a failure was overturned; otherwise loss verification changed nothing."""
    if counts.overturned:
        trials = "trial was" if counts.overturned == 1 else "trials were"
        yield (
            f"{counts.overturned:,} failed {trials} overturned by loss verification: a repeated "
            "trial at the same rate passed."
        )


def checksum_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields a note if frames were received without a UDP checksum."""
    if counts.without_udp_checksum:
        yield (
            f"{counts.without_udp_checksum:,} frames arrived without a UDP checksum, as RFC 768 "
            "allows over IPv4. They count as received, but nothing protects their data."
        )


def count_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields what trials counted, without the times and numbers that each measurement has."""
    yield from icmp_notes(counts.icmp_errors)
    yield from verification_notes(counts)
    yield from checksum_notes(counts)
    yield from _revoked(counts)
    yield from _watch(counts.disturbance)


def noise_notes(counts: TrialCounts) -> Iterator[str]:
    """Yields notes about trials that do not count, absences of the gateway and pauses."""
    if counts.invalid_trials:
        yield f"{counts.invalid_share} were invalid. They were repeated or left out."
    yield from _revoked(counts)
    yield from _watch(counts.disturbance)
    yield from _away_and_paused(counts.disturbance)


def _revoked(counts: TrialCounts) -> Iterator[str]:
    if counts.revoked:
        trials = "trial does" if counts.revoked == 1 else "trials do"
        yield (
            f"{counts.revoked:,} failed {trials} not count: later trials showed that the host had "
            "placed their CPUs badly."
        )


def _watch(of: Disturbance) -> Iterator[str]:
    """Yields how the gateway's CPU was watched, and what it shared."""
    if not of.sending_ns:
        return
    if of.unwatched_reason:
        yield (
            f"The gateway's CPU could not be watched ({of.unwatched_reason}). Frames that were "
            "lost while it was away count as losses of the gateway."
        )
    if of.shared_cpus:
        shown = "; ".join(of.shared_cpus[:SHARED_SHOWN])
        left_out = len(of.shared_cpus) - SHARED_SHOWN
        more = f"; and {left_out} more" if left_out > 0 else ""
        yield f"In valid trials, {shown}{more}. This can lower the figures."
    if of.nearest_ns > FAR_NS:
        yield (
            "In each valid trial, a cache line took "
            f"{duration(of.nearest_ns)} or more between the cores of tester and gateway and back. "
            f"Cores that share a cache take less than {duration(FAR_NS)}: with such cores the "
            "gateway may be faster."
        )


def _taken_by(of: Disturbance) -> str:
    if not of.taker:
        return ""
    return f" Most of it had {of.taker}; if this is the gateway's, name it in dut.processes."


def _away_and_paused(of: Disturbance) -> Iterator[str]:
    if of.away_ns and of.sending_ns:
        yield (
            "In valid trials, the gateway did not have its CPU for "
            f"{of.away_ns / of.sending_ns * 100:.2g} % of the time: "
            f"{duration(of.away_ns)} in all, at most {duration(of.longest_away_ns)} at once."
            + _taken_by(of)
        )
    if of.paused_ns and of.sending_ns:
        yield (
            "In valid trials, the tester's senders paused for "
            f"{of.paused_ns / of.sending_ns * 100:.2g} % of the time."
        )
