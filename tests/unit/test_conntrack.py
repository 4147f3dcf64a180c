"""The kernel's connection tracking table, over a namespace that nothing asks."""

import pytest

from natxy.dut import site as sites
from natxy.dut.config import NamespaceConfig
from natxy.dut.conntrack import TIMEOUTS, SharedConntrack
from natxy.dut.site import NamespaceSite


class Commands:
    """Notes the commands and returns one text for all of them."""

    def __init__(self, printed: str = "") -> None:
        self._printed = printed
        self.run: list[list[str]] = []

    def __call__(self, arguments: list[str], *, feed: str, timeout_s: float) -> str:
        self.run.append(arguments)
        return self._printed


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> SharedConntrack:
    site = NamespaceSite.__new__(NamespaceSite)
    config = NamespaceConfig(kind="namespace", driver="nat44")
    monkeypatch.setattr(NamespaceSite, "config", config, raising=False)
    monkeypatch.setattr(NamespaceSite, "namespace", "natxy-g")
    return SharedConntrack(site)


def test_timeouts_are_set_in_whole_seconds_and_not_too_short(
    table: SharedConntrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands()
    monkeypatch.setattr(sites, "execute", commands)
    table.set_timeout(4.2)
    settings = [f"net/netfilter/{name}=5" for name in TIMEOUTS]
    assert commands.run == [["ip", "netns", "exec", "natxy-g", "sysctl", "-q", "-w", *settings]]


def test_a_tcp_connection_lives_until_it_is_closed() -> None:
    """Whole phases lie between its FINs; only a closed one may go."""
    states = {name.removeprefix("nf_conntrack_tcp_timeout_") for name in TIMEOUTS}
    assert {"syn_sent", "syn_recv", "established", "fin_wait", "close_wait", "last_ack"} <= states
    assert not states & {"time_wait", "close"}


@pytest.mark.parametrize("printed", ["10.5 12.75\n", "10,5 12,75\n"], ids=["point", "comma"])
def test_a_deletion_is_timed_by_its_own_clock(
    printed: str, table: SharedConntrack, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = Commands(printed)
    monkeypatch.setattr(sites, "execute", commands)
    monkeypatch.setattr(SharedConntrack, "count", lambda _: len(commands.run) or 1000)
    assert table.delete_all() == 2.25
