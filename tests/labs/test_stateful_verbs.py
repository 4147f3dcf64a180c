"""Stateful gateways of the kernel by their commands: every procedure of RFC 9693 completes, and no
frame is misdelivered. Tables are small, so that this takes seconds."""

import csv
import json
import time
from pathlib import Path

import pytest

from natxy.model.reason import Advice
from tests.command import natxy
from tests.labs.stateful_verbs import COMMON, ENTRIES, NAT44, TCP, UP_TO_4000, measured, run, values
from tests.valid import valid_run

CAPACITY_IN_NOISE_S = 120
# What the reason for a lower bound advises.
OF_NOISE = [each.value for each in (Advice.DOCTOR, Advice.GATEWAY_AWAY, Advice.PLACED)]
SMALL_ENTRIES = 512
SMALL = NAT44.replace(f"= {ENTRIES}", f"= {SMALL_ENTRIES}").replace("count = 1024", "count = 128")
IPTABLES = NAT44.replace('"nat44"', '"nat44-iptables"')
NAT64 = f"""\
{COMMON}
[traffic]
left_ip_version = 6
right_ip_version = 4
avoid_zero_checksum = true
[dut]
kind = "namespace"
driver = "nat64"
conntrack_entries = {ENTRIES}
"""
FEWER = ("--connections", "400")


@pytest.mark.parametrize(
    ("testbed", "entries"),
    [
        pytest.param(SMALL, SMALL_ENTRIES, id="udp"),
        pytest.param(TCP, ENTRIES, id="tcp", marks=pytest.mark.long),
    ],
)
def test_capacity_is_the_kernels_within_a_few_entries(
    testbed: str, entries: int, tmp_path: Path
) -> None:
    """As SD Figure 6 finds it; with TCP, it is the capacity of RFC 8219 section 8.

    In an hour in which its time is over before, twice, it is a lower bound because of noise.
    """
    quick = ("--first-rate", "4000", "--alpha", "2", "--rate-error", "25%", *UP_TO_4000)
    name = "connection tracking table capacity C"
    for _ in range(2):
        entry = measured("capacity", testbed, tmp_path, *quick, "--retry-time", "60")
        (bound,) = (figure["bound"] for figure in entry["figures"] if figure["figure"] == name)
        if bound != "lower":
            break
    found = values(entry)
    (capacity,) = found[name]
    assert capacity <= entries
    if bound == "lower":
        remarks = {each["code"]: each["text"] for each in entry["remarks"]}
        why = remarks["bound_of_capacity"]
        assert "stay invalid" in why
        assert any(noise in why for noise in OF_NOISE), why
        assert capacity >= entries // 4  # C0, which was established
    else:
        assert capacity >= entries - 4
    assert found["C0"] == [entries // 4]
    assert found["CS"][0] <= capacity
    assert bound == "lower" or capacity <= found["CT"][0]


@pytest.mark.long
@pytest.mark.usefixtures("noise")
def test_capacity_ends_in_noise(tmp_path: Path) -> None:
    """A search that halved its rate when trials were INVALID had no valid one in eight minutes."""
    begin_s = time.monotonic()
    found = values(measured("capacity", NAT44, tmp_path))
    assert time.monotonic() - begin_s < CAPACITY_IN_NOISE_S
    (capacity,) = found["connection tracking table capacity C"]
    assert ENTRIES - 4 <= capacity <= ENTRIES


@pytest.mark.parametrize(
    ("testbed", "options"),
    [
        pytest.param(NAT44, UP_TO_4000, id="nat44", marks=pytest.mark.long),
        pytest.param(IPTABLES, ("--validated", *UP_TO_4000), id="iptables-validated"),
        pytest.param(NAT64, ("--validated", *UP_TO_4000), id="nat64-validated"),
    ],
)
def test_establishment_rate(testbed: str, options: tuple[str, ...], tmp_path: Path) -> None:
    entry = measured("establishment", testbed, tmp_path, "--error", "20%", *FEWER, *options)
    ((rate_cps,),) = values(entry).values()
    assert rate_cps > 1000


def test_an_establishment_of_tcp_has_whole_handshakes(tmp_path: Path) -> None:
    options = ("--error", "20%", "--validated", *FEWER, *UP_TO_4000)
    entry = measured("establishment", TCP, tmp_path, *options)
    (rate_cps,), (handshakes_cps,) = values(entry).values()
    assert rate_cps > 1000
    # SYNs and ACKs at the rate, SYN/ACKs at half of it
    assert handshakes_cps == pytest.approx(rate_cps / 4, rel=0.01)


def test_churn(tmp_path: Path) -> None:
    found = measured("churn", NAT44, tmp_path, "--load", "2000", "--error", "20%", *UP_TO_4000)
    rates = values(found)
    assert rates["rate of new connections beside 2,000 fps"][0] > 1000
    assert rates["first-packet latency, median"][0] > 0


@pytest.mark.parametrize("by", ["fin", pytest.param("rst", marks=pytest.mark.long)])
def test_tear_down_of_tcp(by: str, tmp_path: Path) -> None:
    entry = measured("tear-down", TCP, tmp_path, "--by", by, "--error", "20%", *UP_TO_4000)
    rates_cps = values(entry)
    assert rates_cps[f"TCP connection tear-down rate, by {by.upper()}"][0] > 1000


def test_a_gateway_that_logs_its_connections_says_so_beside_the_figure(tmp_path: Path) -> None:
    """MP 13.4.2."""
    logging = f"{NAT44}logging = true\n"
    entry = measured("establishment", logging, tmp_path, "--error", "20%", *FEWER, *UP_TO_4000)
    ((rate_cps,),) = values(entry).values()
    assert rate_cps > 1000
    assert entry["connections"]["logging"].startswith("conntrack -E -e NEW to a file")
    (row,) = csv.DictReader((tmp_path / "results" / "results.csv").read_text().splitlines())
    assert row["connection_logging"] == entry["connections"]["logging"]


@pytest.mark.parametrize(
    ("testbed", "direction", "most"),
    [
        pytest.param(NAT44, "both", (), id="nat44-both-all", marks=pytest.mark.long),
        pytest.param(NAT44, "both", UP_TO_4000, id="nat44-both", marks=pytest.mark.long),
        pytest.param(NAT44, "reverse", UP_TO_4000, id="nat44-reverse", marks=pytest.mark.long),
        pytest.param(NAT64, "forward", UP_TO_4000, id="nat64-forward"),
    ],
)
def test_throughput_in_phase_2(
    testbed: str, direction: str, most: tuple[str, ...], tmp_path: Path
) -> None:
    """Bidirectional, upload and download up to a rate that the gateway surely does."""
    search = ("--error", "20%", "--direction", direction, *most)
    done = valid_run(lambda: run("throughput", testbed, tmp_path, *search))
    assert done.returncode == 0, done.stderr[-2000:]
    (entry,) = json.loads(done.stdout)
    assert entry["rate_fps_per_direction"] >= 1000
    assert entry["misdelivered"] == 0


@pytest.mark.parametrize(
    "testbed",
    [
        pytest.param(NAT44, id="nat44"),
        pytest.param(NAT64, id="nat64", marks=pytest.mark.long),
    ],
)
def test_tear_down_rate(testbed: str, tmp_path: Path) -> None:
    """Of at most 95 % of the table: above that the kernel drops what has had no reply yet."""
    found = values(
        measured("tear-down", testbed, tmp_path, "--counts", "500,3500", "--repetitions", "2")
    )
    for count in ("500", "3,500"):
        full_s = found[f"full table deletion time {count} connections"]
        assert len(full_s) == 2
        assert all(0 < seconds < 5 for seconds in full_s)
        assert len(found[f"empty table deletion time {count} connections"]) == 2
        assert f"connection tear-down rate {count} connections" in found


def test_degradation_has_the_devices_tables_beside_each_column(tmp_path: Path) -> None:
    """And the kernel's sizes are afterwards what they were before."""
    sizes = [
        Path("/proc/sys/net/netfilter") / name
        for name in ("nf_conntrack_max", "nf_conntrack_buckets")
    ]
    before = [path.read_text() for path in sizes]
    columns = ("--counts", "500,1000", "--entries", "4096", "--hash-sizes", "1024,2048")
    figure = ("--of", "establishment", "--error", "30%")
    found = values(measured("degradation", NAT44, tmp_path, *columns, *figure, *UP_TO_4000))
    assert any("1,000 connections, table 4,096, hash 2,048" in name for name in found)
    assert [path.read_text() for path in sizes] == before


@pytest.mark.long
def test_columns_of_port_ranges_are_asked_for_in_one_command(tmp_path: Path) -> None:
    """As the methodology paper's Table 12 has them: 5 and 20 destination ports beside 100 source
    ports; with a loss that is accepted."""
    ranges = ("--source-ports", "100", "--destination-ports", "5,20", "--entries", "4096")
    figure = ("--of", "establishment", "--error", "30%", "--loss", "1%")
    entry = measured("degradation", NAT44, tmp_path, *ranges, *figure, *UP_TO_4000)
    found = values(entry)
    for count in ("500", "2,000"):
        assert any(f"{count} connections, table 4,096" in name for name in found)
    # A ratio of two lower bounds would tell nothing.
    assert not any(name.startswith("median / previous median") for name in found)
    assert any(each["facts"] == {"ports": ["100 x 5", "100 x 20"]} for each in entry["remarks"])
    assert any(each["facts"] == {"accepted_share": 0.01} for each in entry["deviations"])


def test_a_table_that_is_too_small_is_no_result(tmp_path: Path) -> None:
    done = run("throughput", NAT44.replace("count = 1024", "count = 5000"), tmp_path)
    assert done.returncode != 0
    assert "connection tracking table takes 4,096 entries" in done.stderr
    assert not (tmp_path / "results" / "results.json").exists()


def test_one_trial_shows_all_phases(tmp_path: Path) -> None:
    path = tmp_path / "testbed.toml"
    path.write_text(NAT44)
    words = ("trial", str(path), "--rate", "1000", "--duration", "0.1", "--json")
    done = natxy(*words, timeout_s=60)
    assert done.returncode in (0, 1), done.stderr[-2000:]  # 1: invalid, on a busy machine
    phases = [stream["phase"] for stream in json.loads(done.stdout)["result"]["streams"]]
    assert phases == ["establish", "sample", "test", "test"]
