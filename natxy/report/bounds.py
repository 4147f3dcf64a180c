"""Values of figures as text, with the signs that mark them as bounds."""

from natxy.model.measurement import Bound, Figure
from natxy.report.numbers import quantity

SIGNS: dict[Bound, str] = {"exact": "", "lower": "≥ ", "upper": "≤ "}


def marked(figure: Figure, value: float) -> str:
    """Returns a value of a figure, such as its median, with its unit: "≥ 2 µs"."""
    return SIGNS[figure.bound(value)] + quantity(value, figure.unit)
