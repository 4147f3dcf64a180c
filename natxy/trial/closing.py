"""The load of a search for the tear-down rate of TCP: connections are made, then closed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from natxy.model.phase_names import CLOSE, CLOSE_BACK, LAST_ACK
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan
from natxy.model.traffic_spec import Role, TcpSegment
from natxy.model.trial_spec import Phase
from natxy.trial.establishing import Establishing
from natxy.trial.phases import Starting, phase, steady_segment
from natxy.trial.timing import Timing

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
