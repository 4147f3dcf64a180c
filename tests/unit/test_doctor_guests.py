"""What is said of the guest before it is started: what building one, or not, costs."""

import platform
import shutil
from pathlib import Path

import pytest

from natxy.doctor import guests
from natxy.doctor.finding import NOTHING, Grade
from natxy.guest import image
from natxy.guest.image import usable_image
from natxy.guest.packages import PROCESSOR, Packages


@pytest.fixture(autouse=True)
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that can build the guest, and has none."""
    monkeypatch.setenv(image.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(guests, "LIBRARY", "libc.so.6")
    monkeypatch.setattr(platform, "machine", lambda: PROCESSOR)
    without(monkeypatch)


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name in missing else f"/bin/{name}")


def build_one() -> None:
    def make(_: Packages, folder: Path) -> None:
        for name in image.FILES:
            (folder / name).touch()

    usable_image(lambda: Packages(names=("one",), identity="one"), make)


def test_a_guest_that_can_be_built_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    assert guests.build().grade is Grade.GOOD
    without(monkeypatch, "gcc")
    found = guests.build()
    assert (found.grade, found.cost) == (Grade.IMPOSSIBLE, NOTHING)
    assert found.state == "not built; missing to build it: gcc"


def test_a_guest_without_a_compiler_serves_until_a_package_is_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    build_one()
    assert guests.build().grade is Grade.GOOD
    without(monkeypatch, "gcc")
    found = guests.build()
    assert found.grade is Grade.COSTS
    assert found.cost.startswith("no trial through it once Debian has a newer version")


@pytest.mark.parametrize("missing", [["apt-cache"], ["apt-get"], ["apt-cache", "apt-get", "gcc"]])
def test_without_apt_a_guest_serves_and_gets_old(
    monkeypatch: pytest.MonkeyPatch, missing: list[str]
) -> None:
    """As natxy/guest/image.py does, which takes the last guest where apt cannot be run."""
    build_one()
    without(monkeypatch, *missing)
    found = guests.build()
    assert found.grade is Grade.COSTS
    assert found.cost == "the guest stays as it is when Debian has newer versions of its packages"


def test_nothing_is_said_of_a_build_on_a_processor_that_cannot_have_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "guest" in {each.name for each in guests.examine_guest()}
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    found = {each.name: each for each in guests.examine_guest()}
    assert found["architecture"].grade is Grade.IMPOSSIBLE
    assert found["architecture"].state == "aarch64"
    assert "guest" not in found
