"""The search for a rate, which is a condition of its figure."""

from typing import Literal

from natxy.model.base import Model


class SearchConditions(Model):
    """Attributes of the search; all goals share those that RFC 9971 asks to report."""

    method: Literal["bisection", "mlr"] = "bisection"
    # How often a failed trial is repeated before its rate fails; None: MLRsearch.
    loss_verifications: int | None = None
    exceed_ratio: float | None = None  # of an MLRsearch goal, like the next two; None: bisection
    duration_sum_s: float | None = None
    initial_duration_s: float | None = None
