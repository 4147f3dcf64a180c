"""Columns and rows of a published table, and how a derived row follows from others.

A number is as a document prints it: 1,341 or 2^23 or 6.25M or (2,758,621).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from natxy.model.base import Model, refuse

_NUMBER = re.compile(r"\(?(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(M?)\)?")
_POWER = re.compile(r"2\^(\d{1,2})")
_MILLION = 10**6
NO_VALUE = "–"  # a cell that the document leaves empty
BY_COLUMN = "by column"
Text = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class Printed:
    """A printed number, and half of a unit in its last place."""

    value: Decimal
    half_unit: Decimal
    shortened: bool  # to millions, so that the document may mean a number of more digits

    @classmethod
    def read(cls, text: str, scale: int = 1) -> "Printed | None":
        """Returns the number times `scale`, or None if the text is not a number."""
        if power := _POWER.fullmatch(text):
            return cls(Decimal(scale * 2 ** int(power[1])), Decimal(0), shortened=False)
        if not (number := _NUMBER.fullmatch(text)):
            return None
        whole, decimals, suffix = number[1].replace(",", ""), number[2] or "", number[3]
        unit = Decimal(scale * (_MILLION if suffix else 1)).scaleb(-len(decimals))
        return cls(int(whole + decimals) * unit, unit / 2, shortened=bool(suffix))

    def agrees(self, value: float) -> bool:
        """Tells whether `value` is this number or, if it is shortened, rounds to it."""
        away = abs(Decimal(str(value)) - self.value)
        return away <= (self.half_unit if self.shortened else 0)


def _number(value: Any) -> Any:
    if _is_number(value) or value == NO_VALUE:
        return value
    return refuse(f'is not the value of a cell (expected a number, or "{NO_VALUE}" for none)')


def _number_or_text(value: Any) -> Any:
    if _is_number(value) or isinstance(value, str):
        return value
    return refuse("is not the value of a cell (expected a number or a text)")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# Checked as a whole: a union would name its members in errors.
Number = Annotated[int | float | Literal["–"], PlainValidator(_number)]
NumberOrText = Annotated[int | float | str, PlainValidator(_number_or_text)]

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
