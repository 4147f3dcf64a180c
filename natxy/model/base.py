"""The base class of all models, and the checks that refuse a value."""

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from textwrap import dedent
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

REFUSED = "refused"  # the type of the errors that `refuse` raises


class Model(BaseModel):
    """The JSON Schema of a model explains a member with the text that stands below it."""

    # Strict as the engine is: 1.0 is not a whole number, and "1" is not a number.
    # A model is built when it is first used, because a command uses few of them.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core)
        members = handler.resolve_ref_schema(schema)["properties"]
        for name, text in explanations(cls).items():
            members[name]["description"] = text
        return schema


def explanations(model: type[Model]) -> Mapping[str, str]:
    """Returns the texts below the members of a model, by member.

    They are read only on request: pydantic's `use_attribute_docstrings` reads the source of every
    model when a command starts.
    """
    texts = {}
    for each in reversed(model.__mro__):
        if not issubclass(each, Model) or each.__pydantic_generic_metadata__["origin"]:
            continue  # a generic class with its types filled in has no source
        source = dedent(inspect.getsource(each))
        (tree,) = ast.parse(source).body
        assert isinstance(tree, ast.ClassDef)
        for member, below in pairwise(tree.body):
            match member, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str() as text)),
                ):
                    texts[name] = inspect.cleandoc(text)
    return texts


# Annotates a member of a result that the package adds: the engine does not write it.
ADDED = "added by the package"


def refuse(sentence: str, *, member: str = "") -> NoReturn:
    """Refuses a value, or a member of a model; without `member`, the sentence follows the value."""
    context = {"sentence": sentence.replace("{", "{{").replace("}", "}}"), "member": member}
    raise PydanticCustomError(REFUSED, "{sentence}", context)


@dataclass(frozen=True)
class Checked:
    """Annotates a value with a check that may refuse it, and with members of its JSON Schema."""

    check: Callable[[Any], Any]
    schema: tuple[tuple[str, Any], ...] = ()

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | dict(self.schema)


class Between(Checked):
    """Annotates a number with its range, both ends included."""

    def __init__(self, lowest: float, highest: float, meaning: str = "") -> None:
        def check(value: float) -> float:
            if not lowest <= value <= highest:
                refuse(f"is out of range (expected {lowest} to {highest}{meaning})")
            return value

        super().__init__(check, (("minimum", lowest), ("maximum", highest)))

    @property
    def lowest(self) -> Any:
        return dict(self.schema)["minimum"]


Count = Annotated[int, Between(0, 2**64 - 1)]
