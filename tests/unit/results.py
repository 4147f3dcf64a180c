"""Results of trials with just the numbers that a judgement looks at."""

from typing import Any

from natxy.model.distribution import NOTHING
from natxy.model.port_result import PortResult
from natxy.model.stream_counters import KindCounters, Kinds, Misdelivered, Pauses, Silence
from natxy.model.trial_result import StreamResult, TrialResult, WatchResult
from natxy.model.trial_spec import VERSION, Direction

CLEAN = Misdelivered(**dict.fromkeys(Misdelivered.model_fields, 0))


def stream_of(
    *,
    sent: int,
    missing: int = 0,
    late: int = 0,
    wrong: int = 0,
    direction: Direction = "forward",
    paused_s: float = 0.0,
    held_s: float = 0.0,
    ended_late_s: float = 0.0,
    sending_s: float = 0.1,
    phase: str = "test",
) -> StreamResult:
    """`missing` frames never came, `wrong` ones came with another address."""
    lost = missing + late + wrong
    counters = KindCounters(
        sent=sent,
        received=sent - lost,
        lost=lost,
        duplicated=0,
        reordered=0,
        without_udp_checksum=0,
        late=late,
        misdelivered=CLEAN.model_copy(update={"address": wrong, "total": wrong}),
        hop_limit=63,
        negative_delays=0,
        delay=NOTHING,
    )
    return StreamResult(
        phase=phase,
        direction=direction,
        due=sent,
        refused_by_gateway=0,
        refused_by_port=0,
        largest_burst=1,
        pauses=Pauses(count=1, total_ns=paused_s * 1e9, longest_ns=paused_s * 1e9),
        sending_ns=sending_s * 1e9,
        first_departure_ns=0.0,
        lateness=NOTHING,
        send_call=NOTHING,
        held_back_ns=held_s * 1e9,
        last_delay_excess_ns=max(held_s, ended_late_s) * 1e9,
        kinds=Kinds(foreground=counters),
        silence=Silence(from_ns=0.0, until_ns=0.0),
    )


def result_of(
    *streams: StreamResult,
    away_s: float = 0.0,
    gap_s: float = 0.0,
    round_trip_ns: float = 0.0,
    nearest_ns: float = 0.0,
    work_ns: float = 0.0,
    chain_ns: float = 0.0,
    fastest_ns: float = 0.0,
    busy_samples: int | None = None,
) -> TrialResult:
    """With a CPU that was away for so long in each phase, and ports not polled for so long."""
    counts: dict[str, Any] = dict.fromkeys(
        ("foreign", "neighbour", "rx_missed", "rx_errors", "rx_no_buffer", "tx_errors"), 0
    )
    more: dict[str, Any] = {"kernel_rx_dropped": 0, "records_lost": 0}
    port = PortResult(side="left", worst_poll_gap_ns=gap_s * 1e9, **counts, **more)
    watch = WatchResult(
        phase="test",
        cpu=1,
        period_ns=100_000.0,
        samples=1000,
        busy_samples=busy_samples,
        absences=int(away_s > 0),
        away_ns=away_s * 1e9,
        longest_away_ns=away_s * 1e9,
        round_trip_ns=round_trip_ns,
        nearest_ns=nearest_ns,
        work_ns=work_ns,
        chain_ns=chain_ns,
        fastest_ns=fastest_ns,
    )
    return TrialResult(
        version=VERSION,
        seed=0,
        nonce=0,
        valid=True,
        invalid_reasons=(),
        ended_early=False,
        preparation_ns=0.0,
        duration_ns=0.0,
        delay_definition="none",
        delay_clock="tsc",
        streams=streams,
        ports=(port,),
        workers=(),
        watched=(watch,),
        faults=(),
    )
