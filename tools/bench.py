"""Runs the engine's benchmarks and their references in turn, and prints the ratios.

`build/bench/engine/natxy-bench --main-cpu A --cpus B,C` prints one JSON object per line: first
{"tsc_hz": ...}, then for each benchmark {"name", "cycles_per_frame", "reference",
"reference_cycles"}. The cycles of a reference in TESTPMD are measured here, in the same round.
The medians of all rounds are written to build/bench/bench.json; --record also adds them to
docs/benchmarks.md. Then come the variants beside each other (tools/bench_variants.py). Last come
the connections, the TCP handshakes and their goals: the exit status is 1 if phase 1 is too slow
compared with the same frames without connections, if a benchmark in GOALS is too slow compared with
its reference, or if the variant that the launcher chooses is too slow compared with a native build.
"""

import argparse
import collections
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
from typing import Any

import bench_variants
import testpmd

ROOT = pathlib.Path(__file__).parents[1]
BENCH = ROOT / "build" / "bench" / "engine" / "natxy-bench"
RESULT = ROOT / "build" / "bench" / "bench.json"
HISTORY = ROOT / "docs" / "benchmarks.md"
HISTORY_MARK = "<!-- entries: newest first -->\n"
TESTPMD = {
    "dpdk-testpmd txonly, burst 32": testpmd.Mode(forward="txonly"),
    "dpdk-testpmd txonly, multi-flow, burst 32": testpmd.Mode(forward="txonly", multi_flow=True),
    "dpdk-testpmd txonly, burst 1": testpmd.Mode(forward="txonly", burst=1),
    "dpdk-testpmd txonly, burst 1, with its clock": testpmd.Mode(
        forward="txonly", burst=1, clock=True
    ),
    "dpdk-testpmd rxonly, burst 32": testpmd.Mode(forward="rxonly"),
}
# The least ratio of a benchmark to its reference. A sender that paces reads the clock for each
# frame; testpmd reads it only if it is asked to, and then twice.
GOALS = {
    ("sender/net_null/enumerated", "dpdk-testpmd txonly, burst 32"): 0.95,
    (
        "sender/net_null/random-ports-paced",
        "dpdk-testpmd txonly, burst 1, with its clock",
    ): 1.0,
    ("receivers/net_ring/two-cores", "one receiver on one core"): 1.8,
}
GOAL_CPS = 10_000_000
GOAL_HANDSHAKES_CPS = 3_000_000
GOAL_RATIO = 0.5  # handling a connection costs no more than its frame
MET = {True: "met", False: "not met"}
CONNECTIONS = {
    "connections": "{connections:,}",
    "established/s": "{per_second:,}",
    "replies/s": "{replies_per_second:,}",
    "octets each": "{table_octets:.2f}",
    "resident": "{resident_octets:.2f}",
    "page": "{page_bytes:,}",
}
HANDSHAKES = {
    "TCP connections": "{connections:,}",
    "SYN/s": "{syn_per_second:,}",
    "SYN/ACK/s": "{syn_ack_per_second:,}",
    "ACK/s": "{ack_per_second:,}",
    "handshakes/s": "{handshakes_per_second:,}",
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cpus:
    main: int
    workers: list[int]


Row = dict[str, Any]
Samples = dict[tuple[str, str], list[tuple[float, float]]]


def measure_round(
    cpus: Cpus, samples: Samples, variants: bench_variants.Rounds, number: int
) -> None:
    programs = bench_variants.programs(BENCH)
    measured = {
        name: rows_of([], cpus, programs[name]) for name in bench_variants.in_turn(programs, number)
    }
    bench_variants.add({name: found[1:] for name, found in measured.items()}, variants)
    rows = measured[bench_variants.DISPATCH]
    tsc_hz = rows.pop(0)["tsc_hz"]
    reference_cycles = {
        name: testpmd_cycles(mode, cpus, tsc_hz)
        for name, mode in TESTPMD.items()
        if any(row["reference"] == name for row in rows)
    }
    for row in rows:
        reference = row["reference"]
        named = reference in reference_cycles
        beside = reference_cycles[reference] if named else row["reference_cycles"]
        samples[row["name"], reference].append((row["cycles_per_frame"], beside))


def rows_of(what: list[str], cpus: Cpus, program: pathlib.Path = BENCH) -> list[Row]:
    command = [str(program), *what]
    command += ["--main-cpu", str(cpus.main), "--cpus", ",".join(map(str, cpus.workers))]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def connection_rows(cpus: Cpus) -> list[Row]:
    """Runs phase 1 of stateful trials: rounds with and without connections, then many
    connections."""
    return rows_of(["connections"], cpus)[1:]


def handshake_rows(cpus: Cpus) -> list[Row]:
    """Makes TCP connections: rounds as fast as possible, then many connections."""
    return rows_of(["handshakes"], cpus)[1:]


def connections_table(rows: list[Row]) -> str:
    """Returns the table of connections per second and memory per connection."""
    rounds = rounds_of(rows)
    return table_of(CONNECTIONS, [median_of(rounds), *rows[len(rounds) :]])


def handshakes_table(rows: list[Row]) -> str:
    """Returns the table of TCP segments per second in each phase, and of whole handshakes."""
    *rounds, many = rows
    return table_of(HANDSHAKES, [median_of(rounds), many])


def table_of(columns: dict[str, str], rows: list[Row]) -> str:
    """Returns a table with these columns: names, and formats of their cells."""
    cells = ([form.format(**row) for form in columns.values()] for row in rows)
    head, *lines = (f"| {' | '.join(line)} |" for line in ([*columns], *cells))
    return "\n".join([head, "|---" * len(columns) + "|", *lines]) + "\n"


def rounds_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "stateless_per_second" in row]


def median_of(rows: list[Row]) -> Row:
    return {name: statistics.median_low(row[name] for row in rows) for name in rows[0]}


def establishment_ratio(rows: list[Row]) -> float:
    """Returns the rate of connections divided by that of stateless frames: median of the rounds."""
    ratios: list[float] = [
        row["per_second"] / row["stateless_per_second"] for row in rounds_of(rows)
    ]
    return statistics.median(ratios)


def connection_goals(rows: list[Row], handshakes: list[Row]) -> str:
    """Returns whether the goals are met. Only the ratio is required, because a busy or slow machine
    misses the rates."""
    rate_cps = median_of(rounds_of(rows))["per_second"]
    whole_cps = median_of(handshakes[:-1])["handshakes_per_second"]
    rate_met, ratio_met = rate_cps >= GOAL_CPS, establishment_ratio(rows) >= GOAL_RATIO
    return (
        f"- {rate_cps:,} connections per second on two cores over net_ring "
        f"(goal: {GOAL_CPS:,}): {MET[rate_met]}\n"
        f"- {whole_cps:,} TCP handshakes per second on two cores over net_ring "
        f"(goal: {GOAL_HANDSHAKES_CPS:,}): {MET[whole_cps >= GOAL_HANDSHAKES_CPS]}\n"
        f"- {establishment_ratio(rows):.2f} of the rate of the same frames without connections "
        f"(goal: {GOAL_RATIO}): {MET[ratio_met]}\n"
    )


def missed_goals(result: list[Row], rows: list[Row]) -> list[str]:
    """Returns a sentence for each goal that is missed, of the benchmarks and of the connections."""
    ratios = {(row["name"], row["reference"]): row["ratio"] for row in result}
    missed = [
        f"bench: {name.rpartition('/')[2]}: {ratios[name, reference]:.2f} of {reference} "
        f"(expected at least {goal:.2f})"
        for (name, reference), goal in GOALS.items()
        if ratios[name, reference] < goal
    ]
    share = establishment_ratio(rows)
    if share < GOAL_RATIO:
        missed.append(
            f"bench: connections: {share:.2f} of the rate without connections "
            f"(expected at least {GOAL_RATIO:.2f})"
        )
    return missed


def testpmd_cycles(mode: testpmd.Mode, cpus: Cpus, tsc_hz: float) -> float:
    measured = testpmd.measure(mode, main_cpu=cpus.main, cpu=cpus.workers[0], seconds=0.5)
    return measured.cycles_per_frame(tsc_hz)


def result_of(samples: Samples) -> list[Row]:
    """Returns the medians of the cycles, and the median of the ratios of the rounds."""
    return [
        {
            "name": name,
            "cycles_per_frame": round(statistics.median(ours for ours, _ in rounds), 1),
            "reference": reference,
            "reference_cycles": round(statistics.median(beside for _, beside in rounds), 1),
            "ratio": round(statistics.median(beside / ours for ours, beside in rounds), 2),
        }
        for (name, reference), rounds in samples.items()
    ]


def as_table(result: list[Row]) -> str:
    lines = [
        "| benchmark | cycles per frame | reference | its cycles | ratio |",
        "|---|---|---|---|---|",
    ]
    lines += [f"| {' | '.join(str(value) for value in row.values())} |" for row in result]
    return "\n".join(lines) + "\n"


def variants_table(variants: bench_variants.Rounds) -> str:
    if not variants:
        return ""
    programs = bench_variants.programs(BENCH)
    levels = {name: bench_variants.variant_of(program) for name, program in programs.items()}
    return bench_variants.table(variants, levels)


def machine() -> str:
    models = [
        line.partition(":")[2].strip()
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    ]
    model = models[0] if models else platform.machine()
    return f"{len(models)} x {model}, kernel {platform.release()}, load {os.getloadavg()[0]:.1f}"


def record(table: str, rounds: int) -> None:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    today = datetime.date.today().isoformat()
    entry = f"\n## {today}, {commit}\n\n{machine()}; medians of {rounds} rounds.\n\n{table}"
    page = HISTORY.read_text()
    HISTORY.write_text(page.replace(HISTORY_MARK, HISTORY_MARK + entry, 1))


def cpus_of_this_process() -> Cpus:
    allowed = sorted(os.sched_getaffinity(0))
    return Cpus(main=allowed[0], workers=(allowed * 3)[1:3])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds [default: 5]")
    parser.add_argument(
        "--record", action="store_true", help="also add the tables to docs/benchmarks.md"
    )
    options = parser.parse_args()
    cpus = cpus_of_this_process()
    samples: Samples = collections.defaultdict(list)
    variants: bench_variants.Rounds = {}
    for number in range(options.rounds):
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
        measure_round(cpus, samples, variants, number)
    result = result_of(samples)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    tables = [as_table(result), variants_table(variants)]
    print(*tables, sep="\n", flush=True)  # connections may end in an error, if a core is taken away
    rows = connection_rows(cpus)
    handshakes = handshake_rows(cpus)
    of_connections = [
        connections_table(rows),
        handshakes_table(handshakes),
        connection_goals(rows, handshakes),
    ]
    print(*of_connections, sep="\n")
    if options.record:
        record("\n".join([*tables, *of_connections]), options.rounds)
    missed = missed_goals(result, rows) + bench_variants.missed_goal(variants)
    print(*missed, sep="\n", file=sys.stderr, end="\n" if missed else "")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
