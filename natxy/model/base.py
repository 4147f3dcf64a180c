"""What all models have in common: frozen, strict, closed; and how a validator refuses a value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

REFUSED = "refused"  # the type of the errors that `refuse` raises


class Model(BaseModel):
    # Strict: 1.0 is no whole number and "1" no number; the engine refuses them too.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def refuse(sentence: str, *, member: str = "") -> NoReturn:
    """Refuses the value (or, within a model, this member of it); the sentence follows the value."""
    context = {"sentence": sentence.replace("{", "{{").replace("}", "}}"), "member": member}
    raise PydanticCustomError(REFUSED, "{sentence}", context)


@dataclass(frozen=True)
class Checked:
    """Annotates text with a check that may refuse it, and with what a JSON Schema says of it."""

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
    """Annotates a number with its range, both ends included; the refusal names both."""

    lowest: float
    highest: float

    def check(self, value: float) -> float:
        if not self.lowest <= value <= self.highest:
            refuse(f"is out of range, {self.lowest} to {self.highest} is right")
        return value

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return handler(schema) | {"minimum": self.lowest, "maximum": self.highest}
