"""Where the programs of the package are looked for."""

import sys
from pathlib import Path

import pytest

from natxy import installed
from natxy.installed import find_program

NAME, VARIABLE = "natxy-engine", "NATXY_ENGINE"


def program(folder: Path) -> Path:
    folder.mkdir()
    path = folder / NAME
    path.touch(0o755)
    return path


def test_each_place_comes_before_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [program(tmp_path / name) for name in ("named", "python", "package", "path")]
    monkeypatch.setenv(VARIABLE, str(places[0]))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python" / "python3"))
    monkeypatch.setattr(installed, "PACKAGED", tmp_path / "package")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    for place in places:
        assert find_program(NAME, VARIABLE) == str(place)
        monkeypatch.delenv(VARIABLE, raising=False)
        place.unlink()
    with pytest.raises(FileNotFoundError, match=f"{NAME}: was not found"):
        find_program(NAME, VARIABLE)
