"""A gateway over memif that goes and comes back between two trials of one engine."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.addresses import LEFT, RIGHT
from natxy.dut.calibration import CalibrationDut
from natxy.dut.choice import dut_of
from natxy.dut.gateway_process import GatewayProcess
from natxy.errors import TrialRefused
from natxy.model.event import Progress
from natxy.model.reason import Code
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials

RATE_FPS = 2000
FRAMES = 2 * RATE_FPS // 10
TESTBED = "[tester]\nwarm_up_timeout_s = 5\n[traffic]\n[dut]\nkind = 'calibration'\n"


class RestartableGateway:
    """The calibration gateway of a running set-up, behind the set-up's back."""

    def __init__(self, dut: CalibrationDut) -> None:
        self._dut = dut

    def stop(self) -> None:
        assert self._dut._process is not None
        self._dut._process.close()

    def kill(self) -> None:
        assert self._dut._process is not None
        os.kill(self._dut._process.pid, signal.SIGKILL)
        Path(self._dut._socket).unlink()  # which a gateway that ends removes itself

    def start(self) -> None:
        left, right = (self._dut._device("server", side) for side in (LEFT, RIGHT))
        arguments = ["--left", left, "--right", right, "--core", str(self._dut._cpu)]
        process = GatewayProcess([*arguments, "--mtu", "2000"])
        self._dut._process = process
        process.hello()
        process.ask("configure", "configured", config=self._dut.gateway_config())


class Killer(Observer):
    """Kills the gateway while a trial sends."""

    def __init__(self, gateway: RestartableGateway) -> None:
        self._gateway = gateway
        self._done = False

    def trial_progressed(self, progress: Progress) -> None:
        if progress.stage == "sending" and not self._done:
            self._gateway.kill()
            self._done = True


@pytest.fixture
def running() -> Iterator[tuple[Trials, RestartableGateway]]:
    source = Source(name="lab.toml", text=TESTBED)
    testbed: Testbed = source.validated(Testbed, source.toml())
    dut = dut_of(testbed, source)
    assert isinstance(dut, CalibrationDut)
    # The gateway may be off its core for longer than a tenth.
    timing = Timing(duration_s=Fraction(1, 10), drain_s=Fraction(2, 5))
    with set_up(testbed, source, dut) as session:
        trials = Trials(session=session, timing=timing, campaign_seed=7)
        yield trials, RestartableGateway(dut)


def books_balance(trial: TrialRecord) -> bool:
    """Whatever else the machine does: what was not received is what the gateway's ring refused."""
    return all(
        sum(c.lost for _, c in stream.counters()) == stream.refused_by_gateway
        for stream in trial.result.streams
    )


def test_a_restarted_gateway_is_found_and_asked_anew(
    running: tuple[Trials, RestartableGateway],
) -> None:
    trials, gateway = running
    for _ in range(2):
        trial = trials.run(load=RATE_FPS, repetition=1, seed=7)
        assert trial.result.sent == FRAMES
        assert books_balance(trial)
        gateway.stop()
        gateway.start()
    assert trials.run(load=RATE_FPS, repetition=1, seed=7).result.sent == FRAMES


@contextmanager
def unwatched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The engine is to notice that the gateway is gone, not the driver of the DUT."""
    with monkeypatch.context() as patched:
        for check in ("reset", "before_trial", "trial_fault"):
            patched.setattr(CalibrationDut, check, lambda _: None)
        patched.setattr(CalibrationDut, "absence", lambda _: None)
        yield


@pytest.mark.long  # the engine waits ten seconds for the link
def test_a_gateway_that_is_gone_is_named_and_may_come_back(
    running: tuple[Trials, RestartableGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, gateway = running
    trials.run(load=RATE_FPS, repetition=1, seed=7)
    gateway.stop()
    down = pytest.raises(TrialRefused, match=r'left: the link of "net_memif0.* is down')
    with unwatched(monkeypatch), down:
        trials.run(load=RATE_FPS, repetition=1, seed=7)
    gateway.start()
    trial = trials.run(load=RATE_FPS, repetition=1, seed=7)
    assert trial.result.sent == FRAMES
    assert books_balance(trial)


def test_a_gateway_that_is_killed_in_a_trial_ends_no_engine(
    running: tuple[Trials, RestartableGateway], monkeypatch: pytest.MonkeyPatch
) -> None:
    """DPDK unmaps the rings of a memif whose peer has ended, which must wait for the workers."""
    trials, gateway = running
    session = trials.session
    for number in range(1, 3):
        trials.session = session.with_observer(Killer(gateway))
        with unwatched(monkeypatch):
            trial = trials.run(load=steady(800_000, Fraction(2, 5)), repetition=1, seed=number)
        assert trial.verdict is Verdict.INVALID
        downs = [reason for reason in trial.invalid_reasons if reason.code is Code.LINK_DOWN]
        assert downs, trial.invalid_reasons
        gateway.stop()
        gateway.start()
    trial = trials.run(load=RATE_FPS, repetition=1, seed=9)
    assert trial.result.sent == FRAMES
    assert books_balance(trial)
