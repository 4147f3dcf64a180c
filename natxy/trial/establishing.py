"""The load of a search for the establishment rate: phase 1 alone, or with validation (RFC 9693).

In a search for the tear-down rate of TCP, connections are made, then closed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from natxy.model.stream_result import StreamResult
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Role, TcpSegment
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import (
    ACKNOWLEDGE,
    AGAIN,
    ASK_AGAIN,
    CLOSE,
    CLOSE_BACK,
    ESTABLISH,
    LAST_ACK,
    MAKE_AGAIN,
    VALIDATE,
    Phase,
)
from natxy.trial.load import Load
from natxy.trial.phases import Starting, phase, steady_segment
from natxy.trial.timing import Timing

SLOWLY = 10  # missing connections are created, or tested, again at a tenth of the rate
# The highest rate of repairs. In an absence of 10 ms come 50 frames, which most queues hold, so
# that no connection that a full table refuses remains in doubt.
REPAIR_FPS = 5000
Closer = Literal["fin", "rst"]
SEGMENTS: dict[Closer, tuple[tuple[str, Role, TcpSegment], ...]] = {
    "fin": (
        (CLOSE, "initiate", "fin"),
        (CLOSE_BACK, "respond", "fin"),
        (LAST_ACK, "initiate", "last-ack"),
    ),
    "rst": ((CLOSE, "initiate", "rst"),),
}


@dataclass(frozen=True, kw_only=True)
class Establishing(Load):
    """The load of a search for the establishment rate: phase 1, with or without validation.

    In validation, the responder sends a frame for each connection, in linear order, at alpha times
    the rate. With TCP, these frames are SYN/ACKs, which are sent without validation too (alpha is
    then 1), and the initiator's ACKs follow. Connections that did not answer, up to a tenth of all,
    are tested again slowly.

    With `repairs`, connections that phase 1 lost, up to a tenth of all, are created again slowly
    before validation. A trial whose losses are explained by absences of the gateway then passes if
    all connections exist in the end. Repairs are not possible if combinations are drawn with
    repetition.
    """

    rate_cps: int
    alpha: Fraction | None = None  # None: no validation
    count: int | None = None  # None: the testbed's count
    pauses: bool = True  # as those of a steady load
    repairs: bool = False

    makes_connections: ClassVar[bool] = True

    @property
    def rate_fps(self) -> int:
        return self.rate_cps

    def passes(self, result: TrialResult) -> bool:
        """Returns whether phase 1 and validation lost no more than is accepted.

        No frame may have been misdelivered, and no mapping may have changed.
        """
        if result.ended_early or result.incomplete or result.misdelivered or result.changed:
            return False
        asked = self.at_rate(result).streams
        return all(self.accepted.accepts(sent=s.sent, lost=s.sent - s.received) for s in asked)

    def due_fps(self, stream: StreamResult) -> int:
        return self.sought_fps.get(stream.phase, 0)

    @property
    def sought_fps(self) -> dict[str, int]:
        """The rates of the phases that decide whether the rate is too high: the one counts that
        took longer in comparison to its time to send."""
        return {
            ESTABLISH: self.rate_cps,
            VALIDATE: self.validation_fps,
            ACKNOWLEDGE: self.rate_cps,
        }

    def at_rate(self, result: TrialResult) -> TrialResult:
        streams = tuple(stream for stream in result.streams if stream.phase not in AGAIN)
        return result.model_copy(update={"streams": streams})

    def is_repaired(self, result: TrialResult) -> bool:
        table = result.connections
        if not self.repairs or table is None or result.ended_early or result.incomplete:
            return False
        if result.misdelivered:
            return False
        return connections_held(result) == table.stored == table.asked

    @property
    def validation_fps(self) -> int:
        return max(1, int(self.rate_cps * (self.alpha or 1)))

    def frames(self, asked: ConnectionsSection) -> int:
        return asked.count if self.count is None else self.count

    def lasts_s(self, drain_s: Fraction, asked: ConnectionsSection | None) -> Fraction:
        assert asked is not None, "only a testbed with connections is asked to establish them"
        rates_fps = [self.rate_cps]
        if self.alpha is not None or asked.is_tcp:
            rates_fps.append(self.validation_fps)
        if asked.is_tcp:
            rates_fps.append(self.rate_cps)
        frames = self.frames(asked)
        return sum((Fraction(frames, rate) + drain_s for rate in rates_fps), start=Fraction(0))

    @property
    def asking_again_fps(self) -> int:
        return self._slowly(self.validation_fps)

    @property
    def making_again_fps(self) -> int:
        return self._slowly(self.rate_cps)

    def _slowly(self, rate_fps: int) -> int:
        slow_fps = rate_fps // SLOWLY
        return max(1, min(slow_fps, REPAIR_FPS) if self.repairs else slow_fps)

    def phases(
        self, traffic: TrafficPlan, timing: Timing, ramp: Sequence[Starting] = ()
    ) -> tuple[Phase, ...]:
        del timing, ramp
        asked = traffic.required_connections
        frames = self.frames(asked)
        few = -(-frames // SLOWLY)
        connections = traffic.connections_among(frames)
        # If a connection is lost finally, the rate has failed, and validation would be useless.
        accepted = int(connections * self.accepted.fraction)
        least = 0 if asked.order == "repeating" else connections - accepted
        # If more connections are missing than can be repaired, none is repaired.
        repairable = max(0, least - traffic.connections_among(few))
        at_rate = (steady_segment(frames, self.rate_cps),)
        made = traffic.establish(at_rate)
        phases = [phase(ESTABLISH, made, least=repairable if self.repairs else least)]
        if self.repairs:
            made_again = traffic.establish_missing((steady_segment(few, self.making_again_fps),))
            phases.append(phase(MAKE_AGAIN, made_again, least=least))
        if self.alpha is not None or traffic.is_tcp:
            answers = traffic.validate((steady_segment(frames, self.validation_fps),))
            phases.append(phase(VALIDATE, answers, least=repairable if self.repairs else 0))
        if self.alpha is not None:
            # This phase lasts at most as long as validation, or a second for 50,000 connections, so
            # that connections need not live much longer.
            again = traffic.validate((steady_segment(few, self.asking_again_fps),), "missing")
            phases.append(phase(ASK_AGAIN, again))
        if traffic.is_tcp:
            phases.append(phase(ACKNOWLEDGE, traffic.acknowledge(at_rate)))
        return tuple(phases)


def connections_held(result: TrialResult) -> int:
    """Returns how many connections answered or, without validation, how many were created."""
    asked = [result.stream_of(phase) for phase in (VALIDATE, ASK_AGAIN)]
    answers = [of.connections.known for of in asked if of is not None and of.connections]
    if answers:
        return sum(answers)
    return result.connections.stored if result.connections else 0


@dataclass(frozen=True, kw_only=True)
class Closing(Establishing):
    """The load of a search for the tear-down rate of TCP (RFC 3511 section 5.4).

    Handshakes at a safe rate make the connections. Then all are closed at the rate that is sought:
    by FIN, which takes three phases, or by RST of the initiator.
    """

    made_fps: int  # of the handshakes
    by: Closer

    @property
    def making(self) -> Establishing:
        return Establishing(rate_cps=self.made_fps, count=self.count)

    @property
    def sought_fps(self) -> dict[str, int]:
        return {name: self.rate_cps for name, _, _ in SEGMENTS[self.by]}

    def lasts_s(self, drain_s: Fraction, asked: ConnectionsSection | None) -> Fraction:
        assert asked is not None, "only a testbed with connections is asked to close them"
        one_s = Fraction(self.frames(asked), self.rate_cps) + drain_s
        return self.making.lasts_s(drain_s, asked) + len(SEGMENTS[self.by]) * one_s

    def phases(
        self, traffic: TrafficPlan, timing: Timing, ramp: Sequence[Starting] = ()
    ) -> tuple[Phase, ...]:
        del ramp
        segment = steady_segment(self.frames(traffic.required_connections), self.rate_cps)
        closing = (
            phase(name, traffic.close((segment,), role, sent))
            for name, role, sent in SEGMENTS[self.by]
        )
        return (*self.making.phases(traffic, timing), *closing)
