"""The cells of a campaign and their order: a function of the experiment and its seed.

An experiment that names a key that no testbed has, such as a misspelt one, is refused: its rows
would be empty.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args, get_origin

from natxy.dut.config import DutConfig
from natxy.errors import ConfigurationError
from natxy.model.base import Model
from natxy.model.experiment import Experiment
from natxy.model.experiment_sections import (
    COLUMN,
    CORES,
    MAX_CELLS,
    ColumnSection,
    MeasureSection,
    Options,
    merged,
    value_at,
)
from natxy.model.testbed import Testbed
from natxy.trial.seeds import derived


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One measurement in one column, in one round."""

    column: ColumnSection
    measure: MeasureSection
    round: int  # from 1
    testbed: dict[str, Any]  # of the column
    options: Options  # of the command, with those of the experiment and the column
    seed: int

    @property
    def key(self) -> str:
        """The cell's name in the journal, unique in the campaign."""
        return json.dumps([self.column.label, self.measure.name, self.round], ensure_ascii=False)

    @property
    def title(self) -> str:
        return ", ".join(part for part in (self.measure.name, self.column.label) if part)


@dataclass(frozen=True, kw_only=True)
class CampaignPlan:
    experiment: Experiment
    seed: int
    quick: bool
    options: Options = field(default_factory=dict)  # in place of those in the experiment
    labels: tuple[str, ...] | None = None  # of the columns that are measured; None: all
    conditions: dict[str, dict[str, Any]]  # by the label of a column: its testbed, and its cores
    cells: tuple[Cell, ...]  # in the order in which they are measured


def plan_of(
    experiment: Experiment,
    testbed: dict[str, Any],
    seed: int,
    *,
    quick: bool = False,
    options: Options | None = None,
    labels: Sequence[str] | None = None,
) -> CampaignPlan:
    """Returns the cells in their order; `testbed` is the content of the experiment's testbed.

    `options` of every measurement come after those of the experiment, also the columns'. `labels`
    are those of the columns that are measured; None: all.

    Cells with equal values of the expensive keys form a block. Within a block, the rounds follow
    one another; within a round, the order is drawn, so that a drift of the gateway or the machine
    is not taken for an effect of a column.
    """
    asked = quickly(experiment) if quick else experiment
    if labels is not None:
        asked = _only(asked, labels)
    _check_cells(asked)
    base = merged(testbed, asked.changes)
    last = options or {}
    columns = [(column, _testbed(base, column, asked, quick=quick)) for column in asked.columns]
    draw = random.Random(derived(seed, "order"))
    shuffled = asked.order == "shuffled"
    cells: list[Cell] = []
    for block in _blocks(columns, asked.expensive):
        for number in range(1, asked.rounds + 1):
            of_round = list(_cells(asked, block, number, seed, last))
            if shuffled:
                draw.shuffle(of_round)
            cells += of_round
    return CampaignPlan(
        experiment=asked,
        seed=seed,
        quick=quick,
        options=last,
        labels=None if labels is None else tuple(labels),
        conditions={column.label: _conditions((column, testbed)) for column, testbed in columns},
        cells=tuple(cells),
    )


def _check_cells(asked: Experiment) -> None:
    """Refuses more cells than a campaign can have, before they are made."""
    count = len(asked.columns) * len(asked.measure) * asked.rounds
    if count > MAX_CELLS:
        raise ConfigurationError(
            f"rounds: {asked.rounds:,} rounds of {len(asked.columns):,} columns with "
            f"{len(asked.measure):,} measurements make {count:,} cells (expected at most "
            f"{MAX_CELLS:,})"
        )


def plan_again(
    experiment: Experiment, testbed: dict[str, Any], header: Mapping[str, Any]
) -> CampaignPlan:
    """Returns the plan of a campaign that has begun; `header` is the first line of its journal."""
    return plan_of(
        experiment,
        testbed,
        header["seed"],
        quick=header["quick"],
        options=header.get("options", {}),
        labels=header.get("columns"),
    )


def _testbed(
    base: dict[str, Any], column: ColumnSection, asked: Experiment, *, quick: bool
) -> dict[str, Any]:
    testbed = merged(base, column.testbed)
    return merged(merged(testbed, asked.quick.changes), column.quick) if quick else testbed


def quickly(experiment: Experiment) -> Experiment:
    """Returns the experiment as `--quick` runs it: the quick profile, and what [quick] says."""
    kept = experiment.quick.columns
    columns = experiment.columns if kept is None else _only(experiment, kept).columns
    options: Options = {"profile": "quick", **experiment.quick.options}
    return experiment.model_copy(
        update={
            "rounds": experiment.quick.rounds,
            "vary": (),
            "measure": tuple(
                measure.model_copy(update={"options": {**measure.options, **measure.quick}})
                for measure in experiment.measure
            ),
            "column": tuple(
                column.model_copy(update={"options": {**column.options, **options}})
                for column in columns
            ),
        }
    )


def _only(experiment: Experiment, labels: Sequence[str]) -> Experiment:
    columns = tuple(each for each in experiment.columns if each.label in labels)
    return experiment.model_copy(update={"vary": (), "column": columns})


Column = tuple[ColumnSection, dict[str, Any]]


def _blocks(columns: Sequence[Column], expensive: Sequence[str]) -> list[list[Column]]:
    """Returns the columns with equal expensive values together, in the order of the first."""
    blocks: dict[str, list[Column]] = {}
    for column, testbed in columns:
        conditions = {**_conditions((column, testbed)), COLUMN: column.label}
        values = json.dumps(
            [value_at(conditions, key) for key in expensive], sort_keys=True, default=str
        )
        blocks.setdefault(values, []).append((column, testbed))
    return list(blocks.values())


def _conditions(of: Column) -> dict[str, Any]:
    column, testbed = of
    return testbed if column.cores is None else {**testbed, "cores": column.cores}


def _cells(
    experiment: Experiment, block: Sequence[Column], number: int, seed: int, last: Options
) -> Iterator[Cell]:
    for column, testbed in block:
        for measure in experiment.measure:
            if measure.columns is not None and column.label not in measure.columns:
                continue
            yield Cell(
                column=column,
                measure=measure,
                round=number,
                testbed=merged(_without(testbed, measure.without), measure.testbed),
                options={**experiment.options, **measure.options, **column.options, **last},
                seed=derived(seed, f"{column.label} {measure.name} {number}") % 2**63,
            )


def _without(testbed: dict[str, Any], sections: Sequence[str]) -> dict[str, Any]:
    return {name: section for name, section in testbed.items() if name not in sections}


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
