"""The phases of a trial (RFC 9693): phase 1 makes connections, phase 2 is what is measured."""

from dataclasses import dataclass
from fractions import Fraction

from natxy.errors import ConfigurationError
from natxy.model.testbed import ConnectionsSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import Phase, Segment
from natxy.procedure.pacing import PAUSE_SHARE
from natxy.procedure.timing import Timing
from natxy.search.loss_tolerance import LossTolerance

ESTABLISH = "establish"
MAKE_AGAIN = "make again"
VALIDATE = "validate"
ASK_AGAIN = "ask again"
SAMPLE = "sample"
TEST = "test"
SAMPLE_FPS = 10_000  # at most: it is no load for a gateway that takes phase 1
SLOWLY = 10  # what is missing is made, or asked, again at a tenth of the rate
# What repairs a trial, at most: an absence of 10 ms loses none of so few, and excuses none
# (ROOM_FRAMES). Else those that a full table refuses would stay in doubt.
REPAIR_FPS = 5000
AGAIN = (MAKE_AGAIN, ASK_AGAIN)  # over at once where nothing is missing


@dataclass(frozen=True, kw_only=True)
class Establishing:
    """Phase 1 alone, or with its validation: what the establishment rate is searched with.

    Validated: the responder sends a frame for each connection, in linear order, at alpha times the
    rate; of what does not come back up to a tenth of all is asked again slowly.

    With `repairs` up to a tenth of all, of what phase 1 lost, is made again slowly before that, and
    a trial whose losses are nothing but a gateway's absence passes where all connections are there
    in the end. Not where combinations are drawn with repetition.
    """

    rate_fps: int
    alpha: Fraction | None = None  # None: plain
    count: int | None = None  # None: the testbed's
    loss: Fraction = Fraction(0)  # of phase 1's connections that is accepted
    early_end_s: Fraction = Fraction(0)  # 0: a trial runs to its end
    pauses: bool = True  # as a steady load's senders do
    pause_share: Fraction = PAUSE_SHARE  # of a valid trial
    # Instead of the share, where a rate is looked for: what counts of a trial must exceed it.
    above_cps: int | None = None
    repairs: bool = False

    @property
    def tolerances(self) -> tuple[LossTolerance, ...]:
        return (LossTolerance(fraction=self.loss),)

    def passes(self, result: TrialResult) -> bool:
        """All frames of phase 1, and of its validation, came back, but for the loss that is
        accepted; nothing was delivered wrongly or changed."""
        if result.ended_early or result.incomplete or result.misdelivered or result.changed:
            return False
        asked = self.at_rate(result).streams
        accepted = LossTolerance(fraction=self.loss)
        return all(accepted.accepts(sent=s.sent, lost=s.sent - s.received) for s in asked)

    def counted_cps(self, result: TrialResult) -> int:
        """Returns connections / (time to send + pauses), of the phase that paused for the larger
        share of its time (docs/decisions/0017)."""
        rates_fps = {ESTABLISH: self.rate_fps, VALIDATE: self.validation_fps}
        shares = (
            Fraction(stream.pauses.total_ns) / 10**9 * rates_fps[stream.phase] / stream.due
            for stream in result.streams
            if stream.phase in rates_fps and stream.due
        )
        return int(self.rate_fps / (1 + max(shares, default=Fraction(0))))

    def at_rate(self, result: TrialResult) -> TrialResult:
        """Without what was made, and asked, again."""
        streams = tuple(stream for stream in result.streams if stream.phase not in AGAIN)
        return result.model_copy(update={"streams": streams})

    def is_repaired(self, result: TrialResult) -> bool:
        """Returns whether each connection was there in the end, whatever was lost before."""
        table = result.connections
        if not self.repairs or table is None or result.ended_early or result.incomplete:
            return False
        return connections_held(result) == table.stored == table.asked

    @property
    def validation_fps(self) -> int:
        return max(1, int(self.rate_fps * (self.alpha or 1)))

    def frames(self, asked: ConnectionsSection) -> int:
        return asked.count if self.count is None else self.count

    @property
    def asking_again_fps(self) -> int:
        return self._slowly(self.validation_fps)

    @property
    def making_again_fps(self) -> int:
        return self._slowly(self.rate_fps)

    def _slowly(self, rate_fps: int) -> int:
        slow_fps = rate_fps // SLOWLY
        return max(1, min(slow_fps, REPAIR_FPS) if self.repairs else slow_fps)


def connections_held(result: TrialResult) -> int:
    """Returns how many answered, or, where nobody was asked, how many were made."""
    asked = [result.stream_of(phase) for phase in (VALIDATE, ASK_AGAIN)]
    answers = [of.connections.known for of in asked if of is not None and of.connections]
    if answers:
        return sum(answers)
    return result.connections.stored if result.connections else 0


def phase_1(traffic: TrafficPlan, timing: Timing) -> Phase:
    """Before a phase 2: at the testbed's rate, with the delay that it asks for."""
    asked = traffic.required_connections
    if asked.rate_fps is None:
        raise ConfigurationError(
            "connections.rate_fps: is missing: phase 1 needs a rate at which no connection fails; "
            "`natxy establishment` finds one"
        )
    frames = traffic.connections_among(asked.count)
    minimum = asked.minimum if asked.incomplete == "accept" else frames
    return Phase(
        name=ESTABLISH,
        gap_ns=int(_gap_s(asked, asked.rate_fps, timing) * 10**9),
        streams=(traffic.establish((_segment(asked.count, asked.rate_fps),)),),
        minimum_connections=0 if asked.order == "repeating" else min(minimum or frames, frames),
    )


def phase_1_s(traffic: TrafficPlan, timing: Timing) -> Fraction:
    """From a trial's first frame to the first one of what is measured; 0: stateless."""
    if traffic.connections is None:
        return Fraction(0)
    return sum(
        (
            Fraction(phase.streams[0].duration_ns + phase.gap_ns, 10**9) + timing.drain_s
            for phase in before_phase_2(traffic, timing)
        ),
        start=Fraction(0),
    )


def before_phase_2(traffic: TrafficPlan, timing: Timing) -> tuple[Phase, ...]:
    """Phase 1, and a few frames of the responder's to the connections that are oldest then: a
    gateway that has dropped its table, or lets connections expire too soon, has no phase 2."""
    sample = _sample(traffic)
    return (phase_1(traffic, timing), *((sample,) if sample else ()))


def _sample(traffic: TrafficPlan) -> Phase | None:
    asked = traffic.required_connections
    frames = min(asked.sample, asked.count)
    if not frames:
        return None
    segment = _segment(frames, min(SAMPLE_FPS, asked.rate_fps or SAMPLE_FPS))
    return Phase(name=SAMPLE, gap_ns=0, streams=(traffic.respond((segment,), "linear"),))


def _gap_s(asked: ConnectionsSection, rate_fps: int, timing: Timing) -> Fraction:
    """From the end of phase 1's drain."""
    if asked.delay_s is None:
        return Fraction(0)
    least_s = Fraction(asked.count, rate_fps) + timing.drain_s + _sample_s(asked, timing)
    gap_s = Fraction(str(asked.delay_s)) - least_s
    if gap_s < 0:
        raise ConfigurationError(
            f"connections.delay_s: {asked.delay_s:g} is shorter than phase 1, the sample of its "
            f"connections and their drains, at least {float(least_s):g} is right"
        )
    return gap_s


def _sample_s(asked: ConnectionsSection, timing: Timing) -> Fraction:
    frames = min(asked.sample, asked.count)
    rate_fps = min(SAMPLE_FPS, asked.rate_fps or SAMPLE_FPS)
    return Fraction(frames, rate_fps) + timing.drain_s if frames else Fraction(0)


def establishing_phases(traffic: TrafficPlan, load: Establishing) -> tuple[Phase, ...]:
    asked = traffic.required_connections
    frames = load.frames(asked)
    few = -(-frames // SLOWLY)
    connections = traffic.connections_among(frames)
    # Where one is lost for good the rate has failed: validation would say nothing more.
    least = 0 if asked.order == "repeating" else connections - int(connections * load.loss)
    # Of more than can be repaired none is.
    repairable = max(0, least - traffic.connections_among(few))
    made = Phase(
        name=ESTABLISH,
        gap_ns=0,
        streams=(traffic.establish((_segment(frames, load.rate_fps),)),),
        minimum_connections=repairable if load.repairs else least,
    )
    made_again = Phase(
        name=MAKE_AGAIN,
        gap_ns=0,
        streams=(traffic.initiate((_segment(few, load.making_again_fps),), "missing"),),
        minimum_connections=least,
    )
    making = (made, made_again) if load.repairs else (made,)
    if load.alpha is None:
        return making
    validate = _segment(frames, load.validation_fps)
    # It lasts at most as long as validation, or a second for 50,000 connections: they need not live
    # much longer for its sake.
    again = _segment(few, load.asking_again_fps)
    return (
        *making,
        Phase(
            name=VALIDATE,
            gap_ns=0,
            streams=(traffic.respond((validate,), "linear"),),
            minimum_connections=repairable if load.repairs else 0,
        ),
        Phase(name=ASK_AGAIN, gap_ns=0, streams=(traffic.respond((again,), "missing"),)),
    )


def _segment(frames: int, rate_fps: int) -> Segment:
    return Segment(frames=frames, rate_fps=rate_fps, pause_ns=0)
