"""A lab needs capabilities, whoever has them."""

import os
from pathlib import Path

import pytest

from natxy.dut import capabilities
from natxy.dut.capabilities import NUMBERS, OF_A_LAB, lacking_for_a_lab
from natxy.dut.namespaces import need_capabilities
from natxy.errors import DutError


@pytest.fixture
def holding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setattr(capabilities, "STATUS", tmp_path / "status")
    return monkeypatch


def hold(holding: pytest.MonkeyPatch, *names: str, user: int = 0) -> None:
    mask = sum(1 << NUMBERS[name] for name in names)
    capabilities.STATUS.write_text(f"Name:\tx\nCapPrm:\tffff\nCapEff:\t{mask:016x}\nCapBnd:\tff\n")
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


@pytest.mark.parametrize("name", NUMBERS)
def test_each_is_on_the_page_about_privileges(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs/privileges.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith("| a lab"))
    assert f"`{name}`" in row
