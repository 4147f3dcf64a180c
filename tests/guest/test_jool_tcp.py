"""TCP through Jool: the states of its sessions in each phase, its capacity, and its tear-down
(RFC 8219 section 8; RFC 3511 sections 5.2 to 5.4)."""

import csv
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.guest import GuestDut
from natxy.model.verdict import Verdict
from natxy.trial.establishing import Closer, Closing
from natxy.trial.load import steady
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from tests.guest.guests import (
    NAT64,
    NAT64_TCP,
    PORTS,
    RATE_FPS,
    measured,
    testbed_of,
    trials_of,
    values_of,
)
from tests.valid import valid_trial

pytestmark = pytest.mark.long
N = 300
TRANSITORY_S = 240  # the shortest life of a session that is being closed (RFC 6146 section 4)
POOL = 500
# Each connection has a source port of its own, so it takes a port of the pool.
FEW_PORTS = (
    '[dut]\nkind = "guest"\n',
    PORTS.replace("10099", "19999") + f'[dut]\nkind = "guest"\npool4_ports = {POOL}\n',
)


@pytest.mark.parametrize("by", ["fin", "rst"])
def test_tear_down_rate(by: str, tmp_path: Path) -> None:
    options = ("--by", by, "--error", "30%", "--max-rate", "2000")
    entry = measured("tear-down", tmp_path, *options, testbed=NAT64_TCP)
    (rate_cps,) = values_of(entry, "TCP connection tear-down rate")
    assert rate_cps > 50


@pytest.mark.parametrize(
    "testbed", [pytest.param(NAT64, id="udp"), pytest.param(NAT64_TCP, id="tcp")]
)
def test_capacity_is_the_number_of_ports_of_the_pool(testbed: str, tmp_path: Path) -> None:
    options = ("--c0", "100", "--first-rate", "500", "--max-rate", "1000", "--retry-time", "60")
    entry = measured("capacity", tmp_path, *options, testbed=testbed.replace(*FEW_PORTS))
    (capacity,) = values_of(entry, "connection tracking table capacity C")
    assert capacity == POOL, entry["figures"]


# The fixture keeps a CPU until the last test, so those that run the command come before.
@pytest.fixture(scope="module")
def lab() -> Iterator[tuple[Session, GuestDut]]:
    testbed, source, dut = testbed_of(f"{NAT64_TCP}udp_timeout_s = {TRANSITORY_S}\n")
    with set_up(testbed, source, dut) as session:
        yield session, dut


def sessions(dut: GuestDut) -> list[dict[str, Any]]:
    printed = dut.machine.run("jool session display --tcp --numeric --csv")
    return list(csv.DictReader(printed.splitlines()))


def states(dut: GuestDut) -> Counter[str]:
    return Counter(session["State"] for session in sessions(dut))


def test_connections_are_made_and_used_in_both_directions(lab: tuple[Session, GuestDut]) -> None:
    session, dut = lab
    trial = valid_trial(trials_of(session), steady(RATE_FPS, Fraction(1, 2)), seed=7)
    assert trial.verdict is Verdict.PASS
    assert trial.phases == ("establish", "validate", "acknowledge", "sample", "test")
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert states(dut) == {"ESTABLISHED": N}


@pytest.mark.parametrize(("by", "state"), [("fin", "V4_FIN_V6_FIN_RCV"), ("rst", "TRANS")])
def test_nothing_is_left_after_tear_down(
    by: Closer, state: str, lab: tuple[Session, GuestDut]
) -> None:
    """Jool keeps a closed session for its transitory timeout, which RFC 6146 makes 4 minutes."""
    session, dut = lab
    load = Closing(rate_cps=RATE_FPS, made_fps=RATE_FPS, by=by)
    trial = valid_trial(trials_of(session), load, seed=7)
    assert trial.verdict is Verdict.PASS
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert states(dut) == {state: N}
    deadline_s = time.monotonic() + TRANSITORY_S + 10
    while sessions(dut) and time.monotonic() < deadline_s:
        time.sleep(5)
    assert sessions(dut) == []
