"""The doctor sees what a control group or a container keeps from a tester."""

import os
from pathlib import Path

import pytest

from natxy.doctor.capabilities import examine_capabilities
from natxy.doctor.finding import Finding, Grade, Machine
from natxy.doctor.limits import examine_limits
from natxy.doctor.stack import stack
from natxy.dut.af_xdp import RefusedError
from natxy.dut.namespaces import CAPABILITIES, OF_A_LAB, OF_OTHERS
from tests.unit.doctor import made

V2 = {
    "proc/self/cgroup": "0::/user.slice/natxy.scope",
    "proc/self/mountinfo": "31 22 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw",
    "proc/self/status": "Name:\tnatxy\nCpus_allowed_list:\t0-1\n",
}
V1 = {
    "proc/self/cgroup": "4:memory:/docker/12ab\n3:cpu,cpuacct:/docker/12ab\n0::/",
    "proc/self/mountinfo": (
        "32 31 0:29 /docker/12ab /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n"
        "33 31 0:30 /docker/12ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
        "34 31 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw"
    ),
    "proc/self/status": "Cpus_allowed_list:\t0-1\n",
}
GROUP = "sys/fs/cgroup/user.slice/natxy.scope"
THROTTLED = "nr_periods 12\nnr_throttled 11\nthrottled_usec 5\n"
ALL = "000001ffffffffff"


def limits(root: Path, files: dict[str, str], cpus: tuple[int, ...] = (0,)) -> dict[str, Finding]:
    return {each.name: each for each in examine_limits(made(root, files), cpus)}


@pytest.mark.parametrize(
    ("files", "state"),
    [
        (
            V2 | {f"{GROUP}/cpu.max": "50000 100000", f"{GROUP}/cpu.stat": THROTTLED},
            f"0.5 CPUs in {GROUP}, throttled in 11 of 12 periods",
        ),
        (
            V2
            | {f"{GROUP}/cpu.max": "max 100000", "sys/fs/cgroup/user.slice/cpu.max": "9000 10000"},
            "0.9 CPUs in sys/fs/cgroup/user.slice, throttled in 0 of 0 periods",
        ),
        (  # as many CPUs as there are, and yet used up
            V2 | {f"{GROUP}/cpu.max": "200000 100000", f"{GROUP}/cpu.stat": THROTTLED},
            f"2 CPUs in {GROUP}, throttled in 11 of 12 periods",
        ),
        (
            V1
            | {
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "150000",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/cpu/cpu.stat": THROTTLED,
            },
            "1.5 CPUs in sys/fs/cgroup/cpu, throttled in 11 of 12 periods",
        ),
    ],
)
def test_a_quota_of_cpu_time(tmp_path: Path, files: dict[str, str], state: str) -> None:
    found = limits(tmp_path, files)["CPU quota"]
    assert (found.grade, found.state) == (Grade.COSTS, state)


@pytest.mark.parametrize(
    "files",
    [
        V2 | {f"{GROUP}/cpu.max": "max 100000"},
        V2 | {f"{GROUP}/cpu.max": "200000 100000"},
        V1
        | {
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
        {},
    ],
)
def test_no_quota_is_good(tmp_path: Path, files: dict[str, str]) -> None:
    assert {each.grade for each in limits(tmp_path, files).values()} == {Grade.GOOD}


def test_a_memory_limit_below_the_engine_s_needs(tmp_path: Path) -> None:
    parent = {"sys/fs/cgroup/user.slice/memory.max": str(300 * 2**20)}
    found = limits(tmp_path, V2 | {f"{GROUP}/memory.max": "max"} | parent)["memory limit"]
    assert found.grade is Grade.COSTS
    assert found.state == "300 MB in sys/fs/cgroup/user.slice/memory.max"
    enough = {"sys/fs/cgroup/memory/memory.limit_in_bytes": str(2**40)}
    assert limits(tmp_path / "v1", V1 | enough)["memory limit"].grade is Grade.GOOD
    none = {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}
    assert limits(tmp_path / "none", V1 | none)["memory limit"].state == "none"


def test_cores_that_the_process_may_not_use(tmp_path: Path) -> None:
    found = limits(tmp_path, V2, cpus=(1, 2, 3))["allowed CPUs"]
    assert found.grade is Grade.IMPOSSIBLE
    assert found.state == "0-1, without CPU 2, 3 of the tester"


@pytest.mark.parametrize(
    ("mask", "missing", "cost"),
    [
        # docker's own
        ("00000000a80425fb", "CAP_NET_ADMIN, CAP_IPC_LOCK, CAP_SYS_ADMIN", "no labs"),
        ("00000000a80435fb", "CAP_IPC_LOCK, CAP_SYS_ADMIN, CAP_SYS_NICE", "no net_af_xdp ports"),
        ("0000000000000000", "CAP_NET_ADMIN, CAP_NET_RAW", "no net_af_packet ports"),
    ],
)
def test_capabilities_that_are_missing(
    tmp_path: Path, mask: str, missing: str, cost: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    machine = made(tmp_path, {"proc/self/status": f"CapEff:\t{mask}\nNoNewPrivs:\t1\n"})
    (found,) = examine_capabilities(machine)
    assert found.grade is Grade.COSTS
    assert found.state.startswith(f"missing: {missing}")
    assert "no_new_privs is set" in found.state
    assert cost in found.cost


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("name", [*OF_A_LAB, *OF_OTHERS])
def test_a_lab_needs_what_its_start_checks(
    name: str, user: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    mask = int(ALL, 16) & ~(1 << CAPABILITIES[name])
    machine = made(tmp_path, {"proc/self/status": f"CapEff:\t{mask:016x}\n"})
    found, *_ = examine_capabilities(machine, lambda: os.open(os.devnull, os.O_RDONLY))
    if name in OF_OTHERS and user == 0:
        assert found.grade is Grade.GOOD
        return
    assert found.cost.startswith("no labs")
    assert f"missing: {name}" in found.state
    assert f"--cap-add={name.removeprefix('CAP_')};" in found.remedy


def test_system_calls_that_are_refused(tmp_path: Path) -> None:
    def refused() -> int:
        raise RefusedError("bpf: Operation not permitted")

    machine = made(tmp_path, {"proc/self/status": f"CapEff:\t{ALL}\nSeccomp:\t2\n"})
    capabilities, bpf = examine_capabilities(machine, refused)
    assert capabilities.grade is Grade.GOOD
    assert bpf.grade is Grade.COSTS
    assert bpf.state.startswith("refused by the container's filter of system calls (seccomp)")
    _, bpf = examine_capabilities(machine, lambda: os.open(os.devnull, os.O_RDONLY))
    assert bpf.grade is Grade.GOOD


IPV4, IPV6 = "proc/sys/net/ipv4/conf", "proc/sys/net/ipv6/conf"
ROUTES = "Iface\tDestination\tGateway\tFlags\nup\t00000000\t01\t3\t0\t0\t0\t00000000\t0\t0\t0"


def test_interfaces_that_the_kernel_uses(tmp_path: Path) -> None:
    files = {"proc/thread-self/net/route": ROUTES}
    files |= {f"{IPV4}/{name}/forwarding": "0" for name in ("all", "lo", "up", "t0", "t1.5")}
    files |= {f"{IPV6}/{name}/disable_ipv6": "0" for name in ("all", "lo", "up", "t0", "t1.5")}
    machine = made(tmp_path, files | {f"{IPV4}/up/forwarding": "1"})
    assert stack(machine, {"lo": ["127.0.0.1"], "up": ["192.0.2.9"]}).grade is Grade.GOOD
    found = stack(machine, {"t0": ["192.0.2.5", "2001:db8::5"]})
    assert found.grade is Grade.COSTS
    assert found.state == "t0 has 192.0.2.5, 2001:db8::5"
    assert found.remedy.startswith(
        "ip -4 addr flush dev t0; sysctl -w net/ipv6/conf/t0/disable_ipv6=1"
    )
    made(tmp_path, {f"{IPV4}/t1.5/forwarding": "1", f"{IPV6}/all/forwarding": "1"})
    made(tmp_path, {f"{IPV6}/t0/disable_ipv6": "1"})
    found = stack(machine, {})
    assert found.state == "t1.5 forwards IPv4 and IPv6"
    assert "sysctl -w net/ipv4/conf/t1.5/forwarding=0" in found.remedy
    assert stack(Machine(tmp_path / "empty"), {}).grade is Grade.GOOD
