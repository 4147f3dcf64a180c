"""Whether a tester was too slow, which a lower rate helps, or away, which nothing but time does."""

from natxy.model.trial_result import Distribution, StreamResult, TrialResult
from natxy.procedure.pacing import is_too_slow
from tests.unit.results import result_of, stream_of

MS = 1e6


def dropped(*, gap_s: float) -> TrialResult:
    result = result_of(stream_of(sent=1000), gap_s=gap_s)
    ports = tuple(port.model_copy(update={"rx_missed": 5}) for port in result.ports)
    return result.model_copy(update={"ports": ports})


def paused(*, longest_gap_ns: float) -> StreamResult:
    """For 10 ms in one piece."""
    stream = stream_of(sent=1000, paused_s=0.01)
    gaps = stream.step_gap.model_copy(update={"count": 1000, "max_ns": longest_gap_ns})
    assert isinstance(gaps, Distribution)
    return stream.model_copy(update={"step_gap": gaps})


def test_a_ring_that_was_polled_all_the_time_was_too_small_for_the_rate() -> None:
    assert is_too_slow(dropped(gap_s=0.0001))
    assert not is_too_slow(dropped(gap_s=0.01)), "nobody polled it for 10 ms"


def test_a_sender_that_fell_behind_step_by_step_was_too_slow() -> None:
    assert is_too_slow(result_of(paused(longest_gap_ns=0.05 * MS)))


def test_a_sender_that_did_nothing_for_as_long_as_it_paused_was_away() -> None:
    """Also where the host does not say that it had the core."""
    assert not is_too_slow(result_of(paused(longest_gap_ns=9.9 * MS)))


def test_a_port_that_did_not_take_all_was_too_slow() -> None:
    short = stream_of(sent=999).model_copy(update={"due": 1000, "refused_by_port": 1})
    assert is_too_slow(result_of(short))


def test_a_sender_that_gave_up_because_its_core_was_away_was_not_too_slow() -> None:
    away = paused(longest_gap_ns=9.9 * MS).model_copy(update={"due": 100_000})
    assert not is_too_slow(result_of(away))
