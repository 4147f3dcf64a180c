"""TCP connections through the kernel's NAT44: made, used and closed by the engine (RFC 8219 8)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.dut.choice import dut_of
from natxy.dut.execution import execute, in_namespace, set_sysctls
from natxy.dut.process import within
from natxy.model.testbed import read_testbed
from natxy.model.traffic_spec import Role, TcpSegment
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Phase, Stream, TrialSpec
from natxy.model.verdict import Verdict
from natxy.trial.establishing import Establishing
from natxy.trial.load import steady
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from natxy.trial.trials import Trials
from tests.valid import valid, valid_trial

N = 500
RATE_FPS = 5000
TIMING = Timing(duration_s=Fraction(1, 5), drain_s=Fraction(1, 10))
TESTBED = """
[tester]
lateness_tolerance_us = 100000
[traffic]
left_ip_version = 4
right_ip_version = 4
frame_size_bytes = 200
[connections]
transport = "tcp"
count = 500
rate_fps = 5000
[dut]
kind = "namespace"
driver = "nat44"
conntrack_entries = 4096
"""
STRICT = """
table ip strict {
  chain forward {
    type filter hook forward priority filter
    ct state invalid drop
  }
}
"""


class Lab:
    def __init__(self, session: Session) -> None:
        self.traffic = session.traffic
        self.trials = Trials(session=session, timing=TIMING, campaign_seed=1)
        self._gateway = str(session.dut.tester_namespace).replace("natxy-t-", "natxy-g-")
        execute(in_namespace(self._gateway, ["nft", "-f", "-"]), feed=STRICT)
        timeouts = ("nf_conntrack_tcp_timeout_time_wait", "nf_conntrack_tcp_timeout_close")
        set_sysctls(self._gateway, {f"net/netfilter/{name}": 2 for name in timeouts})

    def states(self) -> Counter[str]:
        """States of the connections that have not expired, which a listing removes."""
        command = in_namespace(self._gateway, ["conntrack", "-L", "-p", "tcp"])
        return Counter(line.split()[3] for line in execute(command).splitlines())


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with _started(tmp_path_factory.mktemp("tcp")) as made:
        yield made


@contextmanager
def _started(folder: Path) -> Iterator[Lab]:
    path = folder / "testbed.toml"
    path.write_text(TESTBED)
    testbed, source = read_testbed(path)
    with set_up(testbed, source, dut_of(testbed, source)) as session:
        yield Lab(session)


def test_connections_are_made_and_used_in_both_directions(lab: Lab) -> None:
    trial = valid_trial(lab.trials, steady(RATE_FPS, TIMING.duration_s))
    assert trial.verdict is Verdict.PASS
    assert trial.phases == ("establish", "validate", "acknowledge", "sample", "test")
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert lab.states() == {"ESTABLISHED": N}


def test_an_establishment_is_whole_handshakes(lab: Lab) -> None:
    trial = valid_trial(lab.trials, Establishing(rate_cps=RATE_FPS, alpha=Fraction(1, 2)))
    assert trial.verdict is Verdict.PASS
    assert trial.misdelivered == 0
    assert lab.states() == {"ESTABLISHED": N}


CLOSINGS: dict[str, list[tuple[Role, TcpSegment]]] = {
    "fin": [("initiate", "fin"), ("respond", "fin"), ("initiate", "last-ack")],
    "rst of the initiator": [("initiate", "rst")],
    "rst of the responder": [("respond", "rst")],
}


@pytest.mark.parametrize(
    "closing",
    ["fin", *(pytest.param(name, marks=pytest.mark.long) for name in CLOSINGS if name != "fin")],
)
def test_nothing_is_left_after_tear_down(closing: str, lab: Lab) -> None:
    plan = TrialPlan(traffic=lab.traffic, timing=TIMING)
    made = plan.spec(load=Establishing(rate_cps=RATE_FPS), seed=1, nonce=7)

    def close() -> TrialRecord:
        return lab.trials.run_spec(_closed(made, CLOSINGS[closing]))

    valid(close, lambda record: record.invalid_reasons)
    trial = lab.trials.last
    assert trial is not None
    assert trial.result.misdelivered == 0
    assert all(stream.passed for stream in trial.result.streams)
    assert lab.states() == {"TIME_WAIT" if closing == "fin" else "CLOSE": N}
    assert within(4, lambda: lab.states() == {})


def _closed(made: TrialSpec, closing: list[tuple[Role, TcpSegment]]) -> TrialSpec:
    """Returns the spec with phases that close its connections."""
    _, answered, acknowledged = made.phases
    phases = []
    for i, (role, segment) in enumerate(closing):
        like = acknowledged if role == "initiate" else answered
        stream = _with_segment(like.streams[0], segment)
        phases.append(Phase(name=f"close {i}", gap_ns=0, streams=(stream,)))
    return made.model_copy(update={"phases": (*made.phases, *phases)})


def _with_segment(stream: Stream, segment: TcpSegment) -> Stream:
    assert stream.foreground
    assert stream.foreground.connections
    use = stream.foreground.connections.model_copy(update={"segment": segment})
    foreground = stream.foreground.model_copy(update={"connections": use})
    return stream.model_copy(update={"foreground": foreground})
