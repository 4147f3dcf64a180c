"""Examples of models: values that say nothing, such as 0, in the shape that a model has."""

from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from natxy.model.base import ADDED, Between, Model
from natxy.model.coded import Sentences


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
