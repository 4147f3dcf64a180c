"""What is told to package managers: ranges for users, a lock for the project, a citation."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tools.requirements import groups

ROOT = Path(__file__).parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
GROUPS = groups(PYPROJECT)
FOR_USERS = ("run", *PYPROJECT["project"]["optional-dependencies"])
LOCKED = dict(
    line.split("==")
    for line in (ROOT / "requirements.lock").read_text().splitlines()
    if not line.startswith("#")
)


def name_of(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


@pytest.mark.parametrize("group", GROUPS)
def test_the_lock_has_a_version_in_each_range(group: str) -> None:
    locked = {name_of(name): version for name, version in LOCKED.items()}
    for each in map(Requirement, GROUPS[group]):
        assert each.specifier.contains(locked[name_of(each.name)]), each


@pytest.mark.parametrize("group", FOR_USERS)
def test_users_get_ranges(group: str) -> None:
    pinned = [each for each in GROUPS[group] if "==" in each]
    assert not pinned


def test_the_targets_of_make_install_what_the_lock_has() -> None:
    makefile = (ROOT / "Makefile").read_text()
    installs = re.findall(r"^.*\$\(REQUIREMENTS\) .*$", makefile, re.MULTILINE)
    assert len(installs) > 4
    assert [line for line in installs if "$(PINNED)" not in line] == []


def test_the_citation_is_of_this_project() -> None:
    """The members and their forms are those of the Citation File Format 1.2.0."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert all(each.keys() <= {"name", "website"} and each["name"] for each in citation["authors"])
    assert len(set(citation["keywords"])) == len(citation["keywords"])
    project = PYPROJECT["project"]
    assert citation["version"] == project["version"]
    assert citation["license"] == project["license"]
