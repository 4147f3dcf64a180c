"""The JSON Schema of results.json: what Natxy writes is valid, and nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from natxy.cli import run_command
from natxy.model.measurement import Figure, SearchConditions, TrialCounts
from natxy.model.remark import Remark, Topic
from natxy.model.schemas import FOLDER
from natxy.report.results_json import result_entry
from natxy.report.results_schema import NAME, schema_text
from tests.unit.campaigns import run
from tests.unit.clauses import SHORT_TRIALS
from tests.unit.measurement_report import measurement

Entries = list[dict[str, Any]]
PATH = FOLDER / f"{NAME}.schema.json"


@pytest.fixture(scope="module")
def faults() -> Callable[[Entries], list[str]]:
    schema = json.loads(PATH.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    def found(entries: Entries) -> list[str]:
        as_read = json.loads(json.dumps(entries))
        return [f"{each.json_path}: {each.message}" for each in validator.iter_errors(as_read)]

    return found


def test_the_file_is_that_of_the_models() -> None:
    assert PATH.read_text() == schema_text(), "`make schemas` writes it anew"


def test_the_results_of_a_campaign_are_valid(
    experiment: Path, tmp_path: Path, faults: Callable[[Entries], list[str]]
) -> None:
    run(experiment, tmp_path / "campaign")
    entries: Entries = json.loads((tmp_path / "campaign" / "results.json").read_text())
    assert len(entries) == 8
    assert faults(entries) == []


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "words",
    [
        ["pdv", "--rate", "1000"],
        ["throughput", "--max-rate", "20000"],
        ["frame-loss", "--rates", "9"],
    ],
    ids=lambda words: str(words[0]),
)
def test_the_results_of_a_measurement_are_valid(
    words: list[str], testbed_file: Path, tmp_path: Path, faults: Callable[[Entries], list[str]]
) -> None:
    name, *options = words
    common = ["--profile", "quick", "--duration", "0.01", "--repetitions", "1"]
    made = tmp_path / "made"
    assert run_command([name, str(testbed_file), *options, *common, "--output", str(made)]) == 0
    assert faults(json.loads((made / "results.json").read_text())) == []


def entry(**changes: Any) -> dict[str, Any]:
    missing = Figure(name="frame loss rate", unit="%", values=(), missing="no valid trial")
    known: dict[str, Any] = {
        "figures": (Figure(name="PDV", unit="ns", values=(1.5,), errors=(0.5,)), missing),
        "deviations": (SHORT_TRIALS,),
        "remarks": (Remark.of(Topic.RATE_GIVEN),),
        "counts": TrialCounts(trials=3, invalid_trials=1),
    }
    return {**result_entry(measurement(**known)), **changes}


def test_what_may_be_missing_is_valid(faults: Callable[[Entries], list[str]]) -> None:
    search = SearchConditions(error="1 %", error_fps=10)
    conditions = measurement().conditions.model_copy(update={"search": search})
    searched = result_entry(measurement(conditions=conditions))
    assert faults([entry(), searched]) == []


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"conforms": "yes"}, "$[0].conforms"),
        ({"frame_size_bytes": None}, "$[0].frame_size_bytes"),
        ({"of_another_program": 1}, "$[0]"),
        ({"figures": [{"figure": "PDV"}]}, "$[0].figures[0]"),
        ({"remarks": ["a sentence"]}, "$[0].remarks[0]"),
    ],
)
def test_what_natxy_does_not_write_is_not_valid(
    changes: dict[str, Any], place: str, faults: Callable[[Entries], list[str]]
) -> None:
    assert any(fault.startswith(f"{place}: ") for fault in faults([entry(**changes)]))


@pytest.mark.parametrize("name", ["procedure", "figures", "trials", "conforms"])
def test_what_each_entry_has_is_needed(name: str, faults: Callable[[Entries], list[str]]) -> None:
    shorter = {key: value for key, value in entry().items() if key != name}
    assert faults([shorter]) == [f"$[0]: '{name}' is a required property"]
