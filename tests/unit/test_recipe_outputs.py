"""What recipes read in the outputs of commands: samples in the formats of each software's source.

Each command of the recipe is run by a shell, in which a program by the name of the gateway's prints
the sample.
"""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from natxy.dut.recipe import read_recipe, recipe_names
from natxy.model.source import Source

VALUES: dict[str, str | int] = {"interface": "eth1", "number": 4, "name": "sdfn"}


@dataclass(frozen=True)
class Sample:
    recipe: str
    key: str
    prints: str  # by the program that the command runs first
    output: str  # of the command; "": it fails


NAT44_SUMMARY = """\
max translations per thread: 4194304 fib 0
udp LRU min session timeout 412 (now 112)
total sessions: 7 (timed out: 1)
tcp sessions:
    total: 2 (timed out: 0)
        established: 1 (timed out: 0)
        transitory: 1 (timed out: 0)
udp sessions:
    total: 5 (timed out: 1)
icmp sessions:
    total: 0 (timed out: 0)
other sessions:
    total: 0 (timed out: 0)
"""
NAT64_SESSIONS = """\
NAT64 udp sessions:
 2001:2::2 10000 2001:2:0:1000::c613:2 53 198.19.0.1 10000 198.19.0.2 53 protcol udp vrf 0
 2001:2::2 10001 2001:2:0:1000::c613:2 53 198.19.0.1 10001 198.19.0.2 53 protcol udp vrf 0
"""
DSLITE_SESSIONS = """\
B4 2001:2::2 2 sessions
  in 192.0.0.2:10000 out 198.19.255.1:1024 protocol udp
    total pkts 1, total bytes 64
  in 192.0.0.2:10001 out 198.19.255.1:1025 protocol udp
    total pkts 1, total bytes 64
B4 2001:2::3 1 sessions
  in 192.0.0.2:10000 out 198.19.255.1:1026 protocol udp
    total pkts 1, total bytes 64
"""
MAP_DOMAINS = """\
[0] tag {[no-tag]} ip4-pfx 192.0.2.0/24 ip6-pfx 2001:db8::/40 ip6-src 2001:db8:ffff::/64 \
ea-bits-len 16 psid-offset 6 psid-len 8 mtu 0

[3] tag {natxy} ip4-pfx 198.18.0.2/32 ip6-pfx 2001:2::c612:2:0/128 ip6-src 2001:2:0:1000::/64 \
ea-bits-len 0 psid-offset 0 psid-len 0 mtu 0

"""
NAT64LSN = """\
nat64lsn NATXY
	1000 packets translated from IPv6 to IPv4
	10 portgroups deleted
	1234 states created
	234 states deleted
"""
PF_INFO = """\
Status: Enabled for 0 days 00:10:00              Debug: err

State Table                          Total             Rate
  current entries                     4321
  half-open tcp                          0
  searches                           98765          164.6/s
"""
SAMPLES = [
    Sample("vpp-nat44-ed", "count", NAT44_SUMMARY, "5"),
    Sample("vpp-nat44-ed", "check", "NAT44 interfaces:\n eth1 in\n eth2 out\n", "-"),
    Sample("vpp-nat44-ed", "check", "NAT44 interfaces:\n", ""),
    Sample("vpp-nat64", "count", NAT64_SESSIONS, "2"),
    Sample("vpp-nat64", "count", "NAT64 udp sessions:\n", "0"),
    Sample("vpp-nat64", "check", "NAT64 interfaces:\n eth1 in\n eth2 out\n", "-"),
    Sample("vpp-dslite", "count", DSLITE_SESSIONS, "3"),
    Sample("vpp-dslite", "count", "", "0"),
    Sample("vpp-dslite", "check", "DS-Lite pool:\n198.19.255.1\n", "-"),
    Sample("vpp-dslite", "check", "DS-Lite pool:\n198.19.255.10\n", ""),
    Sample("vpp-map", "check", MAP_DOMAINS, "-"),
    Sample("vpp-map", "check", MAP_DOMAINS.splitlines()[0], ""),
    Sample("freebsd-ipfw-nat64", "count", NAT64LSN, "1000"),
    Sample("openbsd-pf-nat64", "count", PF_INFO, "4321"),
    Sample("openbsd-pf-nat64", "check", "pass in on ix0 inet6 from any to 2001:2:0:1000::/96 "
           "flags S/SA af-to inet from 198.19.0.1\n", "-"),
]  # fmt: skip


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not Path(program).exists(), reason=f"{program} is not installed")


def commands(name: str, key: str) -> list[str]:
    read = read_recipe(name)
    given = {n: VALUES[v.kind] for n, v in read.variables.items() if v.kind == "interface"}
    return read.filled(given, Source(name="test")).commands(key)


def stand_in(folder: Path, name: str, prints: str) -> None:
    """Makes a program that prints the sample, and writes how it was called to `called`."""
    (folder / "sample").write_text(prints)
    program = folder / name
    program.write_text(f'#!/bin/sh\necho "$@" >> "{folder}/called"\ncat "{folder}/sample"\n')
    program.chmod(0o755)


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    path = f"{folder}:/usr/bin:/bin"
    return subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, env={"PATH": path}, check=False
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda each: f"{each.recipe}-{each.key}")
def test_a_sample_is_read(sample: Sample, tmp_path: Path) -> None:
    (command,) = commands(sample.recipe, sample.key)
    stand_in(tmp_path, command.split()[0], sample.prints)
    done = shell(tmp_path, command)
    if not sample.output:
        assert done.returncode != 0
        return
    assert done.returncode == 0, done.stderr
    if sample.output != "-":
        assert done.stdout.split()[-1] == sample.output


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("vpp-nat64", "vppctl"),
        pytest.param("openbsd-pf-nat64", "pfctl", marks=needs("/usr/bin/perl")),
        pytest.param("freebsd-ipfw-nat64", "ipfw", marks=needs("/usr/bin/time")),
    ],
)
def test_a_deletion_prints_its_seconds(name: str, program: str, tmp_path: Path) -> None:
    (command,) = commands(name, "delete_all")
    stand_in(tmp_path, program, "")
    done = shell(tmp_path, command)
    assert done.returncode == 0, done.stderr
    (seconds,) = done.stdout.split()
    assert 0 <= float(seconds) < 30
    assert (tmp_path / "called").read_text().strip()


def test_only_the_recipes_own_domain_of_map_is_deleted(tmp_path: Path) -> None:
    (command,) = (each for each in commands("vpp-map", "stop") if "map del" in each)
    stand_in(tmp_path, "vppctl", MAP_DOMAINS)
    assert shell(tmp_path, command).returncode == 0
    called = (tmp_path / "called").read_text().splitlines()
    assert called == ["show map domain", "map del domain index 3"]


# What VPP, RouterOS and IOS print if a command is wrong, and what they print if it is right.
ERRORS = {
    "vpp": [
        "show nat64: unknown input `timeouts'",
        "set interface nat64: unknown input 'eth9'",
        "unknown interface `eth9'",
        "nat44 plugin: already enabled",
        "clib_socket_init: connect: No such file or directory (fd 5, '/run/vpp/cli.sock')",
        "NAT64 feature enable/disable failed.",
    ],
    "mikrotik-nat44": [
        "failure: already have such address",
        "syntax error (line 1 column 5)",
        "bad command name natt (line 1 column 14)",
        "expected end of command (line 1 column 9)",
        "input does not match any value of interface",
        "no such item",
    ],
    "cisco-nat64": [
        "% Invalid input detected at '^' marker.",
        "% Incomplete command.",
        '% Ambiguous command:  "cle nat"',
        "%Authorization failed",
    ],
}
FINE = [NAT44_SUMMARY, NAT64_SESSIONS, DSLITE_SESSIONS, MAP_DOMAINS, "vpp v26.06-release built by"]


@pytest.mark.parametrize("name", recipe_names())
def test_an_error_is_known_and_a_right_output_is_none(name: str) -> None:
    pattern = read_recipe(name).error_pattern
    if pattern is None:
        return
    family = "vpp" if name.startswith("vpp") else name
    for line in ERRORS[family]:
        assert re.search(pattern, line), line
    for output in FINE if family == "vpp" else ():
        for line in output.splitlines():
            assert not re.search(pattern, line), line


def test_a_count_without_a_shell() -> None:
    """The guide's sample of `show nat64 statistics`."""
    said = "NAT64 Statistics\n\nTotal active translations: 3 (1 static, 2 dynamic; 1 extended)\n"
    pattern = read_recipe("cisco-nat64").count_pattern
    assert pattern is not None
    found = re.search(pattern, said)
    assert found
    assert found[1] == "3"


# In VPP 26.06: the paths of its CLI (VLIB_CLI_COMMAND) that the recipes use.
VPP_COMMANDS = (
    "set interface state", "set interface ip address", "ip route add", "ip route del",
    "show version", "show threads",
    "nat44 plugin", "nat44 add interface address", "set interface nat44", "set nat timeout",
    "clear nat44 ed sessions", "show nat44 interfaces", "show nat timeouts", "show nat44 summary",
    "nat64 plugin", "nat64 add prefix", "nat64 add pool address", "set interface nat64",
    "show nat64 pool", "show nat64 prefix", "show nat64 interfaces", "show nat64 session table",
    "dslite set aftr-tunnel-endpoint-address", "dslite add pool address", "show dslite pool",
    "show dslite aftr-tunnel-endpoint-address", "show dslite sessions",
    "map add domain", "map del domain", "map interface", "show map domain", "show map stats",
)  # fmt: skip


@pytest.mark.parametrize("name", [name for name in recipe_names() if name.startswith("vpp-")])
def test_vpp_has_each_command(name: str) -> None:
    read = read_recipe(name)
    called = [
        found
        for key in type(read.commands).model_fields
        for command in read.commands.of(key)
        for found in re.findall(r"vppctl ([^|;>)]+)", command)
    ]
    assert called
    for words in called:
        assert words.startswith(VPP_COMMANDS), words
        # VPP 26.06 crashes: nat_add_del_ip4_pool_addr looks beyond the pool's end.
        assert not (words.startswith("dslite add pool") and words.rstrip().endswith(" del"))


def test_an_aftrs_addresses_are_not_the_interfaces_own() -> None:
    """DS-Lite of VPP takes all packets to its addresses, also those that are for an interface."""
    read = read_recipe("vpp-dslite")
    own = {str(v.default).partition("/")[0] for v in read.variables.values()
           if v.kind.endswith("_interface")}  # fmt: skip
    assert own.isdisjoint({read.variables["pool4"].default, read.variables["aftr"].default})
