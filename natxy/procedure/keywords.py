"""The keywords with which a program calls a measurement: the settings of its plan and its traffic.

The methods of `natxy.Testbed`, the stubs of their types and their help are made from them.
"""

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, dataclass
from fractions import Fraction
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from natxy.measure.plan import REPETITIONS
from natxy.measure.traffic_settings import (
    CONNECTIONS,
    DIRECTION,
    ESTABLISHMENT_RATE,
    FOREGROUND,
    FRAME_SIZE,
    NETWORKS,
    OF_SERIES,
    OF_TESTBED,
)
from natxy.procedure.defaults import MEASURES, PROFILE, Measure
from natxy.search.bisection import SearchError
from natxy.search.settings import LossTolerance
from natxy.setting import Setting, in_python
from natxy.trial.profile import Profile
from natxy.trial.seeds import SEED

OUTPUT = Setting(
    "output",
    "New folder for the journal and the results (JSON, CSV)",
    default="none; only the returned results hold them",
)
DUT_NAME = Setting("dut_name", "Name of the gateway in the result", default="the gateway's own")
# Fields of plans that no option gives in this form, with the types of their values.
WITHOUT_OPTION = {
    "bursts": (Setting("bursts", "Bursts in place of steady traffic"), "Bursts"),
    "goals": (
        Setting("goals", "Goals of the search", default="the rate without loss"),
        "Sequence[MlrGoal]",
    ),
    "sizes": (
        Setting("sizes", "Numbers of connections and their ports", default="the testbed's"),
        "Sequence[Size]",
    ),
    "columns": (
        Setting("columns", "Connections, ports and table of each column"),
        "Sequence[Column]",
    ),
}
TRAFFIC_TYPES = {
    FRAME_SIZE: 'int | Sequence[int] | Literal["rfc8219"]',
    FOREGROUND: "float | Sequence[float]",
    NETWORKS: "int | Sequence[int]",
    DIRECTION: 'Literal["both", "forward", "reverse"]',
    CONNECTIONS: "int",
    ESTABLISHMENT_RATE: "int",
}
TYPES = {
    int: "int",
    bool: "bool",
    Fraction: "Fraction | float",
    SearchError: "SearchError | str",
    LossTolerance: "LossTolerance | str",
}


@dataclass(frozen=True, kw_only=True)
class Keyword:
    setting: Setting
    type: str  # as a stub has it, without None
    default: str = ""  # in words; empty: none, or that of the profile

    @property
    def name(self) -> str:
        return self.setting.name


def keywords(measure: Measure) -> dict[str, Keyword]:
    """Returns the keywords of a measurement by their names, those of all measurements first."""
    found = [_kept(PROFILE, 'Literal["rfc", "quick"]'), _kept(SEED, "int")]
    found += [_kept(REPETITIONS, "int"), *_of_plans(measure)]
    for each in measure.also:
        setting, kind = WITHOUT_OPTION[each]
        found.append(_kept(setting, kind))
    if measure.of:
        tests = ", ".join(f'"{name}"' for name in measure.tests)
        what = Setting(measure.of, "What is measured: a name, or a plan", default=measure.tests[0])
        found.append(_kept(what, f"Literal[{tests}] | object"))
    found += [_kept(each, TRAFFIC_TYPES[each]) for each in (*OF_SERIES, *OF_TESTBED)]
    found += [_kept(DUT_NAME, "str"), _kept(OUTPUT, "str | Path")]
    return {each.name: each for each in found if each.name not in measure.without}


def _kept(setting: Setting, kind: str) -> Keyword:
    return Keyword(setting=setting, type=kind, default=in_python(setting.default))


def _of_plans(measure: Measure) -> Iterator[Keyword]:
    for field, setting in measure.settings():
        is_told = setting.default or field.default in (MISSING, None, ())
        default = in_python(setting.default) if is_told else _written(field.default)
        yield Keyword(setting=setting, type=_type_of(field.type), default=default)


def _type_of(annotation: Any) -> str:
    kind = get_args(annotation)[0]
    if isinstance(kind, UnionType):
        (kind,) = (each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) is Literal:
        return f"Literal[{', '.join(map(_quoted, get_args(kind)))}]"
    return "Sequence[int]" if get_origin(kind) is tuple else TYPES[kind]


def _quoted(word: str) -> str:
    return f'"{word}"'


def help_of(name: str) -> str:
    """Returns what a measurement does, and each of its keywords with its default."""
    measure = MEASURES[name]
    lines = [inspect.getdoc(measure.run) or "", "", "Args:"]
    for each in keywords(measure).values():
        words = _of_profiles(each, measure) if each.setting.of_profile else each.default
        default = f" [default: {words}]" if words else ""
        lines.append(f"    {each.name}: {in_python(each.setting.help)}{default}.")
    return "\n".join(lines)


def _of_profiles(keyword: Keyword, measure: Measure) -> str:
    rfc, quick = (_of_profile(measure.profiles[each], keyword.name) for each in ("rfc", "quick"))
    return f"{rfc}; quick: {quick}"


def _of_profile(profile: Profile, name: str) -> str:
    return _written(getattr(profile if hasattr(profile, name) else profile.timing, name))


def _written(value: Any) -> str:
    """Returns a value as a person writes it: 0.1 for Fraction(1, 10)."""
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)
