"""Whether a tester was too slow, which a lower rate helps, or away, which nothing but time does."""

from natxy.model.trial_result import TrialResult, WorkerResult
from natxy.verdict.pacing import PAUSE_SHARE, is_too_slow, long_pauses
from tests.unit.results import result_of, stream_of


def off_core(result: TrialResult, seconds: float) -> TrialResult:
    """The same where the worker was kept from its core for so long."""
    worker = WorkerResult(
        cpu=0,
        tasks=(),
        voluntary_switches=0,
        involuntary_switches=1,
        worst_loop_gap_ns=seconds * 1e9,
        cpu_ns=0.0,
        off_core_ns=seconds * 1e9,
    )
    return result.model_copy(update={"workers": (worker,)})


def dropped(*, gap_s: float) -> TrialResult:
    result = result_of(stream_of(sent=1000), gap_s=gap_s)
    ports = tuple(port.model_copy(update={"rx_missed": 5}) for port in result.ports)
    return result.model_copy(update={"ports": ports})


def test_a_ring_that_was_polled_all_the_time_was_too_small_for_the_rate() -> None:
    assert is_too_slow(dropped(gap_s=0.0001))


def test_a_ring_that_nobody_polled_was_full_because_of_that() -> None:
    assert not is_too_slow(off_core(dropped(gap_s=0.01), 0.01))


def test_a_loop_that_took_long_on_its_core_was_too_slow() -> None:
    """In a send call that does the gateway's work."""
    assert is_too_slow(dropped(gap_s=0.01))


def test_pauses_are_of_a_sender_that_was_too_slow_or_away() -> None:
    paused = result_of(stream_of(sent=1000, paused_s=0.01))
    assert is_too_slow(paused)
    assert not is_too_slow(off_core(paused, 0.006))


def test_a_port_that_did_not_take_all_was_too_slow() -> None:
    short = stream_of(sent=999).model_copy(update={"due": 1000, "refused_by_port": 1})
    assert is_too_slow(result_of(short))


def test_a_sender_that_gave_up_because_its_core_was_away_was_not_too_slow() -> None:
    gave_up = stream_of(sent=999, paused_s=0.01).model_copy(update={"due": 1000})
    assert not is_too_slow(off_core(result_of(gave_up), 0.01))


def test_pauses_are_a_share_of_the_time_without_them() -> None:
    """2 % of 98 ms are 1.96 ms."""
    for paused_s, is_long in ((0.00195, False), (0.00198, True)):
        result = result_of(stream_of(sent=1000, paused_s=paused_s, sending_s=0.1))
        assert (long_pauses(result, PAUSE_SHARE) is not None) == is_long
