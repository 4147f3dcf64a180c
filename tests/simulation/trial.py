"""One simulated trial, and what a verdict may know of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.simulation import noise
from tests.simulation.gateways import Gateway
from tests.simulation.noise import Times
from tests.simulation.tester import Sent, send


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A gateway in its surroundings."""

    gateway: Gateway
    ways: int = 1
    share: float = 0.0  # of noise, on the tester's and the gateway's core
    watched: bool = True


@dataclass(frozen=True, kw_only=True)
class Direction:
    sent: Sent
    lost: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a verdict may know of a trial."""

    rate_fps: int
    directions: tuple[Direction, ...]
    away: Times | None  # the gateway's absences; None: nobody watched

    @property
    def lost(self) -> int:
        return sum(int(each.lost.sum()) for each in self.directions)


def run(bench: Bench, rate_fps: int, seconds: float, chance: np.random.Generator) -> Seen:
    frames = max(1, round(rate_fps * seconds))
    until = frames / rate_fps * 1.5 + 0.1
    ours, theirs = (noise.pieces(bench.share, until, chance) for _ in range(2))
    offsets = np.arange(bench.ways) / rate_fps / bench.ways
    sent = [send(frames, rate_fps, offset, ours, chance) for offset in offsets]
    times = np.concatenate([each.left_s for each in sent])
    ways = np.repeat(np.arange(bench.ways, dtype=np.int8), frames)
    order = np.argsort(times, kind="stable")
    kept = np.empty(len(times), dtype=bool)
    kept[order], _ = bench.gateway(times[order], ways[order], theirs, chance)
    directions = tuple(
        Direction(sent=sent[way], lost=~kept[ways == way]) for way in range(bench.ways)
    )
    away = noise.seen(theirs, chance) if bench.watched else None
    return Seen(rate_fps=rate_fps, directions=directions, away=away)
