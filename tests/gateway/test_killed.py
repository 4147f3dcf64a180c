"""What a gateway leaves that was killed. Each gateway that starts removes it, so this test cannot
run beside others."""

import os
import signal

import pytest

from natxy.dut.gateway_process import GatewayProcess
from tests.gateway.program import DPDK_RUN, Gateway


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGSTOP])
def test_who_started_it_removes_what_it_left(number: signal.Signals) -> None:
    arguments = ["--left", "net_null0", "--right", "net_null1", "--core", "0", "--mtu", "2000"]
    gateway = GatewayProcess(arguments)
    gateway.hello()
    left = DPDK_RUN / f"natxy-gateway-{gateway.pid}"
    assert left.exists()
    os.kill(gateway.pid, number)
    gateway.close()
    assert not left.exists()


def test_what_a_killed_one_left_is_swept_by_the_next() -> None:
    with Gateway("net_null0", "net_null1") as killed:
        killed.process.kill()
        killed.process.wait()
    left_behind = list(DPDK_RUN.glob(f"natxy-gateway-{killed.process.pid}"))
    assert left_behind
    with Gateway("net_null0", "net_null1") as gateway, Gateway("net_null0", "net_null1") as other:
        assert not left_behind[0].exists()
        assert (DPDK_RUN / f"natxy-gateway-{gateway.process.pid}").exists()
        assert other.end() == 0
