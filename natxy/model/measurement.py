"""What a measurement yields, whatever the procedure: conditions, and figures with a value each
repetition. Tables, CSV and JSON are functions of it."""

from collections.abc import Iterable
from typing import Literal, Self

from natxy.model.base import Model
from natxy.model.disturbance import Disturbance
from natxy.model.icmp_words import merged
from natxy.model.search_conditions import SearchConditions
from natxy.model.self_test_record import OwnDelay
from natxy.model.testbed import Directions
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import IcmpError
from natxy.model.trial_spec import Direction, Side
from natxy.model.verdict import Verdict

Bound = Literal["exact", "lower", "upper"]
Unit = Literal["fps", "cps", "ns", "%", "frames", "connections", "s", "times"]


class Figure(Model):
    """One figure, by the field's name for it."""

    name: str
    unit: Unit
    direction: Direction | None = None  # None: of all active directions together
    at: str = ""  # what it was taken at, where a measurement has several places: "90 % of maximum"
    values: tuple[float, ...]  # one a repetition
    lower_bound: tuple[bool, ...] = ()  # by repetition; empty: none is one
    upper_bound: tuple[bool, ...] = ()  # likewise
    # By repetition: how far the value may be from the truth, in its unit; empty: none by timing.
    errors: tuple[float, ...] = ()
    primary: bool = True  # what the procedure is for; the others stand beside it

    def is_lower_bound(self, value: float) -> bool:
        """Whether a figure of the repetitions would be higher if the lower bounds among them were.

        A repetition known only from below that is above `value` leaves it as it is.
        """
        bounds = zip(self.values, self.lower_bound, strict=False)
        return any(bound and known <= value for known, bound in bounds)

    def bound(self, value: float) -> Bound:
        """What is known of a figure of the repetitions."""
        if self.is_lower_bound(value):
            return "lower"
        bounds = zip(self.values, self.upper_bound, strict=False)
        above = any(bound and known >= value for known, bound in bounds)
        return "upper" if above else "exact"

    @property
    def mean_bound(self) -> Bound:
        """What is known of the mean, which every repetition moves."""
        if any(self.lower_bound):
            return "lower"
        return "upper" if any(self.upper_bound) else "exact"


class ConnectionConditions(Model):
    """Of a stateful gateway's measurement; None: nobody knows, or it is what is looked for."""

    initiator: Side
    count: int | None  # connections that phase 1 makes
    rate_fps: int | None  # of phase 1
    rate_origin: str = "as given"
    order: str  # in which it enumerates them
    ranges: str  # of ports, and of address fields where they vary: "40,000 x 100"
    initiator_order: str  # of phase 2; empty: there is none, phase 1 is what is measured
    responder_order: str
    validated: bool = False  # by a frame of the responder's to each, after phase 1
    table_entries: int | None = None  # the device's
    hash_size: int | None = None
    timeout_s: float | None = None
    logging: str | None = None  # of new connections, in the device's words: "off", or how


class Media(Model):
    """Of one of the tester's ports."""

    driver: str
    speed_mbps: int | None  # None: it has none


class Conditions(Model):
    """Under which the figures were taken."""

    dut: str
    left_ip_version: int
    right_ip_version: int
    direction: Directions
    frame_size_bytes: int  # of the IPv6 frame with FCS; the IPv4 frame is 20 smaller
    n: int = 1
    m: int = 1  # frame i is foreground iff i mod n < m
    left_networks: int = 1  # destination networks behind each side
    right_networks: int = 1
    left_media: Media | None = None  # None: nobody wrote it down
    right_media: Media | None = None
    # Per direction, of the slower side at this frame size; None: a side's media has no rate.
    theoretical_fps: int | None = None
    rate_fps: int | None = None  # per direction; None: the procedure looks for it
    duration_s: float | None  # None: as long as connections take to be made
    drain_s: float
    settle_s: float
    frame_timeout_s: float = 0.0  # 0: none
    search: SearchConditions | None = None  # None: no rate was searched for
    seed: int
    connections: ConnectionConditions | None = None  # None: stateless
    tester_delay: OwnDelay | None = None  # a part of every delay; None: no self-test is known

    @property
    def networks(self) -> str:
        """Destination networks a side; of both sides where these differ."""
        left, right = self.left_networks, self.right_networks
        return f"{left}" if left == right else f"{left} / {right}"

    @property
    def foreground_percent(self) -> float:
        return self.m / self.n * 100


class TrialCounts(Model):
    """Of all trials of a measurement."""

    trials: int = 0
    invalid_trials: int = 0
    overturned: int = 0  # trials that failed at a rate that passed, by loss verification
    misdelivered: int = 0
    duplicated: int = 0
    without_udp_checksum: int = 0  # over IPv4; among the received
    changed: int = 0  # connections whose mapping changed between the phases of a trial
    wrong: int = 0  # replies delivered to another connection; among the misdelivered
    collided: int = 0  # of those: two connections had one external four-tuple
    lost_connections: int = 0  # trials that failed since the gateway lost connections of theirs
    how_lost: str = ""  # in the first of them
    negative_delays: int = 0  # of the valid trials; they count as 0
    worst_lateness_ns: float = 0.0  # of the valid trials
    needed_timeout_s: float = 0.0  # that connections had to live; 0: stateless
    icmp_errors: tuple[IcmpError, ...] = ()  # about frames of the trials, the alike added up
    disturbance: Disturbance = Disturbance()

    @classmethod
    def total(cls, counts: Iterable[Self]) -> Self:
        """Of several measurements together: sums, and the highest of what is a time."""
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
            how_lost=next((each.how_lost for each in all_counts if each.how_lost), ""),
            disturbance=Disturbance.total(each.disturbance for each in all_counts),
            icmp_errors=merged(error for each in all_counts for error in each.icmp_errors),
        )

    def plus(self, trial: TrialRecord, *, needed_timeout_s: float = 0.0) -> Self:
        valid = trial.verdict is not Verdict.INVALID
        lateness_ns = trial.result.worst_lateness_ns if valid else 0.0
        return self.model_copy(
            update={
                "trials": self.trials + 1,
                "invalid_trials": self.invalid_trials + (not valid),
                "misdelivered": self.misdelivered + trial.misdelivered,
                "duplicated": self.duplicated + trial.result.duplicated,
                "without_udp_checksum": self.without_udp_checksum + trial.without_udp_checksum,
                "changed": self.changed + trial.changed,
                "wrong": self.wrong + trial.wrong,
                "collided": self.collided + trial.collided,
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
    procedure: str  # the command's name: "latency"
    title: str
    reference: str  # RFC and section
    conditions: Conditions
    departures: tuple[str, ...] = ()  # from the RFC; empty: it conforms
    remarks: tuple[str, ...] = ()  # what must not be missing beside the figures
    figures: tuple[Figure, ...]
    counts: TrialCounts

    def measurement(self) -> Self:
        """Itself: every procedure's result has this, the throughput's too."""
        return self

    def figure(self, name: str, direction: Direction | None = None, at: str = "") -> Figure:
        """KeyError if there is none."""
        for figure in self.figures:
            if (figure.name, figure.direction, figure.at) == (name, direction, at):
                return figure
        raise KeyError((name, direction, at))
