"""The base class of all models, and the checks that refuse a value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

REFUSED = "refused"  # the type of the errors that `refuse` raises


class Model(BaseModel):
    # Strict as the engine is: 1.0 is not a whole number, and "1" is not a number.
    # A model is built when it is first used, because a command uses few of them.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True
    )


def refuse(sentence: str, *, member: str = "") -> NoReturn:
    """Refuses a value, or a member of a model; without `member`, the sentence follows the value."""
    context = {"sentence": sentence.replace("{", "{{").replace("}", "}}"), "member": member}
    raise PydanticCustomError(REFUSED, "{sentence}", context)


@dataclass(frozen=True)
class Checked:
    """Annotates text with a check that may refuse it, and with members of its JSON Schema."""

    check: Callable[[str], str]
    schema: tuple[tuple[str, str], ...] = ()

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | dict(self.schema)


@dataclass(frozen=True)
class Between:
    """Annotates a number with its range, both ends included."""

    lowest: float
    highest: float
    meaning: str = ""

    def check(self, value: float) -> float:
        if not self.lowest <= value <= self.highest:
            refuse(f"is out of range (expected {self.lowest} to {self.highest}{self.meaning})")
        return value

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"minimum": self.lowest, "maximum": self.highest}


Count = Annotated[int, Between(0, 2**64 - 1)]
