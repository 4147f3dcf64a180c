"""What stands before a figure of which only a bound is known."""

from natxy.model.measurement import Bound

SIGNS: dict[Bound, str] = {"exact": "", "lower": "≥ ", "upper": "≤ "}
