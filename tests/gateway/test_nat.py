"""Stateful translation, judged by scapy octet for octet, and by two kernels talking through it."""

import os
import random
from typing import Any

import pytest

from tests.gateway.frames import (
    LEFT_TESTER_MAC,
    RIGHT_TESTER_MAC,
    Played,
    arrive,
    departing,
    play,
)
from tests.gateway.layers import IP, UDP, IPv6, Raw
from tests.gateway.program import Gateway, Town

EXTERNAL, REMOTE = "198.19.0.1", "198.19.0.2"
HOSTS = {"nat44": "198.18.0.2", "nat64": "2001:2::2"}
PREFIX = "64:ff9b::"
KINDS = sorted(HOSTS)


def config(kind: str, **nat: Any) -> dict[str, Any]:
    prefix = {"prefix": f"{PREFIX}/96"} if kind == "nat64" else {}
    return {
        "left": {"addresses": ["198.18.0.1"], "neighbours": {HOSTS[kind]: LEFT_TESTER_MAC}},
        "right": {"addresses": [EXTERNAL], "neighbours": {REMOTE: RIGHT_TESTER_MAC}},
        "nat": {"kind": kind, "pool": [EXTERNAL], **prefix, **nat},
    }


def inner(kind: str, *, outbound: bool, hop_limit: int) -> Any:
    """The header of a packet as it is inside."""
    remote = f"{PREFIX}{REMOTE}" if kind == "nat64" else REMOTE
    ends = (HOSTS[kind], remote) if outbound else (remote, HOSTS[kind])
    if kind == "nat64":
        return IPv6(src=ends[0], dst=ends[1], hlim=hop_limit)
    return IP(src=ends[0], dst=ends[1], ttl=hop_limit, flags="DF")


def outer(kind: str, *, outbound: bool, hop_limit: int, number: int = 0) -> Any:
    ends = (EXTERNAL, REMOTE) if outbound else (REMOTE, EXTERNAL)
    by_rfc_7915 = {"id": number, "flags": 0} if kind == "nat64" and outbound else {"flags": "DF"}
    return IP(src=ends[0], dst=ends[1], ttl=hop_limit, **by_rfc_7915)


@pytest.mark.parametrize("kind", KINDS)
def test_both_directions_of_many_connections(kind: str) -> None:
    chance = random.Random(kind)
    count = 500
    arrivals, expected = [], []
    for number in range(count):
        own, remote, external = chance.randrange(65536), 1 + number, 1024 + number
        data = Raw(chance.randbytes(18))
        out = UDP(sport=own, dport=remote) / data
        arrivals.append(arrive(inner(kind, outbound=True, hop_limit=64) / out))
        header = outer(kind, outbound=True, hop_limit=63, number=number)
        expected.append(departing(header / UDP(sport=external, dport=remote) / data))
        back = outer(kind, outbound=False, hop_limit=64)
        reply = back / UDP(sport=remote, dport=external) / data
        arrivals.append(arrive(reply, "right"))
        header = inner(kind, outbound=False, hop_limit=63)
        expected.append(departing(header / UDP(sport=remote, dport=own) / data, "left"))
    ordered = {"mapping": "address-and-port-dependent", "port_choice": "increasing"}
    played = play(config(kind, entries=count, **ordered), arrivals)
    assert played.departures == expected
    nat = played.record["nat"]
    assert nat["created"] == nat["entries"] == nat["peak"] == count
    assert nat["translated"] == {"outbound": count, "inbound": count}


def send(kind: str, nat: dict[str, Any], ports: list[tuple[int, int]]) -> Played:
    header = inner(kind, outbound=True, hop_limit=64)
    packets = [header / UDP(sport=own, dport=remote) / bytes(18) for own, remote in ports]
    return play(config(kind, **nat), [arrive(packet) for packet in packets])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("entries", [1, 1031])
def test_a_table_takes_exactly_its_entries(kind: str, entries: int) -> None:
    ports = [(1024 + i, 9) for i in range(entries + 3)]
    played = send(kind, {"entries": entries}, ports)
    assert len(played.departures) == entries
    assert played.record["nat"]["refused"] == {"full": 3, "rate": 0, "limit": 0, "ports": 0}
    assert played.record["directions"]["forward"]["dropped"]["nat_full"] == 3


def test_a_missing_checksum_stays_missing_between_ipv4_and_ipv4() -> None:
    packet = inner("nat44", outbound=True, hop_limit=64) / UDP(sport=1, dport=2, chksum=0) / b"data"
    wanted = outer("nat44", outbound=True, hop_limit=63) / UDP(sport=1024, dport=2, chksum=0)
    played = play(config("nat44", port_choice="increasing"), [arrive(packet)])
    assert played.departures == [departing(wanted / b"data")]


def settle(town: Town, kind: str) -> str:
    """Which address the left host asks so that the right one hears."""
    town.settle("right", REMOTE, EXTERNAL)
    if kind == "nat44":
        town.settle("left", HOSTS[kind], "198.18.0.1")
        return REMOTE
    town.settle("left", HOSTS[kind], "2001:2::1")
    return f"{PREFIX}{REMOTE}"


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="DPDK and namespaces need root")


@needs_root
@pytest.mark.parametrize("kind", KINDS)
def test_two_kernels_talk_and_the_table_obeys(town: Town, kind: str) -> None:
    asked = settle(town, kind)
    own = ["198.18.0.1"] if kind == "nat44" else ["2001:2::1"]
    wanted = config(kind, entries=100)
    wanted["left"], wanted["right"] = {"addresses": own}, {"addresses": ["198.19.0.3"]}
    with town.gateway() as gateway:
        assert gateway.ask("configure", config=wanted) == {"event": "configured"}
        assert town.answers(REMOTE, asked, 5) == list(range(5))
        assert gateway.ask("count")["entries"] >= 1
        flushed = gateway.ask("flush")
        assert flushed["entries"] >= 1
        assert flushed["ns"] > 0
        assert gateway.ask("count") == {"event": "count", "entries": 0}
        assert town.answers(REMOTE, asked, 5) == list(range(5))
        assert gateway.ask("set-timeout", ns=1) == {"event": "timeout-set"}
        assert gateway.ask("count")["entries"] == 0
        assert gateway.ask("record")["record"]["nat"]["expired"] >= 1


@needs_root
def test_without_a_table_there_is_nothing_to_count() -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        for request in ("flush", "count"):
            assert "there is no" in gateway.ask(request)["message"]
        gateway.ask("configure", config=config("nat44"))
        assert gateway.ask("count") == {"event": "count", "entries": 0}
        assert "connection 7 is not" in gateway.ask("forget", connection=7)["message"]
        assert "connection 7 is not" in gateway.ask("change", connection=7)["message"]
        assert gateway.ask("record")["record"]["nat"]["created"] == 0


@needs_root
def test_a_table_for_which_there_is_no_memory_is_refused_and_the_old_one_stays() -> None:
    limit = ("prlimit", f"--as={2 << 30}")
    with Gateway("net_null0", "net_null1", prefix=limit, huge_pages="never") as gateway:
        gateway.ask("configure", config=config("nat44"))
        message = gateway.ask("configure", config=config("nat44", entries=1 << 27))["message"]
        assert message.startswith("nat.entries: ")
        assert gateway.ask("count") == {"event": "count", "entries": 0}
