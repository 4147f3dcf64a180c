"""Connection tear-down rate (RFC 9693): how fast a device deletes all of its connections."""

from dataclasses import dataclass
from statistics import median

from natxy.dut.base import ConnectionTable, Dut
from natxy.errors import DutError
from natxy.model.measurement import Conditions, Figure, Measurement
from natxy.model.verdict import Verdict
from natxy.procedure.at_rate import conditions
from natxy.procedure.connection_conditions import of_phase_1, of_several
from natxy.procedure.observer import Observer
from natxy.procedure.phase_1_rate import with_phase_1_rate
from natxy.procedure.phases import Establishing
from natxy.procedure.profile import departures
from natxy.procedure.seeds import MAX_SEED, repetition_seed
from natxy.procedure.series_of_tables import (
    Size,
    check_each_frame_makes_one,
    connections_of,
    table_of,
)
from natxy.procedure.setup import ReadyTester
from natxy.procedure.timing import Timing, check
from natxy.procedure.trial import Trials

RATE = "connection tear-down rate"
NOISE = 0.25  # of the difference; MP Table 11 has parentheses at 0.44 and none at 0.06


@dataclass(frozen=True, kw_only=True)
class TearDownPlan:
    """`sizes` is the list of N; none: the testbed's, of its ranges. Each repetition fills the table
    and deletes it, full and empty."""

    timing: Timing
    seed: int
    repetitions: int
    sizes: tuple[Size, ...] = ()
    rate_cps: int | None = None  # of phase 1; None: the testbed's
    incomplete_repeats: int = 3  # where phase 1 lost frames
    dut_name: str | None = None

    def __post_init__(self) -> None:
        check("--repetitions", self.repetitions, lowest=1, highest=10**6)
        check("--seed", self.seed, lowest=0, highest=MAX_SEED)


@dataclass(frozen=True, kw_only=True)
class Deletions:
    """Of one N: seconds, a value each repetition."""

    connections: int
    ranges: str  # of ports and addresses
    full_s: tuple[float, ...]
    empty_s: tuple[float, ...]

    @property
    def difference_s(self) -> float:
        return median(self.full_s) - median(self.empty_s)

    @property
    def rate_cps(self) -> float:
        """N / (median t_full - median t_empty); 0 where a full table was not the slower one."""
        return self.connections / self.difference_s if self.difference_s > 0 else 0.0

    @property
    def within_noise(self) -> bool:
        """The values differ among themselves by as much as full and empty do, nearly; or a full
        table was no slower."""
        spread_s = sum(max(times) - min(times) for times in (self.full_s, self.empty_s))
        return self.difference_s <= 0 or spread_s > NOISE * self.difference_s


def tear_down(
    plan: TearDownPlan, tester: ReadyTester, dut: Dut, observer: Observer | None = None
) -> Measurement:
    """For each N the rate, and the times that it comes from."""
    observer = observer or Observer()
    check_each_frame_makes_one(tester)
    table = table_of(dut)
    trials = Trials(
        tester=tester, dut=dut, timing=plan.timing, campaign_seed=plan.seed, observer=observer
    )
    found: list[Deletions] = []
    testers = [size.of(tester) for size in plan.sizes] or [tester]
    for number, ready in enumerate(testers, start=1):
        observer.repetition_started(number, len(testers))
        seed = (plan.seed + number) % 2**63
        trials.tester = with_phase_1_rate(ready, dut, plan.timing, seed=seed, observer=observer)
        found.append(_deletions(plan, trials, table))
        observer.repetition_ended(_figures(found[-1])[:1])
    return Measurement(
        procedure="tear-down",
        title="Connection tear-down rate",
        reference="RFC 9693",
        conditions=of_several(_conditions(plan, tester, dut)),
        departures=tuple(d for d in departures(plan.timing) if not d.startswith("trials")),
        remarks=_remarks(found),
        figures=tuple(figure for each in found for figure in _figures(each)),
        counts=trials.counts,
    )


def _conditions(plan: TearDownPlan, tester: ReadyTester, dut: Dut) -> Conditions:
    of = conditions(tester, dut, plan.timing, seed=plan.seed, rate_fps=None, dut_name=plan.dut_name)
    return of_phase_1(of, rate_is_sought=False)


def _deletions(plan: TearDownPlan, trials: Trials, table: ConnectionTable) -> Deletions:
    count = connections_of(trials.tester).count
    full_s: list[float] = []
    empty_s: list[float] = []
    for repetition in range(1, plan.repetitions + 1):
        _fill(plan, trials, count, repetition)
        held = table.count()
        if held != count:
            raise DutError(
                f"The device has {held:,} connections in its table after a phase 1 of {count:,}: "
                "what it deletes is not what was made"
            )
        full_s.append(table.delete_all().seconds)
        left = table.count()
        if left:
            raise DutError(f"The device still has {left:,} connections after it deleted all")
        empty_s.append(table.delete_all().seconds)
    return Deletions(
        connections=count,
        ranges=str(trials.tester.traffic.ranges),
        full_s=tuple(full_s),
        empty_s=tuple(empty_s),
    )


def _fill(plan: TearDownPlan, trials: Trials, count: int, repetition: int) -> None:
    """A phase 1 that loses frames is repeated."""
    rate_cps = plan.rate_cps or connections_of(trials.tester).rate_fps
    if rate_cps is None:
        raise DutError("connections.rate_fps: is missing: phase 1 needs a safe rate")
    load = Establishing(rate_fps=rate_cps)
    made = 0
    for _ in range(plan.incomplete_repeats + 1):
        trials.observer.trial_started(rate_cps, (rate_cps, rate_cps))
        seed = repetition_seed(plan.seed, repetition)
        trial = trials.run(load=load, repetition=repetition, seed=seed)
        if trial.verdict is not Verdict.FAIL and trial.result.passed:
            return
        made = trial.result.connections.stored if trial.result.connections else 0
    raise DutError(
        f"Phase 1 made {made:,} of {count:,} connections, {plan.incomplete_repeats + 1} times: a "
        "lower phase 1 rate, or a larger table, is right"
    )


def _figures(found: Deletions) -> tuple[Figure, ...]:
    at = f"{found.connections:,} connections"
    name = f"({RATE})" if found.within_noise else RATE
    return (
        Figure(name=name, unit="cps", at=at, values=(found.rate_cps,)),
        Figure(
            name="full table deletion time", unit="s", at=at, values=found.full_s, primary=False
        ),
        Figure(
            name="empty table deletion time", unit="s", at=at, values=found.empty_s, primary=False
        ),
    )


def _remarks(found: list[Deletions]) -> tuple[str, ...]:
    said = [
        "N / (median full - median empty deletion time), by the device's own clock; source and "
        "destination ports " + ", ".join(each.ranges for each in found) + "."
    ]
    if any(each.within_noise for each in found):
        said.append(
            "In parentheses: the times differ among themselves by more than a quarter of what full "
            "and empty differ by; more connections are right."
        )
    return tuple(said)
