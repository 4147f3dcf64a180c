"""The warm-up before the first trial of connections, which waits until the gateway forwards.

The links of a lab and the programs of a gateway may need a moment after they were started. The
frames of the warm-up create connections in the gateway, so its table is emptied afterwards.
"""

import time

from natxy.errors import MeasurementError
from natxy.model.port_result import icmp_list
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.trial.establishing import Establishing
from natxy.trial.session import Session

PAUSE_S = 0.1
RATE_FPS = 1000


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
