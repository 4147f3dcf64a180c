"""The truth table: rates that searches find of gateways whose rate is known, in noise.

`python -m tests.accuracy.truth [ROW...] --runs 10` prints it. A figure that is marked as exact must
be right within its stated error.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.errors import TesterLimit
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.profile import QUICK
from natxy.trial.setup import Setup, set_up
from tests.noise import taken

ERROR = Fraction(1, 100)
ROUNDING = 0.001  # of rates that are whole numbers, and of what senders round
TESTBED = """
[tester]
cores = [0]
[traffic]
left_ip_version = 4
right_ip_version = 4
direction = "forward"
{more}
{policy}
"""
NAT = """
[traffic.forward]
source_port = {mode = "increasing", min = 10000, max = 14999}
destination_port = {mode = "fixed", min = 80, max = 80}
[traffic.reverse]
source_port = {mode = "increasing", min = 10000, max = 14999}
destination_port = {mode = "fixed", min = 80, max = 80}
[connections]
count = 5000
[dut]
kind = "calibration"
nat = {work = {per_s = 1000000, created = 20, frames = 1000}}
"""


def faults(*of: str) -> str:
    return f'[dut]\nkind = "calibration"\nfaults = [{", ".join(of)}]'


def queue(frames: int, drain_fps: int = 50_000, depth: int = 0) -> str:
    shaper = f", depth = {depth}" if depth else ""
    return f'{{kind = "buffer", frames = {frames}, drain_fps = {drain_fps}{shaper}}}'


def policer(rate_fps: int, depth: int) -> str:
    return f'{{kind = "rate_limit", rate_fps = {rate_fps}, depth = {depth}}}'


def loss(share_ppm: int) -> str:
    return f'{{kind = "loss", share_ppm = {share_ppm}}}'


SULKS = '{kind = "sulk", exponential_ns = 300000000, for_ns = 2000000}'


@dataclass(frozen=True)
class Row:
    truth: int  # frames or connections a second
    testbed: str


ROWS = {
    "policer-8": Row(20_000, faults(policer(20_000, 8))),
    "policer-546": Row(41_667, faults(policer(41_667, 546))),
    "queue-4": Row(50_000, faults(queue(4))),
    "queue-8": Row(50_000, faults(queue(8))),
    "queue-64": Row(50_000, faults(queue(64))),
    "queue-1000": Row(50_000, faults(queue(1000))),
    "shaper-364": Row(41_667, faults(queue(500, 41_667, 364))),
    "loss-100": Row(50_000, faults(loss(100), queue(256))),
    "loss-1000": Row(50_000, faults(loss(1000), queue(256))),
    "sulks": Row(50_000, faults(SULKS, queue(256))),
    "connections": Row(50_000, NAT),
}


@contextmanager
def lab(row: Row, *, watched: bool, realtime: bool) -> Iterator[Setup]:
    policy = "realtime = true" if realtime else ""
    source = Source(name="truth", text=TESTBED.format(more=row.testbed, policy=policy))
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = dut_of(testbed, source)
    assert isinstance(dut, CalibrationDut)
    if not watched:  # as of a closed box: the same gateway, of whose absences nobody knows
        dut.absence = lambda: None  # type: ignore[method-assign]
    with set_up(testbed, source, dut) as setup:
        yield setup


def measure(row: Row, setup: Setup, seed: int) -> Measurement:
    options: dict[str, Any] = {
        "timing": QUICK.timing,
        "seed": seed,
        "repetitions": 1,
        "error": SearchError(fraction=ERROR),
        "loss_verifications": QUICK.loss_verifications,
    }
    if setup.tester.traffic.connections is not None:
        return establishment(EstablishmentPlan(**options), setup.tester, setup.dut)
    plan = ThroughputPlan(buffer_frames=QUICK.buffer_frames, **options)
    return throughput(plan, setup.tester, setup.dut)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a search found; None: it was refused."""

    fps: float | None
    bound: str
    error_fps: float
    invalid_share: float
    why: str

    @classmethod
    def of(cls, result: Measurement) -> "Found":
        (figure, *_) = result.figures
        (value,) = figure.values
        return cls(
            fps=value,
            bound=figure.bound(value),
            error_fps=max(*figure.errors, 0.0, value * float(ERROR)),
            invalid_share=result.counts.invalid_trials / result.counts.trials,
            why=next((remark for remark in result.remarks if remark.startswith("≥")), ""),
        )

    def is_wrong(self, least_fps: float, truth_fps: float) -> bool:
        """Returns whether the figure contradicts the truth, which noise may have lowered."""
        if self.fps is None or self.bound == "upper":
            return False
        slack_fps = self.error_fps + ROUNDING * truth_fps
        if self.bound == "lower":
            return self.fps > truth_fps + slack_fps
        return not least_fps - slack_fps <= self.fps <= truth_fps + slack_fps


def found(row: Row, setup: Setup, seed: int) -> Found:
    try:
        return Found.of(measure(row, setup, seed))
    except TesterLimit as limit:
        return Found(fps=None, bound="", error_fps=0, invalid_share=1.0, why=str(limit))


def runs(
    name: str, noise_percent: float, number: int, *, watched: bool, realtime: bool = False
) -> list[Found]:
    row = ROWS[name]
    with ExitStack() as stack:
        setup = stack.enter_context(lab(row, watched=watched, realtime=realtime))
        if noise_percent:
            stack.enter_context(taken(f"{noise_percent:g}%"))
        return [found(row, setup, seed) for seed in range(1, number + 1)]


def wrong(name: str, noise_percent: float, found: list[Found], *, watched: bool) -> list[Found]:
    """Returns the figures that are wrong.

    Nobody can tell the pauses of a closed box from a slower one, so noise may lower its rate.
    """
    truth = ROWS[name].truth
    least = truth if watched else truth * (1 - noise_percent / 100)
    return [each for each in found if each.is_wrong(least, truth)]


def line(name: str, noise_percent: float, found: list[Found], *, watched: bool) -> str:
    truth = ROWS[name].truth
    values = [each.fps for each in found if each.fps is not None]
    exact = [each for each in found if each.bound == "exact"]
    errors = [each.error_fps / truth for each in exact]
    shares = [each.invalid_share for each in found]
    reasons = Counter(each.why[:60] for each in found if each.why)
    median = f"{statistics.median(values) / truth:6.1%}" if values else "     -"
    return (
        f"{name:12} {noise_percent:3g} % {'watched' if watched else 'closed ':7} "
        f"exact {len(exact):2} wrong {len(wrong(name, noise_percent, found, watched=watched)):2} "
        f"of {len(found)} median {median} "
        f"[{min(values, default=0):,.0f} {max(values, default=0):,.0f}] "
        f"error {max(errors, default=0):5.1%} invalid {statistics.mean(shares):4.0%} "
        f"{dict(reasons) or ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--noise", type=float, nargs="*", default=[0, 5, 10], help="in %%")
    parser.add_argument("--watched", choices=["yes", "no", "both"], default="both")
    parser.add_argument("--realtime", action="store_true", help="of the gateway")
    given = parser.parse_args()
    for name in given.rows or ROWS:
        for noise_percent in given.noise:
            for watched in (True, False):
                if given.watched not in ("both", "yes" if watched else "no"):
                    continue
                done = runs(
                    name, noise_percent, given.runs, watched=watched, realtime=given.realtime
                )
                print(line(name, noise_percent, done, watched=watched), flush=True)


if __name__ == "__main__":
    main()
