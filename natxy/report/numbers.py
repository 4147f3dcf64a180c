"""Numbers as text for people, with the signs that mark them as bounds."""

from natxy.model.coded import duration
from natxy.model.measurement import Bound, Figure, Unit

SIGNS: dict[Bound, str] = {"exact": "", "lower": "≥ ", "upper": "≤ "}
ARROWS: dict[str | None, str] = {
    "forward": "→",
    "reverse": "←",
    None: "",
}  # of a direction
SIGNED = ("minimum IPDV", "median IPDV", "degradation")  # names of figures that can be below 0


def rate(rate_fps: float) -> str:
    """Returns frames a second as 1,234,567; a median between two rates below 1,000 gets a decimal.

    Rates below 10, such as those per connection, have four digits.
    """
    if abs(rate_fps) < 10:
        return f"{rate_fps:.4g}"
    is_whole = rate_fps == int(rate_fps) or abs(rate_fps) >= 1000
    return f"{rate_fps:,.0f}" if is_whole else f"{rate_fps:,.1f}"


def seconds_left(seconds: float) -> str:
    """Returns 50 s, 10 min 50 s or 2 h 5 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def about(seconds: float) -> str:
    """Returns an estimated duration, which needs no more than two digits or so: 3.4 h, 12 days."""
    for limit, divisor, unit in ((100.0, 1.0, "s"), (6e3, 60.0, "min"), (172_800.0, 3600.0, "h")):
        if seconds < limit:
            return f"{_two_digits(seconds / divisor)} {unit}"
    return f"{_two_digits(seconds / 86_400)} days"


def _two_digits(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 and value != int(value) else f"{value:.0f}"


def quantity(value: float, unit: Unit) -> str:
    if unit == "ns":
        return f"-{duration(-value)}" if value < 0 else duration(value)
    if unit == "s":
        return quantity(value * 1e9, "ns")
    if unit == "%":
        return "0 %" if value == 0 else f"{value:.4g} %"
    if unit == "times":
        return f"{value:.4g}"
    return rate(value)


def marked(figure: Figure, value: float) -> str:
    """Returns a value of a figure, such as its median, with its unit: "≥ 2 µs"."""
    return SIGNS[figure.bound(value)] + quantity(value, figure.unit)


def with_bound(figure: Figure) -> tuple[float, Bound]:
    """Returns the median or mean that is the figure's benchmark. If its error is as large as
    itself, only the sum of both is known, as an upper bound."""
    number, bound = figure.benchmark, figure.benchmark_bound
    error = figure.benchmark_error
    if bound != "exact" or not error or error < number or figure.name.startswith(SIGNED):
        return number, bound
    return (min(number + error, 100.0) if figure.unit == "%" else number + error), "upper"


def benchmark(figure: Figure) -> str:
    """Returns the figure's benchmark with its sign and unit, or why there is none."""
    if not figure.values:
        return figure.missing
    number, bound = with_bound(figure)
    return SIGNS[bound] + quantity(number, figure.unit)
