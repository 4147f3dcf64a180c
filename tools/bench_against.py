"""Compares the engine's benchmarks of two builds, such as those of a commit and its parent.

The builds run in turn, and each round changes which one is first. So what the host of a virtual
machine takes away, it takes from both. The figure of a benchmark is the median of the rounds'
ratios. The exit status is 1 if a benchmark became slower by more than --tolerance.
"""

import argparse
import collections
import pathlib
import statistics
import sys

import bench

Ratios = dict[str, list[tuple[float, float]]]


def measure_round(before: pathlib.Path, number: int, cpus: bench.Cpus, samples: Ratios) -> None:
    programs = [before, bench.BENCH]
    cycles = {}
    for program in programs if number % 2 else programs[::-1]:
        rows = bench.rows_of([], cpus, program)[1:]
        cycles[program] = {row["name"]: row["cycles_per_frame"] for row in rows}
    for name, then in cycles[before].items():
        if name in cycles[bench.BENCH]:
            samples[name].append((then, cycles[bench.BENCH][name]))


def slower(samples: Ratios) -> dict[str, float]:
    """Returns by how much each benchmark became slower, as a share; negative if it is faster."""
    return {
        name: statistics.median(now / then for then, now in rounds) - 1
        for name, rounds in samples.items()
    }


def as_table(samples: Ratios) -> str:
    lines = ["| benchmark | before | now | slower by |", "|---|---|---|---|"]
    for name, share in slower(samples).items():
        then, now = (statistics.median(each) for each in zip(*samples[name], strict=True))
        lines.append(f"| {name} | {then:.1f} | {now:.1f} | {100 * share:+.1f} % |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=pathlib.Path, help="natxy-bench of the earlier build")
    parser.add_argument("--rounds", type=int, default=9, help="number of rounds [default: 9]")
    parser.add_argument(
        "--tolerance", type=float, default=0.03, help="share that is accepted [default: 0.03]"
    )
    options = parser.parse_args()
    for program in (options.before, bench.BENCH):
        if not program.is_file():
            parser.error(
                f"{program} is not there (expected a natxy-bench; `make bench` builds one)"
            )
    samples: Ratios = collections.defaultdict(list)
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        measure_round(options.before, number, bench.cpus_of_this_process(), samples)
    print(f"{bench.machine()}; cycles per frame, medians of {options.rounds} rounds\n")
    print(as_table(samples))
    missed = {name: share for name, share in slower(samples).items() if share > options.tolerance}
    for name, share in missed.items():
        print(
            f"bench_against: {name}: slower by {share:.1%} (expected at most "
            f"{options.tolerance:.0%})",
            file=sys.stderr,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
