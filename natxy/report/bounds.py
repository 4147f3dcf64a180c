"""The signs that mark a figure as a bound."""

from natxy.model.measurement import Bound

SIGNS: dict[Bound, str] = {"exact": "", "lower": "≥ ", "upper": "≤ "}
