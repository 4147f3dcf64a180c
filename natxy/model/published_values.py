"""Columns and rows of a published table, and how a derived row follows from others."""

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from natxy.model.base import Model, refuse
from natxy.model.printed import Printed

NO_VALUE = "–"  # a cell that the document leaves empty
BY_COLUMN = "by column"
Text = Annotated[str, Field(min_length=1)]


class _Cell:
    """Annotates a number or a text of a cell; a union would name its members in errors."""

    def __init__(self, *, any_text: bool) -> None:
        self.any_text = any_text

    def check(self, value: Any) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return value
        if isinstance(value, str) and (self.any_text or value == NO_VALUE):
            return value
        expected = "a number or a text" if self.any_text else f'a number, or "{NO_VALUE}" for none'
        return refuse(f"is not the value of a cell (expected {expected})")

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        text = {"type": "string"} if self.any_text else {"const": NO_VALUE}
        return {"anyOf": [{"type": "number"}, text]}


Number = Annotated[int | float | Literal["–"], _Cell(any_text=False)]
NumberOrText = Annotated[int | float | str, _Cell(any_text=True)]

Rate = Literal["fps", "cps", "1/s"]
Counted = Literal[
    "connections", "frames", "ports", "entries", "cores", "networks", "bytes", "repetitions"
]
Unit = Literal[Rate, Counted, "s", "ms", "%", "times", "by column", ""]
Role = Literal["setting", "measured", "derived"]
Statistic = Literal["median", "minimum", "maximum", "mean", "standard deviation", "P1", "P99", ""]
Rule = Literal["relative scale up", "to previous column", "quotient", "difference", "dispersion"]
OPERANDS: dict[Rule, int] = {
    "relative scale up": 2,  # a / (b x a of the first column), where b is the number of cores
    "to previous column": 1,  # a / a of the previous column
    "quotient": 2,  # a / b
    "difference": 2,  # a - b
    "dispersion": 3,  # (a - b) / c
}


class Derivation(Model):
    """The rule by which the numbers of a row follow from those of other rows or variables."""

    rule: Rule
    of: tuple[Text, ...]  # names of the operands a, b and c

    @model_validator(mode="after")
    def _has_its_operands(self) -> Self:
        wanted = OPERANDS[self.rule]
        if len(self.of) != wanted:
            refuse(
                f'has {len(self.of)} elements (expected {wanted} for "{self.rule}")', member="of"
            )
        return self


class Variable(Model):
    """A value that differs from column to column."""

    variable: Text
    unit: Unit
    values: Annotated[tuple[NumberOrText, ...], Field(min_length=1)]
    printed: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_as_printed(self) -> Self:
        check_printed(self.values, self.printed, scale=1)
        return self


class Row(Model):
    """One row: a setting, a figure that was measured, or one derived from other rows."""

    label: Text
    role: Role
    figure: str = ""  # Natxy's name for it; required in a measured row
    statistic: Statistic = ""
    device: str = ""
    unit: Unit
    scale: Literal[1, 1000, 1000000] = 1  # by which the document divides what it prints
    values: tuple[Number, ...]
    printed: tuple[str, ...] = ()  # required unless all are whole numbers, printed in full
    derived: Derivation | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.role == "derived") != (self.derived is not None):
            said = "is missing" if self.derived is None else f"is not for a {self.role} row"
            refuse(f'{said} (expected only where role = "derived")', member="derived")
        if self.role == "measured" and not self.figure:
            refuse('"" does not name a figure (expected one such as "throughput")', member="figure")
        check_printed(self.values, self.printed, scale=self.scale)
        return self


def check_printed(values: Sequence[float | str], printed: Sequence[str], *, scale: int) -> None:
    """Refuses values that are not as printed, or whose printed texts are needed and missing."""
    if not printed:
        shortened = [each for each in values if isinstance(each, float)]
        if scale != 1 or shortened:
            refuse(
                "is missing (expected the texts of values that are not whole, or are scaled)",
                member="printed",
            )
        return
    if len(printed) != len(values):
        refuse(
            f"has {len(printed)} elements (expected {len(values)}, one for each value)",
            member="printed",
        )
    for text, value in zip(printed, values, strict=True):
        read = Printed.read(text, scale)
        if isinstance(value, str):
            agrees = value != NO_VALUE or text == NO_VALUE
        else:
            agrees = read is not None and read.agrees(value)
        if not agrees:
            refuse(f'"{text}" is not {value} (expected its text)', member="printed")
