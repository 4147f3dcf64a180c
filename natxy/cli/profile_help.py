"""Help of the options whose defaults differ between commands, with these defaults in numbers."""

import copy
from collections.abc import Mapping
from typing import Annotated, Any

from natxy.trial.profile import Profile


def profile_help(profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Returns the help of each option, by the option's name in SeriesOptions."""
    rfc, quick = profiles["rfc"], profiles["quick"]
    duration, drain, settle = (
        _default(getattr(rfc.timing, name), getattr(quick.timing, name))
        for name in ("duration_s", "drain_s", "settle_s")
    )
    if quick.buffer_frames is not None:
        duration = duration.replace("]", ", less at high rates]")
    repetitions = _default(rfc.repetitions, quick.repetitions)
    return {
        "profile": "Defaults of the options: rfc has the values that the RFCs ask for, quick has "
        "short trials for a first look; the help of each option shows both.",
        "duration": f"Seconds during which a trial sends frames {duration}.",
        "drain": f"Seconds during which a trial still receives after its last frame {drain}.",
        "settle": f"Seconds between two trials {settle}.",
        "repetitions": f"Number of repetitions of the measurement {repetitions}.",
        "establishment_rate": "Rate of phase 1, in connections a second [default: the testbed's; "
        "if it has none, Natxy first searches for the highest rate of new connections and uses "
        "half of it].",
    }


def with_help(annotation: Any, text: str) -> Any:
    """Returns an option's annotation with this help."""
    option = copy.copy(annotation.__metadata__[0])
    option.help = text
    form: Any = Annotated
    return form[annotation.__origin__, option]


def _default(rfc: Any, quick: Any) -> str:
    return f"[default: {float(rfc):g}; quick: {float(quick):g}]"
