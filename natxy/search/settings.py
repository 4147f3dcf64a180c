"""Settings that several searches have."""

from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.setting import Setting


def error_of(number: str, *, ends: str = "End the search") -> Setting:
    """Returns the setting of the error at which a search ends; `number` says what 100 counts."""
    return Setting(
        "error",
        f"{ends} when the rate is known to within this error: a share of the rate, or {number} "
        "such as 100",
        "ERROR",
        default="0.1%",
    )


def max_rate_of(
    name: str, unit: str, *, what: str = "Highest rate to try", default: str = "the media's rate"
) -> Setting:
    """Returns the setting of the highest rate of a search; `unit` is that of the rate, in words."""
    is_fps = unit.startswith("frames")  # its range depends on the duration of a trial
    return Setting(
        name,
        f"{what}, in {unit}",
        "FPS" if is_fps else "CPS",
        option="max-rate",
        default=default,
        lowest=None if is_fps else 1,
        highest=None if is_fps else MAX_RATE_FPS,
        short="Highest rate to try",
    )


MAX_RATE = max_rate_of("max_rate_fps", "frames a second per direction")
