"""What changes how a figure is read, each in one short line; measurement_notes.py says all.

One sentence says whether results conform to their RFCs.
"""

from collections.abc import Iterator, Mapping, Sequence

from natxy.model.coded import filled
from natxy.model.deviation import Differs
from natxy.model.measurement import Bound, Measurement, TrialCounts
from natxy.model.remark import BOUNDS, Topic
from natxy.report.measurement_notes import counted

MOST = 2
MUCH_AWAY = 1 / 10  # of the time
LOWER, UPPER = "≥ is a lower bound: ", "≤ is an upper bound: "
UPPER_BOUNDS = {Topic.UPPER_BOUND, Topic.CORRECTED_IS_BOUND, Topic.LOST_AT_MOST}
NOT_RUN = "{lacking} of {asked} repetitions were not run to their end."
NOT_USED = "Not all of the {number} {units} were used."
# The most important ones first. An empty text is the remark's own sentence.
SHORT: Mapping[Topic, str] = {
    Topic.NO_FIGURE: "",
    Topic.LOST_AT_EVERY_RATE: "0: {what} were lost at every rate tried.",
    Topic.LOWEST_RATE: "0: no rate passed; the lowest rate tried is {least_fps} fps.",
    Topic.LOWEST_RATE_OF_BURSTS: "0: no rate passed; the lowest rate tried is {least_fps} fps.",
    Topic.NO_BURST_FILLS: "No figure: no burst fills a buffer, as the throughput is too high.",
    Topic.BOUND_BY_TESTER: LOWER + "the tester can do no more.",
    Topic.BOUND_BY_NOISE: LOWER + "noise hides what is above it (natxy doctor).",
    Topic.BOUND_UNEXPLAINED: LOWER + "the rate does not explain the losses above it.",
    Topic.BOUND_VARIES: LOWER + "a trial that failed forwarded more.",
    Topic.BOUND_BY_MAXIMUM: LOWER + "the highest rate to try passed.",
    Topic.PASSED_ABOVE: "",
    Topic.BOUND_OF_CAPACITY: LOWER + "trials of {connections:connection} stay invalid.",
    Topic.UPPER_BOUND: UPPER + "the gateway or the tester was kept from its CPU.",
    Topic.LOST_AT_MOST: UPPER + "no trial was valid, and noise explains a part of the loss.",
    Topic.UNCERTAIN: "( ) is an uncertain rate: use more connections.",
    Topic.LACKING_BY_RETRY_TIME: NOT_RUN,
    Topic.LACKING_BY_PATIENCE: NOT_RUN,
    Topic.LACKING: NOT_RUN,
    Topic.FEW_VALID: "{valid:trial} valid, {invalid} not.",
    Topic.FEW_VALID_BY_RETRY_TIME: "{valid:trial} valid, {invalid} not.",
    Topic.PORT_REFUSED: "Above this rate, the tester's port refused frames.",
    Topic.MEDIA: "",
    Topic.OVERLOAD_SLOWS: "A little above it, the gateway forwarded only {rate} {unit}.",
    Topic.PAUSES: "The losses above it are holes of {typical_ns}: the gateway pauses.",
    Topic.CHANCE: "Above it, the gateway loses one frame in {frames} by chance.",
    Topic.COLLAPSED: "{dut} collapsed {times:time} and was started again.",
    Topic.CORRECTED_UNKNOWN: "The corrected buffer time is unknown: all is lower bounds.",
    Topic.CORRECTED_IS_BOUND: UPPER + "the throughput may be higher.",
    Topic.DRAIN_TOO_SHORT: "The buffer may be larger: use a longer drain.",
    Topic.LOST_TO_END: "",
    Topic.NOTHING_LOST: "",
    Topic.NO_OVERLOAD: "No recovery without an overload: in a trial, no frame was lost.",
    Topic.RESET_UNWATCHED: "Noise may have lengthened the reset.",
    Topic.RATE_IS_BOUND: "The rate is a lower bound of the throughput.",
    Topic.NO_COMPARISON: "",
    Topic.BOUND_DOES_NOT_DEGRADE: "",
    Topic.ZERO_DOES_NOT_DEGRADE: "There is no degradation of a figure that may be 0.",
    Topic.FEW_IN_BURST: NOT_USED,
    Topic.FEW_IN_TRIAL: NOT_USED,
    Topic.FEW_IN_TRIALS: NOT_USED,
    Topic.FEW_IN_PARTS: "Not all flows were used.",
    Topic.FEW_IN_STEPS: "Not all flows were used.",
}
FIRST = (Differs.DURATION, Differs.DURATIONS)
LAST = (Differs.DRAIN, Differs.SETTLE)


def brief_notes(results: Sequence[Measurement], bounds: set[Bound]) -> list[str]:
    """Returns at most two lines, the most important ones; `bounds` are those of what is shown."""
    notes = list(dict.fromkeys([*_of_remarks(results, bounds), *_counted(results)]))
    if len(notes) <= MOST:
        return notes
    return [*notes[: MOST - 1], f"{len(notes) - MOST + 1} more notes on how to read it: -v."]


def _of_remarks(results: Sequence[Measurement], bounds: set[Bound]) -> Iterator[str]:
    remarks = {remark.code: remark for result in results for remark in result.remarks}
    if "lower" in bounds and not BOUNDS & set(remarks):
        yield f"{LOWER}no higher value was tried, or its trials were invalid."
    if "upper" in bounds and not UPPER_BOUNDS & set(remarks):
        yield f"{UPPER}the error of the tester may be as large as the figure."
    for code, short in SHORT.items():
        if code in remarks and not (code in BOUNDS and "lower" not in bounds):
            yield filled(short or code.value, remarks[code].where, remarks[code].facts)


def _counted(results: Sequence[Measurement]) -> Iterator[str]:
    counts = TrialCounts.total(result.counts for result in results)
    noise = counts.disturbance
    if noise.taker and noise.away_ns >= MUCH_AWAY * noise.sending_ns:
        share = f"{100 * noise.away_ns / noise.sending_ns:.0f} %"
        yield f"{noise.taker} had the gateway's CPU for {share} of the time: is it the gateway's?"
    if counts.lost_connections:
        yield f"{counts.lost_connections:,} trials failed because the gateway lost connections."
    yield from counted(counts, "misdelivered", "changed", "duplicated")
    shared = [said for result in results for said in result.counts.disturbance.shared_cpus]
    yield from (f"{said}." for said in shared[:1])


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
