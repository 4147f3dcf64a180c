"""The JSON Schemas for editors: their names, and the lines in our experiments that name them."""

import json
import os
import tomllib
from pathlib import Path, PurePosixPath
from typing import get_args

import pytest

from natxy.model.experiment_sections import RowKind
from natxy.model.schemas import FOLDER, SCHEMAS
from natxy.report import results_schema

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted(
    path
    for folder in ("", "demo/", "guest/", "tcp/")
    for path in ROOT.glob(f"experiments/{folder}*.toml")
)
DIRECTIVE = "#:schema "
SCHEMA = "schemas/experiment.schema.json"


def installed_as() -> dict[str, str]:
    """The folders of the package, by those of the source tree."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    packages: dict[str, str] = settings["wheel"]["packages"]
    return {source: installed for installed, source in packages.items()}


def named_by(path: Path) -> str:
    """What the first line names, relative to the file."""
    first = path.read_text().splitlines()[0]
    assert first.startswith(DIRECTIVE)
    return first.removeprefix(DIRECTIVE)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_schema_has_a_name_of_its_own(name: str) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    assert schema["$id"] == f"urn:natxy:schema:{name}"
    names = (*SCHEMAS, results_schema.NAME)
    assert {path.name for path in FOLDER.glob("*.json")} == {f"{n}.schema.json" for n in names}


@pytest.mark.parametrize("path", EXPERIMENTS, ids=lambda path: path.stem)
def test_an_experiment_names_its_schema_in_the_tree_and_in_the_package(path: Path) -> None:
    named = named_by(path)
    assert (path.parent / named).resolve() == ROOT / SCHEMA
    folders = installed_as()
    within = path.relative_to(ROOT / "experiments").parent
    here = PurePosixPath(folders["experiments"]) / within
    there = PurePosixPath(folders["schemas"]) / "experiment.schema.json"
    assert os.path.normpath(here / named) == str(there)


def test_the_schema_knows_the_keys_and_kinds_of_an_experiment() -> None:
    schema = json.loads((ROOT / SCHEMA).read_text())
    for path in EXPERIMENTS:
        assert set(tomllib.loads(path.read_text())) <= set(schema["properties"])
    kind = schema["$defs"]["RowSection"]["properties"]["kind"]
    assert kind["enum"] == list(get_args(RowKind))
    assert all(each in " ".join(kind["description"].split()) for each in get_args(RowKind))


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_member_is_explained(name: str) -> None:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    tables = {"the file": schema, **schema["$defs"]}
    assert len(tables) > 9
    unexplained = [
        f"{name}.{key}"
        for name, table in tables.items()
        for key, of in table["properties"].items()
        if not of.get("description", "").strip()
    ]
    assert unexplained == []
