"""The result of a throughput measurement, from which tables and files are computed."""

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
from natxy.model.port_result import IcmpError
from natxy.model.search_conditions import SearchConditions
from natxy.model.self_test_record import OwnDelay
from natxy.model.testbed import Directions
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Limit, ceiling

MaximumOrigin = Literal["media", "given", "none"]


class Repetition(Model):
    """One search; `rate_fps` is the highest rate that passed, or 0 if no rate did."""

    number: int
    seed: int
    rate_fps: int  # per direction
    limit: Limit
    lower_bound: bool  # the DUT can do at least this rate: something else ended the search
    # At Limit.TESTER: True if the reason for the INVALID trials grows with the rate, False if
    # noise lasted through all repeats.
    too_slow: bool = True
    trials: int
    invalid_trials: int
    # Counters over all trials; TrialCounts defines them.
    overturned: int = 0
    misdelivered: int
    duplicated: int
    without_udp_checksum: int = 0
    changed: int = 0
    wrong: int = 0
    collided: int = 0
    lost_connections: int = 0
    how_lost: str = ""
    worst_lateness_ns: float  # in valid trials
    icmp_errors: tuple[IcmpError, ...] = ()
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
    left_networks: int = 1  # Conditions defines these five
    right_networks: int = 1
    left_media: Media | None = None
    right_media: Media | None = None
    theoretical_fps: int | None = None
    duration_s: float
    drain_s: float
    settle_s: float
    frame_timeout_s: float = 0.0  # 0: none; else a frame that takes longer is lost
    error: str  # as the user gave it
    error_fps: int
    maximum_fps: int | None
    maximum_origin: MaximumOrigin
    seed: int
    loss: str = ""  # the loss that is tolerated; empty: none
    burst_frames: int = 1  # 1: steady traffic; else rates are means over bursts and silence
    burst_rate_fps: int | None = None  # within a burst
    least_fps: int = 1  # lower rates were not tried
    ring_frames: int = 0  # size of the tester's smaller receive ring; 0: unknown
    search: SearchConditions = SearchConditions(loss_verifications=0)
    connections: ConnectionConditions | None = None  # None: stateless
    tester_delay: OwnDelay | None = None  # Conditions defines it
    needed_timeout_s: float = 0.0  # how long connections had to live
    departures: tuple[str, ...]  # from RFC 2544; empty: the result conforms
    repetitions: tuple[Repetition, ...]
    left_out: int = 0  # repetitions that were not run, since the time limit was reached

    @property
    def rates_fps(self) -> list[int]:
        return [repetition.rate_fps for repetition in self.repetitions]

    def is_lower_bound(self, figure_fps: float) -> bool:
        """Returns whether a figure, such as the median of the repetitions, is only a lower bound.

        It is one if a repetition whose rate is not above the figure is a lower bound.
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
        """Counts of what happened to connections between the phases, by name."""
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
        """Notes without which the figures could be misread."""
        how = f"Search error {self.error}; each repetition is a separate search."
        return (
            how,
            *self.of_bursts,
            *self.bounds,
            *(end[0].upper() + end[1:] for end in self.ends),
        )

    @property
    def of_bursts(self) -> tuple[str, ...]:
        """Notes on how bursts were sent; empty for steady traffic."""
        if self.burst_rate_fps is None:
            return ()
        said = [
            f"Bursts of {self.burst_frames:,} frames at {self.burst_rate_fps:,} fps; throughput is "
            "the mean rate over bursts and silence, and the least interval is burst / throughput "
            "(RFC 2544 section 21)."
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
        """The least interval between bursts; empty if a search found no rate that passes."""
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
        """Notes that say why a rate is a lower bound."""
        bounds = [r for r in self.repetitions if r.lower_bound]
        said = [
            f"≥: a lower bound, {ceiling(too_slow=too_slow)}."
            for too_slow in (True, False)
            if any(r.limit is Limit.TESTER and r.too_slow is too_slow for r in bounds)
        ]
        if any(r.limit is Limit.MAXIMUM for r in bounds):
            said.append("≥: a lower bound: the highest rate that the search may try passed.")
        return tuple(said)

    @property
    def ends(self) -> tuple[str, ...]:
        """Notes on searches that did not end at a rate that failed."""
        said = []
        if any(r.limit is Limit.MAXIMUM and not r.lower_bound for r in self.repetitions):
            said.append("limited by the media's rate.")
        if self.burst_frames > 1 and 0 in self.rates_fps:
            said.append(
                f"0 means that no rate passed. The lowest rate tried is {self.least_fps:,} fps, "
                f"one burst every {self.burst_frames / self.least_fps:.3g} s."
            )
        elif 0 in self.rates_fps:
            said.append("0 means that no rate passed: frames were lost at every rate tried.")
        if self.left_out:
            asked = self.left_out + len(self.repetitions)
            said.append(
                f"{self.left_out} of {asked} repetitions were not run: the time limit was reached."
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
        """Returns the figure with this name, direction and point; KeyError if there is none."""
        return self.measurement().figure(name, direction, at)

    def measurement(self) -> Measurement:
        """Returns the result in the form that all procedures share."""
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
