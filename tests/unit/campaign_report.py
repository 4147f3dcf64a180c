"""What tests of campaign report share with others."""

import json
from typing import Any

from natxy.model.experiment import Experiment
from natxy.model.measurement import Figure, Measurement
from natxy.report.cell_figures import CellResult
from tests.unit.measurement_report import measurement as some_measurement

SCALE_UP = Experiment.model_validate_json(
    json.dumps(
        {
            "title": "Scale up & more",
            "testbed": "testbed.toml",
            "vary": [{"key": "dut.cores", "values": [1, 2, 4], "label": "{} cores"}],
            "measure": [
                {"command": "throughput", "both_directions": True},
                {"command": "throughput", "label": "forwarding", "both_directions": True},
            ],
            "header": [{"key": "dut.cores", "label": "num. CPU cores"}],
            "row": [
                {"kind": "relative scale-up", "of": "throughput", "x": "dut.cores"},
                {"kind": "ratio to the previous", "of": "throughput"},
                {"kind": "ratio", "of": "throughput", "to": "forwarding"},
                {"kind": "dispersion", "of": "throughput"},
                {"kind": "per", "of": "throughput", "x": "dut.cores", "label": "per core"},
            ],
        }
    )
)
TESTBEDS: dict[str, dict[str, Any]] = {f"{n} cores": {"dut": {"cores": n}} for n in (1, 2, 4)}


def measurement(*values: float, lower: bool = False) -> Measurement:
    figure = Figure(
        name="throughput", unit="fps", values=values, lower_bound=(lower,) * len(values)
    )
    return some_measurement(procedure="throughput", figures=(figure,))


def cell(column: str, *values: float, measure: str = "throughput", **more: Any) -> CellResult:
    lower = more.pop("lower", False)
    results = (measurement(*values, lower=lower),) if values else ()
    return CellResult(column=column, measure=measure, round=1, results=results, **more)
