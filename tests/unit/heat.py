"""What tests of heat maps share with others."""

from natxy.model.measurement import Figure
from natxy.report.cell_figures import CellResult
from natxy.report.charts import Chart
from natxy.report.figure_charts import figure_charts
from tests.unit.measurement_report import measurement


def cell(column: str, sizes: tuple[int, ...], flows: tuple[int, ...]) -> CellResult:
    """Throughputs of 1,000,000 / size / flows; that of the last flows of the last size is none."""
    results = []
    for size in sizes:
        figures = [
            Figure(
                name="throughput",
                unit="fps",
                at=f"{number} flows",
                at_value=number,
                at_unit="flows",
                values=(1e6 / size / number,) if (size, number) != (sizes[-1], flows[-1]) else (),
                missing="no valid trial" if (size, number) == (sizes[-1], flows[-1]) else "",
                lower_bound=(True,) if number == flows[0] else (),
            )
            for number in flows
        ]
        conditions = measurement().conditions.model_copy(update={"frame_size_bytes": size})
        results.append(measurement(conditions=conditions, figures=tuple(figures)))
    return CellResult(column=column, measure="overload", round=1, results=tuple(results))


def maps(*cells: CellResult) -> list[Chart]:
    charts = figure_charts([each.column for each in cells], cells)
    return [chart for chart in charts if chart.kind == "heat"]
