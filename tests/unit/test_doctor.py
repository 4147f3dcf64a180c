"""The doctor reads /proc and /sys below a root: each test makes the machine that it needs."""

import os
import subprocess
from pathlib import Path

import pytest

from natxy.doctor.finding import Finding, Grade, Machine, at_boot, cpu_list, only_if
from natxy.doctor.kernel import ENOUGH_KIB, examine_kernel
from natxy.doctor.limits import examine_capabilities, examine_limits
from natxy.doctor.ports import examine_nodes, examine_ports, stack, uplinks
from natxy.doctor.processor import examine_processor
from natxy.dut.namespaces import CAPABILITIES, OF_A_LAB, OF_OTHERS
from natxy.tester.kernel_stack import StackUse


def made(root: Path, files: dict[str, str]) -> Machine:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return Machine(root)


GOOD_MACHINE = {
    "sys/devices/system/cpu/online": "0-7",
    "sys/devices/system/cpu/isolated": "2-7",
    "sys/devices/system/cpu/nohz_full": "2-7",
    "sys/devices/system/cpu/smt/active": "0",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "1",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "proc/cpuinfo": "processor : 0\nflags\t: fpu constant_tsc nonstop_tsc sse\n",
    "proc/stat": "cpu 1000 0 1000 8000 0 0 0 0 0 0\n",
    "proc/sys/kernel/sched_rt_runtime_us": "-1",
    "proc/sys/kernel/sched_rt_period_us": "1000000",
    "proc/irq/0/smp_affinity_list": "0-1",
    "proc/irq/17/smp_affinity_list": "1",
    "proc/loadavg": "0.02 0.10 0.20 1/100 4242",
    "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "0",
    "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages": "2",
}
NIC = "sys/bus/pci/devices/0000:01:00.0"


def examined(machine: Machine) -> dict[str, Finding]:
    findings = examine_processor(machine) + examine_kernel(machine, (2, 3))
    return {finding.name: finding for finding in findings}


def test_a_good_machine_has_nothing_to_do(tmp_path: Path) -> None:
    findings = examined(made(tmp_path, GOOD_MACHINE))
    assert len(findings) == 12
    assert {name for name, f in findings.items() if f.grade is not Grade.GOOD} == set()


@pytest.mark.parametrize(
    ("path", "text", "name", "state"),
    [
        ("sys/devices/system/cpu/online", "0", "cores", "1 online"),
        ("sys/devices/system/cpu/isolated", "", "isolated cores", "isolated: none"),
        (
            "sys/devices/system/cpu/nohz_full",
            "(null)",
            "isolated cores",
            "without timer tick: none",
        ),
        ("sys/devices/system/cpu/smt/active", "1", "hyper-threading", "on"),
        (
            "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
            "powersave",
            "frequency governor",
            "performance, powersave",
        ),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0", "turbo", "on"),
        ("proc/cpuinfo", "flags : constant_tsc", "time stamp counter", "nonstop_tsc missing"),
        (
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet",
            "clock source",
            "hpet",
        ),
        ("proc/stat", "cpu 500 0 0 400 0 0 0 100 0 0", "virtual machine", "10.00%"),
        (
            "proc/cpuinfo",
            "flags : constant_tsc nonstop_tsc hypervisor",
            "virtual machine",
            "yes; 0.00%",
        ),
        ("proc/sys/kernel/sched_rt_runtime_us", "950000", "real-time throttling", "950000 of"),
        ("proc/irq/17/smp_affinity_list", "0-3", "interrupts on CPU 2, 3", "1 of 2"),
        ("proc/loadavg", "1.25 1 1 2/99 1", "load", "1.25"),
        (
            "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages",
            "0",
            "huge pages",
            "0 free of 2 MB, 0 free of 1024 MB",
        ),
    ],
)
def test_each_spoiler_is_found_alone(
    tmp_path: Path, path: str, text: str, name: str, state: str
) -> None:
    findings = examined(made(tmp_path, GOOD_MACHINE | {path: text}))
    bad = [finding for finding in findings.values() if finding.grade is not Grade.GOOD]
    assert [finding.name for finding in bad] == [name]
    assert state in bad[0].state
    assert bad[0].cost
    assert is_line_of_a_shell(bad[0].remedy)


def is_line_of_a_shell(remedy: str) -> bool:
    return "\n" not in remedy and subprocess.run(["sh", "-n", "-c", remedy]).returncode == 0


def test_an_empty_machine_is_no_crash(tmp_path: Path) -> None:
    assert len(examined(Machine(tmp_path))) == 12
    assert [finding.name for finding in examine_ports(Machine(tmp_path))] == ["NICs"]


def nic(root: Path, driver: str, extra: dict[str, str]) -> Finding:
    files = {"class": "0x020000", "vendor": "0x8086", "device": "0x1572"}
    machine = made(root, {f"{NIC}/{key}": text for key, text in files.items()} | extra)
    (root / NIC / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
    (finding,) = examine_ports(machine)
    return finding


def test_a_nic_of_dpdk_is_good(tmp_path: Path) -> None:
    finding = nic(tmp_path, "vfio-pci", {})
    assert (finding.grade, finding.state) == (Grade.GOOD, "8086:1572, vfio-pci")


def test_a_nic_of_the_kernel_is_told_how_to_take(tmp_path: Path) -> None:
    finding = nic(tmp_path, "i40e", {f"{NIC}/net/eth7/mtu": "1500"})
    assert finding.grade is Grade.COSTS
    assert "net_af_xdp0,iface=eth7" in finding.cost
    assert "iommu=on" in finding.remedy


def test_the_nic_that_the_machine_is_reached_by_stays(tmp_path: Path) -> None:
    route = "Iface\tDestination\tGateway\tFlags\neth7\t00000000\t01\t3\t0\t0\t0\t00000000"
    files = {f"{NIC}/net/eth7/mtu": "1500", "proc/thread-self/net/route": route}
    finding = nic(tmp_path, "i40e", files)
    assert (finding.grade, finding.remedy[:2]) == (Grade.COSTS, "# ")


def test_what_an_uplink_is_made_of_is_one(tmp_path: Path) -> None:
    machine = made(tmp_path, {"proc/thread-self/net/route": ROUTES})
    for above, below in (("up", "bond0.5"), ("bond0.5", "bond0"), ("bond0", "eth7")):
        link = tmp_path / "sys/class/net" / above / f"lower_{below}"
        link.parent.mkdir(parents=True)
        link.symlink_to(f"../{below}")
    assert uplinks(machine) == {"up", "bond0.5", "bond0", "eth7"}


@pytest.mark.parametrize(
    "remedy",
    [
        StackUse(interface="a$(b)", addresses=("192.0.2.1",), forwards=(4, 6)).remedy,
        only_if("x", at_boot("x", "a=1", "y")),
    ],
)
def test_names_in_remedies_are_words_of_a_shell(remedy: str) -> None:
    assert is_line_of_a_shell(remedy)
    assert "$(b)" not in remedy or remedy.count("'") == 6


def test_with_an_iommu_nothing_is_booted_anew(tmp_path: Path) -> None:
    finding = nic(tmp_path, "i40e", {"sys/kernel/iommu_groups/0/type": "DMA"})
    assert "iommu=on" not in finding.remedy
    assert "--bind=vfio-pci 0000:01:00.0" in finding.remedy
    assert "apt-get install dpdk" in finding.remedy


@pytest.mark.parametrize(
    ("driver", "of_other", "grade"),
    [
        ("vfio-pci", "i40e", Grade.COSTS),
        ("vfio-pci", "vfio-pci", Grade.GOOD),
        ("vfio-pci", "pcieport", Grade.GOOD),
        ("mlx5_core", "i40e", Grade.GOOD),  # the kernel keeps it
    ],
)
def test_an_iommu_group_goes_to_user_space_as_a_whole(
    driver: str, of_other: str, grade: Grade, tmp_path: Path
) -> None:
    other = tmp_path / NIC / "iommu_group/devices/0000:01:00.1"
    other.mkdir(parents=True)
    (other / "driver").symlink_to(f"../../drivers/{of_other}")
    finding = nic(tmp_path, driver, {f"{NIC}/iommu_group/devices/0000:01:00.0/class": "0x020000"})
    assert finding.grade is grade
    if grade is Grade.COSTS:
        assert "group: 0000:01:00.1 (i40e)" in finding.state
        assert finding.remedy.startswith("dpdk-devbind.py --bind=vfio-pci 0000:01:00.1  # ")


def test_the_engine_wants_as_many_huge_pages_as_doctor(tmp_path: Path) -> None:
    options = (Path(__file__).parents[2] / "engine" / "options.hpp").read_text()
    assert f"unsigned memory_mb = {ENOUGH_KIB // 1024};" in options


@pytest.mark.parametrize(
    ("free_2mb", "free_1gb", "grade"),
    [(256, 0, Grade.GOOD), (255, 0, Grade.COSTS), (0, 1, Grade.GOOD), (0, 0, Grade.COSTS)],
)
def test_huge_pages_are_enough_or_not(
    free_2mb: int, free_1gb: int, grade: Grade, tmp_path: Path
) -> None:
    pages = "sys/kernel/mm/hugepages"
    free = {
        f"{pages}/hugepages-2048kB/free_hugepages": str(free_2mb),
        f"{pages}/hugepages-1048576kB/free_hugepages": str(free_1gb),
    }
    finding = examined(made(tmp_path, GOOD_MACHINE | free))["huge pages"]
    assert finding.grade is grade
    assert (finding.remedy == "") is (grade is Grade.GOOD)


NODES = "sys/devices/system/node"
TWO_NODES = {
    f"{NODES}/node0/cpulist": "0-3",
    f"{NODES}/node1/cpulist": "4-7",
    f"{NODES}/node0/hugepages/hugepages-2048kB/free_hugepages": "512",
    f"{NODES}/node1/hugepages/hugepages-2048kB/free_hugepages": "256",
    f"{NIC}/class": "0x020000",
    f"{NIC}/numa_node": "1",
}


def of_nodes(root: Path, changes: dict[str, str], driver: str = "vfio-pci") -> list[Finding]:
    machine = made(root, TWO_NODES | changes)
    (root / NIC / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
    return examine_nodes(machine, (5, 6))


def test_a_port_with_cores_and_pages_of_its_node_is_good(tmp_path: Path) -> None:
    cores, pages = of_nodes(tmp_path, {})
    assert (cores.grade, pages.grade) == (Grade.GOOD, Grade.GOOD)
    assert (cores.name, pages.name) == ("cores of node 1", "huge pages of node 1")
    assert pages.state == "with NIC 0000:01:00.0; 256 free of 2 MB"


def test_a_port_of_another_node_than_the_workers_costs(tmp_path: Path) -> None:
    cores, pages = of_nodes(tmp_path, {f"{NIC}/numa_node": "0"})
    assert cores.grade is Grade.COSTS
    assert "workers elsewhere: 5, 6" in cores.state
    assert "node 0 in tester.cores: 0, 1, 2, 3" in cores.remedy
    assert pages.grade is Grade.GOOD


def test_pages_of_another_node_do_not_help_a_port(tmp_path: Path) -> None:
    path = f"{NODES}/node1/hugepages/hugepages-2048kB/free_hugepages"
    cores, pages = of_nodes(tmp_path, {path: "255"})
    assert (cores.grade, pages.grade) == (Grade.GOOD, Grade.COSTS)
    assert pages.remedy.startswith(f"echo 256 > /{NODES}/node1/hugepages/hugepages-2048kB/nr_")


@pytest.mark.parametrize(
    ("changes", "driver"),
    [
        ({f"{NIC}/numa_node": "-1"}, "vfio-pci"),  # the machine does not say
        ({}, "i40e"),  # the kernel has it
        ({f"{NIC}/class": "0x010802"}, "vfio-pci"),
    ],
)
def test_a_port_that_is_none_or_has_no_node_says_nothing(
    changes: dict[str, str], driver: str, tmp_path: Path
) -> None:
    assert of_nodes(tmp_path, changes, driver) == []


def test_a_machine_with_one_node_says_nothing(tmp_path: Path) -> None:
    one = {path: text for path, text in TWO_NODES.items() if "node1" not in path}
    assert examine_nodes(made(tmp_path, one), (5, 6)) == []


def test_other_devices_are_no_nics(tmp_path: Path) -> None:
    machine = made(tmp_path, {f"{NIC}/class": "0x010802"})
    assert [finding.name for finding in examine_ports(machine)] == ["NICs"]


@pytest.mark.parametrize(
    ("text", "cpus"), [("", []), ("0", [0]), ("0-3,8", [0, 1, 2, 3, 8]), ("x", [])]
)
def test_cpu_lists(text: str, cpus: list[int]) -> None:
    assert cpu_list(text) == cpus


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
        raise OSError("bpf: Operation not permitted")

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
