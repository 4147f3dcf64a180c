"""The estimated durations are those of the trials that the procedures run."""

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.cli.campaigns import MEASURING, collected
from natxy.cli.expected import duration_s
from natxy.cli.plan import ends
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.procedure.expected import DELETION_S, SET_UP_S
from natxy.report.numbers import about
from natxy.trial.repeats import BETWEEN_S
from tests.unit.campaigns import EXPERIMENT
from tests.unit.conftest import NAT64

NEEDED: dict[str, Sequence[str]] = {"degradation": ("--counts", "1000,10000")}
STATEFUL = ("establishment", "capacity", "tear-down", "degradation")


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
    words = ("--of", "pdv", "--rate", "1000", "--flows", "10")
    assert seconds("overload", *words, "--incremental") == 4 * seconds("overload", *words)


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
