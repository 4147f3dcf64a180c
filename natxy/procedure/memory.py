"""Memory per connection of a stateful gateway, from the telemetry of trials that fill its table."""

from collections.abc import Sequence

from natxy.model.measurement import Figure
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.establishing import connections_held

MEMORY = "memory per connection"
# A system keeps some memory that it does not use. This is little beside so much.
LEAST_GROWTH_BYTES = 2**20


def memory_per_connection(
    repetitions: Sequence[Sequence[TrialRecord]],
) -> tuple[tuple[Figure, ...], str]:
    """Returns the figure, with a value for each repetition, or none; and a remark about it.

    A value is (memory with N connections - memory with none) / N, of the trial with the largest N
    that passed. The memory with none is the least before any trial, since a gateway may keep what
    an earlier trial made it allocate.
    """
    every = [trial.telemetry for trials in repetitions for trial in trials if trial.telemetry]
    empty = [of.memory_before_bytes for of in every if of.memory_before_bytes is not None]
    full = [_fullest(trials) for trials in repetitions]
    if not empty or not full or None in full:
        return (), (
            f"There is no {MEMORY}, because the gateway's memory is not known (expected a gateway "
            'on this machine, or a command "telemetry" in [dut] that prints memory_bytes).'
        )
    found = [(count, used - min(empty)) for count, used in filter(None, full)]
    if (least := min(grown for _, grown in found)) < LEAST_GROWTH_BYTES:
        return (), (
            f"There is no {MEMORY}, because the gateway's memory grew by {max(0, least):,} octets "
            f"only, which may be chance (expected at least {LEAST_GROWTH_BYTES:,}: a larger table)."
        )
    counts = ", ".join(dict.fromkeys(f"{count:,}" for count, _ in found))
    of = every[-1].memory_of
    values = tuple(grown / count for count, grown in found)
    figure = Figure(name=MEMORY, unit="octets", values=values, primary=False)
    return (figure,), f"Memory is that of {of}, with {counts} connections and with none."


def _fullest(trials: Sequence[TrialRecord]) -> tuple[int, int] | None:
    """Returns the most connections of a trial that passed, and the memory after it."""
    known = [
        (connections_held(trial.result), trial.telemetry.memory_bytes)
        for trial in trials
        if trial.verdict is Verdict.PASS
        and trial.telemetry is not None
        and trial.telemetry.memory_bytes is not None
    ]
    return max(known, default=None)
