"""One simulated trial, and what a verdict may know of it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.simulation import noise
from tests.simulation.gateways import Gateway
from tests.simulation.noise import Times
from tests.simulation.tester import Sent, send, send_against


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A gateway in its surroundings."""

    gateway: Gateway
    ways: int = 1
    share: float = 0.0  # of noise, on the tester's and the gateway's core
    watched: bool = True
    frames: int | None = None  # of each trial, where their number is given, as of connections
    behind_port: tuple[float, int] | None = None  # rate and room of a limit that the port shows


@dataclass(frozen=True, kw_only=True)
class Direction:
    sent: Sent
    lost: NDArray[np.bool_]
    delays_s: Times  # of the frames that were received, by their place
    arrived_s: Times


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What a verdict may know of a trial."""

    rate_fps: int
    directions: tuple[Direction, ...]
    away: Times | None  # the gateway's absences; None: nobody watched
    tester_away: Times  # the engine's own threads

    @property
    def lost(self) -> int:
        return sum(int(each.lost.sum()) for each in self.directions)

    @property
    def offered(self) -> int:
        return sum(len(each.lost) for each in self.directions)


def run(bench: Bench, rate_fps: int, seconds: float, chance: np.random.Generator) -> Seen:
    frames = max(1, round(rate_fps * seconds))
    until = frames / rate_fps * 1.5 + 0.1
    ours, theirs = (noise.pieces(bench.share, until, chance) for _ in range(2))
    if bench.behind_port:
        sent = [send_against(*bench.behind_port, frames, rate_fps)]
    else:
        offsets = np.arange(bench.ways) / rate_fps / bench.ways
        sent = [send(frames, rate_fps, offset, ours, chance) for offset in offsets]
    times = np.concatenate([each.on_wire_s for each in sent])
    left = np.concatenate([each.left_s for each in sent])
    ways = np.repeat(np.arange(bench.ways, dtype=np.int8), frames)
    order = np.argsort(times, kind="stable")
    kept_in_order, out_in_order = bench.gateway(times[order], ways[order], theirs, chance)
    kept, out = np.empty(len(times), dtype=bool), np.empty(len(times))
    kept[order], out[order] = kept_in_order, out_in_order
    arrived = noise.after_absence(out + 1e-5, ours)
    directions = []
    for way in range(bench.ways):
        here = ways == way
        delays = (arrived - left)[here][kept[here]]
        directions.append(
            Direction(
                sent=sent[way],
                lost=~kept[here],
                delays_s=delays,
                arrived_s=arrived[here][kept[here]],
            )
        )
    away = noise.seen(theirs, chance) if bench.watched else None
    return Seen(rate_fps=rate_fps, directions=tuple(directions), away=away, tester_away=ours)
