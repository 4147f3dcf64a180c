"""`natxy trial` at a stateful gateway that is arithmetic: judged as a trial of a measurement."""

import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from natxy.cli import run_command
from natxy.dut.base import TableParameters
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Recording
from natxy.trial.session import Session
from natxy.trial.trials import Trials
from tests.unit.fake_engine import FakeEngine
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

TESTBED = """\
[tester.left]
ipv4_real = "198.18.0.2"
next_hop_ipv4 = "198.18.0.1"
[tester.right]
ipv4_real = "198.19.0.2"
next_hop_ipv4 = "198.19.0.1"
[traffic]
left_ip_version = 4
right_ip_version = 4
[connections]
count = 1000
rate_fps = 10000
"""
Captured = pytest.CaptureFixture[str]
Verb = Callable[..., int]


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Verb:
    def of(
        gateway: StatefulGateway, *options: str, entries: int | None = None, more: str = ""
    ) -> int:
        @contextmanager
        def set_up(testbed: Testbed, source: Source, *_: Any) -> Iterator[Session]:
            traffic = TrafficPlan(testbed=testbed, source=source)
            dut = StatefulDut(gateway=gateway, known=TableParameters(entries=entries))
            yield FakeEngine(gateway=gateway).session(traffic, dut)

        monkeypatch.setattr(importlib.import_module("natxy.cli.trial"), "set_up", set_up)
        path = tmp_path / "testbed.toml"
        path.write_text(TESTBED + more)
        return run_command(["trial", str(path), "--rate", "20000", "--seed", "3", *options])

    return of


def test_all_phases_are_shown_and_the_verdict_is_phase_2s(trial: Verb, capsys: Captured) -> None:
    assert trial(StatefulGateway(), "-v") == 0
    text = capsys.readouterr().out
    assert text.startswith("PASS: all 40,000 frames of phase 2 were received")
    for phase in ("establish", "sample", "test"):
        assert f"phase {phase}: " in text
    assert trial(StatefulGateway(), "--json") == 0
    streams = json.loads(capsys.readouterr().out)["result"]["streams"]
    assert [stream["phase"] for stream in streams] == ["establish", "sample", "test", "test"]


def test_fewer_connections_are_accepted_where_the_testbed_says_so(
    trial: Verb, capsys: Captured
) -> None:
    accept = 'incomplete = "accept"\nminimum = 900\n'
    assert trial(StatefulGateway(entries=950), more=accept) == 0
    text = capsys.readouterr().out
    assert text.startswith("PASS: all 40,000 frames of phase 2")
    assert "950 of 1,000 connections" in text


@pytest.mark.parametrize(
    ("gateway", "known", "sentence"),
    [
        (StatefulGateway(), 999, "table takes 999 entries, but phase 1 creates 1,000"),
        (StatefulGateway(entries=950), None, "Phase 1 created 950 of 1,000 connections"),
    ],
    ids=["too small", "full"],
)
def test_what_is_no_result_of_a_measurement_is_none_here(
    trial: Verb, capsys: Captured, gateway: StatefulGateway, known: int | None, sentence: str
) -> None:
    """But what it was is shown, where there was one."""
    assert trial(gateway, entries=known) != 0
    said = capsys.readouterr()
    assert sentence in said.err
    assert "PASS" not in said.out
    if known is None:
        assert said.out.startswith("NO RESULT: ")
        assert sentence in said.out.splitlines()[0]
        assert "Phase 1 made 950 of 1,000 connections." in said.out.splitlines()
    else:
        assert not said.out


@pytest.mark.parametrize(
    ("gateway", "sentence", "code"),
    [
        (StatefulGateway(flushes=True), "100 did not answer", "sample_silent"),
        (StatefulGateway(absent=5), "has 995 left", "connections_gone"),
    ],
    ids=["dropped", "forgotten"],
)
def test_connections_that_were_lost_fail_in_the_first_line(
    trial: Verb, capsys: Captured, gateway: StatefulGateway, sentence: str, code: str
) -> None:
    assert trial(gateway) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("FAIL: of ")
    assert sentence in first
    assert trial(gateway, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "FAIL"
    assert said["lost_connections"]["code"] == code


def test_a_sample_that_came_wrong_fails_in_the_first_line(trial: Verb, capsys: Captured) -> None:
    assert trial(StatefulGateway(sample_wrong=3)) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "FAIL: 0 connections got another mapping, 3 replies were delivered to another"
    )


def test_mappings_need_connections(trial: Verb, tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "stateless.toml"
    path.write_text(TESTBED.partition("[connections]")[0])
    assert run_command(["trial", str(path), "--rate", "1000", "--mappings"]) == 2
    assert "connections: is missing, and --mappings needs it" in capsys.readouterr().err


def test_mappings_are_asked_for(trial: Verb, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Recording] = []
    run = Trials.run

    def noting(self: Trials, *, load: Any, repetition: int, seed: int) -> TrialRecord:
        asked.append(load.recording)
        return run(self, load=load, repetition=repetition, seed=seed)

    monkeypatch.setattr(Trials, "run", noting)
    assert trial(StatefulGateway(), "--mappings") == 0
    assert [recording.mappings for recording in asked] == [True]
