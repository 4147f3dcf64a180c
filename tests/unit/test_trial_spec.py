"""The spec's model against the examples that the engine is tested with too; the schemas."""

import json

import pytest

from natxy.errors import ConfigurationError
from natxy.model.schemas import FOLDER, SCHEMAS, schema_text
from natxy.model.source import Source
from natxy.model.trial_spec import Segment, TrialSpec
from tests.unit.spec_examples import INVALID, VALID, invalid, valid


def read(spec: object) -> TrialSpec:
    source = Source(name="spec.json", text=json.dumps(spec))
    checked: TrialSpec = source.validated(TrialSpec, source.json())
    return checked


@pytest.mark.parametrize("name", VALID)
def test_valid_examples_are_read_and_written_unchanged(name: str) -> None:
    assert read(valid(name)).model_dump(mode="json") == valid(name)


@pytest.mark.parametrize("name", VALID)
def test_optional_members_may_be_absent(name: str) -> None:
    spec = read(valid(name))
    assert read(spec.model_dump(mode="json", exclude_defaults=True)) == spec


@pytest.mark.parametrize("name", INVALID)
def test_invalid_examples_are_refused_for_the_member_that_is_wrong(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(invalid(name))
    assert str(refused.value).startswith(f"spec.json: {INVALID[name]['refused_for']}: ")


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schemas_are_current(name: str) -> None:
    written = (FOLDER / f"{name}.schema.json").read_text(encoding="utf-8")
    assert written == schema_text(name), "`make schemas` writes them anew"


@pytest.mark.parametrize(
    ("frames", "last_ns"),
    [(0, 0), (1, 0), (4, 3_000), (5, 4_000_000), (10, 8_001_000)],
)
def test_the_last_frame_of_bursts_is_due_in_the_last_burst(frames: int, last_ns: int) -> None:
    """Bursts of 4 at 1,000,000 fps, 1,000 fps in the mean: one each 4 ms."""
    segment = Segment(
        frames=frames, rate_fps=1000, pause_ns=7, burst_frames=4, burst_rate_fps=10**6
    )
    assert segment.last_due_ns == last_ns
    assert segment.duration_ns == frames * 10**6 + 7
