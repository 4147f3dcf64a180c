"""Refuses keys that no testbed has, such as misspelt ones: their rows would be empty."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from natxy.dut.config import DutConfig
from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import COLUMN, CORES
from natxy.model.testbed import Testbed


def check_keys(experiment: Experiment) -> None:
    """Raises ConfigurationError if the experiment names a key that is in no testbed."""
    for where, key in _keys(experiment):
        section, *path = key.split(".")
        known = _has(DutConfig, path) if section == "dut" else _has(Testbed, [section, *path])
        if key != CORES and not known:
            raise ConfigurationError(
                f'{where}: no testbed has the key "{key}" (expected one such as '
                f'"connections.count", or "{CORES}")'
            )


def _keys(experiment: Experiment) -> Iterator[tuple[str, str]]:
    yield from (("expensive", key) for key in experiment.expensive if key != COLUMN)
    yield from (("header.key", header.key) for header in experiment.header)
    yield from (("row.x", row.x) for row in experiment.row if row.x)


def _has(kind: Any, path: Sequence[str]) -> bool:
    """Returns whether values of a type can have a member at this path."""
    if not path or get_origin(kind) is dict:
        return True  # the keys of such a table are not known here
    if isinstance(kind, type) and issubclass(kind, Model):
        member = kind.model_fields.get(path[0])
        return member is not None and _has(member.annotation, path[1:])
    return any(_has(each, path) for each in get_args(kind))
