"""Writes the JSON Schemas and examples of events: `python -m natxy.model.schemas [FOLDER]`."""

import json
import sys
from pathlib import Path

from pydantic.json_schema import JsonSchemaMode

from natxy.model.base import Model
from natxy.model.event import ErrorEvent, Hello, Progress, ResultEvent
from natxy.model.example import example
from natxy.model.experiment import Experiment
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec

FOLDER = Path(__file__).parents[2] / "schemas"
EVENTS = "examples/events.json"
SCHEMAS: dict[str, type[Model]] = {
    "trial-spec": TrialSpec,
    "trial-result": TrialResult,
    "experiment": Experiment,  # editors check an experiment's file with it
}


def schema_id(name: str) -> str:
    """Returns the schema's name, which is a URN and no address: nothing needs to load it."""
    return f"urn:natxy:schema:{name}"


def head_of(name: str) -> dict[str, str]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_id(name)}


def schema_text(name: str) -> str:
    # What the engine writes has every member, so the result is described as it is serialized.
    mode: JsonSchemaMode = "serialization" if name == "trial-result" else "validation"
    schema = SCHEMAS[name].model_json_schema(mode=mode)
    return json.dumps(head_of(name) | schema, indent=2, ensure_ascii=False) + "\n"


def events_text() -> str:
    """Returns an example of each event, with all members that the engine writes."""
    events = [example(model) for model in (Hello, Progress, ResultEvent, ErrorEvent)]
    return json.dumps({each["event"]: each for each in events}, indent=2) + "\n"


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    (folder / EVENTS).write_text(events_text(), encoding="utf-8")
    for name in SCHEMAS:
        (folder / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
