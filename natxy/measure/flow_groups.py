"""Groups of flows that start one after the other within a trial (RFC 8219 section 10.2.2).

A trial first sends a quarter, a half and three quarters of its flows, in a part each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from natxy.errors import ConfigurationError
from natxy.measure.flows import FLOWS, ranges_of, with_flows
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.remark import Remark, Topic
from natxy.setting import Setting
from natxy.trial.phases import Starting
from natxy.trial.session import Session
from natxy.trial.timing import Timing

QUARTERS = 4  # the intermediary points of RFC 8219 section 10.2.2
CLAUSE = "RFC 8219 section 10.2.2"
INCREMENTAL = Setting("incremental", "Start the flows one after the other within a trial")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a trial in which some of the flows have not started."""

    flows: int
    adds: int  # flows that start after it

    def lasts_s(self, step_s: Fraction | None) -> Fraction | None:
        """Returns how long the part lasts: until the next flows start; None: as long as the
        trial."""
        return None if step_s is None else self.adds * step_s


def parts_of(flows: int) -> list[Part]:
    """Returns the parts before the last one, which has all flows; fewer flows than quarters have
    fewer parts."""
    numbers = {flows * quarter // QUARTERS for quarter in range(1, QUARTERS)} - {0, flows}
    return [
        Part(flows=part, adds=after - part) for part, after in pairwise((*sorted(numbers), flows))
    ]


def check_parts(flows: int) -> None:
    """Refuses numbers of flows whose parts cannot be made of ranges of ports."""
    for part in parts_of(flows):
        try:
            ranges_of(part.flows)
        except ConfigurationError as error:
            raise ConfigurationError(
                *(FLOWS, f": {flows} is not possible with ", INCREMENTAL, ", since its part of "),
                f"{part.flows} flows is no possible number of port pairs (expected a number whose "
                "quarters are possible too)",
            ) from error


def ramp_of(session: Session, flows: int, step_s: Fraction | None) -> tuple[Starting, ...]:
    """Returns what a trial sends before all flows have started."""
    return tuple(
        Starting(traffic=with_flows(session, part.flows).traffic, lasts_s=part.lasts_s(step_s))
        for part in parts_of(flows)
    )


def group_deviations(numbers: Sequence[int]) -> Deviations:
    few = any(1 < flows <= QUARTERS for flows in numbers)
    said = {Differs.IN_GROUPS: max(numbers) > QUARTERS, Differs.WITH_DRAINS: few}
    return tuple(Deviation.of(code, CLAUSE) for code, applies in said.items() if applies)


def group_remarks(
    numbers: Sequence[int], step_s: Fraction | None, timing: Timing
) -> Iterator[Remark]:
    """Yields how flows start, with T, the time between the starts of two flows, which RFC 8219
    section 10.2.2 requires; and each number of flows of which some end before the trial does."""
    if step_s is None:
        yield Remark.of(Topic.PARTS_AS_TRIALS, drain_s=timing.drain_s)
    else:
        yield Remark.of(Topic.PARTS_BY_STEP, step_s=step_s, drain_s=timing.drain_s)
    for flows in numbers:
        ranges = [ranges_of(each) for each in (*(part.flows for part in parts_of(flows)), flows)]
        if not all(before.is_within(after) for before, after in pairwise(ranges)):
            yield Remark.of(Topic.PARTS_DIFFER, f"{flows:,} flows", ports=tuple(map(str, ranges)))
