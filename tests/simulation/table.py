"""Prints the truth table: `python -m tests.simulation.table [ROW...] --runs 10`."""

import argparse
import statistics
import zlib
from dataclasses import replace
from fractions import Fraction

import numpy as np

from natxy.search.bisection import SearchError
from tests.simulation import gateways as g
from tests.simulation.search import Proposed, Result, Trials
from tests.simulation.trial import Bench

ROWS: dict[str, tuple[float, Bench]] = {
    "policer 20,000 burst 8": (20_000, Bench(gateway=g.limited(20_000, 8))),
    "policer 20,000 burst 5": (20_000, Bench(gateway=g.limited(20_000, 5))),
    "queue of 4": (50_000, Bench(gateway=g.queue(50_000, 4))),
    "queue of 8": (50_000, Bench(gateway=g.queue(50_000, 8))),
    "queue of 64": (50_000, Bench(gateway=g.queue(50_000, 64))),
    "queue of 1,000": (50_000, Bench(gateway=g.queue(50_000, 1000))),
    "queue of 10,000": (50_000, Bench(gateway=g.queue(50_000, 10_000))),
    "shaper, bucket 546": (41_667, Bench(gateway=g.limited(41_667, 546, queued=500))),
    "policer, bucket 546": (41_667, Bench(gateway=g.limited(41_667, 546))),
    "poller, ring 256, both ways": (30_000, Bench(gateway=g.poller(60_000, 256), ways=2)),
    "poller, throttled": (60_000, Bench(gateway=g.throttled(60_000, 512))),
    "loses 1 in 10,000": (50_000, Bench(gateway=g.by_chance(g.queue(50_000, 256), 1e-4))),
    "loses 1 in 1,000": (50_000, Bench(gateway=g.by_chance(g.queue(50_000, 256), 1e-3))),
    "sulks 2 ms in 300": (50_000, Bench(gateway=g.sulking(g.queue(50_000, 256), 0.3, 0.002))),
    "connections, queue of 1,000": (50_000, Bench(gateway=g.queue(50_000, 1000), frames=5000)),
    "limit behind the port": (
        41_667,
        Bench(gateway=g.queue(1e6, 1000), behind_port=(41_667, 64)),
    ),
}


def measure(name: str, noise: float, watched: bool, number: int) -> Result:
    _, bench = ROWS[name]
    seed = zlib.crc32(f"{name}/{noise}/{watched}/{number}".encode())
    trials = Trials(
        bench=replace(bench, share=noise, watched=watched),
        chance=np.random.default_rng(seed),
        error=SearchError(fraction=Fraction(1, 100)),
        frames=bench.frames,
    )
    return Proposed(trials=trials).run()


def row(name: str, noise: float, watched: bool, runs: int) -> str:
    truth, _ = ROWS[name]
    found = [measure(name, noise, watched, number) for number in range(runs)]
    exact = [each for each in found if each.exact]
    # Nobody can tell the pauses of a closed box from a slower box.
    least = truth * (1 if watched else 1 - noise)
    wrong = [
        each
        for each in exact
        if not least * (1 - each.error - 0.001) <= each.fps <= truth * (1 + each.error + 0.001)
    ]
    trials = statistics.mean(each.trials for each in found)
    seconds = statistics.mean(each.seconds for each in found)
    discarded = sum(each.invalid for each in found) / sum(each.trials for each in found)
    errors = statistics.median(each.error for each in exact) if exact else 0.0
    median = statistics.median(each.fps for each in found) / truth
    why = {each.why for each in found if each.why}
    return (
        f"{name:28} {noise:4.0%} {'w' if watched else '-'} "
        f"exact {len(exact):2} wrong {len(wrong):2} median {median:6.1%} "
        f"[{min(e.fps for e in found):,} {max(e.fps for e in found):,}] error {errors:5.2%} "
        f"trials {trials:5.1f} time {seconds:5.1f} s invalid {discarded:4.0%} {sorted(why) or ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--noise", type=float, nargs="*", default=[0, 0.05, 0.1])
    parser.add_argument("--watched", choices=["yes", "no", "both"], default="both")
    given = parser.parse_args()
    for name in given.rows or ROWS:
        for noise in given.noise:
            for watched in [
                w for w in (True, False) if given.watched in ("both", "yes" if w else "no")
            ]:
                if not noise and not watched:
                    continue
                print(row(name, noise, watched, given.runs), flush=True)


if __name__ == "__main__":
    main()
