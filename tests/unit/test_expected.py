"""The estimated durations are those of the trials that the procedures run."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.cli.campaigns import MEASURING, collected
from natxy.cli.expected import (
    ASSUMED_FPS,
    ASSUMED_TABLE,
    DELETION_S,
    SET_UP_S,
    duration_s,
    expected_s,
    phase_1_search_s,
)
from natxy.cli.plan import ends
from natxy.measure.table_size import PortRange, Size
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import AGAIN, Stream, TrialSpec
from natxy.procedure.capacity import CapacityPlan, capacity
from natxy.procedure.closing import ClosingPlan, closing
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.tear_down import TearDownPlan, tear_down
from natxy.report.numbers import about
from natxy.search.capacity_goal import CapacityGoal
from natxy.search.mlr_goal import rfc2544_goal
from natxy.trial.establishing import Closer
from natxy.trial.repeats import BETWEEN_S
from natxy.trial.timing import Timing
from tests.unit.campaigns import EXPERIMENT
from tests.unit.capacity import WIDE
from tests.unit.conftest import NAT64
from tests.unit.connections import plan as traffic_plan
from tests.unit.fake_engine import FakeEngine, frames_in, rate_of
from tests.unit.stateful_gateway import StatefulGateway

NEEDED: dict[str, Sequence[str]] = {
    "degradation": ("--counts", "1000,10000"),
    "churn": ("--load", "10000"),
}
STATEFUL = ("establishment", "capacity", "tear-down", "degradation", "churn")
TIMING = Timing(duration_s=Fraction(1), drain_s=Fraction(1, 20))
PLAN: dict[str, Any] = {"timing": TIMING, "seed": 7, "repetitions": 1}


def seconds(verb: str, *words: str, **sections: Any) -> Fraction:
    written = {
        "tester": {"cores": [0]},
        "traffic": {"left_ip_version": 4, "right_ip_version": 4},
        **sections,
    }
    testbed: Testbed = Source(name="testbed").validated(Testbed, written)
    return duration_s(collected(verb, words), testbed) - SET_UP_S


def test_trials_at_a_given_rate_are_counted_exactly() -> None:
    """RFC 8219 section 7.3.1: 20 trials of 60 s, each with a drain of 2 s and a pause of 5 s."""
    assert seconds("pdv", "--rate", "1000") == 20 * (67 + BETWEEN_S)


def test_each_frame_size_and_mix_is_measured() -> None:
    one = seconds("pdv", "--rate", "1000")
    words = ("--frame-size", "84,512,1518", "--foreground", "100,50")
    assert seconds("pdv", "--rate", "1000", *words) == 6 * one


def test_a_rate_that_is_not_given_is_searched_for_first() -> None:
    given, searched = seconds("latency", "--rate", "1000"), seconds("latency")
    once = seconds("throughput", "--repetitions", "1")
    assert searched == given + once


def test_a_search_has_the_trials_that_it_takes_with_such_a_device() -> None:
    """At a maximum of 1000 fps: 1000, then halves down to an error of 50 %: 500; 750."""
    words = ("--max-rate", "1000", "--error", "50%", "--repetitions", "1")
    assert seconds("throughput", *words) == 3 * (67 + BETWEEN_S)


TRIAL_S = 60 + 2 + 5 + BETWEEN_S
TABLE = {"connections": {"count": 1000, "rate_fps": 1000, "sample": 0}}
ONE_SEARCH = ("--max-rate", "1000", "--error", "50%", "--repetitions", "1")


@pytest.mark.parametrize(
    ("words", "sections", "expected_s"),
    [
        # Rates of 100, 90, ... 50 % of the maximum lose frames, 50 and 40 % do not.
        ("frame-loss", {}, 7 * TRIAL_S),
        ("frame-loss --step 3", {}, (17 + 2) * TRIAL_S),
        ("frame-loss --rates 100,200,300 --repetitions 2", {}, 3 * 2 * TRIAL_S),
        ("recovery --throughput 1000 --after 10", {}, 20 * (TRIAL_S + 10)),
        ("recovery --throughput 1000", {}, 20 * (TRIAL_S + 60)),
        ("reset --rate 1000", {}, 10 * TRIAL_S),
        # 1000, 4000, 16,000, 64,000, 256,000 fails, 128,000 fails, 96,000.
        ("throughput --error 50% --repetitions 2", {}, 2 * 7 * TRIAL_S),
        # 1000 and 750 fail, and do so again.
        (("throughput", *ONE_SEARCH, "--verify-loss", "1"), {}, 5 * TRIAL_S),
        (
            "throughput --max-rate 1000 --error 50% --repetitions 10 --patience 500",
            {},
            500 + 3 * TRIAL_S,
        ),
        # Bursts of 64, 128, 256, 512, 1024, which is too long, and 768.
        (
            "back-to-back --throughput 1000 --step 500 --repetitions 2",
            {},
            2 * (6 * (2 + BETWEEN_S) + Fraction(64 + 128 + 256 + 512 + 1024 + 768, 1000)),
        ),
        (
            "throughput --max-rate 1000 --error 50% --repetitions 10 --patience 86400",
            {},
            10 * 3 * TRIAL_S,
        ),
        # The next ones are 896, 960, 992, 1008, which is too long, 1000, 1004 and 1002.
        (
            "back-to-back --throughput 1000 --repetitions 2",
            {},
            2 * (13 * (2 + BETWEEN_S) + Fraction(9614, 1000)),
        ),
        # 4000, 16,000, 64,000, 256,000 fails, 128,000 fails, 96,000.
        (
            "establishment --error 50% --repetitions 2",
            TABLE,
            2
            * (
                6 * (2 + 5 + BETWEEN_S) + sum(Fraction(1, cps) for cps in (4, 16, 64, 256, 128, 96))
            ),
        ),
        (
            ("establishment", *ONE_SEARCH),
            TABLE,
            3 * (2 + 5 + BETWEEN_S) + 1 + 2 + Fraction(1000, 750),
        ),
        ("tear-down --counts 1000,3000 --repetitions 1", TABLE, 2 * (8 + BETWEEN_S) + 4),
        (
            ("degradation", "--counts", "1000,3000", *ONE_SEARCH),
            TABLE,
            2 * 3 * (TRIAL_S + 2) + 3 * 4,
        ),
        (("scale-up", "--cores", "1,2,4", *ONE_SEARCH), {}, 3 * 3 * TRIAL_S),
        ("overload --of pdv --rate 1000 --flows 1,10", {}, 2 * 20 * TRIAL_S),
        # Of 30 flows 7 are sent for 0.8 s, 15 for 0.7 s and 22 for 0.8 s, with a drain after each.
        (
            "overload --of pdv --rate 1000 --flows 30 --incremental --step 0.1",
            {},
            20 * (2 * TRIAL_S + Fraction(23, 10) + 3 * 2),
        ),
    ],
    ids=str,
)
def test_a_measurement_lasts_as_long_as_its_trials(
    words: str | tuple[str, ...], sections: dict[str, Any], expected_s: Fraction
) -> None:
    verb, *options = words.split() if isinstance(words, str) else words
    assert seconds(verb, *options, **sections) == expected_s


def test_a_rate_of_phase_1_that_is_not_given_is_searched_for() -> None:
    """To within 5 %; half of 100,000 connections a second is used."""
    connections: dict[str, Any] = {"count": 100_000, "sample": 0}
    given = seconds("pdv", "--rate", "1000", connections={**connections, "rate_fps": 50_000})
    words = ("--error", "5%", "--repetitions", "1")
    search = seconds("establishment", *words, connections=connections)
    assert seconds("pdv", "--rate", "1000", connections=connections) == given + search


def test_bursts_without_a_throughput_wait_for_a_search_and_are_shorter() -> None:
    """Of 100,000 frames a second, a burst of 1000 takes 10 ms."""
    slow, fast = (seconds("back-to-back", *words) for words in (("--throughput", "1000"), ()))
    search = seconds("throughput", "--repetitions", "1")
    assert fast - search == slow - 50 * Fraction(9614) * (Fraction(1, 1000) - Fraction(1, 100_000))


def test_each_point_of_a_series_in_phase_2_is_searched_for_its_own_rate_of_phase_1() -> None:
    def lasts(verb: str, *words: str, rate_fps: int | None) -> Fraction:
        connections = {"count": 100_000, "sample": 0, "rate_fps": rate_fps}
        return seconds(verb, *words, *ONE_SEARCH, connections=connections)

    words = ("--error", "5%", "--repetitions", "1")
    search = seconds("establishment", *words, connections={"count": 100_000})
    series = ("scale-up", "--of", "throughput", "--cores", "1,2")
    assert lasts(*series, rate_fps=None) == lasts(*series, rate_fps=50_000) + 2 * search


@pytest.mark.parametrize(("sample", "sent"), [(500, 500), (2000, 1000)])
def test_a_sample_is_sent_at_10_000_frames_a_second(sample: int, sent: int) -> None:
    connections = {"count": 1000, "rate_fps": 20_000}
    without = seconds("pdv", "--rate", "1000", connections={**connections, "sample": 0})
    sampled = seconds("pdv", "--rate", "1000", connections={**connections, "sample": sample})
    assert sampled - without == 20 * (Fraction(sent, 10_000) + 2)


def test_phase_1_is_a_part_of_each_trial() -> None:
    stateless = seconds("pdv", "--rate", "1000")
    connections = {"count": 100_000, "rate_fps": 10_000, "sample": 0}
    stateful = seconds("pdv", "--rate", "1000", connections=connections)
    assert stateful == stateless + 20 * (10 + 2)


def test_phase_1_lasts_as_long_as_the_testbed_says() -> None:
    connections = {"count": 1000, "rate_fps": 1000, "delay_s": 30}
    stateful = seconds("pdv", "--rate", "1000", connections=connections)
    assert stateful == seconds("pdv", "--rate", "1000") + 20 * 30


def test_tear_down_fills_the_table_in_each_repetition() -> None:
    connections = {"count": 100_000, "rate_fps": 10_000}
    found = seconds("tear-down", "--repetitions", "4", connections=connections)
    assert found == 4 * (10 + 2 + 5 + BETWEEN_S + DELETION_S)


def test_flows_that_start_one_after_another_take_the_time_of_their_ramp() -> None:
    """Three parts of 60 s with a drain of 2 s each; a single flow has no such part."""
    words = ("--of", "pdv", "--rate", "1000", "--flows", "10")
    at_once = seconds("overload", *words)
    assert seconds("overload", *words, "--incremental") == at_once + 20 * 3 * 62


@pytest.mark.parametrize("verb", MEASURING)
@pytest.mark.parametrize("profile", ["rfc", "quick"])
def test_every_measurement_has_a_duration(verb: str, profile: str) -> None:
    sections = {"connections": {"count": 10_000}} if verb in STATEFUL else {}
    words = (*NEEDED.get(verb, ()), "--profile", profile)
    assert 0 < seconds(verb, *words, **sections) < 30 * 86_400


def test_the_plan_says_when_it_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    path.write_text(EXPERIMENT)
    assert run_command(["plan", str(path)]) == 0
    said = capsys.readouterr().out
    assert "8 cells, about" in said.splitlines()[0]
    assert "pdv, 84 B (about 3.3 s)" in said
    assert "it ends about" in said


def test_the_plan_says_how_long_invalid_trials_may_take(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "testbed.toml").write_text(NAT64)
    path = tmp_path / "experiment.toml"
    limited = 'rate = 1000, retry_time = 5, frame_size = "84,512"'
    path.write_text(EXPERIMENT.replace("rate = 1000 }", f"{limited} }}"))
    assert run_command(["plan", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    pdv = next(line for line in lines if "pdv, 84 B (about 3.6 s" in line)
    assert "(about 3.6 s, up to 14 s if trials are invalid)" in pdv, "5 s for each frame size"
    assert not any("throughput, " in line and "up to" in line for line in lines)


def test_an_end_on_another_day_has_its_date() -> None:
    begin = datetime(2026, 11, 24, 14, 0)
    assert ends(begin, 1200) == "14:20"
    assert ends(begin, 86_400) == "2026-11-25 14:00"


@pytest.mark.parametrize(
    ("duration", "said"),
    [(5, "5 s"), (6.54, "6.5 s"), (99, "99 s"), (480, "8 min"), (7000, "1.9 h"), (1e6, "12 days")],
)
def test_an_estimate_has_two_digits(duration: float, said: str) -> None:
    assert about(duration) == said


def ran_s(specs: list[TrialSpec]) -> float:
    """Returns the duration of these trials, without warm-up and phases that repeat lost frames."""
    total_s = Fraction(0)
    for spec in specs:
        if not spec.seed:
            continue
        phases = [phase for phase in spec.phases if phase.name not in AGAIN]
        sent_ns = sum(phase.streams[0].duration_ns + phase.gap_ns for phase in phases)
        total_s += BETWEEN_S + Fraction(sent_ns + len(phases) * spec.drain_ns, 10**9)
    return float(total_s)


def losing_above(limit_fps: int) -> FakeEngine:
    def lose(stream: Stream) -> range:
        beyond_fps = rate_of(stream) - limit_fps
        return range(max(beyond_fps > 0, frames_in(stream) * beyond_fps // rate_of(stream)))

    return FakeEngine(lose=lose)


@pytest.mark.parametrize(
    ("maximum_fps", "device_fps"), [(200_000, ASSUMED_FPS), (600_000, ASSUMED_FPS), (3000, 2000)]
)
def test_an_mlrsearch_takes_the_trials_that_it_takes_with_such_a_gateway(
    maximum_fps: int, device_fps: int, nat64: TrafficPlan
) -> None:
    """One of 100,000 frames a second or, below a low maximum, of two thirds of that."""
    asked = MlrThroughputPlan(
        goals=(rfc2544_goal(final_duration_s=TIMING.duration_s),),
        max_rate_fps=maximum_fps,
        **PLAN | {"repetitions": 2},
    )
    engine = losing_above(device_fps)
    mlr_throughput(asked, engine.session(nat64))
    found_s = expected_s(asked, nat64.testbed)
    assert float(found_s) == pytest.approx(ran_s(engine.specs), rel=1e-6)


def test_an_mlrsearch_without_a_maximum_is_assumed_to_start_at_twice_the_gateways_rate(
    nat64_testbed: Testbed,
) -> None:
    goals = (rfc2544_goal(final_duration_s=TIMING.duration_s),)
    asked = MlrThroughputPlan(goals=goals, **PLAN)
    given = replace(asked, max_rate_fps=2 * ASSUMED_FPS)
    assert expected_s(asked, nat64_testbed) == expected_s(given, nat64_testbed)


@pytest.mark.parametrize(
    ("max_cps", "device_cps"), [(10**9, ASSUMED_FPS), (9000, 6000)], ids=["free", "limited"]
)
def test_a_search_for_a_capacity_takes_the_trials_that_it_takes_with_such_a_gateway(
    max_cps: int, device_cps: int
) -> None:
    """The table of the assumed gateway holds three times C0."""
    goal = CapacityGoal(c0=1000, max_cps=max_cps)
    asked = CapacityPlan(goal=goal, **PLAN | {"repetitions": 2})
    gateway = StatefulGateway(entries=ASSUMED_TABLE * goal.c0, new_cps=device_cps)
    engine = FakeEngine(gateway=gateway)
    traffic = traffic_plan({}, forward=WIDE, reverse=WIDE)
    capacity(asked, engine.session(traffic))
    found_s = expected_s(asked, traffic.testbed)
    assert float(found_s) == pytest.approx(ran_s(engine.specs), rel=1e-3)


def test_a_table_is_not_assumed_to_hold_more_than_may_be_tested() -> None:
    testbed = traffic_plan({}).testbed
    small = CapacityPlan(goal=CapacityGoal(c0=1000, most=1000), **PLAN)
    large = CapacityPlan(goal=CapacityGoal(c0=1000), **PLAN)
    assert expected_s(small, testbed) < expected_s(large, testbed)


@pytest.mark.parametrize(
    "connections",
    [
        {"rate_fps": 1000},
        {"rate_fps": 1000, "sample": 500},
        {"rate_fps": 40_000, "sample": 5000},
        {"rate_fps": 1000, "sample": 500, "delay_s": 10},
        {"rate_fps": 1000, "sample": 500, "transport": "tcp"},
    ],
    ids=str,
)
def test_a_trial_lasts_as_long_as_its_phases(connections: dict[str, Any]) -> None:
    traffic = traffic_plan(connections, frame_size_bytes=98)
    asked = FrameLossPlan(rates_fps=(1000,), **PLAN)
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    frame_loss(asked, engine.session(traffic))
    assert float(expected_s(asked, traffic.testbed)) == pytest.approx(ran_s(engine.specs), rel=1e-6)


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_a_search_for_a_rate_of_closing_takes_its_trials_with_handshakes_of_phase_1(
    by: Closer,
) -> None:
    traffic = traffic_plan(
        {"transport": "tcp", "rate_fps": 1000}, forward=WIDE, frame_size_bytes=98
    )
    asked = ClosingPlan(by=by, max_rate_cps=9000, **PLAN | {"repetitions": 2})
    gateway = StatefulGateway(frames_fps=6000)
    engine = FakeEngine(gateway=gateway)
    closing(asked, engine.session(traffic))
    assert float(expected_s(asked, traffic.testbed)) == pytest.approx(ran_s(engine.specs), rel=1e-3)


def test_a_tear_down_takes_the_time_of_its_fillings_and_deletions() -> None:
    """A rate of phase 1 that the plan gives needs no search for one."""
    traffic = traffic_plan({"rate_fps": None}, forward=WIDE)
    sizes = (Size(connections=1000), Size(connections=3000))
    asked = TearDownPlan(sizes=sizes, rate_cps=2000, **PLAN | {"repetitions": 3})
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway)
    result = tear_down(asked, engine.session(traffic))
    assert len([spec for spec in engine.specs if spec.seed]) == 2 * 3
    fills_s = float(expected_s(asked, traffic.testbed) - 2 * 3 * DELETION_S)
    assert fills_s == pytest.approx(ran_s(engine.specs), rel=1e-6)
    assert result.conditions.connections
    assert result.conditions.connections.rate_fps == 2000


@pytest.mark.parametrize(("initiator", "ports"), [("left", 1000), ("right", 200)])
def test_ranges_make_as_many_connections_as_the_initiators_ports_have_combinations(
    initiator: str, ports: int
) -> None:
    narrow = {**WIDE, "source_port": {"mode": "increasing", "min": 1000, "max": 1199}}
    testbed = traffic_plan({"initiator": initiator}, forward=WIDE, reverse=narrow).testbed
    of_testbed = Size(destination_ports=PortRange(count=3))
    assert of_testbed.about(testbed) == 3 * ports
    given = Size(source_ports=PortRange(count=40), destination_ports=PortRange(count=3))
    assert given.about(testbed) == 120
    assert replace(given, connections=7).about(testbed) == 7


def test_what_a_measurement_refuses_takes_no_time(nat64_testbed: Testbed) -> None:
    """`natxy plan` must not fail where the cell itself will say what is missing."""
    assert nat64_testbed.connections is None
    assert expected_s(EstablishmentPlan(**PLAN), nat64_testbed) == 0
    assert phase_1_search_s(TIMING, nat64_testbed) == 0
    with pytest.raises(TypeError, match="str: has no duration"):
        expected_s("a plan", nat64_testbed)
