"""The tester against the fake engine."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from natxy.errors import (
    DeviceError,
    EngineNotFound,
    MeasurementError,
    ProtocolError,
    TesterDied,
    TrialCancelled,
    TrialRefused,
)
from natxy.model.event import Progress
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import TrialSpec
from natxy.tester.command import engine_command
from natxy.tester.tester import Tester
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan


@pytest.fixture
def spec(nat64: TrafficPlan) -> TrialSpec:
    timing = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
    return TrialPlan(traffic=nat64, timing=timing).spec(load=1000, seed=1, nonce=2)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@contextmanager
def leaves_no_process(tester: Tester) -> Iterator[None]:
    yield
    assert gone(tester.pid)


def test_trials_one_after_another(engine: list[str], spec: TrialSpec) -> None:
    seen: list[Progress] = []
    tester = Tester(engine)
    with leaves_no_process(tester), tester:
        assert tester.hello.ports[1].side == "right"
        first = tester.run(spec, seen.append)
        second = tester.run(spec.model_copy(update={"nonce": 3}))
    assert (first.nonce, second.nonce) == (2, 3)
    assert first.passed
    assert first.sent == 400
    assert [progress.stage for progress in seen] == ["sending"]


def test_an_engine_that_dies_is_reported_with_its_last_words(
    engine: list[str], spec: TrialSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "die")
    tester = Tester(engine)
    with leaves_no_process(tester), tester, pytest.raises(TesterDied) as died:
        tester.run(spec)
    assert "signal 9" in str(died.value)
    assert "something terrible" in str(died.value)


def test_a_silent_engine_is_ended(
    engine: list[str], spec: TrialSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "silent")
    tester = Tester(engine, silence_limit_s=0.2)
    with leaves_no_process(tester), tester, pytest.raises(TesterDied, match="sent nothing for"):
        tester.run(spec)


@pytest.mark.parametrize(
    ("mode", "error", "sentence"),
    [
        ("no-device", DeviceError, "there is no such device"),
        (
            "device-refused",
            DeviceError,
            r"not permitted\); DPDK's last messages: EAL: Driver cannot attach \| "
            "af_xdp: Failed to create xsk$",
        ),
        ("other-protocol", ProtocolError, "speaks protocol 2"),
    ],
)
def test_an_engine_that_does_not_start(
    engine: list[str],
    monkeypatch: pytest.MonkeyPatch,
    mode: str,
    error: type[Exception],
    sentence: str,
) -> None:
    monkeypatch.setenv("FAKE_MODE", mode)
    with pytest.raises(error, match=sentence), Tester([*engine, "--left", "fake0"]):
        pass


def test_a_gateway_that_does_not_answer(
    engine: list[str], spec: TrialSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "deaf")
    with Tester(engine) as tester, pytest.raises(TrialRefused, match="do not come") as refused:
        tester.run(spec)
    assert refused.value.kind == "warm-up"


def test_cancel_ends_the_trial(
    engine: list[str], spec: TrialSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "endless")
    with Tester(engine) as tester, pytest.raises(TrialCancelled):
        tester.run(spec, lambda _: tester.cancel())


def test_ctrl_c_cancels_the_trial_and_leaves_nothing(
    engine: list[str], spec: TrialSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "endless")
    tester = Tester(engine)
    later = threading.Timer(0.5, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
    begin = time.monotonic()
    with leaves_no_process(tester), tester, pytest.raises(KeyboardInterrupt):
        tester.run(spec, lambda _: later.start())
    assert time.monotonic() - begin < 2.5


def test_a_stubborn_engine_is_ended(engine: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MODE", "stubborn")
    monkeypatch.setattr("natxy.line_process.PATIENCE_S", 0.2)
    tester = Tester(engine)
    with leaves_no_process(tester), tester:
        pass


def test_the_result_of_another_trial_is_refused(engine: list[str], spec: TrialSpec) -> None:
    with Tester(engine) as tester:
        result = tester.run(spec)
    with pytest.raises(ProtocolError, match="another trial"):
        Tester._belongs(result, spec.model_copy(update={"nonce": 9}))


def test_the_command_line(nat64: TrafficPlan, engine: list[str]) -> None:
    chosen = {"main_cores": (1, 2), "memory_mb": 64, "arrival_clock": "tsc", "rx_queues": 2}
    tester = nat64.testbed.tester.model_copy(update=chosen)
    command = engine_command(tester, "natxy-t-1")
    assert command[:4] == ["ip", "netns", "exec", "natxy-t-1"]
    assert command[4] == engine[1]
    text = " ".join(command[5:])
    assert text == (
        "--left fake0 --right fake1 --cores 0 --mtu 1500 --huge-pages auto "
        "--main-cores 1,2 --arrival-clock tsc --rx-queues 2 --memory-mb 64"
    )


def test_an_engine_that_is_not_there(monkeypatch: pytest.MonkeyPatch, nat64: TrafficPlan) -> None:
    monkeypatch.setenv("NATXY_ENGINE", "/nowhere/natxy-engine")
    with pytest.raises(EngineNotFound, match="/nowhere/natxy-engine"):
        engine_command(nat64.testbed.tester)
    assert not issubclass(EngineNotFound, MeasurementError)
