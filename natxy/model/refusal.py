"""Turns an error of pydantic into one sentence: where, what is wrong, what was expected."""

import difflib
import json
import types
import typing
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from natxy.model.base import REFUSED

_SHOWN_CHARACTERS = 60
_TYPE_SENTENCES = {
    "int_type": "is not a whole number",
    "int_from_float": "is not a whole number",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "bool_type": "is not a truth value (expected true or false)",
    "string_type": 'is not a text (expected one such as "...")',
    "model_type": "is not a table of keys and values",
    "model_attributes_type": "is not a table of keys and values",
    "dict_type": "is not a table of keys and values",
    "tuple_type": "is not a list (expected one such as [...])",
    "list_type": "is not a list (expected one such as [...])",
}


def first_refusal(error: ValidationError, model: Any) -> tuple[tuple[str, ...], str]:
    """Returns the path of the first wrong member, and the sentence about it."""
    details = error.errors(include_url=False)
    # A misspelled key is often the reason why another one is missing, so it is reported first.
    first = next((e for e in details if e["type"] == "extra_forbidden"), details[0])
    return _path(first), _sentence(first, model)


def path_text(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".[", "[")


def shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _path(error: ErrorDetails) -> tuple[str, ...]:
    located = tuple(f"[{part}]" if isinstance(part, int) else part for part in error["loc"])
    member = error.get("ctx", {}).get("member", "") if error["type"] == REFUSED else ""
    return (*located, *member.split(".")) if member else located


def _sentence(error: ErrorDetails, model: Any) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == REFUSED:
        # With a member, the input is the whole model, and the sentence contains the value itself.
        start = "" if context["member"] else f"{shown(error['input'])} "
        return start + str(context["sentence"]).replace("{{", "{").replace("}}", "}")
    if kind == "missing":
        return "is missing (expected a value)"
    if kind == "extra_forbidden":
        return _unknown_key(error, model)
    if kind in ("literal_error", "enum"):
        return f"unknown value {shown(error['input'])} (expected {context['expected']})"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _unknown_tag(error)
    if kind in ("too_short", "too_long"):
        return _wrong_length(error)
    if kind in _TYPE_SENTENCES:
        return f"{shown(error['input'])} {_TYPE_SENTENCES[kind]}"
    return f"{shown(error['input'])} is wrong: {error['msg'][0].lower()}{error['msg'][1:]}"


def _unknown_key(error: ErrorDetails, model: Any) -> str:
    known = sorted(_keys_at(model, error["loc"][:-1]))
    near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1, cutoff=0.7)
    if near:
        return f"is not a known key, did you mean {near[0]}?"
    if not known:
        return "is not a known key"
    return f"is not a known key (expected one of {', '.join(known)})"


def _unknown_tag(error: ErrorDetails) -> str:
    context = error["ctx"]
    key = str(context["discriminator"]).strip("'")
    if error["type"] == "union_tag_not_found":
        return f"the key {key} is missing (expected a value)"
    return f'unknown {key} "{context["tag"]}" (expected one of {context["expected_tags"]})'


def _wrong_length(error: ErrorDetails) -> str:
    context = error["ctx"]
    few = error["type"] == "too_short"
    limit = f"at least {context['min_length']}" if few else f"at most {context['max_length']}"
    return f"has {context['actual_length']} elements (expected {limit})"


def _keys_at(annotation: Any, path: tuple[int | str, ...]) -> set[str]:
    """Returns the keys that a table at this path may have."""
    if not path:
        return {key for model in _models(annotation) for key in model.model_fields}
    head, rest = path[0], path[1:]
    if typing.get_origin(_plain(annotation)) is dict:  # `head` is a name that the user chose
        return _keys_at(typing.get_args(_plain(annotation))[1], rest)
    if isinstance(head, int):
        return set().union(*(_keys_at(a, rest) for a in typing.get_args(_plain(annotation))))
    inner = [m.model_fields[head].annotation for m in _models(annotation) if head in m.model_fields]
    if inner:
        return set().union(*(_keys_at(a, rest) for a in inner))
    return _keys_at(annotation, rest)  # `head` is the tag of a union, which is not a key


def _plain(annotation: Any) -> Any:
    while typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    return annotation


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    plain = _plain(annotation)
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        yield plain
    elif typing.get_origin(plain) in (typing.Union, types.UnionType):
        for member in typing.get_args(plain):
            yield from _models(member)
