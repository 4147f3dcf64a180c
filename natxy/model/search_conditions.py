"""How a rate was searched for: a condition of its figure."""

from typing import Literal

from natxy.model.base import Model


class SearchConditions(Model):
    """RFC 9971 wants all attributes of a goal reported; they are the same for all goals here."""

    method: Literal["bisection", "mlr"] = "bisection"
    # How often a FAIL is repeated before its rate fails; None: MLRsearch.
    loss_verifications: int | None = None
    exceed_ratio: float | None = None  # a goal's attribute, as the next two; None: bisection
    duration_sum_s: float | None = None
    initial_duration_s: float | None = None
