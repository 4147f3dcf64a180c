"""The spec's model against the examples that the engine is tested with too; the schemas."""

import json

import pytest

from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.event import EVENT
from natxy.model.schemas import EVENTS, FOLDER, SCHEMAS, events_text, schema_text
from natxy.model.source import Source
from natxy.model.trial_spec import TrialSpec
from tests.unit.spec_examples import REFUSED_BY_BOTH, REFUSED_BY_THE_ENGINE, VALID, invalid, valid


def read(spec: object) -> TrialSpec:
    source = Source(name="spec.json", text=json.dumps(spec))
    checked: TrialSpec = source.validated(TrialSpec, source.json())
    return checked


@pytest.mark.parametrize("name", VALID)
def test_valid_examples_are_read_and_written_unchanged(name: str) -> None:
    assert read(valid(name)).model_dump(mode="json", exclude_unset=True) == valid(name)


def members_in(given: object) -> set[tuple[str, str]]:
    """Returns the members that are given, each with the name of its model."""
    if isinstance(given, tuple):
        return {member for each in given for member in members_in(each)}
    if not isinstance(given, Model):
        return set()
    own = {(type(given).__name__, name) for name in given.model_fields_set}
    return own | {m for name in given.model_fields_set for m in members_in(getattr(given, name))}


def test_each_member_is_in_an_example() -> None:
    schema = TrialSpec.model_json_schema()
    models = {"TrialSpec": schema, **schema["$defs"]}
    members = {(name, member) for name, each in models.items() for member in each["properties"]}
    assert {member for name in VALID for member in members_in(read(valid(name)))} == members


@pytest.mark.parametrize("name", VALID)
def test_optional_members_may_be_absent(name: str) -> None:
    spec = read(valid(name))
    assert read(spec.model_dump(mode="json", exclude_defaults=True)) == spec


@pytest.mark.parametrize("name", REFUSED_BY_BOTH)
def test_invalid_examples_are_refused_for_the_member_that_is_wrong(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(invalid(name))
    member = REFUSED_BY_BOTH[name]["refused_for"]
    assert str(refused.value).startswith(f"spec.json: {member}: ")


@pytest.mark.parametrize("name", REFUSED_BY_THE_ENGINE)
def test_members_that_do_not_go_together_are_the_engines(name: str) -> None:
    """The package has no second version of these rules, and can send the engine such a spec."""
    spec = read(invalid(name))
    assert read(spec.model_dump(mode="json")) == spec


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_current(name: str) -> None:
    written = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(name), "`make schemas` writes them anew"


def test_the_examples_of_events_are_current_and_valid() -> None:
    written = (FOLDER / EVENTS).read_text(encoding="utf-8")
    assert written == events_text(), "`make schemas` writes them anew"
    for name, event in json.loads(written).items():
        assert EVENT.validate_json(json.dumps(event)).event == name
