"""The drivers of gateways in a guest, by the commands that they run in it."""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from natxy.dut import cpus, daemons
from natxy.dut.addresses import LEFT, RIGHT, AddressPlan
from natxy.dut.base import ConnectionTable, Dut
from natxy.dut.choice import dut_of
from natxy.dut.config import GuestConfig
from natxy.dut.conntrack import TIMEOUTS
from natxy.dut.gateway import Gateway
from natxy.dut.guest import GuestDut, gateway_of
from natxy.dut.jool import Jool, stat_of
from natxy.dut.recipe import drivers
from natxy.dut.site import GuestSite
from natxy.errors import ConfigurationError, DutError
from natxy.model.source import Source
from natxy.model.subscribers import SubscribersSection
from natxy.model.testbed import Testbed
from natxy.model.trial_spec import WatchedCpu

STATS = "JSTAT_RECEIVED6,7\nJSTAT_SESSIONS,1234567\nJSTAT_BIB_ENTRIES,3\n"
GUEST = '[dut]\nkind = "guest"\n'
FOUR = "[traffic]\nleft_ip_version = 4\nright_ip_version = 4\n"
CONNECTIONS = "[connections]\ncount = 100\n"
B4S = """\
[subscribers]
mechanism = "ds-lite"
count = 3
ipv6_prefix = "2001:db8::/32"
gateway = "2001:db9::1"
"""
AFTR = GUEST + 'driver = "aftr"\n'
CLATS = """\
[subscribers]
mechanism = "464xlat"
count = 100
ipv6_prefix = "2001:db8::/32"
gateway_prefix = "2001:db9::/96"
"""


class FakeGuest:
    """Notes the commands; answers those that begin as one of `answers`."""

    def __init__(self, answers: Mapping[str, str] | None = None) -> None:
        self.ran: list[str] = []
        self._answers = answers or {}

    def __call__(self, command: str, within_s: float = 0) -> str:
        self.ran.append(command)
        return next((a for begin, a in self._answers.items() if command.startswith(begin)), "")

    def site(self, plan: AddressPlan, **keys: object) -> GuestSite:
        config = GuestConfig.model_validate({"kind": "guest", **keys})
        return GuestSite(ask=self, plan=plan, config=config)


def made(driver: str, site: GuestSite) -> Gateway:
    return gateway_of(site, drivers("guest")[driver])


def table_of(gateway: Gateway) -> ConnectionTable:
    assert gateway.table is not None
    return gateway.table


def a_jool(site: GuestSite) -> Jool:
    jool = made("jool", site)
    assert isinstance(jool, Jool)
    return jool


def plan(left: int, right: int, **keys: Any) -> AddressPlan:
    return AddressPlan(left_ip_version=left, right_ip_version=right, **keys)


NAT64 = plan(6, 4, stateful=True)


def chosen(text: str) -> Dut:
    source = Source(name="lab.toml", text=text)
    return dut_of(source.validated(Testbed, source.toml()), source)


@pytest.mark.parametrize(
    "text",
    [
        CONNECTIONS + GUEST,
        CLATS + CONNECTIONS + GUEST,
        GUEST + 'driver = "jool-siit"',
        FOUR + GUEST + 'driver = "kernel-router"',
        FOUR + CONNECTIONS + GUEST + 'driver = "nat44"\nconntrack_entries = 4096',
        FOUR + B4S + CONNECTIONS + AFTR + "hash_size = 4096",
        FOUR + CONNECTIONS + GUEST + 'driver = "nat44-iptables"',
        FOUR + CONNECTIONS + GUEST + 'driver = "ds-lite"',
        CONNECTIONS + GUEST + 'driver = "nat64"\nconntrack_entries = 4096',
        GUEST + 'driver = "tayga"',
    ],
)
def test_a_testbed_chooses_a_guest(text: str) -> None:
    assert isinstance(chosen(text), GuestDut)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GUEST, r'connections: is missing, and dut.driver "jool" is stateful'),
        (FOUR + CONNECTIONS + GUEST, r"driver jool cannot forward \(expected 6 on the initiator"),
        (FOUR + GUEST + 'driver = "jool-siit"', r"cannot forward \(expected 6 and 4, or 4 and 6\)"),
        (GUEST + 'driver = "kernel-router"', r"cannot forward \(expected 4 and 4, or 6 and 6\)"),
        (FOUR + GUEST + 'driver = "nat44"', r'connections: is missing, and dut.driver "nat44" is'),
        (
            CONNECTIONS + GUEST + "conntrack_entries = 64",
            r'conntrack_entries: is not used by driver "jool" \(expected driver "aftr"',
        ),
        (
            GUEST + 'driver = "jool-siit"\nudp_timeout_s = 9',
            r'udp_timeout_s: is not used by driver "jool-siit" \(expected driver "aftr" or',
        ),
        (
            GUEST + 'driver = "jool-siit"\npool4_ports = 9',
            r'pool4_ports: is not used by driver "jool-siit" \(expected driver "jool"\)',
        ),
        (
            CONNECTIONS + GUEST + "udp_timeout_s = 119",
            r"udp_timeout_s: 119 is too short for Jool \(expected 120 or more\)",
        ),
        (
            FOUR + CLATS + CONNECTIONS + GUEST + 'driver = "nat44"',
            r'subscribers: is not possible with dut.kind "guest"',
        ),
        (
            CLATS.replace("464xlat", "map-t")
            + 'ipv4_prefix = "10.0.0.0/24"\n'
            + CONNECTIONS
            + GUEST,
            r'subscribers.mechanism: "map-t" is not served by this gateway \(expected "464xlat"\)',
        ),
        (FOUR + CONNECTIONS + AFTR, r'subscribers: is missing: dut.driver "aftr" needs it'),
        (
            FOUR + B4S.replace("count = 3", "count = 4097") + CONNECTIONS + AFTR,
            r'subscribers.count: 4097 is more than dut.driver "aftr" serves \(expected at most',
        ),
        (
            FOUR + B4S + AFTR,
            r"connections: is missing",
        ),
        (
            CLATS + CONNECTIONS + AFTR,
            r'subscribers.mechanism: "464xlat" is not served by this gateway \(expected "ds-l',
        ),
        (GUEST + "memory_mb = 8", r"memory_mb: 8 is out of range"),
        (
            '[connections]\ncount = 5\ninitiator = "right"\n' + GUEST,
            r"driver jool cannot forward \(expected 6 on the initiator",
        ),
    ],
)
def test_a_wrong_section_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match=sentence):
        chosen(text)


def test_the_initiator_may_be_on_the_right() -> None:
    text = '[connections]\ncount = 5\ninitiator = "right"\n' + GUEST
    swapped = "[traffic]\nleft_ip_version = 4\nright_ip_version = 6\n"
    assert isinstance(chosen(swapped + text), GuestDut)


def test_a_lab_that_does_not_run_says_so() -> None:
    dut = GuestDut(GuestConfig(kind="guest"), NAT64, tester_cpus=())
    assert dut.tester_ports() is None
    assert dut.tester_namespace is None
    assert dut.table is None
    dut.stop()
    with pytest.raises(DutError, match="The lab is not running"):
        dut.before_trial()
    with pytest.raises(DutError, match="The lab is not running"):
        dut.reset()


def test_the_guest_forwards_between_its_interfaces() -> None:
    guest = FakeGuest()
    guest.site(plan(4, 4)).route()
    quiet, links, forwarding = guest.ran
    assert "echo 0 >/proc/sys/net/ipv6/conf/eth1/accept_dad" in quiet
    assert "link set eth0 mtu 1500 up" in links
    assert f"route add 198.19.0.0/16 via {RIGHT.tester_ipv4} dev eth1 onlink" in links
    assert forwarding.split(" &&\n") == [
        "echo 1 >/proc/sys/net/ipv4/ip_forward",
        "echo 1 >/proc/sys/net/ipv6/conf/all/forwarding",
    ]


def test_jool_is_the_plat_of_subscribers_and_routes_to_them() -> None:
    guest = FakeGuest()
    source = Source(name="lab.toml", text=CLATS)
    asked: SubscribersSection = source.validated(SubscribersSection, source.toml()["subscribers"])
    site = guest.site(plan(6, 4, stateful=True, subscribers=asked))
    site.route()
    assert f"route add 2001:db8::/32 via {LEFT.tester_ipv6} dev eth0 onlink" in guest.ran[1]
    a_jool(site).start()
    assert added(guest.ran[-1])["global"]["pool6"] == "2001:db9::/96"


def test_iptables_masquerades() -> None:
    guest = FakeGuest({"read -r n": "7\n"})
    nat44 = made("nat44-iptables", guest.site(plan(4, 4, stateful=True)))
    nat44.start()
    rule = "-A POSTROUTING -s 198.18.0.0/16 -o eth1 -j MASQUERADE"
    assert guest.ran[0] == f"iptables -t nat {rule}"
    assert nat44.describe()["software"] == "Linux kernel, masquerading by iptables"


def test_tayga_translates_on_a_tun_device() -> None:
    guest = FakeGuest()
    gateway = made("tayga", guest.site(plan(6, 4)))
    gateway.start()
    module, written, *device, started, attached = guest.ran
    assert module == "modprobe tun"
    assert "ip link set nat64 mtu 1500 txqueuelen 10000 up" in device
    assert "map 198.18.0.0/16 2001:2::/112\n" in written
    assert started.startswith("tayga -d --config /tmp/nat64.conf ")
    assert '"$state" = 1' in attached
    guest.ran.clear()
    assert "killed and started again" in gateway.restart()
    killed, *again = guest.ran
    assert killed.startswith("kill -9 $(</tmp/nat64.pid) && ")
    assert '"$state" = 0' in killed
    assert again == [started, attached]
    assert gateway.table is None


def test_a_wait_for_tayga_ends_with_the_state_or_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    carrier = tmp_path / "carrier"
    monkeypatch.setattr(daemons, "CARRIER", str(carrier))
    for state, status in (("1", 0), ("0", 1)):
        carrier.write_text(f"{state}\n")
        command = daemons.carrier_becomes(1, "nat64").replace("{1..50}", "{1..2}")
        assert subprocess.run(["bash", "-c", command], check=False).returncode == status


def test_a_tayga_that_ended_says_its_last_line(tmp_path: Path) -> None:
    guest = FakeGuest()
    log, process = tmp_path / "nat64.log", tmp_path / "nat64.pid"
    made("tayga", replace(guest.site(plan(6, 4)), folder=tmp_path)).check()
    log.write_text("no map for this host\n")
    for pid, status in ((os.getpid(), 0), (2**22 + 1, 1)):
        process.write_text(f"{pid}\n")
        done = subprocess.run(
            ["bash", "-c", guest.ran[-1]], capture_output=True, text=True, check=False
        )
        assert done.returncode == status
    assert done.stdout == "no map for this host\n"


def test_tayga_and_iptables_are_a_stateful_nat64() -> None:
    guest = FakeGuest({"read -r n": "7\n"})
    nat64 = made("nat64", guest.site(NAT64))
    nat64.start()
    assert guest.ran[0] == "modprobe tun"
    assert any("-s 198.18.0.0/16 -o eth1 -j MASQUERADE" in command for command in guest.ran)
    assert "conntrack -F" not in guest.ran
    assert nat64.restart().endswith("started again, connection tracking table emptied")
    assert guest.ran[-1] == "conntrack -F"
    assert nat64.describe()["software"] == "tayga; Linux kernel, masquerading by iptables"


def test_an_aftr_has_a_softwire_for_each_b4() -> None:
    guest = FakeGuest({"read -r n": "7\n"})
    source = Source(name="lab.toml", text=B4S)
    asked: SubscribersSection = source.validated(SubscribersSection, source.toml()["subscribers"])
    aftr = made("aftr", guest.site(plan(4, 4, stateful=True, subscribers=asked)))
    aftr.start()
    off, batch, on, rules, loaded = guest.ran[:5]
    assert loaded == "nft -f /tmp/natxy.nft"
    assert (off, on) == tuple(
        f"echo {n} >/proc/sys/net/ipv6/conf/default/disable_ipv6" for n in (1, 0)
    )
    assert "addr add 2001:db9::1/128 dev lo\n" in batch
    ends = "local 2001:db9::1 remote 2001:db8:0:2::1 encaplimit none"
    assert f"link add b2 type ip6tnl mode ipip6 {ends}\nlink set b2 up\n" in batch
    assert "route add 100.64.0.2/32 dev b2\n" in batch
    assert 'elements = { "b0" : 100.64.0.0, "b1" : 100.64.0.1, "b2" : 100.64.0.2 }' in rules
    before, after = (rules.index(f"priority {place}\n") for place in ("raw", "srcnat + 1"))
    assert before < rules.index("ip saddr set iifname map @b4s") < after
    assert after < rules.index("ip daddr 100.64.0.0/10 ip daddr set 192.0.0.2")
    assert 'ip saddr 100.64.0.0/10 oifname "eth1" masquerade' in rules
    described = aftr.describe()
    assert described["softwires"] == "3"
    assert "b0" in described["configuration"]
    assert "b1" not in described["configuration"]


@pytest.mark.parametrize(("cores", "mask"), [(1, "0"), (2, "3"), (4, "f")])
def test_each_virtual_cpu_gets_its_share(cores: int, mask: str) -> None:
    guest = FakeGuest()
    guest.site(plan(4, 4)).spread_frames(cores)
    assert guest.ran == [
        f"echo {mask} >/sys/class/net/eth{n}/queues/rx-0/rps_cpus" for n in range(2)
    ]


def test_a_router_is_reset_by_its_forwarding() -> None:
    guest = FakeGuest()
    router = made("kernel-router", guest.site(plan(6, 6)))
    assert "forwarding of IPv4 and IPv6 switched off and on" in router.restart()
    assert [command.split()[1] for command in guest.ran] == ["0", "1"]
    assert router.table is None


def added(command: str) -> Any:
    """The instance that a command adds, by its file."""
    first, text, end = command.splitlines()
    assert first == "cat >/tmp/jool.json <<'NATXY' && jool file handle /tmp/jool.json"
    assert end == "NATXY"
    return json.loads(text)


def timeouts_in(command: str) -> tuple[str, ...]:
    names = ("udp-timeout", "tcp-trans-timeout", "tcp-est-timeout")
    return tuple(added(command)["global"][name] for name in names)


def timeouts(udp: str, handshake: str, established: str) -> str:
    """The commands that set Jool's timeouts."""
    return (
        f"jool global update udp-timeout {udp} && "
        f"jool global update tcp-trans-timeout {handshake} && "
        f"jool global update tcp-est-timeout {established}"
    )


@pytest.mark.parametrize(
    ("initiator", "pool"), [("left", RIGHT.gateway_ipv4), ("right", LEFT.gateway_ipv4)]
)
def test_jool_translates_to_the_address_outside(initiator: str, pool: str) -> None:
    guest = FakeGuest()
    left, right = (6, 4) if initiator == "left" else (4, 6)
    a_jool(guest.site(plan(left, right, stateful=True, initiator=initiator))).start()
    load, add = guest.ran
    assert load == "modprobe jool"
    assert added(add)["global"]["pool6"] == "2001:2:0:1000::/96"
    assert added(add)["pool4"] == [
        {
            "protocol": transport,
            "prefix": f"{pool}/32",
            "port range": "1-65535",
            "max-iterations": "infinity",
        }
        for transport in ("UDP", "TCP")
    ]
    assert timeouts_in(add) == ("00:05:00", "00:05:00", "02:00:00")


def test_jools_pool_may_have_few_ports() -> None:
    guest = FakeGuest()
    a_jool(guest.site(NAT64, pool4_ports=1000)).start()
    assert {pool["port range"] for pool in added(guest.ran[1])["pool4"]} == {"64536-65535"}


def test_a_reset_of_jool_keeps_the_timeout_that_was_set() -> None:
    guest = FakeGuest({"b=$EPOCHREALTIME": "1.5 2.75\n"})
    jool = a_jool(guest.site(NAT64))
    jool.table.set_timeout(3700.2)
    assert guest.ran == [timeouts("01:01:41", "01:01:41", "02:00:00")]
    assert jool.table.parameters().timeout_s == 3701
    jool.table.set_timeout(5)
    assert jool.table.parameters().timeout_s == 120, "Jool takes no shorter one"
    assert guest.ran[-1] == timeouts("00:02:00", "00:04:00", "02:00:00")
    jool.table.set_timeout(7300)
    for again in (jool.reset, jool.restart):
        guest.ran.clear()
        again()
        assert timeouts_in(guest.ran[-1]) == ("02:01:40",) * 3


def test_a_renewed_jool_has_the_timeout_of_its_start() -> None:
    guest = FakeGuest({"b=$EPOCHREALTIME": "1.5 2.75\n"})
    jool = a_jool(guest.site(NAT64, udp_timeout_s=150))
    jool.table.set_timeout(3700)
    jool.renew()
    assert jool.table.parameters().timeout_s == 150
    assert timeouts_in(guest.ran[-1]) == ("00:02:30", "00:04:00", "02:00:00")


def test_jool_s_sessions_are_counted_and_deleted_by_the_guest_s_clock() -> None:
    guest = FakeGuest(
        {
            "jool stats display --all --csv": STATS,
            "b=$EPOCHREALTIME && modprobe -r jool &&": "1795562946.769829 1795562947.125165\n",
        }
    )
    jool = a_jool(guest.site(NAT64))
    assert jool.table.count() == 1234567
    assert jool.table.delete_all() == pytest.approx(0.355336, abs=1e-6)
    assert added(guest.ran[-1]), "it is there for the next trial"


def test_ds_lite_in_a_row_has_a_link_with_room_for_the_outer_header() -> None:
    guest = FakeGuest({"read -r n": "2048\n"})
    lab = made("ds-lite", guest.site(plan(4, 4, stateful=True), driver="ds-lite"))
    lab.start()
    link, aftr, b4, rules, *_ = guest.ran
    assert link.startswith(
        "ip netns add b4 && ip netns exec b4 bash -c 'echo 0 >/proc/sys/net/ipv6/"
    )
    assert "echo 1 >/proc/sys/net/ipv4/ip_forward" in link
    assert "link add to-front mtu 1540 type veth peer name to-back netns b4 mtu 1540" in aftr
    assert "link set eth0 netns b4" in aftr
    assert "route add 198.18.0.0/16 dev softwire" in aftr
    assert b4.startswith("ip -n b4 -batch -")
    assert "route add 198.19.0.0/16 dev softwire" in b4
    for lines in (aftr, b4):
        assert "link add softwire type ip6tnl mode ipip6 local 2001:2:0:4000::" in lines
        assert "link set softwire mtu 1500" in lines
    assert 'ip saddr 198.18.0.0/16 oifname "eth1" masquerade' in rules


def test_jool_s_table_has_no_size() -> None:
    with pytest.raises(DutError, match=r"no size that could be set.*expected another driver"):
        a_jool(FakeGuest().site(NAT64)).table.resize(entries=5)


def test_a_jool_that_counts_otherwise_is_refused() -> None:
    assert stat_of(STATS, "JSTAT_SESSIONS") == 1234567
    with pytest.raises(DutError, match="does not show JSTAT_SESSIONS"):
        stat_of("JSTAT_RECEIVED6,7\nJSTAT_SESSIONS,many\n", "JSTAT_SESSIONS")


@pytest.mark.parametrize("networks", [1, 256])
def test_siit_gets_all_mappings_in_one_file(networks: int) -> None:
    guest = FakeGuest()
    made("jool-siit", guest.site(plan(6, 4, networks=networks), driver="jool-siit")).start()
    _, added = guest.ran
    first, text, end = added.splitlines()
    assert end == "NATXY"
    mappings = json.loads(text)["eamt"]
    assert len(mappings) == 2 * networks
    assert mappings[0]["ipv6 prefix"].startswith("2001:2::/")
    assert mappings[0]["ipv4 prefix"].startswith("198.18.0.0/")
    assert first.endswith("<<'NATXY' && jool_siit file handle /tmp/jool_siit.json")


def test_nat44_in_a_guest_has_the_table_that_was_asked_for() -> None:
    guest = FakeGuest({"read -r n": "2048\n"})
    nat44 = made(
        "nat44",
        guest.site(
            plan(4, 4, stateful=True), driver="nat44", conntrack_entries=4096, udp_timeout_s=77
        ),
    )
    nat44.start()
    rules, _, *settings = [command for command in guest.ran if not command.startswith("read")]
    assert 'ip saddr 198.18.0.0/16 oifname "eth1" masquerade' in rules
    assert settings == [
        " &&\n".join(f"echo 77 >/proc/sys/net/netfilter/{name}" for name in TIMEOUTS),
        "echo 4096 >/proc/sys/net/netfilter/nf_conntrack_buckets",
        "echo 4096 >/proc/sys/net/netfilter/nf_conntrack_max",
    ]


def test_a_renewed_nat44_has_the_table_of_its_start() -> None:
    guest = FakeGuest({"read -r n": "2048\n"})
    nat44 = made("nat44", guest.site(plan(4, 4, stateful=True), driver="nat44", udp_timeout_s=77))
    nat44.start()
    table_of(nat44).resize(entries=9, hash_size=9)
    table_of(nat44).set_timeout(1000)
    guest.ran.clear()
    nat44.renew()
    assert guest.ran == [
        "conntrack -F",
        " &&\n".join(f"echo 77 >/proc/sys/net/netfilter/{name}" for name in TIMEOUTS),
        "echo 2048 >/proc/sys/net/netfilter/nf_conntrack_buckets",
        "echo 2048 >/proc/sys/net/netfilter/nf_conntrack_max",
    ]


def test_each_cpu_of_a_guest_is_watched_with_all_threads_of_qemu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dut = chosen(GUEST + 'driver = "jool-siit"')
    assert isinstance(dut, GuestDut)
    monkeypatch.setattr(dut, "_cpus", [4, 6])
    monkeypatch.setattr(dut, "_machine", SimpleNamespace(threads=(71, 72, 75)))
    monkeypatch.setattr(cpus, "_softirq_threads", lambda: {4: (30,), 5: (31,)})
    assert dut.watched == (
        WatchedCpu(cpu=4, threads=(30, 71, 72, 75)),
        WatchedCpu(cpu=6, threads=(71, 72, 75)),
    )


@pytest.mark.parametrize(
    ("changes", "serves"),
    [
        ("", True),
        ('direction = "forward"\n', True),
        ("frame_size_bytes = 200\n", True),
        ("right_networks = 256\n", False),
    ],
)
def test_a_guest_serves_cells_with_the_same_addresses(changes: str, serves: bool) -> None:
    other = GUEST + 'driver = "jool-siit"\n'
    one = chosen(other)
    assert isinstance(one, GuestDut)
    assert one.serves_as(chosen("[traffic]\n" + changes + other)) is serves
    assert not one.serves_as(chosen(other + "memory_mb = 512\n"))
    assert not one.serves_as(chosen("[tester]\ncores = [0, 1]\n" + other))


def test_nat44_s_timeout_is_never_too_short() -> None:
    guest = FakeGuest()
    nat44 = made("nat44", guest.site(plan(4, 4, stateful=True), driver="nat44"))
    table_of(nat44).set_timeout(77.2)
    (command,) = guest.ran
    assert command.count("echo 78 >") == command.count("echo") == len(TIMEOUTS)


def test_a_deletion_that_leaves_connections_is_refused() -> None:
    guest = FakeGuest({"read -r n": "5\n", "b=$EPOCHREALTIME": "emptied\n1.5 2.75\n"})
    table = table_of(made("nat44", guest.site(plan(4, 4, stateful=True), driver="nat44")))
    with pytest.raises(DutError, match="left 5 connections"):
        table.delete_all()
