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
from natxy.cli.expected_plan import DELETION_S, SET_UP_S
from natxy.cli.plan import ends
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.report.numbers import about
from natxy.trial.repeats import BETWEEN_S
from tests.unit.campaigns import EXPERIMENT
from tests.unit.conftest import NAT64

NEEDED: dict[str, Sequence[str]] = {
    "degradation": ("--counts", "1000,10000"),
    "churn": ("--load", "10000"),
}
STATEFUL = ("establishment", "capacity", "tear-down", "degradation", "churn")


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
