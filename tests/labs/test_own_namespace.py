"""A gateway in a namespace that its user made, as docs/how-to/own-namespace.md says."""

import os
import re
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.trial_result import TrialResult
from natxy.trial.setup import UNNAMED, set_up
from natxy.trial.timing import Timing
from natxy.trial.trial import run_trial
from natxy.trial.trial_plan import TrialPlan
from tests.valid import valid

PAGE = Path("docs/how-to/own-namespace.md").read_text()
TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 20))
RATE_FPS = 50_000

pytestmark = pytest.mark.skipif(
    not {0, 1} <= os.sched_getaffinity(0),
    reason="the page's tester has CPU 0, its gateway CPU 1",
)


def commands() -> str:
    """The page's shell commands, from its links to its routes; without those of a container."""
    steps = PAGE[PAGE.index("## 1.") : PAGE.index("## 4.")]
    blocks = re.findall(r"(?:^    .*\n)+", steps, re.MULTILINE)
    return "\n".join(block for block in blocks if "docker" not in block)


def testbed_text() -> str:
    found = re.search(r"Write `own.toml`:\n\n```toml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def gateway() -> Iterator[None]:
    if any(Path(f"/sys/class/net/{name}").exists() for name in ("t0", "t1")):
        pytest.skip("this machine has interfaces of these names")
    try:
        subprocess.run(["sh", "-ec", commands()], check=True, capture_output=True, timeout=60)
        yield
    finally:
        subprocess.run(["ip", "netns", "del", "gw"], check=False, capture_output=True, timeout=60)


def result_of(text: str) -> TrialResult:
    source = Source(name="own.toml", text=text)
    testbed: Testbed = source.validated(Testbed, source.toml())
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        plan = TrialPlan(traffic=session.traffic, timing=TIMING)

        def attempt() -> TrialResult:
            number = session.trials + 1
            spec = plan.spec(load=RATE_FPS, seed=1, nonce=number, watched=session.dut.watched)
            return run_trial(spec, session).result

        return valid(attempt, lambda result: result.invalid_reasons)


def test_a_gateway_whose_cpus_are_named_is_watched(gateway: None) -> None:
    del gateway
    result = result_of(testbed_text())
    assert all(stream.received for stream in result.streams)
    assert result.unwatched_reason == ""
    (watch,) = result.watched
    assert watch.cpu == 1
    assert watch.busy_samples, "its NAPI threads are known as the gateway's"


def test_one_whose_cpus_are_not_named_is_not_and_the_result_says_so(gateway: None) -> None:
    del gateway
    result = result_of(testbed_text().replace("cpus = [1]\n", ""))
    assert result.watched == ()
    assert result.unwatched_reason == UNNAMED
