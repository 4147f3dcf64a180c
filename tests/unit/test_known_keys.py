"""Keys of the testbed that an experiment names: unknown ones are refused, unset ones are shown."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from natxy.campaign.plan import check_keys
from natxy.cli import run_command
from natxy.errors import ConfigurationError
from natxy.model.experiment import Experiment
from natxy.report.campaign_table import campaign_table
from tests.unit.campaigns import EXPERIMENT

PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "header.key": lambda key: {"header": ({"key": key},)},
    "row.x": lambda key: {"row": ({"kind": "per", "of": "throughput", "x": key},)},
    "expensive": lambda key: {"expensive": (key,)},
}


def experiment_with(**sections: Any) -> Experiment:
    named = {"title": "x", "testbed": "x.toml", "measure": ({"command": "throughput"},)}
    return Experiment.model_validate(named | sections)


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    "key", ["core", "connections.counts", "dut.hashsize", "dut.kind.x", "traffic.n.x"]
)
def test_a_key_that_no_testbed_has_is_refused(where: str, key: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        check_keys(experiment_with(**PLACES[where](key)))
    assert str(refused.value).startswith(f'{where}: no testbed has the key "{key}" (expected ')


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize(
    "key",
    [
        "cores",
        "traffic.n",
        "traffic.forward.source_port.max",
        "connections.count",
        "connections.sample",
        "tester.left.device",
        "dut.driver",
        "dut.hash_size",
        "dut.nat.entries",
        "dut.variables.anything",
    ],
)
def test_a_key_that_some_testbed_can_have_passes(where: str, key: str) -> None:
    check_keys(experiment_with(**PLACES[where](key)))


def test_a_column_is_no_key_but_can_be_expensive() -> None:
    check_keys(experiment_with(**PLACES["expensive"]("column")))
    for where in ("header.key", "row.x"):
        with pytest.raises(ConfigurationError, match=f'{where}: no testbed has the key "column"'):
            check_keys(experiment_with(**PLACES[where]("column")))


def test_the_plan_refuses_an_unknown_key(
    experiment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment.write_text(EXPERIMENT + '\n[[header]]\nkey = "traffic.framesize"\n')
    assert run_command(["plan", str(experiment)]) == 2
    assert 'header.key: no testbed has the key "traffic.framesize"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "testbed", "shown"),
    [
        ("traffic.frame_size_bytes", {}, ""),
        ("traffic.dscp", {}, "any"),
        ("traffic.frame_size_bytes", {"traffic": {"frame_size_bytes": 1518}}, "1,518"),
        ("connections.sample", {"connections": {"count": 1000}}, "100"),
        ("connections.sample", {}, ""),
        ("traffic.dscp", {"traffic": {"m": 1}, "cores": 4}, "any"),
        ("dut.hash_size", {"dut": {"kind": "namespace"}}, ""),
        ("traffic.frame_size_bytes", {"traffic": {"of": "another release"}}, ""),
    ],
)
def test_a_header_has_the_value_that_is_set_or_else_the_default(
    key: str, testbed: dict[str, Any], shown: str
) -> None:
    of = experiment_with(column=({"label": "a"},), header=({"key": key},))
    row = campaign_table(of, {"a": testbed}, []).rows[0]
    assert [value.text for value in row.values] == [shown]
