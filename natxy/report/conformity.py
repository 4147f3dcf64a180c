"""Whether results conform to their RFCs, in one sentence."""

from collections.abc import Sequence

from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement

FIRST = (Differs.DURATION, Differs.DURATIONS)
LAST = (Differs.DRAIN, Differs.SETTLE)


def conformity(results: Sequence[Measurement], *, brief: bool = False) -> str:
    """Returns what differs most from the RFCs, or that nothing does; empty without results.

    `brief`: for a terminal, where `-v` lists the other deviations.
    """
    references = [result.reference for result in results]
    deviations = list(dict.fromkeys(each for result in results for each in result.deviations))
    if not references:
        return ""
    if not deviations:
        named = ", ".join(dict.fromkeys(filter(None, references)))
        return f"Conforms to {named}" if named else "No RFC defines what was measured"
    first = min(deviations, key=lambda each: (each.code not in FIRST, each.code in LAST))
    more = len({each.code for each in deviations}) - 1
    shown = f"Does not conform: {first.model_copy(update={'clause': ''}) if brief else first}"
    if not more:
        return shown
    if brief:
        return f"{shown}; -v lists {more} more"
    return f"{shown}; {more} more below"
