"""The goals of `make bench`: which ratios end it with an error, and what it says of them."""

import sys
from pathlib import Path

import pytest

from tools import bench, bench_against, bench_variants

ENUMERATED, PACED = "sender/net_null/enumerated", "sender/net_null/random-ports-paced"
TWO_CORES, ONE_RECEIVER = "receivers/net_ring/two-cores", "one receiver on one core"
TXONLY = "dpdk-testpmd txonly, burst 32"
TXONLY_1 = "dpdk-testpmd txonly, burst 1, with its clock"
SOURCE = Path(bench.ROOT) / "engine" / "bench" / "bench.cpp"


def rows(*, enumerated: float, paced: float, two_cores: float = 1.8) -> list[bench.Row]:
    """The result of rounds in which Natxy took 100 cycles a frame."""
    samples = {
        (ENUMERATED, TXONLY): [(100.0, 100 * enumerated)] * 3,
        (PACED, TXONLY_1): [(100.0, 100 * paced)] * 3,
        (TWO_CORES, ONE_RECEIVER): [(100.0, 100 * two_cores)] * 3,
        ("receiver/net_ring/all-checks", "bare loop: rx_burst, free"): [(100.0, 20.0)] * 3,
    }
    return bench.result_of(samples)


def handshakes(per_second: int) -> list[bench.Row]:
    phases = dict.fromkeys(("syn_per_second", "syn_ack_per_second", "ack_per_second"), 9)
    row = {"connections": 2_000_000, **phases}
    rounds = [row | {"handshakes_per_second": rate} for rate in (1, per_second, 10**9)]
    return [*rounds, row | {"connections": 10_000_000, "handshakes_per_second": 7}]


def connections(ratio: float) -> list[bench.Row]:
    return [{"per_second": 100 * ratio, "stateless_per_second": 100}] * 3


def test_goals_that_are_met_say_nothing() -> None:
    assert bench.missed_goals(rows(enumerated=0.95, paced=1.0), connections(0.5)) == []


def test_a_sender_that_is_too_slow_is_named_with_its_goal() -> None:
    assert bench.missed_goals(rows(enumerated=0.86, paced=0.71), connections(0.5)) == [
        f"bench: enumerated: 0.86 of {TXONLY} (expected at least 0.95)",
        f"bench: random-ports-paced: 0.71 of {TXONLY_1} (expected at least 1.00)",
    ]
    (said,) = bench.missed_goals(rows(enumerated=0.94, paced=1.2), connections(0.5))
    assert "enumerated: 0.94" in said
    (said,) = bench.missed_goals(rows(enumerated=1.1, paced=0.99), connections(0.5))
    assert "random-ports-paced: 0.99" in said


def test_slow_connections_are_named_too() -> None:
    assert bench.missed_goals(rows(enumerated=1, paced=1), connections(0.49)) == [
        "bench: connections: 0.49 of the rate without connections (expected at least 0.50)"
    ]


def test_a_second_core_that_helps_too_little_is_named() -> None:
    result = rows(enumerated=1, paced=1, two_cores=1.79)
    assert bench.missed_goals(result, connections(0.5)) == [
        f"bench: two-cores: 1.79 of {ONE_RECEIVER} (expected at least 1.80)"
    ]


@pytest.mark.parametrize(("rate", "met"), [(3_000_000, "met"), (2_999_999, "not met")])
def test_handshakes_have_a_goal_that_is_reported(rate: int, met: str) -> None:
    """The figure is the median of the rounds."""
    said = bench.connection_goals(connections(0.5), handshakes(rate))
    assert f"- {rate:,} TCP handshakes per second" in said
    assert f"(goal: 3,000,000): {met}\n" in said
    table = bench.handshakes_table(handshakes(rate))
    assert f"| 2,000,000 | 9 | 9 | 9 | {rate:,} |\n| 10,000,000 | 9 | 9 | 9 | 7 |\n" in table


def test_each_goal_is_one_of_a_row_that_is_measured() -> None:
    for name, reference in bench.GOALS:
        assert f'"{name}"' in SOURCE.read_text()
        assert f'"{reference}"' in SOURCE.read_text()
        assert reference in bench.TESTPMD or (name, reference) == (TWO_CORES, ONE_RECEIVER)


@pytest.mark.parametrize(("paced", "status"), [(0.99, 1), (1.0, 0)])
def test_a_missed_goal_is_the_exit_status(
    paced: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = {
        "connections": 1,
        "per_second": 60,
        "replies_per_second": 1,
        "table_octets": 8.0,
        "resident_octets": 8.0,
        "page_bytes": 4096,
    }
    found = rows(enumerated=1, paced=paced)
    monkeypatch.setattr(sys, "argv", ["bench.py", "--rounds", "0"])
    monkeypatch.setattr(bench, "RESULT", tmp_path / "bench.json")
    monkeypatch.setattr(bench, "result_of", lambda _: found)
    monkeypatch.setattr(
        bench, "connection_rows", lambda _: [row | {"stateless_per_second": 100}, row]
    )
    monkeypatch.setattr(bench, "handshake_rows", lambda _: handshakes(5))
    assert bench.main() == status
    said = capsys.readouterr()
    assert ("random-ports-paced" in said.err) is bool(status)
    assert "| benchmark |" in said.out
    assert "| TCP connections |" in said.out


def test_a_build_is_compared_with_another_round_by_round() -> None:
    """A round in which the host was slow to both changes nothing."""
    samples = {"same": [(50.0, 50.0), (90.0, 90.0)], "worse": [(50.0, 52.0), (100.0, 104.0)]}
    assert bench_against.slower(samples) == pytest.approx({"same": 0.0, "worse": 0.04})
    assert "| worse | 75.0 | 78.0 | +4.0 % |" in bench_against.as_table(samples)


def ratios(*rounds: tuple[float, float, float]) -> list[dict[str, float]]:
    names = (bench_variants.NATIVE, bench_variants.BASELINE, bench_variants.DISPATCH)
    return [dict(zip(names, each, strict=True)) for each in rounds]


def test_variants_stand_beside_each_other_as_medians_of_ratios() -> None:
    """A round in which the host was slow to all changes nothing."""
    slow = ratios((50, 51, 50.5), (500, 510, 505), (50, 51, 49))
    rounds = {"a": slow, "b": ratios((10, 12, 11))}
    levels = {"baseline": "x86-64-v3", "dispatch": "x86-64-v4"}
    assert bench_variants.table(rounds, levels).splitlines() == [
        "| benchmark | native | baseline (x86-64-v3) | dispatch (x86-64-v4) "
        "| baseline / native | dispatch / native |",
        "|---|---|---|---|---|---|",
        "| a | 50.0 | 51.0 | 50.5 | 1.020 | 1.010 |",
        "| b | 10.0 | 12.0 | 11.0 | 1.200 | 1.100 |",
        "| median of all | | | | 1.110 | 1.055 |",
    ]


@pytest.mark.parametrize(("dispatch", "missed"), [(102.0, False), (102.1, True)])
def test_a_dispatch_slower_than_native_is_named(dispatch: float, missed: bool) -> None:
    said = bench_variants.missed_goal({"a": ratios((100, 100, dispatch))})
    assert bool(said) is missed
    if missed:
        assert said == ["bench: dispatch: 1.021 of the cycles of native (expected at most 1.02)"]


def test_each_round_begins_with_another_variant(tmp_path: Path) -> None:
    for name in (
        "natxy-bench",
        *(f"natxy-bench-{x}" for x in ("native", "x86-64-v4", "x86-64-v3")),
    ):
        (tmp_path / name).touch()
    programs = bench_variants.programs(tmp_path / "natxy-bench")
    assert programs["baseline"].name == "natxy-bench-x86-64-v3"
    assert programs["dispatch"].name == "natxy-bench"
    orders = [bench_variants.in_turn(programs, number) for number in range(3)]
    assert {order[0] for order in orders} == set(programs)
    assert all(set(order) == set(programs) for order in orders)


def test_a_benchmark_with_two_references_is_one_row() -> None:
    row = {"name": "a", "cycles_per_frame": 5.0}
    rounds: bench_variants.Rounds = {}
    bench_variants.add({name: [row, row] for name in ("native", "baseline", "dispatch")}, rounds)
    assert rounds == {"a": ratios((5.0, 5.0, 5.0))}
