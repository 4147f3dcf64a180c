"""The engine's whole result of a trial, written once although two lines of the journal have it.

The line of a trial has the measured phase in `result` and the earlier phases beside it. The answer
of the engine, which is played on resuming, has all phases in one result. So the answer's line only
has what the trial's line lacks; a whole number in place of a stream is its place among those of the
trial's line.
"""

from typing import Any

Written = dict[str, Any]


def rest_of(answer: Written, trial: Written) -> Written | None:
    """Returns what an answer has that the line of its trial lacks; None: nothing."""
    result, held = trial["result"], _streams(trial)
    rest = {name: value for name, value in answer.items() if result[name] != value}
    streams = [held.index(each) if each in held else each for each in answer["streams"]]
    if streams == list(range(len(result["streams"]))):
        rest.pop("streams", None)
    else:
        rest["streams"] = streams
    return rest or None


def whole(rest: Written | None, trial: Written) -> Written:
    """Returns the answer from its rest and the line of its trial."""
    answer = {**trial["result"], **(rest or {})}
    held = _streams(trial)
    streams = [held[each] if isinstance(each, int) else each for each in answer["streams"]]
    return {**answer, "streams": streams}


def _streams(trial: Written) -> list[Written]:
    """Returns the streams of a trial's line, those of `result` first."""
    early = (trial.get("phase_1"), trial.get("sample"), *trial.get("starting", ()))
    return [*trial["result"]["streams"], *(each for each in early if each)]
