"""The spec's model against the examples that the engine is tested with too; the schemas."""

from pathlib import Path

import pytest

from natxy.errors import ConfigurationError
from natxy.model.schemas import FOLDER, SCHEMAS, schema_text
from natxy.model.source import Source
from natxy.model.trial_spec import TrialSpec

EXAMPLES = Path(__file__).parents[2] / "schemas" / "examples" / "spec"
MEMBERS = dict(
    line.split() for line in (EXAMPLES / "invalid" / "members.txt").read_text().splitlines()
)


def read(path: Path) -> TrialSpec:
    source = Source.read(path)
    spec: TrialSpec = source.validated(TrialSpec, source.json())
    return spec


@pytest.mark.parametrize("path", sorted((EXAMPLES / "valid").glob("*.json")), ids=lambda p: p.stem)
def test_valid_examples_are_read_and_written_unchanged(path: Path) -> None:
    assert read(path).model_dump(mode="json") == Source.read(path).json()


@pytest.mark.parametrize("name", sorted(MEMBERS))
def test_invalid_examples_are_refused_for_the_member_that_is_wrong(name: str) -> None:
    path = EXAMPLES / "invalid" / name
    with pytest.raises(ConfigurationError) as refused:
        read(path)
    assert str(refused.value).startswith(f"{path}: {MEMBERS[name]}: ")


def test_every_invalid_example_names_its_member() -> None:
    assert {path.name for path in (EXAMPLES / "invalid").glob("*.json")} == set(MEMBERS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_current(name: str) -> None:
    written = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(name), "`make schemas` writes them anew"
