"""A lab needs capabilities, whoever has them."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from natxy.doctor import tools
from natxy.doctor.finding import Finding, Grade, good
from natxy.doctor.tools import privileges
from natxy.dut import namespaces
from natxy.dut.namespaces import (
    CAPABILITIES,
    OF_A_LAB,
    OF_OTHERS,
    lacking_for_a_lab,
    need_capabilities,
)
from natxy.errors import DutError


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setattr(namespaces, "STATUS", tmp_path / "status")
    return monkeypatch


def hold(holding: pytest.MonkeyPatch, *names: str, user: int = 0) -> None:
    mask = sum(1 << CAPABILITIES[name] for name in names)
    namespaces.STATUS.write_text(f"Name:\tx\nCapPrm:\tffff\nCapEff:\t{mask:016x}\nCapBnd:\tff\n")
    holding.setattr(os, "geteuid", lambda: user)


def test_the_capabilities_of_a_lab_are_enough_for_root(holding: pytest.MonkeyPatch) -> None:
    hold(holding, *OF_A_LAB)
    assert lacking_for_a_lab() == ()
    need_capabilities()


@pytest.mark.parametrize("name", OF_A_LAB)
def test_a_lab_is_refused_where_one_is_lacking(holding: pytest.MonkeyPatch, name: str) -> None:
    """As in a container, whose root has few of them."""
    hold(holding, *(each for each in OF_A_LAB if each != name))
    with pytest.raises(DutError, match=rf"^A lab needs {name}, which .*docs/privileges.md"):
        need_capabilities()


def test_another_user_also_needs_the_right_to_write_roots_files(
    holding: pytest.MonkeyPatch,
) -> None:
    hold(holding, *OF_A_LAB, user=1000)
    assert lacking_for_a_lab() == ("CAP_DAC_OVERRIDE",)
    hold(holding, *OF_A_LAB, "CAP_DAC_OVERRIDE", user=1000)
    assert lacking_for_a_lab() == ()


def test_the_doctor_asks_for_capabilities_and_not_for_root(holding: pytest.MonkeyPatch) -> None:
    """A user who has them makes labs, as the start of a lab allows."""
    hold(holding, *OF_A_LAB, "CAP_DAC_OVERRIDE", user=1000)
    assert privileges().grade is Grade.GOOD
    assert privileges().state == "user 1000 with the capabilities of a lab"
    hold(holding, "CAP_NET_ADMIN", "CAP_SYS_ADMIN", "CAP_NET_RAW", user=1000)
    assert privileges().grade is Grade.IMPOSSIBLE
    lacking = "CAP_IPC_LOCK, CAP_SYS_NICE, CAP_DAC_OVERRIDE"
    assert privileges().state == f"user 1000 without {lacking}"


@pytest.mark.parametrize(("lacking", "examined"), [((), True), (("CAP_NET_ADMIN",), False)])
def test_the_doctor_makes_a_lab_where_one_can_be_made(
    lacking: tuple[str, ...], examined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def finding(name: str) -> Callable[[], Finding]:
        def examine() -> Finding:
            made.append(name)
            return good(name, "")

        return examine

    monkeypatch.setattr(tools, "lacking_for_a_lab", lambda: lacking)
    for name in ("engine", "programs", "leftovers", "af_xdp"):
        monkeypatch.setattr(tools, name, finding(name))
    tools.examine_tools()
    assert ("leftovers" in made, "af_xdp" in made) == (examined, examined)


def test_the_documented_unit_has_the_capabilities_of_another_user(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/privileges.md").read_text()
    (unit,) = re.findall(r"```ini\n(.*?)```", page, re.DOTALL)
    keys = dict(line.split("=", 1) for line in unit.splitlines() if "=" in line)
    for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
        assert set(keys[key].split()) == {*OF_A_LAB, *OF_OTHERS}
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze would check the unit")
    path = tmp_path / "natxy@.service"
    path.write_text(unit.replace("/usr/bin/natxy", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(path)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", CAPABILITIES)
def test_each_is_on_the_page_about_privileges(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs/privileges.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith("| a lab"))
    assert f"`{name}`" in row
