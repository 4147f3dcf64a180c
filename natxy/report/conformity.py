"""Whether results conform to their RFCs, in one sentence."""

from collections.abc import Sequence

from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement

SHORT = (Differs.DURATION, Differs.DURATIONS)


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
    first = next((each for each in deviations if each.code in SHORT), deviations[0])
    kind = "A quick look" if first.code in SHORT else "Does not conform"
    more = len({each.code for each in deviations}) - 1
    shown = f"{kind}: {first.model_copy(update={'clause': ''}) if brief else first}"
    if not more:
        return shown
    if brief:
        return f"{shown}; -v lists {more} more"
    are = "more deviation is" if more == 1 else "more deviations are"
    return f"{shown}; {more} {are} listed below"
