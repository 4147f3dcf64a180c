"""What a gateway leaves that was killed. Each gateway that starts removes it, so this test cannot
run beside others."""

from tests.gateway.test_program import DPDK_RUN, Gateway


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
