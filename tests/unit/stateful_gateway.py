"""A gateway with connections, for the fake engine: its table is a number, its limits are rates."""

from dataclasses import dataclass, field
from typing import Any

from natxy.dut.base import TableParameters
from natxy.dut.none import NoDut
from natxy.errors import DutError
from natxy.model.trial_spec import Phase, Stream, TrialSpec
from tests.unit.fake_engine import NO_LIMIT, Passage, rate_of

MAKING = ("establish", "make again")  # phases


@dataclass(kw_only=True)
class StatefulGateway:
    """Takes `new_cps` connections a second, `entries` in all, and so many frames a second."""

    new_cps: int = NO_LIMIT
    entries: int = NO_LIMIT
    frames_fps: int = NO_LIMIT  # of phase 2, a direction
    absent: int = 0  # connections that it forgets after phase 1
    drawn_again: int = 0  # frames of phase 1 whose connection was there before
    collided: int = 0
    changed: int = 0
    sample_wrong: int = 0  # replies of the sample between the phases
    handshake_wrong: int = 0  # third segments of TCP handshakes
    flushes: bool = False  # drops all between the phases
    counts_replies: bool = False  # an entry each that finds no connection, as the kernel has it
    stored: int = 0
    stored_by_phase_1: int = 0
    missing: int = 0  # connections that the phase before showed to be missing
    incomplete: bool = False

    def makes(self, asked: int, rate_cps: int) -> int:
        return min(asked, asked * self.new_cps // max(rate_cps, self.new_cps), self.entries)

    def passes(self, sent: int, rate_fps: int) -> int:
        return sent * self.frames_fps // max(rate_fps, self.frames_fps)

    def forward(self, phase: Phase, stream: Stream, gone: int) -> Passage:
        """Forwards a stream's frames, of which it loses the first `gone` while it is away."""
        rate = rate_of(stream)
        sent, wrong, changed = stream.frames_of("foreground"), 0, 0
        if phase.name == "establish":
            self.stored = came = max(0, self.makes(sent, rate) - gone)
        elif phase.name == "make again":
            sent = min(sent, self.missing)
            came = max(0, self.makes(self.stored + sent, rate) - self.stored - gone)
            self.stored += came
        elif phase.name == "ask again":
            sent = min(sent, self.missing)
            came = sent - min(sent, self.absent + self.collided)
            wrong = min(sent, self.collided)
        else:
            wrong = self.collided if stream.direction == "reverse" else 0
            wrong += self.sample_wrong if phase.name == "sample" else 0
            wrong += self.handshake_wrong if phase.name == "acknowledge" else 0
            changed = self.changed if stream.direction == "forward" else 0
            lost = sent if self.flushes else self.absent + wrong
            came = self.passes(sent, rate) - lost - gone
        again = min(came, self.drawn_again) if phase.name == "establish" else 0
        new = came - again if phase.name in MAKING else 0
        away = min(gone, sent - came)
        return Passage(
            foreground=(sent, came) if stream.foreground else None,
            background=self._created_beside(stream),
            lost=_lost(sent, sent - came, while_away=away, has_room=not self.absent),
            wrong=wrong,
            connections={
                "new": new,
                "known": came - new - changed,
                "changed": changed,
                "wrong": wrong,
                "collided": wrong,
                "ending_new_percent": 100.0 if new else 0.0,
            },
        )

    def _created_beside(self, stream: Stream) -> tuple[int, int] | None:
        """Returns the frames that create connections while others are used."""
        if not stream.creates_beside:
            return None
        sent = stream.frames_of("background")
        return sent, self.makes(sent, sent * rate_of(stream) // stream.frames)

    def has_ended(self, phase: Phase, spec: TrialSpec, stream: dict[str, Any]) -> bool:
        """Returns whether a trial ends after this phase, of which `stream` is the last one."""
        making = [each for each in spec.phases if each.name in MAKING]
        self.incomplete = phase in making and self.stored < phase.minimum_connections
        if phase is making[-1] or self.incomplete:
            self._between_the_phases()
        asked = stream["kinds"]["foreground"]
        self.missing = asked["lost"] if asked else 0
        if phase.name != "validate" or self.incomplete:
            return self.incomplete
        self.incomplete = asked["received"] < phase.minimum_connections
        is_tcp = any(each.name == "acknowledge" for each in spec.phases)
        return self.incomplete or not (self.missing or is_tcp)

    def _between_the_phases(self) -> None:
        self.stored_by_phase_1 = self.stored
        self.stored -= self.absent
        if self.flushes and not self.counts_replies:
            self.stored = 0

    def of_trial(self, spec: TrialSpec) -> dict[str, Any]:
        """Returns the members of the trial's result; it is over."""
        asked = spec.phases[0].streams[0].frames_of("foreground")
        stored = {"asked": asked, "stored": self.stored_by_phase_1}
        sizes = {"bytes": 8 * asked, "page_bytes": 4096, "mappings": None}
        incomplete, self.incomplete, self.missing = self.incomplete, False, 0
        return {"connections": stored | sizes, "incomplete": incomplete}


def _lost(sent: int, lost: int, *, while_away: int, has_room: bool) -> list[int]:
    """Losses at the start, while the gateway is away, and then at all moments: its queue is full,
    but has room for the first frame, or connections are not there."""
    first = while_away + (has_room and lost < sent)
    after = lost - while_away
    places = (place * 2 + 1 for place in range(after))
    spread = [first + place * (sent - first) // (2 * after) for place in places]
    return [*range(while_away), *spread]


@dataclass(kw_only=True)
class StatefulDut(NoDut):
    """What is None nobody knows; `told_s` are the timeouts that it was told to have."""

    gateway: StatefulGateway
    known: TableParameters = field(default_factory=TableParameters)
    settable: bool = True
    countable: bool = True
    told_s: list[float] = field(default_factory=list)

    def reset(self) -> None:
        self.gateway.stored = 0

    @property
    def table(self) -> "StatefulDut":
        return self

    def parameters(self) -> TableParameters:
        return self.known

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        raise DutError("Its table has one size.")

    def set_timeout(self, timeout_s: float) -> None:
        if not self.settable:
            raise DutError("Its timeout cannot be set.")
        self.told_s.append(timeout_s)
        self.known = TableParameters(
            entries=self.known.entries, hash_size=self.known.hash_size, timeout_s=timeout_s
        )

    def count(self) -> int:
        if not self.countable:
            raise DutError("It does not count.")
        return self.gateway.stored

    def delete_all(self) -> float:
        self.gateway.stored = 0
        return 0.0
