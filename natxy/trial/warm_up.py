"""What precedes trials of connections: a warm-up, and an empty table before each.

The warm-up before the first trial waits until the gateway forwards: the links of a lab and the
programs of a gateway may need a moment after they were started. Its frames create connections in
the gateway, so its table is emptied afterwards.
"""

import time
from collections.abc import Callable

from natxy.dut.base import Dut
from natxy.dut.none import Cable, NoDut
from natxy.errors import DutError, MeasurementError
from natxy.model.port_result import icmp_list
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.trial.establishing import Establishing
from natxy.trial.session import Session

PAUSE_S = 0.1
RATE_FPS = 1000
RESETS_AGAIN = 3
STRAGGLERS_S = 1.0  # in which a slow gateway forwards what it has in its queues


def warm_up_load(traffic: TrafficPlan) -> Establishing:
    """Returns the load of the trial that the warm-up repeats: 10 n frames of a mix."""
    count = min(traffic.required_connections.count, 10 * traffic.testbed.traffic.n)
    return Establishing(rate_cps=RATE_FPS, count=count)


def warm_up(spec: TrialSpec, session: Session) -> None:
    """Repeats the trial until a connection is created.

    If Natxy cannot empty the gateway's table, there is no warm-up; the first trial then shows
    whether the gateway forwards.
    """
    dut = session.dut
    if dut.table is None:
        return
    patience_s = session.testbed.tester.warm_up_timeout_s
    end = time.monotonic() + patience_s
    while True:
        dut.before_trial()
        result = session.run(spec)
        dut.trial_fault()
        if result.connections is not None and result.connections.stored:
            break
        if time.monotonic() > end:
            raise MeasurementError(
                f"No connection could be created through the gateway in {patience_s:g} s: none of "
                f"{result.sent:,} frames arrived{_said(result)}. Check addresses, routes and rules "
                "of the gateway."
            )
        time.sleep(PAUSE_S)
    dut.reset()


def _said(result: TrialResult) -> str:
    errors = icmp_list(result.icmp_errors)
    return f", but these errors did: {errors}" if errors else ""


def check_emptied(dut: Dut, settle: Callable[[float], None]) -> None:
    """Raises MeasurementError if the table is not empty before a trial, as far as is known.

    Connections of an earlier trial would count as new ones, or would already exist in phase 1.
    A slow gateway still forwards frames of that trial after its reset, and they make connections;
    so the reset is repeated a few times.
    """
    left = count_of(dut)
    for _ in range(RESETS_AGAIN):
        if not left:
            break
        settle(STRAGGLERS_S)
        dut.reset()
        left = count_of(dut)
    if left:
        raise MeasurementError(
            f"The gateway still has {left:,} connections after it was reset for a trial (expected "
            "a reset that empties its table)."
        )
    if left is None and isinstance(dut, NoDut) and not isinstance(dut, Cable):
        raise MeasurementError(
            "Nothing empties the gateway's connection table between trials (expected [dut] with "
            'kind = "command" and a `reset` that empties it).'
        )


def count_of(dut: Dut) -> int | None:
    """Returns how many connections the table holds; None if that is not known."""
    if dut.table is None:
        return None
    try:
        return dut.table.count()
    except DutError:
        return None
