"""AF_XDP ports after overload, and at the MTU: the buffers that kernel and engine share."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.verdict import Verdict
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from tests.valid import valid_trial

OVERLOAD_FPS = 2_000_000
# Each ends with some hundred buffers in the kernel, and the next begins with others: so many that
# all of a port's have been in use.
OVERLOADS = 60
LOW_FPS = 20_000
PREPARATION_NS = 50e6
ROUTER = "[dut]\nkind = 'namespace'\ndevice = 'af_xdp'\n"
IPV4 = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
IPV6 = "[traffic]\nleft_ip_version = 6\nright_ip_version = 6\n"


@pytest.fixture(autouse=True)
def _root() -> None:
    if os.geteuid() != 0:
        pytest.skip("a lab needs root")


@contextmanager
def trials_of(text: str, duration_s: Fraction = Fraction(1, 10)) -> Iterator[Trials]:
    source = Source(name="lab.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    timing = Timing(duration_s=duration_s, drain_s=duration_s)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        yield Trials(session=session, timing=timing, campaign_seed=7)


def test_after_overloads_everything_arrives_as_before() -> None:
    with trials_of(IPV4 + ROUTER, Fraction(1, 200)) as trials:
        shortest_ns = float("inf")
        for _ in range(OVERLOADS):
            trial = trials.run(load=OVERLOAD_FPS, repetition=1, seed=7)
            assert trial.result.sent > 0
            shortest_ns = min(shortest_ns, trial.result.preparation_ns)
        after = valid_trial(trials, LOW_FPS)
    assert after.verdict is Verdict.PASS
    assert shortest_ns < PREPARATION_NS


@pytest.mark.parametrize(
    "mtu_bytes", [*(pytest.param(mtu, marks=pytest.mark.long) for mtu in (1500, 2000)), 3498]
)
def test_the_longest_frame_passes(mtu_bytes: int) -> None:
    frame = f"frame_size_bytes = {mtu_bytes + 18}\n"
    with trials_of(IPV6 + frame + ROUTER + f"mtu_bytes = {mtu_bytes}\n") as trials:
        trial = valid_trial(trials, LOW_FPS)
    assert trial.verdict is Verdict.PASS
    assert trial.result.misdelivered == 0
