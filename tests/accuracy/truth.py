"""The truth table: figures of gateways whose rate, loss or delay is known, in noise.

`python -m tests.accuracy.truth [ROW...] --runs 10` prints it. A figure that is marked as exact must
be right within its stated error.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.dut.cpus import watched_cpus
from natxy.errors import TesterLimit
from natxy.model.measurement import Measurement
from natxy.model.remark import BOUNDS
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_spec import WatchedCpu
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.latency import LatencyPlan, latency
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.profile import QUICK
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from tests.noise import taken

ERROR = Fraction(1, 100)
FASTEST_FPS = 200_000  # of the searches that begin with it
SEARCHES = ("search", "mlr")
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


DELAYS = '{kind = "delay", uniform_ns = [1000000, 1500000], seed = 7}'
SULKS = '{kind = "sulk", exponential_ns = 300000000, for_ns = 2000000}'


@dataclass(frozen=True)
class Row:
    truth: float  # frames or connections a second, % of the frames, or ns
    testbed: str
    # "search", "mlr": the rate is found; "loss": at this rate; "latency": the typical one
    figure: Literal["search", "mlr", "loss", "latency"] = "search"
    rate_fps: int = 20_000
    drawn: float = 0.0  # share by which what the gateway draws may differ from the truth


ROWS = {
    "policer-8": Row(20_000, faults(policer(20_000, 8))),
    "policer-184": Row(18_400, faults(policer(18_400, 184))),
    "policer-546": Row(41_667, faults(policer(41_667, 546))),
    "queue-4": Row(50_000, faults(queue(4))),
    "queue-8": Row(50_000, faults(queue(8))),
    "queue-64": Row(50_000, faults(queue(64))),
    "queue-1000": Row(50_000, faults(queue(1000))),
    "sleeps": Row(50_000, f"{faults(queue(256))}\nsleep_us = 50"),  # when no frame is there
    "shaper-364": Row(41_667, faults(queue(500, 41_667, 364))),
    "loss-100": Row(50_000, faults(loss(100), queue(256))),
    "loss-1000": Row(50_000, faults(loss(1000), queue(256))),
    "sulks": Row(50_000, faults(SULKS, queue(256))),
    "connections": Row(50_000, NAT),
    "loss-at-80k": Row(37.1, faults(queue(64)), "loss", 80_000, 0.002),
    "loss-at-60k": Row(16.133, faults(queue(64)), "loss", 60_000, 0.002),
    "mlr-policer-8": Row(20_000, faults(policer(20_000, 8)), "mlr"),
    "mlr-queue-64": Row(50_000, faults(queue(64)), "mlr"),
    # Three standard deviations of the median of 1,000 tagged frames: so many count at least.
    "latency": Row(1_250_000, faults(DELAYS), "latency", 20_000, 0.019),
}


# By the gateway's own record of its absences, by its CPU as a stranger's gateway is, or not at all.
Watch = Literal["record", "cpu", "none"]


class WatchedByCpu(CalibrationDut):
    """The same gateway, as one of a stranger on this machine."""

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        threads = Path(f"/proc/{self._running.pid}/task").iterdir()
        return watched_cpus(self.cpus, [int(each.name) for each in threads])

    def absence(self) -> None:
        return None


class Closed(CalibrationDut):
    """The same gateway, of whose absences nobody knows."""

    def absence(self) -> None:
        return None


KINDS: dict[Watch, type[CalibrationDut]] = {
    "record": CalibrationDut,
    "cpu": WatchedByCpu,
    "none": Closed,
}


@contextmanager
def lab(row: Row, *, watch: Watch, realtime: bool) -> Iterator[Session]:
    policy = "realtime = true" if realtime else ""
    source = Source(name="truth", text=TESTBED.format(more=row.testbed, policy=policy))
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = dut_of(testbed, source)
    assert isinstance(dut, CalibrationDut)
    dut.__class__ = KINDS[watch]
    with set_up(testbed, source, dut) as session:
        yield session


def measure(row: Row, session: Session, seed: int) -> Measurement:
    at_rate: dict[str, Any] = {"timing": QUICK.timing, "seed": seed, "repetitions": 1}
    if row.figure == "latency":
        plan_of_tags = LatencyPlan(**at_rate, rate_fps=row.rate_fps)
        return latency(plan_of_tags, session)
    if row.figure == "mlr":
        goal = rfc2544_goal(final_duration_s=QUICK.timing.duration_s, width=ERROR)
        goals = MlrThroughputPlan(**at_rate, goals=(goal,), max_rate_fps=FASTEST_FPS)
        return mlr_throughput(goals, session)
    if row.figure == "loss":
        series = FrameLossPlan(**at_rate, rates_fps=(row.rate_fps,))
        return frame_loss(series, session)
    options: dict[str, Any] = {
        "timing": QUICK.timing,
        "seed": seed,
        "repetitions": 1,
        "error": SearchError(fraction=ERROR),
        "loss_verifications": QUICK.loss_verifications,
    }
    if session.traffic.connections is not None:
        return establishment(EstablishmentPlan(**options), session)
    plan = ThroughputPlan(buffer_frames=QUICK.buffer_frames, **options)
    return throughput(plan, session)


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a search found; None: it was refused."""

    value: float | None
    bound: str
    error: float
    invalid_share: float
    why: str
    recorded: float = 0.0  # by the gateway: its own delay may be longer than what was asked for

    @classmethod
    def of(cls, result: Measurement, searched: Fraction) -> "Found":
        """`searched` is the error of a search, as a share of the value."""
        (figure, *_) = result.figures
        (value,) = figure.values
        return cls(
            value=value,
            bound=figure.bound(value),
            error=max((*figure.errors, value * float(searched))),
            invalid_share=result.counts.invalid_trials / result.counts.trials,
            why=next((str(each) for each in result.remarks if each.code in BOUNDS), ""),
        )

    def is_wrong(self, least: float, truth: float, drawn: float) -> bool:
        """Returns whether the figure contradicts the truth, which noise may have lowered."""
        if self.value is None or self.bound == "upper":
            return False
        slack = self.error + max(ROUNDING, drawn) * truth
        if self.bound == "lower":
            return self.value > truth + slack
        return not least - slack <= self.value <= max(truth, self.recorded) + slack


def found(row: Row, session: Session, seed: int) -> Found:
    try:
        result = Found.of(
            measure(row, session, seed), ERROR if row.figure in SEARCHES else Fraction(0)
        )
        if row.figure == "latency":
            assert isinstance(session.dut, CalibrationDut)
            delays = session.dut.record()["directions"]["forward"]["delay_ns"]
            return replace(result, recorded=delays["p50"])
        return result
    except TesterLimit as limit:
        return Found(value=None, bound="", error=0, invalid_share=1.0, why=str(limit))


def runs(
    name: str, noise_percent: float, number: int, *, watch: Watch, realtime: bool = False
) -> list[Found]:
    row = ROWS[name]
    with ExitStack() as stack:
        session = stack.enter_context(lab(row, watch=watch, realtime=realtime))
        if noise_percent:
            stack.enter_context(taken(f"{noise_percent:g}%"))
        return [found(row, session, seed) for seed in range(1, number + 1)]


def wrong(name: str, noise_percent: float, found: list[Found], *, watch: Watch) -> list[Found]:
    """Returns the figures that are wrong.

    Nobody can tell the pauses of a closed box from a slower one, so noise may lower its rate.
    """
    row = ROWS[name]
    may_be_lower = watch == "none" and row.figure in SEARCHES
    least = row.truth * (1 - noise_percent / 100) if may_be_lower else row.truth
    return [each for each in found if each.is_wrong(least, row.truth, row.drawn)]


def line(name: str, noise_percent: float, found: list[Found], *, watch: Watch) -> str:
    truth = ROWS[name].truth
    values = [each.value for each in found if each.value is not None]
    exact = [each for each in found if each.bound == "exact"]
    errors = [each.error / truth for each in exact]
    shares = [each.invalid_share for each in found]
    reasons = Counter(each.why[:60] for each in found if each.why)
    median = f"{statistics.median(values) / truth:6.1%}" if values else "     -"
    return (
        f"{name:12} {noise_percent:3g} % {watch:6} "
        f"exact {len(exact):2} wrong {len(wrong(name, noise_percent, found, watch=watch)):2} "
        f"of {len(found)} median {median} "
        f"[{min(values, default=0):,.6g} {max(values, default=0):,.6g}] "
        f"error {max(errors, default=0):5.1%} invalid {statistics.mean(shares):4.0%} "
        f"{dict(reasons) or ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--noise", type=float, nargs="*", default=[0, 5, 10], help="in %%")
    parser.add_argument("--watch", nargs="*", choices=KINDS, default=["record", "none"])
    parser.add_argument("--realtime", action="store_true", help="of the gateway")
    given = parser.parse_args()
    for name in given.rows or ROWS:
        for noise_percent in given.noise:
            for watch in given.watch:
                done = runs(name, noise_percent, given.runs, watch=watch, realtime=given.realtime)
                print(line(name, noise_percent, done, watch=watch), flush=True)


if __name__ == "__main__":
    main()
