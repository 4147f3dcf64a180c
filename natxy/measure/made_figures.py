"""Figures beside an establishment rate: what the trials at this rate have made."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Protocol

from natxy.model.measurement import Figure
from natxy.model.phase_names import ACKNOWLEDGE
from natxy.model.stream_counters import ConnectionCounters
from natxy.model.trial_record import TrialRecord

HANDSHAKES = "TCP handshakes"


class Found(Protocol):
    """The result of one search for the rate."""

    @property
    def trials(self) -> tuple[TrialRecord, ...]: ...


def handshake_figures(
    rate: Figure, alpha: Fraction | None, found: Sequence[Found]
) -> tuple[Figure, ...]:
    """Returns whole handshakes of TCP a second; none if the trials are not TCP.

    The three phases follow each other; that of the SYN/ACKs has alpha times the rate.
    """
    trials = (trial for each in found for trial in each.trials)
    if not any(trial.result.stream_of(ACKNOWLEDGE) for trial in trials):
        return ()
    phases = 2 + 1 / (alpha or Fraction(1))  # in times of the first phase
    values = tuple(float(value / phases) for value in rate.values)
    return (rate.model_copy(update={"name": HANDSHAKES, "values": values, "primary": False}),)


def drawn_figures(found: Iterable[ConnectionCounters | None]) -> tuple[Figure, ...]:
    """Returns the figures of connections drawn with repetition, where a combination that is drawn
    again is not a new connection (MP Table 23).

    `found` has what each search made at its rate, or None. If it is not known of all, there are no
    figures.
    """
    made = list(found)
    drawn = [of for of in made if of is not None and of.known]
    if not drawn or len(drawn) < len(made):
        return ()
    return (
        Figure(
            name="connections",
            unit="connections",
            values=tuple(float(of.new) for of in drawn),
            primary=False,
        ),
        Figure(
            name="ending new connection ratio",
            unit="%",
            values=tuple(of.ending_new_percent for of in drawn),
            primary=False,
        ),
    )
