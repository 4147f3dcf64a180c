"""Procedures behind a border relay of MAP-E: each finds what the calibration gateway was told to
do, and no frame of a subscriber is misdelivered."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.model.measurement import Measurement
from natxy.model.trial_spec import Direction
from natxy.procedure.back_to_back import BURST, BackToBackPlan, back_to_back
from natxy.procedure.capacity import CAPACITY, CapacityPlan, capacity
from natxy.procedure.delay_variation import MEDIAN_IPDV, PDV, IpdvPlan, PdvPlan, ipdv, pdv
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.procedure.overload import OverloadPlan, overload
from natxy.procedure.recovery import RECOVERY, RecoveryPlan, recovery
from natxy.procedure.reset import BY_LOSS, ResetPlan, reset
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.bisection import SearchError
from natxy.search.capacity_goal import CapacityGoal
from natxy.trial.observer import Observer
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.accuracy.subscribers import RATE_FPS, TIMING, gateway_for, inline
from tests.valid import ATTEMPTS, valid, with_and_without_noise

MS = Fraction(1, 1000)
BOTH: tuple[Direction, ...] = ("forward", "reverse")
ONCE: dict[str, Any] = {
    "timing": TIMING,
    "seed": 1,
    "repetitions": 1,
    "invalid_repeats": ATTEMPTS,
}

DELAYS = {"kind": "delay", "pattern_ns": [1_000_000, 3_000_000, 6_000_000]}
MEDIAN_IPDV_NS = 2_000_000  # of +2, +3 and -5 ms, again and again
SLACK_NS = 200_000

ROOM_FRAMES, DRAIN_FPS = 100, RATE_FPS // 2
BURST_FRAMES = next(n for n in range(10**6) if n - n * DRAIN_FPS // RATE_FPS >= ROOM_FRAMES)

SULKS = 50 * MS
OVERLOAD_FPS = RATE_FPS * 11 // 10
OVERLOAD_FRAMES = int(OVERLOAD_FPS * TIMING.duration_s)


def by_departures(*segments: tuple[int, int]) -> dict[str, Any]:
    """Makes a fault go by when frames left the tester, so that nobody's lateness changes it."""
    return {"departures": [{"frames": frames, "rate_fps": fps} for frames, fps in segments]}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A procedure, what the gateway does, and the figure that follows from it.

    `truth` gets the gateway's record of the direction. `within` does not contain the error that
    the figure states itself.
    """

    measure: Callable[..., Measurement]
    plan: Any
    figure: str
    truth: Callable[[Any], float]
    within: float = 0
    directions: tuple[Direction | None, ...] = BOTH  # of the figure
    fault: dict[str, Any]


CASES = {
    "pdv": Case(
        measure=pdv,
        plan=PdvPlan(**ONCE, rate_fps=RATE_FPS),
        fault=DELAYS,
        figure=PDV,
        truth=lambda way: way["delay_ns"]["p999"] - way["delay_ns"]["min"],
        within=SLACK_NS,
    ),
    "ipdv": Case(
        measure=ipdv,
        plan=IpdvPlan(**ONCE, rate_fps=RATE_FPS),
        fault=DELAYS,
        figure=MEDIAN_IPDV,
        truth=lambda _: MEDIAN_IPDV_NS,
        within=SLACK_NS,
    ),
    "back-to-back": Case(
        measure=back_to_back,
        plan=BackToBackPlan(**ONCE, burst_rate_fps=RATE_FPS, throughput_fps=DRAIN_FPS),
        fault={
            "kind": "buffer",
            "frames": ROOM_FRAMES,
            "drain_fps": DRAIN_FPS,
            **by_departures((1, RATE_FPS)),
        },
        figure=BURST,
        truth=lambda _: BURST_FRAMES,
        directions=(None,),
    ),
    "recovery": Case(
        measure=recovery,
        plan=RecoveryPlan(**ONCE, rate_fps=RATE_FPS),
        fault={
            "kind": "sulk",
            "rate_fps": RATE_FPS,
            "depth": 20,
            "for_ns": int(SULKS * 10**9),
            **by_departures((OVERLOAD_FRAMES, OVERLOAD_FPS), (1, OVERLOAD_FPS // 2)),
        },
        figure=RECOVERY,
        truth=lambda _: float(SULKS),
        within=0.0015,
    ),
}


def told(lab: tuple[Session, CalibrationDut], *faults: dict[str, Any]) -> None:
    """Sets the faults, which makes the gateway forget its neighbours, too. So the first trial loses
    frames if the tester answers late; nobody judges it."""
    session, dut = lab
    dut.configure(faults=faults)
    trials = FrameLossPlan(timing=TIMING, seed=1).trials(session)
    trials.run(load=RATE_FPS, repetition=1, seed=1)


# Whoever resets the gateway needs a core as well. At this rate, a ring holds 200 ms of frames.
RESET_FPS = 5_000
SHARED_CORES = {
    "tester": 'lateness_tolerance_us = 50000\nrealtime = "off"',
    "gateway": "poll_gap_limit_us = 50000\nrestart_s = 0.3",
}


@pytest.mark.long  # without a real-time priority, other programs make many of its trials invalid
def test_the_reset_time_is_that_of_the_frames_that_the_relay_dropped(tmp_path: Path) -> None:
    timing = Timing(duration_s=500 * MS, drain_s=20 * MS)
    plan = ResetPlan(**{**ONCE, "timing": timing}, rate_fps=RESET_FPS, reset_after_s=50 * MS)
    with gateway_for("map-e", tmp_path, cores=SHARED_CORES) as lab:
        told(lab)
        session, dut = lab
        found = reset(plan, session)
        ways = dut.record()["directions"]
    for direction in BOTH:
        lost = ways[direction]["dropped"]["mute"]
        assert found.figure(BY_LOSS, direction).values == (lost / RESET_FPS,)
        assert lost > 0
    assert found.counts.misdelivered == 0


LIMITS_FPS = {1: 20_000, 65_536: 10_000}
HOLDS = Fraction(1, 400)  # s; in a trial of 0.1 s, a bucket lets 2.5 % through beyond its rate
# Gateway and tester together are not away for so long that the bucket overflows.
NOT_AWAY = {
    "tester": "lateness_tolerance_us = 1250",
    "gateway": "realtime = true\npoll_gap_limit_us = 1250",
}
DEGRADATION = 50  # %
WITHIN = 0.03


class SlowerWithSubscribers(Observer):
    """Gives the gateway the next limit as the search for the next number of subscribers begins."""

    def __init__(self, lab: tuple[Session, CalibrationDut]) -> None:
        self._lab = lab
        self._limits_fps = iter(LIMITS_FPS.values())

    def repetition_started(self, number: int, count: int) -> None:
        rate_fps = next(self._limits_fps)
        depth = int(rate_fps * HOLDS)
        told(self._lab, {"kind": "rate_limit", "rate_fps": rate_fps, "depth": depth})


@pytest.mark.usefixtures("noise")
@with_and_without_noise
def test_the_throughput_at_each_number_of_subscribers_is_the_limit(tmp_path: Path) -> None:
    """RFC 8219 section 10, over the number of softwires."""
    search = ThroughputPlan(
        **ONCE, error=SearchError(fraction=Fraction(1, 50)), max_rate_fps=24_000
    )
    plan = OverloadPlan(test=search, subscribers=tuple(LIMITS_FPS))
    with gateway_for("map-e", tmp_path, cores=NOT_AWAY) as lab:
        session, _ = lab
        found = valid(
            lambda: overload(plan, session.with_observer(SlowerWithSubscribers(lab))),
            lambda result: [f.at for f in result.figures if any(f.lower_bound)],  # by noise
        )
    for number, limit_fps in LIMITS_FPS.items():
        at = f"{number:,} subscriber{'s' if number > 1 else ''}"
        throughput = found.figure("throughput", at=at)
        assert throughput.lower_bound == (False,)
        assert throughput.values == pytest.approx((limit_fps,), rel=WITHIN)
    (lost,) = found.figure("degradation of throughput", at="65,536 subscribers").values
    assert lost == pytest.approx(DEGRADATION, abs=2 * WITHIN * 100)
    assert found.counts.misdelivered == 0


TABLE = 700  # entries, for 100 B4s with 100 ports each


def test_the_capacity_is_that_of_the_aftrs_table(tmp_path: Path) -> None:
    goal = CapacityGoal(
        c0=TABLE // 2,
        error=1,
        first_cps=RATE_FPS,
        rate_error=SearchError(fraction=Fraction(1, 4)),
        max_cps=RATE_FPS,
        patience=10,
        invalid_repeats=ATTEMPTS,
    )
    plan = CapacityPlan(timing=TIMING, seed=1, repetitions=1, goal=goal)
    with gateway_for("ds-lite", tmp_path, nat={"entries": TABLE}) as (session, _):
        found = capacity(plan, session)
    assert found.figure(CAPACITY).values == (float(TABLE),)
    assert found.counts.misdelivered == 0


@pytest.mark.parametrize("name", CASES)
def test_a_procedure_finds_what_the_relay_does(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    with gateway_for("map-e", tmp_path, inline(case.fault)) as (session, dut):
        found = case.measure(case.plan, session)
        ways = dut.record()["directions"]
    for direction in case.directions:
        figure = found.figure(case.figure, direction)
        error = case.within + max(figure.errors, default=0)
        truth = case.truth(ways[direction or "forward"])
        assert figure.values == pytest.approx((truth,), rel=0, abs=error), direction
        assert not any(figure.lower_bound)
    assert found.counts.misdelivered == 0
