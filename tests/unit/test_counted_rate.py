"""The counted rate of a trial in which the gateway held frames back, and was away."""

from natxy.model.verdict import Verdict
from natxy.verdict.counted import Counted, Counting, Offer, counted
from tests.unit.results import result_of, stream_of

RATE_FPS = 60_000


def of(growth_ns: tuple[float, float], *, above_fps: int) -> Counted:
    """6,000 frames in 0.1 s."""
    stream = stream_of(sent=6000, held_s=0.02)
    offer = Offer(
        stream=stream, rate_fps=RATE_FPS, away_s=0.01, longest_away_s=0.001, growth_ns=growth_ns
    )
    counting = Counting(above_fps=above_fps, short=True)
    return counted(counting, RATE_FPS, [offer], result_of(stream))


def test_a_pass_counts_with_what_may_have_been_held_back() -> None:
    found = of((20e6, 22e6), above_fps=40_000)
    assert found.verdict is Verdict.PASS
    assert found.fps == int(6000 / 0.122)


def test_a_failure_counts_with_what_was_held_back() -> None:
    assert of((20e6, 22e6), above_fps=50_001).verdict is Verdict.FAIL


def test_between_the_two_noise_decides() -> None:
    assert of((20e6, 22e6), above_fps=49_500).verdict is Verdict.INVALID
    assert of((20e6, 20e6), above_fps=49_500).verdict is Verdict.PASS
