"""What tests of drawings share with others."""

from typing import Any

from natxy.report.charts import Chart
from natxy.report.drawings import specification


def layers_of(chart: Chart) -> list[dict[str, Any]]:
    """Returns the layers of a chart's drawing, whose marks all have a type."""
    spec = specification(chart)
    layers: list[dict[str, Any]] = spec.get("layer") or [spec]
    return layers


def marks_of(chart: Chart) -> list[str]:
    return [layer["mark"]["type"] for layer in layers_of(chart)]
