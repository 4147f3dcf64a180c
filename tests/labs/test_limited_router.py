"""A kernel router that forwards so many frames a second and no more: an overload is known."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from natxy.procedure.recovery import LOST, RECOVERY, RecoveryPlan, recovery
from natxy.trial.timing import Timing
from tests.labs.named_faults import Lab, lab
from tests.valid import ATTEMPTS

LIMIT_FPS, BURST = 4000, 100
TABLE = f"""\
table ip natxy_limit {{
chain limited {{
type filter hook prerouting priority raw;
limit rate over {LIMIT_FPS}/second burst {BURST} packets drop
}}
}}
"""
# A fifth of a second: of longer overloads hardly one is undisturbed. The bucket stays as large, so
# that it holds what a tester sends at once that was away for 10 ms.
DURATION_S = Fraction(1, 5)


@contextmanager
def limited() -> Iterator[Lab]:
    with lab() as made:
        made.run("nft", "-f", "-", feed=TABLE)
        yield made


def found(throughput_fps: int) -> tuple[float, float]:
    """Seconds of recovery, and frames that were lost in all."""
    plan = RecoveryPlan(
        timing=Timing(duration_s=DURATION_S, drain_s=Fraction(1, 10)),
        seed=1,
        repetitions=1,
        rate_fps=throughput_fps,
        invalid_repeats=ATTEMPTS,
    )
    with limited() as made:
        result = recovery(plan, made.session)
    (recovered_s,) = result.figure(RECOVERY, "forward").values
    (lost,) = result.figure(LOST, "forward").values
    return recovered_s, lost


def test_a_limit_that_half_of_the_overload_is_below_is_recovered_from_at_once() -> None:
    """6600, then 3300 frames a second: the bucket gains 700 a second then."""
    recovered_s, lost = found(6000)
    assert lost == pytest.approx((6600 - LIMIT_FPS) * DURATION_S - BURST, rel=0.1)
    assert recovered_s < 0.04


@pytest.mark.long
def test_a_limit_that_it_is_above_is_not_recovered_from() -> None:
    """11,000, then 5500: frames are lost up to the end."""
    recovered_s, lost = found(10_000)
    excess = (11_000 - LIMIT_FPS) + (5500 - LIMIT_FPS)
    assert lost == pytest.approx(excess * DURATION_S - BURST, rel=0.1)
    assert recovered_s == pytest.approx(float(DURATION_S), rel=0.05)
