"""What tests of campaign notes share with others."""

from natxy.model.experiment import Experiment
from natxy.model.measurement import Measurement
from natxy.report.campaign_notes import campaign_notes
from natxy.report.cell_figures import CellResult


def experiment(*, both_directions: bool) -> Experiment:
    measure = {"command": "throughput", "both_directions": both_directions}
    return Experiment.model_validate(
        {"title": "some", "testbed": "testbed.toml", "measure": [measure]}, strict=False
    )


def report_notes(*results: Measurement) -> list[str]:
    """Returns the notes of a report of these results, a column each."""
    columns = tuple(result.conditions.dut for result in results)
    cells = [
        CellResult(column=column, measure=result.procedure, round=1, results=(result,))
        for column, result in zip(columns, results, strict=True)
    ]
    return campaign_notes(experiment(both_directions=False), columns, cells)
