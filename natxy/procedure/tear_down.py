"""Connection tear-down rate (RFC 9693): how fast a gateway deletes all of its connections."""

from dataclasses import dataclass
from statistics import median
from typing import Any

from natxy.dut.base import ConnectionTable
from natxy.errors import DutError
from natxy.measure.plan import Plan, repeat
from natxy.measure.table_size import (
    Size,
    check_each_frame_makes_one,
    named_by_size,
    told_apart,
)
from natxy.measure.traffic_deviations import connection_deviations
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Remarks, Topic, applying
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.establishment import with_phase_1_rate
from natxy.trial.connection_conditions import of_phase_1, of_several
from natxy.trial.establishing import Establishing
from natxy.trial.profile import OF_CONNECTIONS, deviations
from natxy.trial.seeds import repetition_seed
from natxy.trial.session import Session
from natxy.trial.trials import Trials

RATE = "connection tear-down rate"
TIME = "deletion time"  # median of the full table - that of the empty one
# Share of the difference above which a figure is uncertain. MP Table 11 has parentheses at 0.44 and
# none at 0.06.
NOISE = 0.25


@dataclass(frozen=True, kw_only=True)
class TearDownPlan(Plan):
    """The options of a measurement, checked when the plan is created.

    `sizes` has the numbers N of connections; if it is empty, N is the testbed's count. Each
    repetition fills the table, then deletes its content twice: once full, once empty.
    """

    sizes: tuple[Size, ...] = ()
    # Of phase 1; None: the testbed's rate or, if it has none, a share of one that is found first.
    rate_cps: int | None = None
    incomplete_repeats: int = 3  # repeats of a phase 1 that lost frames


@dataclass(frozen=True, kw_only=True)
class Deletions:
    """The deletion times of one column, in seconds, with a value for each repetition."""

    at: str  # the name of the column
    connections: int
    ranges: str  # of ports and addresses
    full_s: tuple[float, ...]
    empty_s: tuple[float, ...]

    @property
    def difference_s(self) -> float:
        return median(self.full_s) - median(self.empty_s)

    @property
    def rate_cps(self) -> float:
        """N / (median t_full - median t_empty); 0 if deleting a full table took no longer."""
        return self.connections / self.difference_s if self.difference_s > 0 else 0.0

    @property
    def within_noise(self) -> bool:
        """True if the rate is uncertain.

        The times of the repetitions then vary by more than a share NOISE of the difference between
        full and empty, or deleting a full table took no longer.
        """
        spread_s = sum(max(times) - min(times) for times in (self.full_s, self.empty_s))
        return self.difference_s <= 0 or spread_s > NOISE * self.difference_s


def tear_down(plan: TearDownPlan, session: Session) -> Measurement:
    """Measures the rate at each N, and the deletion times from which it follows."""
    check_each_frame_makes_one(session.traffic)
    table = session.required_table
    if plan.rate_cps is not None:
        session = session.with_connections(rate_fps=plan.rate_cps)
    trials = plan.trials(session, after=lambda trial: _emptied(trial, trials, table))
    sessions = [size.of(session) for size in plan.sizes] or [session]
    names: list[str] = []
    for name in named_by_size(sessions):
        names.append(told_apart(name, names))

    def measure(number: int) -> Deletions:
        seed = (plan.seed + number) % 2**63
        trials.session = with_phase_1_rate(sessions[number - 1], plan.timing, seed=seed)
        return _deletions(plan, trials, at=names[number - 1])

    found = repeat(len(sessions), trials, measure, lambda one: _figures(one)[:1])
    return Measurement(
        procedure="tear-down",
        title="Connection tear-down rate",
        reference="RFC 9693",
        conditions=of_several(of_phase_1(plan.conditions(session), session, rate_is_sought=False)),
        deviations=(
            *deviations(plan.timing, OF_CONNECTIONS, repetitions=plan.repetitions),
            *dict.fromkeys(each for one in sessions for each in connection_deviations(one)),
        ),
        remarks=_remarks(found),
        figures=tuple(figure for each in found for figure in _figures(each)),
        counts=trials.counts,
    )


def _deletions(plan: TearDownPlan, trials: Trials, *, at: str) -> Deletions:
    count = trials.session.traffic.required_connections.count
    numbers = range(1, plan.repetitions + 1)
    times = [_filled(plan, trials, count, number).deletions_s for number in numbers]
    return Deletions(
        at=at,
        connections=count,
        ranges=str(trials.session.traffic.ranges),
        full_s=tuple(full_s for full_s, _ in times),
        empty_s=tuple(empty_s for _, empty_s in times),
    )


def _emptied(trial: TrialRecord, trials: Trials, table: ConnectionTable) -> dict[str, Any]:
    """Deletes the connections that the trial made, and then none; returns how long both took."""
    if not _is_full(trial):
        return {}
    count, held = trials.session.traffic.required_connections.count, table.count()
    if held != count:
        raise DutError(
            f"The gateway has {held:,} connections in its table after phase 1 created "
            f"{count:,} (expected the same number)"
        )
    full_s = table.delete_all()
    left = table.count()
    if left:
        raise DutError(
            f"The gateway still has {left:,} connections after it deleted all (expected none)"
        )
    return {"deletions_s": (full_s, table.delete_all())}


def _is_full(trial: TrialRecord) -> bool:
    return trial.verdict is not Verdict.FAIL and trial.result.passed


def _filled(plan: TearDownPlan, trials: Trials, count: int, repetition: int) -> TrialRecord:
    """Fills the table and empties it; repeats a phase 1 that loses frames."""
    rate_cps = trials.session.traffic.required_connections.rate_fps
    assert rate_cps is not None, "with_phase_1_rate has found one"
    load = Establishing(rate_cps=rate_cps)
    made = 0
    for _ in range(plan.incomplete_repeats + 1):
        trials.session.observer.trial_started(rate_cps, (rate_cps, rate_cps))
        seed = repetition_seed(plan.seed, repetition)
        trial = trials.run(load=load, repetition=repetition, seed=seed)
        if _is_full(trial):
            return trial
        made = trial.result.connections.stored if trial.result.connections else 0
    raise DutError(
        f"Phase 1 created only {made:,} of {count:,} connections, in {plan.incomplete_repeats + 1} "
        "trials; use a lower phase 1 rate, or a larger table"
    )


def _figures(found: Deletions) -> tuple[Figure, ...]:
    rate = Figure(
        name=RATE,
        unit="cps",
        at=found.at,
        at_value=found.connections,
        at_unit="connections",
        values=(found.rate_cps,),
    )
    times = {
        "full table deletion time": found.full_s,
        "empty table deletion time": found.empty_s,
        TIME: (found.difference_s,),
    }
    return (
        rate.model_copy(update={"uncertain": found.within_noise}),
        *(
            rate.model_copy(
                update={
                    "name": name,
                    "unit": "s",
                    "values": values,
                    "primary": False,
                    "uncertain": name == TIME and found.within_noise,
                }
            )
            for name, values in times.items()
        ),
    )


def _remarks(found: list[Deletions]) -> Remarks:
    ranges = tuple(each.ranges for each in found)
    return (
        Remark.of(Topic.TEAR_DOWN),
        Remark.of(Topic.PORTS, ports=ranges if len(set(ranges)) > 1 else ranges[:1]),
        *applying({Topic.UNCERTAIN: any(each.within_noise for each in found)}),
    )
