"""What a throughput measurement yields; the tables and files are functions of it."""

from typing import Literal

from natxy.model.base import Model
from natxy.model.disturbance import Disturbance
from natxy.model.icmp_words import merged
from natxy.model.measurement import (
    Conditions,
    ConnectionConditions,
    Figure,
    Measurement,
    Media,
    TrialCounts,
)
from natxy.model.search_conditions import SearchConditions
from natxy.model.self_test_record import OwnDelay
from natxy.model.testbed import Directions
from natxy.model.trial_result import IcmpError
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Limit, ceiling

MaximumOrigin = Literal["media", "given", "none"]


class Repetition(Model):
    """One search; `rate_fps` was tested and passed, 0 if no rate did."""

    number: int
    seed: int
    rate_fps: int  # per direction
    limit: Limit
    lower_bound: bool  # the DUT does at least this rate: the search ended against something else
    # At Limit.TESTER, whether what made the trials above INVALID grows with the rate; else noise
    # outlasted the repeats.
    too_slow: bool = True
    trials: int
    invalid_trials: int
    overturned: int = 0  # trials that failed at a rate that passed, by loss verification
    misdelivered: int  # of all trials, as are the next two
    duplicated: int
    # Of all trials, as are the next three: what TrialCounts says they are.
    without_udp_checksum: int = 0
    changed: int = 0
    wrong: int = 0
    collided: int = 0
    lost_connections: int = 0
    how_lost: str = ""
    worst_lateness_ns: float  # of the valid trials
    icmp_errors: tuple[IcmpError, ...] = ()  # what TrialCounts says they are
    disturbance: Disturbance = Disturbance()


class ThroughputResult(Model):
    record: Literal["throughput"] = "throughput"
    dut: str
    left_ip_version: int
    right_ip_version: int
    direction: Directions
    frame_size_bytes: int
    n: int = 1
    m: int = 1  # frame i is foreground iff i mod n < m
    left_networks: int = 1  # what Conditions says they are
    right_networks: int = 1
    left_media: Media | None = None  # what Conditions says they are, as the next two
    right_media: Media | None = None
    theoretical_fps: int | None = None
    duration_s: float
    drain_s: float
    settle_s: float
    frame_timeout_s: float = 0.0  # 0: none; else a frame that takes longer is lost
    error: str  # as it was asked for
    error_fps: int
    maximum_fps: int | None
    maximum_origin: MaximumOrigin
    seed: int
    loss: str = ""  # that was accepted; empty: none
    burst_frames: int = 1  # 1: steady traffic; else rates are means over bursts and silence
    burst_rate_fps: int | None = None  # within a burst
    least_fps: int = 1  # lower rates were not tried
    ring_frames: int = 0  # of the tester's port that holds fewer; 0: nobody knows
    search: SearchConditions = SearchConditions(loss_verifications=0)
    connections: ConnectionConditions | None = None  # None: stateless
    tester_delay: OwnDelay | None = None  # what Conditions says it is
    needed_timeout_s: float = 0.0  # that connections had to live
    departures: tuple[str, ...]  # from RFC 2544; empty: it conforms
    repetitions: tuple[Repetition, ...]
    left_out: int = 0  # repetitions that were asked for: the time for them was over

    @property
    def rates_fps(self) -> list[int]:
        return [repetition.rate_fps for repetition in self.repetitions]

    def is_lower_bound(self, figure_fps: float) -> bool:
        """Whether a figure of the repetitions could be higher if the lower bounds among them were.

        A repetition known only from below that is above the figure leaves the figure as it is.
        """
        return any(r.lower_bound and r.rate_fps <= figure_fps for r in self.repetitions)

    @property
    def misdelivered(self) -> int:
        return sum(repetition.misdelivered for repetition in self.repetitions)

    @property
    def duplicated(self) -> int:
        return sum(repetition.duplicated for repetition in self.repetitions)

    @property
    def connection_faults(self) -> dict[str, int]:
        """What happened to connections between the phases."""
        return {
            name: sum(getattr(repetition, name) for repetition in self.repetitions)
            for name in ("changed", "wrong", "collided", "lost_connections")
        }

    @property
    def invalid_trials(self) -> int:
        return sum(repetition.invalid_trials for repetition in self.repetitions)

    @property
    def worst_lateness_ns(self) -> float:
        return max((r.worst_lateness_ns for r in self.repetitions), default=0.0)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must not be missing beside the figures."""
        how = f"Search error {self.error}; each repetition is a search of its own."
        return (
            how,
            *self.of_bursts,
            *self.bounds,
            *(end[0].upper() + end[1:] for end in self.ends),
        )

    @property
    def of_bursts(self) -> tuple[str, ...]:
        """How the bursts were sent, if there were any."""
        if self.burst_rate_fps is None:
            return ()
        said = [
            f"Bursts of {self.burst_frames:,} frames at {self.burst_rate_fps:,} fps; throughput is "
            "their mean rate, and the least interval is burst / throughput (RFC 2544 section 21)."
        ]
        if self.burst_frames > self.ring_frames > 0:
            said.append(
                f"A burst of {self.burst_frames:,} frames is longer than the tester's ring "
                f"({self.ring_frames:,} frames): a trial in which the ring may have been full is "
                "invalid, not failed."
            )
        return tuple(said)

    @property
    def _burst_figures(self) -> tuple[Figure, ...]:
        """None where a search found no interval that is long enough."""
        if self.burst_frames == 1 or 0 in self.rates_fps:
            return ()
        return (
            Figure(
                name=f"least interval between bursts of {self.burst_frames:,}",
                unit="s",
                values=tuple(self.burst_frames / rate_fps for rate_fps in self.rates_fps),
                upper_bound=tuple(r.lower_bound for r in self.repetitions),
                primary=False,
            ),
        )

    @property
    def bounds(self) -> tuple[str, ...]:
        """Why a rate is a lower bound."""
        bounds = [r for r in self.repetitions if r.lower_bound]
        said = [
            f"≥: a lower bound, {ceiling(too_slow=too_slow)}."
            for too_slow in (True, False)
            if any(r.limit is Limit.TESTER and r.too_slow is too_slow for r in bounds)
        ]
        if any(r.limit is Limit.MAXIMUM for r in bounds):
            said.append("≥: a lower bound: the highest rate that was to be tried passed.")
        return tuple(said)

    @property
    def ends(self) -> tuple[str, ...]:
        """What else a search ended at than a rate that the device has too much of."""
        said = []
        if any(r.limit is Limit.MAXIMUM and not r.lower_bound for r in self.repetitions):
            said.append("limited by the media's rate.")
        if self.burst_frames > 1 and 0 in self.rates_fps:
            said.append(
                f"0 means that no rate of {self.least_fps:,} fps or more passed, which is one "
                f"burst in {self.burst_frames / self.least_fps:.3g} s; lower ones were not tried."
            )
        elif 0 in self.rates_fps:
            said.append("0 means that no rate passed; frames are lost at every rate.")
        if self.left_out:
            asked = self.left_out + len(self.repetitions)
            said.append(
                f"{self.left_out} of {asked} repetitions were left out: the time for them was over."
            )
        return tuple(said)

    @property
    def _name(self) -> str:
        bursts = f", bursts of {self.burst_frames:,}" if self.burst_frames > 1 else ""
        return f"throughput{bursts}" + (f", {self.loss} accepted" if self.loss else "")

    @property
    def conditions(self) -> Conditions:
        return self.measurement().conditions

    @property
    def figures(self) -> tuple[Figure, ...]:
        return self.measurement().figures

    def figure(self, name: str, direction: Direction | None = None, at: str = "") -> Figure:
        """KeyError if there is none."""
        return self.measurement().figure(name, direction, at)

    def measurement(self) -> Measurement:
        """The same in the form that all procedures share."""
        return Measurement(
            procedure=self.record,
            title="Throughput",
            reference="RFC 2544 section 26.1",
            conditions=Conditions(
                **{
                    name: getattr(self, name)
                    for name in Conditions.model_fields
                    if name in vars(self)
                }
            ),
            departures=self.departures,
            remarks=self.remarks,
            figures=(
                Figure(
                    name=self._name,
                    unit="fps",
                    values=tuple(float(rate_fps) for rate_fps in self.rates_fps),
                    lower_bound=tuple(r.lower_bound for r in self.repetitions),
                ),
                *self._burst_figures,
            ),
            counts=TrialCounts(
                trials=sum(repetition.trials for repetition in self.repetitions),
                invalid_trials=self.invalid_trials,
                overturned=sum(repetition.overturned for repetition in self.repetitions),
                misdelivered=self.misdelivered,
                duplicated=self.duplicated,
                without_udp_checksum=sum(r.without_udp_checksum for r in self.repetitions),
                **self.connection_faults,
                how_lost=next((r.how_lost for r in self.repetitions if r.how_lost), ""),
                icmp_errors=merged(error for r in self.repetitions for error in r.icmp_errors),
                disturbance=Disturbance.total(r.disturbance for r in self.repetitions),
                needed_timeout_s=self.needed_timeout_s,
                worst_lateness_ns=self.worst_lateness_ns,
            ),
        )
