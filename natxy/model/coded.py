"""Statements about a trial or a result: a code, where, and facts. The code has the sentence."""

from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, Generic, Self, TypeVar

from pydantic import Field
from pydantic_core import CoreSchema, core_schema

from natxy.model.base import Model, refuse

Fact = float | str | tuple[float, ...] | tuple[str, ...] | dict[str, float]  # the last: by names


def duration(nanoseconds: float) -> str:
    """Returns a duration with three digits and its unit: 850 ns, 12.3 µs, 4.56 ms, 7.89 s."""
    for limit, divisor, unit in ((1e3, 1.0, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if nanoseconds < limit * 0.9995:
            return f"{_three_digits(nanoseconds / divisor)} {unit}"
    return f"{_three_digits(nanoseconds / 1e9)} s"


def _three_digits(value: float) -> str:
    if value == int(value) and value < 1000:
        return str(int(value))
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f}"


# How a number is shown, by the end of its name. Any other number is a count.
UNITS: dict[str, Callable[[float], str]] = {
    "ns": duration,
    "s": "{:g} s".format,
    "share": lambda share: f"{share * 100:g} %",  # as it was given
    "percent": lambda percent: f"{_digits(percent)} %",  # as it was measured
    "points": "{:.3g} percentage points".format,
    "hz": "{:.2g}".format,
    "bytes": "{:g}".format,
    "ratio": "{:g}".format,
}


def _digits(percent: float) -> str:
    """Returns three digits, or so many that a part does not look like all."""
    return next(
        shown
        for digits in range(3, 20)
        if float(shown := f"{percent:.{digits}g}") != 100 or percent == 100
    )


class Sentences(Enum):
    """An enumeration of codes, each with its sentence. JSON has the code, which is its name.

    Braces of a sentence have `where` or the name of a fact.
    """

    @property
    def code(self) -> str:
        return self.name.lower()

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: Any) -> CoreSchema:
        def read(code: Any) -> Sentences:
            found = code if isinstance(code, cls) else cls.__members__.get(str(code).upper())
            return found or refuse(f"is unknown (expected {', '.join(m.code for m in cls)})")

        written = core_schema.plain_serializer_function_ser_schema(lambda member: member.code)
        return core_schema.no_info_plain_validator_function(read, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(cls, *_: Any) -> dict[str, Any]:
        return {"enum": [member.code for member in cls], "type": "string"}


C = TypeVar("C", bound=Sentences)
F = TypeVar("F")  # what its facts may be


class Statement(Model, Generic[C, F]):
    """A code, where, and the facts of its sentence, by names that end in their unit."""

    code: C
    """The code, which has a sentence."""
    where: str = ""
    """What the sentence is about."""
    facts: Mapping[str, F] = Field(default_factory=dict)
    """The facts of the sentence, by names that end in their unit."""

    @classmethod
    def of(cls, code: C, where: str = "", /, **facts: F | Fraction) -> Self:
        return cls(code=code, where=where, facts=exact_facts(facts))

    def __hash__(self) -> int:
        return hash(str(self))

    def __str__(self) -> str:
        return filled(self.code.value, self.where, self.facts)


def filled(sentence: str, where: str, facts: Mapping[str, Any]) -> str:
    """Returns the sentence; `where` stands before one that does not name it."""
    where = f"{where} port" if where in ("left", "right") else where
    shown = {name: Shown(_shown(name, fact)) for name, fact in facts.items()}
    prefix = f"{where}: " if where and "{where}" not in sentence else ""
    return prefix + sentence.format(where=where, **shown)


class Shown(str):
    """A fact as a person reads it; `{trials:trial}` of a sentence is "1 trial" or "2 trials"."""

    def __format__(self, noun: str) -> str:
        if not noun:
            return str(self)
        plural = "es" if noun.endswith("ch") else "s"
        return f"{self} {noun}{plural * (self != '1')}"


def exact_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: float(f) if isinstance(f, Fraction | int) else f for name, f in facts.items()}


def _shown(name: str, fact: Any) -> str:
    if isinstance(fact, str | Statement):
        return str(fact)
    if isinstance(fact, tuple):
        each = [_shown(name, one) for one in fact]
        each[:-1] = [one.removesuffix(" %") for one in each[:-1]]
        return ("; " if any("," in one for one in each) else ", ").join(each)
    if isinstance(fact, dict):
        return ", ".join(f"{of} {_shown(name, one)}" for of, one in fact.items())
    return UNITS.get(name.rpartition("_")[2], "{:,.0f}".format)(fact)
