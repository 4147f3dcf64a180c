"""The variants of the benchmarks: native, the baseline, and what the launcher chooses (dispatch).

All run in each round, and each round begins with another one, so that what the host of a virtual
machine takes away, it takes from all. A figure is the median of the rounds' ratios to native.
"""

import json
import pathlib
import statistics
import subprocess
from typing import Any

NATIVE, BASELINE, DISPATCH = "native", "baseline", "dispatch"
GOAL = 1.02  # cycles a frame of dispatch divided by those of native: median of the benchmarks

Row = dict[str, Any]
Cycles = dict[str, float]  # of a benchmark, by program
Rounds = dict[str, list[Cycles]]  # by benchmark


def programs(bench: pathlib.Path) -> dict[str, pathlib.Path]:
    """Returns the programs by name. bench: the launcher, which has its variants beside it."""
    native = bench.with_name(f"{bench.name}-{NATIVE}")
    levels = sorted(path for path in bench.parent.glob(f"{bench.name}-*") if path != native)
    return {DISPATCH: bench, NATIVE: native, BASELINE: levels[0]}


def in_turn(programs: dict[str, pathlib.Path], number: int) -> list[str]:
    """Returns the order of a round."""
    names = list(programs)
    first = number % len(names)
    return names[first:] + names[:first]


def variant_of(program: pathlib.Path) -> str:
    """Returns the level that a program, or the one that a launcher chooses, is compiled for."""
    said = subprocess.check_output([program, "variant"], text=True)
    return str(json.loads(said)["variant"])


def add(rows: dict[str, list[Row]], rounds: Rounds) -> None:
    """Adds a round: each program's rows. A benchmark with two references has two equal rows."""
    cycles = {
        program: {row["name"]: row["cycles_per_frame"] for row in theirs}
        for program, theirs in rows.items()
    }
    for name in cycles[NATIVE]:
        rounds.setdefault(name, []).append({each: cycles[each][name] for each in cycles})


def ratio(rounds: list[Cycles], program: str) -> float:
    return statistics.median(each[program] / each[NATIVE] for each in rounds)


def overall(rounds: Rounds, program: str) -> float:
    return statistics.median(ratio(each, program) for each in rounds.values())


def table(rounds: Rounds, levels: dict[str, str]) -> str:
    """Returns the cycles a frame of each program, and their ratios to native."""
    heads = [f"{name} ({levels[name]})" for name in (BASELINE, DISPATCH)]
    lines = [
        f"| benchmark | native | {' | '.join(heads)} | baseline / native | dispatch / native |",
        "|---|---|---|---|---|---|",
    ]
    for name, each in rounds.items():
        medians = [
            f"{statistics.median(one[program] for one in each):.1f}"
            for program in (NATIVE, BASELINE, DISPATCH)
        ]
        ratios = [f"{ratio(each, program):.3f}" for program in (BASELINE, DISPATCH)]
        lines.append(f"| {' | '.join([name, *medians, *ratios])} |")
    ratios = [f"{overall(rounds, program):.3f}" for program in (BASELINE, DISPATCH)]
    lines.append(f"| median of all | | | | {' | '.join(ratios)} |")
    return "\n".join(lines) + "\n"


def missed_goal(rounds: Rounds) -> list[str]:
    if not rounds or overall(rounds, DISPATCH) <= GOAL:
        return []
    return [
        f"bench: dispatch: {overall(rounds, DISPATCH):.3f} of the cycles of native "
        f"(expected at most {GOAL:.2f})"
    ]
