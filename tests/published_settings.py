"""Settings in which an experiment differs from the published table or figure beside it.

Only what both state is compared: where the document is silent (`not_stated`), or a gateway has no
such setting, there is nothing to compare. Machines, versions and rates that suit the gateway are
other matters.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from natxy.campaign.folder import Asked
from natxy.campaign.plan import Cell, plan_of
from natxy.model.experiment import Experiment
from natxy.model.published import Published
from natxy.model.source import Source
from natxy.model.testbed import PortRanges, Testbed
from natxy.report.beside import numbers_of

PHASE_1_ONLY = ("establishment", "capacity", "tear-down")  # commands; their replies only answer
DEFAULTS: Mapping[str, Mapping[str, Any]] = {  # of commands, as far as documents state them
    "latency": {"duration": 120, "tags": 50_000},
    "pdv": {"duration": 60},
    "capacity": {"error": 1},
}
# What a sentence about each setting must contain.
WORDS = {
    "source ports": "ports",
    "destination ports": "ports",
    "first source port": "source ports",
    "reverse flows": "ports",
    "left IP version": "IPv6",
    "right IP version": "IPv6",
    "table entries": "table",
    "hash size": "hash table",
}


@dataclass(frozen=True)
class Difference:
    column: str
    setting: str
    published: object
    here: object

    def is_named(self, sentences: Sequence[str]) -> bool:
        """Returns whether a sentence of the experiment is about this setting."""
        word = WORDS.get(self.setting, self.setting)
        return any(re.search(rf"\b{word}\b", sentence) for sentence in sentences)


def differences(asked: Asked) -> Iterator[Difference]:
    """Yields each setting of each column, of the experiment without `--quick`, that differs."""
    published = asked.published
    assert published is not None
    plan = plan_of(asked.experiment, asked.testbed, 1)
    for cell in plan.cells:
        if cell.round > 1:
            continue
        for number in _columns(asked.experiment, cell, published):
            theirs, ours = _theirs(published, number, cell), _ours(cell, asked.experiment)
            for setting, value in theirs.items():
                if setting in ours and not _agrees(setting, value, ours[setting]):
                    yield Difference(cell.title, setting, value, ours[setting])


def _columns(experiment: Experiment, cell: Cell, published: Published) -> set[int]:
    """Returns the published columns, from 1, beside which the cell's figures stand."""
    named = experiment.published
    assert named is not None
    if published.drawn:
        return {0}
    numbers = {
        numbers_of(pair, experiment)[cell.column.label]
        for pair in named.pair
        if pair.of == cell.measure.name
    }
    return numbers - {0}


def _theirs(published: Published, number: int, cell: Cell) -> dict[str, object]:
    """Returns the settings of a published column, by the names that `_ours` has."""
    traffic, trials, connections = published.traffic, published.trials, published.connections
    stated: dict[str, object] = {
        "left IP version": traffic.left_ip_version,
        "right IP version": traffic.right_ip_version,
        "direction": traffic.direction,
        "networks": traffic.networks,
        "source ports": traffic.source_ports,
        "destination ports": traffic.destination_ports,
        "rate": traffic.rate_fps,
        "repetitions": trials.repetitions,
        "duration": trials.duration_s,
        "tags": trials.tagged_frames,
        "loss": trials.loss_accepted or None,
    }
    if connections is not None and "connections" in cell.testbed:
        stated |= {
            "connections": connections.count,
            "source ports": connections.source_ports,
            "destination ports": connections.destination_ports,
            "first source port": connections.first_source_port,
            "order": connections.order or None,
            "incomplete": connections.incomplete or None,
            "table entries": connections.table_entries,
            "hash size": connections.hash_size,
            "timeout": connections.timeout_s,
            "alpha": connections.alpha,
            "beta": connections.beta,
            "gamma": connections.gamma,
        }
    if len(traffic.frame_sizes_bytes) == 1:
        stated["frame size"] = traffic.frame_sizes_bytes[0]
    if number:
        stated |= _of_column(published, number)
    if "connections" not in cell.testbed:
        stated["connections"] = stated["order"] = None
        stated["reverse flows"] = _product(stated["source ports"], stated["destination ports"])
    if not cell.options.get("validated") and stated.get("alpha") != "none":
        stated["alpha"] = None
    return {setting: value for setting, value in stated.items() if value is not None}


KEYS = {  # of the columns and rows of published tables
    "frame_size_bytes": "frame size",
    "networks": "networks",
    "cores": "cores",
    "connections": "connections",
    "frames": "connections",  # of phase 1: in a repeating order, fewer connections
    "source_ports": "source ports",
    "destination_ports": "destination ports",
    "table_entries": "table entries",
    "hash_size": "hash size",
    "timeout_s": "timeout",
    "order": "order",
    "alpha": "alpha",
    "repetitions": "repetitions",
}


def _of_column(published: Published, number: int) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, setting in KEYS.items():
        is_setting = key in published.rows and published.rows[key].role == "setting"
        if key in published.columns or is_setting:
            wrong = published.misprints.get(key)
            numbers = published.numbers(key)[number - 1]
            text = published.columns[key].values[number - 1] if key in published.columns else None
            found[setting] = text if numbers is None and wrong is None else numbers
    if "ip_version" in published.columns:
        version = published.columns["ip_version"].values[number - 1]
        found |= {"left IP version": version, "right IP version": version}
    if "direction" in published.columns and published.traffic.direction is None:
        found["direction"] = published.columns["direction"].values[number - 1]
    if share := _error_share(published, number):
        found["error"] = share
    return found


def _error_share(published: Published, number: int) -> Fraction | None:
    """Returns the error of the search as a share of the lowest median that was found with it."""
    if "error" not in published.rows:
        return None
    error = published.numbers("error")[number - 1]
    medians = [
        value
        for key, row in published.rows.items()
        if row.role == "measured" and row.statistic == "median"
        if (value := published.numbers(key)[number - 1]) is not None
    ]
    return None if error is None else Fraction(str(error)) / Fraction(str(min(medians)))


def _ours(cell: Cell, experiment: Experiment) -> dict[str, object]:
    testbed: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
    traffic, asked, dut = testbed.traffic, testbed.connections, testbed.dut
    options = {**DEFAULTS.get(cell.measure.command, {}), **cell.options}
    found: dict[str, object] = {
        "left IP version": traffic.left_ip_version,
        "right IP version": traffic.right_ip_version,
        "frame size": traffic.frame_size_bytes,
        "networks": traffic.left_networks,
        "source ports": traffic.forward.source_port.values,
        "destination ports": traffic.forward.destination_port.values,
        "first source port": traffic.forward.source_port.min,
        "repetitions": int(str(options.get("repetitions", 1))) * experiment.rounds,
        "loss": str(options.get("loss", "")),
        "reverse flows": _flows(traffic.reverse),
        "alpha": options.get("alpha", "none"),
        "error": options.get("error"),
        **{key: options[key] for key in ("rate", "duration", "tags", "beta", "gamma")
           if key in options},
    }  # fmt: skip
    if cell.measure.command not in PHASE_1_ONLY:
        found["direction"] = traffic.direction
    if cell.column.cores is not None:
        found["cores"] = cell.column.cores
    if asked is not None:
        found |= {"connections": asked.count, "order": asked.order, "incomplete": asked.incomplete}
    for key, setting in (
        ("conntrack_entries", "table entries"),
        ("hash_size", "hash size"),
        ("udp_timeout_s", "timeout"),
    ):
        if key in dut:
            found[setting] = dut[key]
    return found


ORDERS = {
    "increasing": "increasing",
    "pseudorandom, with repetition": "repeating",
    "pseudorandom, each combination of ports once": "pseudorandom",
}


def _agrees(setting: str, theirs: object, ours: object) -> bool:
    if setting == "order":
        return ORDERS[str(theirs)] == ours
    if setting == "error":
        return _error_agrees(theirs, ours)
    if isinstance(theirs, int | float) and isinstance(ours, int | float):
        return float(theirs) == float(ours)
    return theirs == ours


def _error_agrees(theirs: object, ours: object) -> bool:
    """An error in % has to be no larger than the document's, nor a half of it or less."""
    assert isinstance(theirs, Fraction)
    if not isinstance(ours, str):
        return True  # the document's own number
    share = Fraction(ours.removesuffix("%")) / 100
    return theirs <= share * Fraction(11, 10)


def _flows(ports: PortRanges) -> int:
    return ports.source_port.values * ports.destination_port.values


def _product(one: object, other: object) -> float | None:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return float(str(one)) * float(str(other)) if numbers else None
