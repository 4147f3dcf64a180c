"""The search for a rate, which is a condition of its figure."""

from typing import Literal

from natxy.model.base import Model

MaximumOrigin = Literal["media", "given", "none"]


class SearchConditions(Model):
    """Attributes of the search; all goals share those that RFC 9971 asks to report."""

    method: Literal["bisection", "mlr"] = "bisection"
    error: str | None = None  # as the user gave it; None: the goals of MLRsearch have widths
    # At the highest rate that was found, in the figure's unit; None: not a search for one rate.
    error_fps: int | None = None
    maximum_fps: int | None = None  # the highest rate that the search may try; None: unknown
    maximum_origin: MaximumOrigin | None = None  # None: not recorded
    loss_accepted: str | None = None  # empty: none; None: each goal of MLRsearch has its own
    burst_frames: int = 1  # 1: steady traffic; else rates are means over bursts and silence
    burst_rate_fps: int | None = None  # within a burst
    # How often a failed trial is repeated before its rate fails; None: MLRsearch.
    loss_verifications: int | None = None
    exceed_ratio: float | None = None  # of an MLRsearch goal, like the next two; None: bisection
    duration_sum_s: float | None = None
    initial_duration_s: float | None = None
