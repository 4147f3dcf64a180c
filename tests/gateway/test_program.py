"""`natxy-gateway` as a program: between two kernels over veth, and as a citizen of its machine."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.gateway.program import DPDK_RUN, Gateway, Town
from tests.programs import installed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="DPDK and namespaces need root")


def test_routes_between_two_kernels(town: Town) -> None:
    """Neighbours are found both ways: the kernels' by the gateway, the gateway's by the kernels."""
    town.settle("left", "198.18.0.2", "198.18.0.1")
    town.settle("right", "198.19.0.2", "198.19.0.1")
    with town.gateway() as gateway:
        assert town.answers("198.19.0.2", "198.19.0.2", 10) == list(range(10))
        record = gateway.ask("record")["record"]
        for direction in ("forward", "reverse"):
            assert record["directions"][direction]["forwarded"] >= 10
            assert record["directions"][direction]["delay_ns"]["count"] >= 10
        assert record["polls"] > 0
        assert gateway.ask("clear") == {"event": "cleared"}
        assert gateway.ask("record")["record"]["directions"]["forward"]["forwarded"] == 0
        gateway.write('{"request": "quit"}')
        assert gateway.end() == 0


def test_routes_over_af_xdp_without_huge_pages(town: Town) -> None:
    town.settle("left", "198.18.0.2", "198.18.0.1")
    town.settle("right", "198.19.0.2", "198.19.0.1")
    ends = ("net_af_xdp0,iface=left,busy_budget=0", "net_af_xdp1,iface=right,busy_budget=0")
    with town.gateway(*ends, huge_pages="never"):
        assert town.answers("198.19.0.2", "198.19.0.2", 50) == list(range(50))


def test_translates_between_two_kernels_and_loses_what_it_is_told_to(town: Town) -> None:
    town.settle("left", "2001:2::2", "2001:2::1")
    town.settle("right", "198.19.0.2", "198.19.0.1")
    config = {
        "translation": {
            "explicit": [{"ipv4": "198.18.0.0/24", "ipv6": "2001:2::/120"}],
            "prefix": "64:ff9b::/96",
        },
        "faults": [{"kind": "loss", "direction": "reverse", "every": 5}],
    }
    with town.gateway() as gateway:
        assert gateway.ask("configure", config=config) == {"event": "configured"}
        heard = town.answers("198.19.0.2", "64:ff9b::198.19.0.2", 12)
        assert heard == [number for number in range(12) if number not in (4, 9)]
        reverse = gateway.ask("record")["record"]["directions"]["reverse"]
        assert reverse["dropped"]["loss"] == 2
        assert reverse["forwarded"] == 10


@pytest.fixture
def short_path() -> Iterator[Path]:
    """The path of a socket has at most 107 octets."""
    with TemporaryDirectory(prefix="n-", dir="/tmp") as folder:
        yield Path(folder)


def test_two_in_a_row_over_shared_memory(town: Town, short_path: Path) -> None:
    """Over memif, on which a tester meets the gateway; each is the other's next hop."""
    town.settle("left", "2001:2::2", "2001:2::1")
    town.settle("right", "2001:2:0:8000::2", "2001:2:0:8000::1")
    memif = f"socket={short_path}/memif.sock,id=0,socket-abstract=no"

    def between(left: str, right: str, other: str, far_side: str) -> dict[str, Any]:
        ends = {"left": "2001:2::/49", "right": "2001:2:0:8000::/49"}
        via = {far_side: other}
        return {
            "left": {"addresses": [left]},
            "right": {"addresses": [right]},
            "routes": [
                {"prefix": prefix, "side": side, "via": via.get(side)}
                for side, prefix in ends.items()
            ],
        }

    with (
        town.gateway(right=f"net_memif0,role=server,{memif}") as near,
        town.gateway(left=f"net_memif0,role=client,{memif}", turn=1) as far,
    ):
        near.ask("configure", config=between("2001:2::1", "2001:db8::1", "2001:db8::2", "right"))
        far.ask(
            "configure", config=between("2001:db8::2", "2001:2:0:8000::1", "2001:db8::1", "left")
        )
        assert town.answers("2001:2:0:8000::2", "2001:2:0:8000::2", 5) == list(range(5))
        assert far.ask("record")["record"]["directions"]["forward"]["forwarded"] >= 5
    assert not (short_path / "memif.sock").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        gateway.process.send_signal(number)
        assert gateway.end() == 0


def test_the_end_of_input_ends_it_cleanly() -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        assert gateway.end() == 0


def test_hello_names_the_ports() -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        assert gateway.hello["event"] == "hello"
        assert gateway.hello["protocol"] == 1
        assert [port["side"] for port in gateway.hello["ports"]] == ["left", "right"]
        assert all(len(port["mac"]) == len("02:00:00:00:00:01") for port in gateway.hello["ports"])


def test_what_it_cannot_do_is_an_error_and_it_goes_on() -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        for line in ("{", "[]", '{"request": "fly"}', '{"request": "configure", "config": 1}'):
            gateway.write(line)
            event = gateway.read()
            assert event["event"] == "error"
            assert event["message"]
        config = {"faults": [{"kind": "loss", "every": 0}]}
        message = gateway.ask("configure", config=config)["message"]
        assert message.startswith("faults[0].every: 0 is out of range")
        assert gateway.ask("clear") == {"event": "cleared"}


def test_lines_that_come_in_pieces_are_understood() -> None:
    with Gateway("net_null0", "net_null1") as gateway:
        assert gateway.process.stdin is not None
        gateway.process.stdin.write('{"request": "cle')
        gateway.process.stdin.flush()
        time.sleep(0.1)
        gateway.write('ar"}\n{"request": "clear"}')
        assert [gateway.read() for _ in range(2)] == [{"event": "cleared"}] * 2


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--left", "net_null0", "--right", "net_null1"], "--core"),
        (["--left", "net_null0", "--core", "0"], "--right"),
        (["--left", "net_null0", "--right", "net_null0", "--core", "0"], "same device"),
        (["--left", "net_null0", "--right", "net_null1", "--core", "999"], "CPU 999"),
        (["--left", "net_null0", "--right", "net_null1", "--core", "0", "--mtu", "1"], "--mtu"),
        (["--left", "net_no0", "--right", "net_null1", "--core", "0"], "--left"),
        (["--left", "net_null0", "--right", "net_af_packet0,iface=no", "--core", "0"], "--right"),
        (["--left", "ff:00.0", "--right", "net_null1", "--core", "0"], "--left"),
        (["--colour", "red"], "--colour"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(arguments: list[str], names: str) -> None:
    run = subprocess.Popen(
        [str(installed("natxy-gateway")), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    output, _ = run.communicate(timeout=30)
    (line,) = output.splitlines()
    event = json.loads(line)
    assert event["event"] == "error"
    assert names in event["message"]
    assert run.returncode == 2
    assert not list(DPDK_RUN.glob(f"natxy-gateway-{run.pid}*"))
