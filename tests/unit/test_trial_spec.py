"""The spec's model against the examples that the engine is tested with too; the schemas."""

from pathlib import Path

import pytest

from natxy.errors import ConfigurationError
from natxy.model.schemas import FOLDER, SCHEMAS, schema_text
from natxy.model.source import Source
from natxy.model.trial_spec import Segment, TrialSpec

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
