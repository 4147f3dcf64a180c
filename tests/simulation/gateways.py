"""Gateways: from the arrival times of frames to which of them it forwards, and when.

`ways` has the direction of each frame; `away` are the absences of the gateway's core. Each gateway
returns the forwarded frames and their times of leaving (without meaning for the others).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tests.simulation.noise import Times, WorkTime

Ways = NDArray[np.int8]
Kept = NDArray[np.bool_]
Gateway = Callable[[Times, Ways, Times, np.random.Generator], tuple[Kept, Times]]


def leaky(times: Times, cost_s: float, bucket: float, queue: float) -> tuple[Kept, Times]:
    """A server of a fixed cost a frame, with credit for `bucket` frames and room for `queue`.

    bucket 0: a queue that drops its tail; queue 0: a policer; both: a shaper.
    """
    room_s = (bucket + queue - 1) * cost_s + 1e-12
    kept = np.ones(len(times), dtype=bool)
    frees = np.zeros(len(times))  # 0 where a frame is dropped
    free, at, size = -1.0, 0, 512
    while at < len(times):
        # As long as nothing is dropped, the backlog is a running maximum.
        part = times[at : at + size]
        after = np.arange(1, len(part) + 1) * cost_s
        ends = np.maximum(np.maximum.accumulate(part - after + cost_s), free) + after
        full = ends - cost_s - part > room_s
        until = int(full.argmax()) if full.any() else len(part)
        if until:
            frees[at : at + until] = ends[:until]
            free = float(ends[until - 1])
            at += until
        if until == len(part):
            size = min(2 * size, 16_384)
            continue
        size = 512
        for here in range(at, min(at + 1024, len(times))):
            time = float(times[here])
            if free - time > room_s:
                kept[here] = False
            else:
                free = (free if free > time else time) + cost_s
                frees[here] = free
            at = here + 1
    left = np.where(kept, np.maximum(frees - bucket * cost_s, times), times)
    return kept, left


def queue(rate_fps: float, frames: int) -> Gateway:
    """A core that forwards at a rate, behind a queue that drops its tail."""

    def forward(
        times: Times, _ways: Ways, away: Times, _chance: np.random.Generator
    ) -> tuple[Kept, Times]:
        clock = WorkTime(away)
        kept, left = leaky(clock.at(times), 1 / rate_fps, 0, frames)
        return kept, clock.real(left)

    return forward


def limited(
    rate_fps: float, bucket: float, *, core_fps: float = 400_000, ring: int = 256
) -> Gateway:
    """A policer behind a core; its clock goes on in absences."""

    def forward(
        times: Times, ways: Ways, away: Times, chance: np.random.Generator
    ) -> tuple[Kept, Times]:
        came, at = queue(core_fps, ring)(times, ways, away, chance)
        passed, out = leaky(np.maximum.accumulate(at[came]), 1 / rate_fps, bucket, 0)
        kept, left = np.zeros(len(times), dtype=bool), np.array(at)
        places = np.flatnonzero(came)
        kept[places[passed]] = True
        left[places] = out
        return kept, left

    return forward


def poller(rate_fps: float, ring: int, batch: int = 32) -> Gateway:
    """A core that polls a ring of each direction in turn, and takes up to a batch of each."""

    def forward(
        times: Times, ways: Ways, away: Times, _chance: np.random.Generator
    ) -> tuple[Kept, Times]:
        clock = WorkTime(away)
        came = clock.at(times)
        kept, left = np.zeros(len(times), dtype=bool), np.array(came)
        numbers = [np.flatnonzero(ways == way).tolist() for way in (0, 1)]
        waiting: list[list[int]] = [[], []]
        next_in = [0, 0]
        now, cost = float(came[0]), 1 / rate_fps
        while any(next_in[w] < len(numbers[w]) or waiting[w] for w in (0, 1)):
            worked = 0
            for way in (0, 1):
                arrivals, held = numbers[way], waiting[way]
                at = next_in[way]
                while at < len(arrivals) and came[arrivals[at]] <= now:
                    if len(held) < ring:
                        held.append(arrivals[at])
                    at += 1
                next_in[way] = at
                taken, waiting[way] = held[:batch], held[batch:]
                for number in taken:
                    now += cost
                    left[number] = now
                kept[taken] = True
                worked += len(taken)
            if not worked:
                coming = [
                    came[numbers[w][next_in[w]]] for w in (0, 1) if next_in[w] < len(numbers[w])
                ]
                now = max(now + 5e-7, min(coming, default=now))
        return kept, clock.real(left)

    return forward


def by_chance(of: Gateway, share: float) -> Gateway:
    """A gateway that also loses frames by chance."""

    def forward(
        times: Times, ways: Ways, away: Times, chance: np.random.Generator
    ) -> tuple[Kept, Times]:
        kept, left = of(times, ways, away, chance)
        return kept & (chance.random(len(times)) >= share), left

    return forward
