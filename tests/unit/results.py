"""Results of trials with just the numbers that a judgement looks at."""

from natxy.model.port_result import PortResult
from natxy.model.schemas import blank
from natxy.model.stream_counters import KindCounters, Misdelivered
from natxy.model.stream_result import StreamResult
from natxy.model.trial_result import TrialResult, WatchResult
from natxy.model.trial_spec import VERSION, Direction


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
    counters = blank(
        KindCounters,
        sent=sent,
        received=sent - lost,
        lost=lost,
        late=late,
        misdelivered=blank(Misdelivered, address=wrong, total=wrong),
        hop_limit=63,
    )
    return StreamResult.model_validate(
        blank(
            StreamResult,
            phase=phase,
            direction=direction,
            due=sent,
            largest_burst=1,
            pauses={"count": 1, "total_ns": paused_s * 1e9, "longest_ns": paused_s * 1e9},
            sending_ns=sending_s * 1e9,
            held_back_ns=held_s * 1e9,
            last_delay_excess_ns=max(held_s, ended_late_s) * 1e9,
            kinds={"foreground": counters},
        )
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
    port = PortResult.model_validate(blank(PortResult, worst_poll_gap_ns=gap_s * 1e9))
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
    given = {"streams": streams, "ports": (port,), "watched": (watch,)}
    return TrialResult.model_validate(blank(TrialResult, version=VERSION, valid=True, **given))
