"""Writes the JSON Schemas and examples of events: `python -m natxy.model.schemas [FOLDER]`.

The examples have values that say nothing, such as 0, in the shape that a model has.
"""

import json
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaMode

from natxy.model.base import ADDED, Between, Model
from natxy.model.coded import Sentences
from natxy.model.event import ErrorEvent, Hello, Progress, ResultEvent
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


def example(model: type[Model]) -> dict[str, Any]:
    """Returns all members that the engine writes, and one element of each list of objects."""
    fields = model.model_fields.items()
    return {name: _example(field) for name, field in fields if ADDED not in field.metadata}


def blank(model: type[Model], **members: Any) -> dict[str, Any]:
    """Returns what a model must have, with some members given."""
    return {**_required(model), **members}


@cache
def _required(model: type[Model]) -> Mapping[str, Any]:
    fields = model.model_fields.items()
    return {name: _blank(field) for name, field in fields if field.is_required()}


def _example(field: FieldInfo) -> Any:
    kind: Any = field.annotation
    if get_origin(kind) in (Union, UnionType):  # with None
        kind = get_args(kind)[0]
    if get_origin(kind) is tuple and _is_model(get_args(kind)[0]):
        return (example(get_args(kind)[0]),)
    return example(kind) if _is_model(kind) else _blank(field, kind)


def _blank(field: FieldInfo, kind: Any = None) -> Any:
    kind = kind or field.annotation
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        return None
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    if _is_model(kind):
        return blank(kind)
    if get_origin(kind) is Mapping:
        return {}
    if get_origin(kind) is tuple:
        return ()
    if issubclass(kind, Sentences):
        return next(iter(kind)).code
    if kind is int:
        return max((each.lowest for each in field.metadata if isinstance(each, Between)), default=0)
    return kind()


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Model)


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
