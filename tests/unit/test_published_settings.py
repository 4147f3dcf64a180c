"""Each experiment has the settings of the document beside it, or names what differs."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.folder import read_asked
from natxy.campaign.plan import plan_of
from tests.published_settings import Difference, differences

FOLDER = Path(__file__).parents[2] / "experiments"
EXPERIMENTS = sorted(FOLDER.glob("*.toml"))
LARGEST_ENTRIES = 2**31 - 1  # net.netfilter.nf_conntrack_max is a signed integer
EACH = pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)


def unnamed(path: Path) -> list[Difference]:
    asked = read_asked(path)
    named = asked.experiment.published
    assert named is not None
    said = (*named.differs, *named.gateway_differs)
    return [each for each in differences(asked) if not each.is_named(said)]


@EACH
def test_what_differs_is_named(path: Path) -> None:
    assert unnamed(path) == []


@EACH
def test_what_is_named_differs(path: Path) -> None:
    """A sentence of `differs` that is about no difference is left over from an earlier version."""
    asked = read_asked(path)
    named = asked.experiment.published
    assert named is not None
    about = {"The kernel is", "The ports are connected", "256 destination networks"}  # no settings
    for sentence in named.differs:
        is_setting = any(each.is_named((sentence,)) for each in differences(asked))
        assert is_setting or sentence.startswith(tuple(about))


@EACH
@pytest.mark.parametrize("quick", [False, True])
def test_the_kernel_can_have_such_a_table(path: Path, quick: bool) -> None:
    asked = read_asked(path)
    for cell in plan_of(asked.experiment, asked.testbed, 1, quick=quick).cells:
        assert cell.testbed["dut"].get("conntrack_entries", 16) <= LARGEST_ENTRIES


FIXED_SOURCE = 'mode = "fixed", min = 49184, max = 49184'
ALL_SOURCES = 'mode = "pseudorandom", min = 1024, max = 65535'
# What a reader once found, or might find: (experiment, text, its replacement, the setting).
FAULTS = [
    ("sp-table-02", FIXED_SOURCE, ALL_SOURCES, "source ports"),
    ("sp-figure-06", 'mode = "fixed", min = 7, max = 7', ALL_SOURCES, "destination ports"),
    ("sp-table-03", FIXED_SOURCE, ALL_SOURCES, "reverse flows"),
    ("sp-table-04", "repetitions = 20", "repetitions = 10", "repetitions"),
    ("sp-table-02", "left_networks = 256", "left_networks = 255", "networks"),
    ("sp-table-02", "frame_size_bytes = 1518", "frame_size_bytes = 1500", "frame size"),
    ("sp-table-03", "repetitions = 20,", "repetitions = 20, tags = 500,", "tags"),
    ("sp-table-04", "repetitions = 20,", "repetitions = 20, duration = 30,", "duration"),
    ("mp-table-14", 'incomplete = "repeat", repeats = 1000', "sample = 100", "incomplete"),
    ("mp-table-12", "udp_timeout_s = 200", "udp_timeout_s = 300", "timeout"),
    ("mp-table-13", 'loss = "0.01%"', 'loss = "0.1%"', "loss"),
    ("mp-table-13", "destination_port = { max = 1000 }", "destination_port = { max = 100 }",
     "destination ports"),
    ("mp-table-08", 'direction = "reverse"', 'direction = "both"', "direction"),
    ("mp-table-23", 'order = "increasing"', 'order = "decreasing"', "order"),
    ("mp-table-23", "hash_size = 524_288", "hash_size = 524_289", "hash size"),
    ("mp-table-17", "left_ip_version = 6", "left_ip_version = 4", "left IP version"),
    ("mp-table-02", "cores = 8", "cores = 9", "cores"),
    ("mp-table-02", 'error = "0.1%"', 'error = "0.01%"', "error"),
    ("sd-figure-02", "max = 13999 }", "max = 14999 }", "reverse flows"),
    ("sd-figure-04", "options = { repetitions = 1 } ", "", "repetitions"),
    ("sd-figure-05", "options = { repetitions = 5 }", "", "repetitions"),
    ("sd-figure-09", 'differs = ["The error', 'differs = ["The', "error"),
    ("sd-figure-10", "count = 1_600_000_000", "count = 160_000_000", "connections"),
    ("sd-figure-06", "beta = 0.2", "beta = 0.3", "beta"),
    ("sd-figure-06", "conntrack_entries = 4_194_304", "conntrack_entries = 4_194_303",
     "table entries"),
    ("sd-figure-11", "alpha = 0.6", "alpha = 0.7", "alpha"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "setting"), FAULTS)
def test_a_wrong_setting_is_found(
    name: str, old: str, new: str, setting: str, tmp_path: Path
) -> None:
    for folder in ("testbeds", "published"):
        (tmp_path / folder).symlink_to(FOLDER / folder)
    text = (FOLDER / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / f"{name}.toml"
    path.write_text(text.replace(old, new))
    found = {each.setting for each in unnamed(path)}
    assert setting in found


@EACH
def test_the_published_ports_are_stated_or_said_not_to_be(path: Path) -> None:
    """A stateless table without them would be compared with any ports."""
    data: dict[str, Any] = tomllib.loads((FOLDER / "published" / path.name).read_text())
    stated = {**data["traffic"], **data.get("connections", {}), **data.get("rows", {})}
    silent = any("port ranges" in words for words in data["not_stated"])
    assert "source_ports" in stated or silent
