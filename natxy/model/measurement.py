"""The result of a measurement, the same for all procedures: its conditions and its figures.

Tables, CSV and JSON files are computed from it.
"""

from collections.abc import Iterable
from operator import add, sub
from typing import Literal, Self

from natxy.model.base import Model
from natxy.model.deviation import Deviations
from natxy.model.disturbance import Disturbance
from natxy.model.port_result import IcmpError, merged
from natxy.model.reason import LossOfConnections
from natxy.model.remark import Remarks
from natxy.model.self_test_record import OwnDelay
from natxy.model.testbed import Directions
from natxy.model.traffic_spec import Transport
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction, Side
from natxy.model.verdict import Verdict
from natxy.statistics import summary

Bound = Literal["exact", "lower", "upper"]
Statistic = Literal["median", "mean"]
MaximumOrigin = Literal["media", "given", "none"]
Unit = Literal["fps", "cps", "ns", "%", "frames", "connections", "s", "times", "octets"]
PointUnit = Literal["fps", "flows", "subscribers", "connections", "cores"]


class Figure(Model):
    """One figure of a measurement, with a value for each repetition."""

    name: str  # the RFC's term
    unit: Unit
    direction: Direction | None = None  # None: of all active directions together
    at: str = ""  # the point of a series at which it was measured: "90 % (900,000 fps)"
    at_value: int | None = None  # the same as a number: 900000; None: there is no series
    at_unit: PointUnit | None = None
    rate_fps: int | None = None  # per direction; None: that of the conditions, if they have one
    # What was found before at this point, and may differ the next time: "phase 1 at 9,000 cps".
    # It is shown beside the point, but does not tell figures apart.
    found: str = ""
    values: tuple[float, ...]  # one per repetition; empty: `missing` says why
    missing: str = ""  # why there is no value: "no valid trial"
    statistic: Statistic = "median"  # of the repetitions; the RFC reports it as the benchmark
    lower_bound: tuple[bool, ...] = ()  # per repetition; empty: no value is a lower bound
    upper_bound: tuple[bool, ...] = ()  # per repetition; empty: no value is an upper bound
    # The largest error that the timing can have caused, per repetition, in the figure's unit;
    # empty: the timing causes none.
    errors: tuple[float, ...] = ()
    # Of trials that noise has left out; `natxy bench` counts them if noise met both sides alike.
    excused: tuple[float, ...] = ()
    primary: bool = True  # False: the procedure reports it in addition to its main figures
    uncertain: bool = False  # the repetitions vary too much; shown in parentheses

    @property
    def shown_name(self) -> str:
        return f"({self.name})" if self.uncertain else self.name

    @property
    def title(self) -> str:
        """The name and the point, as a person reads them: "throughput 10 flows, at 900 fps"."""
        place = ", ".join(word for word in (self.at, self.found) if word)
        return " ".join(word for word in (self.shown_name, place) if word)

    def is_lower_bound(self, value: float) -> bool:
        """Returns whether `value`, such as the median of the repetitions, is only a lower bound.

        It is one if a repetition's value that is not above it is a lower bound, or the next one
        above it if it lies between two. A lower bound further above does not change it.
        """
        up_to = value
        if value not in self.values:
            up_to = min((known for known in self.values if known > value), default=value)
        bounds = zip(self.values, self.lower_bound, strict=False)
        return any(bound and known <= up_to for known, bound in bounds)

    def bound(self, value: float) -> Bound:
        """Returns whether `value`, such as the median of the repetitions, is exact or a bound."""
        if self.is_lower_bound(value):
            return "lower"
        down_to = value
        if value not in self.values:
            down_to = max((known for known in self.values if known < value), default=value)
        bounds = zip(self.values, self.upper_bound, strict=False)
        return "upper" if any(bound and known >= down_to for known, bound in bounds) else "exact"

    @property
    def benchmark(self) -> float:
        """The result of all repetitions: their median, or their mean where the RFC asks for it."""
        of = summary(self.values)
        return of.mean if self.statistic == "mean" else of.median

    @property
    def benchmark_error(self) -> float:
        """How far the benchmark can be from that of the true values, in the figure's unit.

        Each true value is within its error; so their median lies between the medians of the
        values less and plus their errors, and their mean between those means.
        """
        if not self.values or not self.errors:
            return 0.0
        errors = self.errors
        if len(errors) != len(self.values):
            errors = (max(errors),) * len(self.values)
        highest, lowest = (
            self.model_copy(update={"values": tuple(map(moved, self.values, errors))}).benchmark
            for moved in (add, sub)
        )
        return max(highest - self.benchmark, self.benchmark - lowest)

    @property
    def benchmark_bound(self) -> Bound:
        return self.mean_bound if self.statistic == "mean" else self.bound(self.benchmark)

    @property
    def mean_bound(self) -> Bound:
        """Tells whether the mean is exact or a bound; a bound in any repetition makes it one."""
        if any(self.lower_bound):
            return "lower"
        return "upper" if any(self.upper_bound) else "exact"


class ConnectionConditions(Model):
    """Connections of a stateful gateway's measurement.

    None means that a value is unknown, or that the procedure searches for it.
    """

    initiator: Side
    transport: Transport = "udp"
    count: int | None  # connections that phase 1 creates
    rate_fps: int | None  # of phase 1
    rate_origin: str = "as given"
    order: str  # in which phase 1 enumerates the connections
    ranges: str  # sizes of the port ranges, and of address fields that vary: "40,000 x 100"
    initiator_order: str  # in phase 2; empty: phase 1 is measured, and there is no phase 2
    responder_order: str
    validated: bool = False  # the responder sent one frame to each connection after phase 1
    table_entries: int | None = None  # size of the gateway's connection tracking table
    hash_size: int | None = None
    timeout_s: float | None = None
    logging: str | None = None  # of new connections, as the gateway names it, or "off"


class SearchConditions(Model):
    """The search for a rate; all goals share the attributes that RFC 9971 asks to report."""

    method: Literal["bisection", "mlr"] = "bisection"
    error: str | None = None  # as the user gave it; None: the goals of MLRsearch have widths
    # At the highest rate that was found, in the figure's unit; None: not a search for one rate.
    error_fps: int | None = None
    maximum_fps: int | None = None  # the highest rate that the search may try; None: unknown
    maximum_origin: MaximumOrigin | None = None  # None: not recorded
    loss_accepted: str | None = None  # empty: none; None: each goal of MLRsearch has its own
    burst_frames: int = 1  # 1: steady traffic; else rates are means over bursts and silence
    burst_rate_fps: int | None = None  # within a burst
    # How often a failed trial is repeated before its rate fails; None: MLRsearch.
    loss_verifications: int | None = None
    exceed_ratio: float | None = None  # of an MLRsearch goal, like the next two; None: bisection
    duration_sum_s: float | None = None
    initial_duration_s: float | None = None


class Media(Model):
    """Driver and link speed of one of the tester's ports."""

    driver: str
    speed_mbps: int | None  # None: the link has no speed


class Conditions(Model):
    """The conditions under which the figures of a measurement were taken."""

    dut: str
    left_ip_version: int
    right_ip_version: int
    direction: Directions
    frame_size_bytes: int  # of the IPv6 frame with FCS; the IPv4 frame is 20 octets smaller
    # What frames have beside plain UDP and IP, in sentences: VLAN tags, softwires, extension
    # headers, DSCP, flow label; empty: nothing, or the result is of an earlier release.
    formats: tuple[str, ...] = ()
    n: int = 1
    m: int = 1  # frame i is foreground iff i mod n < m
    left_networks: int = 1  # destination networks behind each side
    right_networks: int = 1
    left_media: Media | None = None  # None: not recorded
    right_media: Media | None = None
    # The rate of the slower side's media at this frame size, per direction; None: one has no rate.
    theoretical_fps: int | None = None
    rate_fps: int | None = None  # per direction; None: the procedure searches for it
    duration_s: float | None  # None: the trial lasts until all connections are created
    drain_s: float
    settle_s: float
    frame_timeout_s: float = 0.0  # 0: none
    search: SearchConditions | None = None  # None: the procedure did not search for a rate
    seed: int
    variant: str = ""  # of the engine, such as x86-64-v3
    connections: ConnectionConditions | None = None  # None: stateless
    tester_delay: OwnDelay | None = None  # a part of every delay; None: no self-test is stored

    @property
    def networks(self) -> str:
        """Count of destination networks per side, as text: "256", or "256 / 1" if they differ."""
        left, right = self.left_networks, self.right_networks
        return f"{left}" if left == right else f"{left} / {right}"

    @property
    def foreground_percent(self) -> float:
        return self.m / self.n * 100


# Counters of all phases of a trial that a measurement adds up.
COUNTERS = ("without_udp_checksum", "changed", "wrong", "collided")


class TrialCounts(Model):
    """Counters over all trials of a measurement."""

    trials: int = 0
    invalid_trials: int = 0
    overturned: int = 0  # failed trials at a rate that passed by loss verification
    revoked: int = 0  # failed trials whose CPUs were placed badly, as later trials showed
    lost: int = 0
    misdelivered: int = 0
    duplicated: int = 0
    reordered: int = 0
    gaps: int = 0  # in the numbering of each direction's frames (RFC 2544 section 10)
    without_udp_checksum: int = 0  # over IPv4; included in the received frames
    changed: int = 0  # connections whose mapping changed between the phases of a trial
    wrong: int = 0  # replies delivered to another connection; included in `misdelivered`
    collided: int = 0  # part of `wrong`: two connections had the same external four-tuple
    lost_connections: int = 0  # trials that failed because the gateway lost connections
    how_lost: LossOfConnections | None = None  # in the first of these trials
    negative_delays: int = 0  # in valid trials; they count as 0
    worst_lateness_ns: float = 0.0  # in valid trials
    needed_timeout_s: float = 0.0  # how long connections had to live; 0: stateless
    icmp_errors: tuple[IcmpError, ...] = ()  # about frames of the trials, summed by sort
    disturbance: Disturbance = Disturbance()

    @property
    def invalid_percent(self) -> float:
        return self.invalid_trials / self.trials * 100 if self.trials else 0.0

    @property
    def invalid_share(self) -> str:
        """The number of invalid trials, in words: "12 of 60 trials (20 %)"."""
        return f"{self.invalid_trials:,} of {self.trials:,} trials ({self.invalid_percent:.0f} %)"

    @property
    def invalid_clause(self) -> str:
        """A clause about invalid trials, after a figure that was found first; empty if none was."""
        return f"; {self.invalid_share} were invalid" if self.invalid_trials else ""

    @classmethod
    def total(cls, counts: Iterable[Self]) -> Self:
        """Returns the counts of several measurements: their sums, and the maxima of times."""
        all_counts = list(counts)
        merged_apart = {"icmp_errors", "disturbance", "how_lost"}
        members = [each.model_dump(exclude=merged_apart) for each in all_counts]
        highest = ("worst_lateness_ns", "needed_timeout_s")
        return cls(
            **{
                name: (max if name in highest else sum)([each[name] for each in members] or [0])
                for name in cls.model_fields
                if name not in merged_apart
            },
            how_lost=next((each.how_lost for each in all_counts if each.how_lost), None),
            disturbance=Disturbance.total(each.disturbance for each in all_counts),
            icmp_errors=merged(error for each in all_counts for error in each.icmp_errors),
        )

    def plus(self, trial: TrialRecord, *, needed_timeout_s: float = 0.0) -> Self:
        """Returns these counts with those of one more trial."""
        valid = trial.verdict is not Verdict.INVALID
        lateness_ns = trial.result.worst_lateness_ns if valid else 0.0
        return self.model_copy(
            update={
                "trials": self.trials + 1,
                "invalid_trials": self.invalid_trials + (not valid),
                "lost": self.lost + trial.result.lost,
                "misdelivered": self.misdelivered + trial.misdelivered,
                "duplicated": self.duplicated + trial.result.duplicated,
                "reordered": self.reordered + trial.result.reordered,
                "gaps": self.gaps + trial.result.gaps,
                **{name: getattr(self, name) + trial.total(name) for name in COUNTERS},
                "lost_connections": self.lost_connections + bool(trial.lost_connections),
                "how_lost": self.how_lost or trial.lost_connections,
                "negative_delays": self.negative_delays
                + (trial.result.negative_delays if valid else 0),
                "worst_lateness_ns": max(self.worst_lateness_ns, lateness_ns),
                "disturbance": Disturbance.total((self.disturbance, trial.disturbance)),
                "icmp_errors": merged((*self.icmp_errors, *trial.result.icmp_errors)),
                "needed_timeout_s": max(self.needed_timeout_s, needed_timeout_s),
            }
        )


class Measurement(Model):
    record: Literal["measurement"] = "measurement"
    procedure: str  # the name of the command: "latency"
    title: str
    reference: str  # RFC and section; empty: no RFC defines it
    conditions: Conditions
    deviations: Deviations = ()  # from the RFC; empty: the result conforms
    remarks: Remarks = ()  # notes without which the figures could be misread
    figures: tuple[Figure, ...]
    counts: TrialCounts

    @property
    def conforms(self) -> bool:
        """Whether the result has no deviations from the RFC that defines the measurement."""
        return bool(self.reference) and not self.deviations

    def figure(self, name: str, direction: Direction | None = None, at: str = "") -> Figure:
        """Returns the figure with this name, direction and point; KeyError if there is none."""
        for figure in self.figures:
            if (figure.name, figure.direction, figure.at) == (name, direction, at):
                return figure
        raise KeyError((name, direction, at))
