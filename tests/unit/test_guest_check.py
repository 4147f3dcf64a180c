"""`natxy dut check guest/...`: what building and running the guest needs."""

import json
import platform
import re
import shutil
from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.doctor import duts
from natxy.doctor.finding import Finding
from natxy.guest import build, image, packages
from natxy.guest.image import usable_image
from natxy.guest.packages import Packages


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, on a machine that has all that is needed."""
    folder = tmp_path / "cache"
    monkeypatch.setenv(image.VARIABLE, str(folder))
    monkeypatch.setattr(duts, "_has_library", lambda: True)
    without(monkeypatch)
    return folder


def without(monkeypatch: pytest.MonkeyPatch, *missing: str) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name in missing else f"/bin/{name}")


def fill_cache() -> None:
    def make(_: Packages, folder: Path) -> None:
        for name in image.FILES:
            (folder / name).write_text(name)

    usable_image(lambda: Packages(names=("one",), identity="one_1_all.deb S:1"), make)


def graded(finding: Finding) -> tuple[str, str]:
    return finding.grade, finding.state


def test_a_guest_that_is_not_built_can_be_built(cache: Path) -> None:
    assert graded(duts.build()) == ("good", f"not built; the first start builds it in {cache}")


@pytest.mark.parametrize("program", ["apt-get", "dpkg-deb", "make", "gcc"])
def test_without_a_program_no_guest_is_built(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, program)
    found = duts.build()
    assert graded(found) == ("impossible", f"not built; missing to build it: {program}")
    assert found.remedy == "tools/install build guest  # on Debian"


def test_without_its_library_no_guest_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(image.VARIABLE, "/nonexistent")
    monkeypatch.setattr(duts, "LIBRARY", "libabsent.so.1")
    assert duts.build().state.endswith("libabsent.so.1")


def test_a_guest_in_the_cache_serves_until_its_packages_are_old(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_cache()
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    state = f"built on {image.built_on(folder)}, in {folder}"
    assert graded(duts.build()) == ("good", state)
    without(monkeypatch, "gcc", "make")
    found = duts.build()
    assert graded(found) == ("costs", f"{state}; missing to build it again: gcc, make")
    assert found.cost.startswith("no trial through it once Debian has a newer version")
    (folder / "initramfs").write_text("damaged")
    assert graded(duts.build())[0] == "impossible"


@pytest.mark.parametrize("missing", [["apt-cache"], ["apt-get"], ["apt-cache", "apt-get", "gcc"]])
def test_without_apt_a_guest_in_the_cache_serves_and_gets_old(
    missing: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As natxy/guest/image.py does, which takes the last guest where apt cannot be run."""
    fill_cache()
    without(monkeypatch, *missing)
    found = duts.build()
    assert found.grade == "costs"
    assert found.cost == "the guest stays as it is when Debian has newer versions of its packages"


def test_another_processor_has_no_guest_and_nothing_is_said_of_building_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert run_command(["dut", "check", "guest/jool", "--json"]) == 1
    findings = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert set(findings) == {"privileges", "engine", "QEMU", "architecture"}
    assert findings["architecture"]["grade"] == "impossible"
    assert findings["architecture"]["state"] == "aarch64"


def test_all_that_the_build_executes_is_looked_for() -> None:
    source = "".join(Path(str(module.__file__)).read_text() for module in (build, packages))
    executed = set(re.findall(r'(?:_run|_apt|run)\(\[\s*"([a-z-]+)"', source))
    assert executed == {*duts.BUILDS} - {"gcc"}  # which make starts
