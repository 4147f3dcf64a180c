"""Shows the progress of a measurement on a terminal, as a live panel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from natxy.cli.estimate import ERROR_FRACTION, Estimate
from natxy.cli.sentences import say
from natxy.cli.streams import show_beside_panel
from natxy.model.coded import duration
from natxy.model.event import Progress
from natxy.model.measurement import Figure, Unit
from natxy.model.remark import Remark
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.report.numbers import ARROWS, marked, rate
from natxy.trial.observer import Observer

MARKS = {
    Verdict.PASS: ("●", "green"),
    Verdict.FAIL: ("✗", "red"),
    Verdict.INVALID: ("○", "yellow"),
}
FOUND_SHOWN = 5
VERDICTS_SHOWN = 30
BAR_CHARACTERS = 30
SENDING = "sending"
ByWay = Mapping[Direction, str]  # words about each direction


@dataclass
class Narrowing:
    """The range in which a search looks, as a line; its scale is the first range with an end."""

    _first: tuple[int, int] | None = None  # the first range of the repetition
    _scale: tuple[int, int] | None = None
    _range: tuple[int, int] = (0, 0)

    def narrow(self, lower: int, upper: int) -> None:
        self._first = self._first or (lower, upper)
        self._range = (lower, upper)
        if self._scale is None and upper < self._first[1]:
            self._scale = (lower, upper)

    def __str__(self) -> str:
        """Returns the range; what is not known of it is no number."""
        lower, upper = self._range
        if lower == upper:
            return ""
        if self._scale is None:
            return f"{rate(lower)} … ?"
        return f"{rate(lower)} … {rate(upper)}  {self._bar(*self._scale)}"

    def _bar(self, low: int, high: int) -> str:
        begin, end = (
            round((each - low) / (high - low) * BAR_CHARACTERS) if high > low else 0
            for each in self._range
        )
        begin = min(max(begin, 0), BAR_CHARACTERS - 1)
        end = min(max(end, begin + 1), BAR_CHARACTERS)
        return "·" * begin + "█" * (end - begin) + "·" * (BAR_CHARACTERS - end)


class SearchDisplay(Observer):
    """Observes a procedure and draws its progress; a context manager, so that the panel goes."""

    def __init__(
        self,
        console: Console,
        title: str,
        error_fraction: float = ERROR_FRACTION,
        *,
        unit: Unit = "fps",
    ) -> None:
        self._console = console
        self._title = title
        self._unit: Unit = unit
        self._trial_unit: Unit = unit  # differs in a search for phase 1's rate
        self._error_fraction = error_fraction
        self._estimate = Estimate()
        self._repetition, self._repetitions = 0, 0
        self._rate_fps, self._narrowing = 0, Narrowing()
        self._stage, self._share = "", 0.0
        self._connections = ""
        self._before: Progress | None = None  # the newest event while this trial sends
        self._received: ByWay = {}
        self._missing: ByWay = {}
        self._delays: ByWay = {}
        self._verdicts: list[Verdict] = []
        self._found: list[str] = []
        # Events redraw it: a drawing thread would take time from the workers' core.
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        show_beside_panel()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def part_started(self, number: int, count: int) -> None:
        self._estimate.part_started(number, count)

    def repetition_started(self, number: int, count: int) -> None:
        self._repetition, self._repetitions = number, count
        self._verdicts.clear()
        self._narrowing = Narrowing()
        self._estimate.repetition_started(number, count)
        self._draw()

    def trial_started(
        self, rate_fps: int, bracket_fps: tuple[int, int], connections: int | None = None
    ) -> None:
        self._rate_fps, self._before = rate_fps, None
        self._narrowing.narrow(*bracket_fps)
        self._connections = "" if connections is None else f"{connections:,} connections"
        self._trial_unit = self._unit if connections is None else "cps"
        self._stage, self._share = "starting", 0.0
        self._estimate.trial_started(bracket_fps, self._error_fraction)
        self._draw()

    def trial_progressed(self, progress: Progress) -> None:
        self._stage = progress.stage
        self._share = min(1.0, progress.elapsed_ns / max(1, progress.duration_ns))
        if progress.stage == SENDING:
            self._received = _received(self._before, progress) or self._received
            self._before = progress
        self._missing = missing_of(progress)
        self._draw()

    def trial_ended(self, trial: TrialRecord) -> None:
        self._verdicts.append(trial.verdict)
        self._stage = ""
        self._received, self._missing = _received_in(trial), _words(lost_of(trial))
        self._delays = _delays(trial)
        self._estimate.trial_ended()
        self._draw()

    def repetition_ended(self, figures: Sequence[Figure]) -> None:
        self._found.append(found_by(figures))
        self._draw()

    def remarked(self, remark: Remark) -> None:
        say(self._console, str(remark))

    def _draw(self) -> None:
        from rich.table import Table  # a wrong command line needs none

        grid = Table.grid(padding=(0, 2))
        for name, words in self._rows().items():
            if words:
                grid.add_row(name, words)
        self._live.update(Group(Text(self._title, style="bold"), grid), refresh=True)

    def _rows(self) -> dict[str, str | Text]:
        of_phase_1 = self._trial_unit == "cps"
        what = "connections a second" if of_phase_1 else "frames a second per direction"
        trial = f"  ({self._stage} {self._share:.0%})" if self._stage else ""
        left = f", {self._estimate}" if str(self._estimate) else ""
        marks = (Text(*MARKS[verdict]) for verdict in self._verdicts[-VERDICTS_SHOWN:])
        return {
            "repetition": f"{self._repetition} of {self._repetitions}{left}",
            "offered": Text.assemble((rate(self._rate_fps), "bold"), f" {what}{trial}"),
            "trying": self._connections,
            "received": shown(self._received),
            "missing": shown(self._missing),
            "delay": shown(self._delays),
            "search": str(self._narrowing),
            "verdicts": Text(" ").join(marks),
            "found": "; ".join(self._found[-FOUND_SHOWN:]),
        }


def shown(words: ByWay) -> str:
    """Returns what is known of the directions in one line."""
    return "  ".join(f"{ARROWS[way]} {said}" for way, said in words.items())


def _words(counts: Mapping[Direction, int]) -> ByWay:
    return {way: f"{count:,}" for way, count in counts.items()}


def missing_of(progress: Progress) -> ByWay:
    """Returns how many frames were sent and have not arrived, in the directions that are used."""
    sent, received = progress.sent, progress.received
    ways: dict[Direction, tuple[int, int]] = {
        "forward": (sent.forward, received.forward),
        "reverse": (sent.reverse, received.reverse),
    }
    return {way: f"{max(0, out - back):,}" for way, (out, back) in ways.items() if out}


def _received(before: Progress | None, now: Progress) -> ByWay:
    """Returns the rates at which frames arrived between two events of a trial that sends."""
    if before is None or now.elapsed_ns <= before.elapsed_ns:
        return {}
    took_s = (now.elapsed_ns - before.elapsed_ns) / 1e9
    ways: dict[Direction, int] = {
        "forward": now.received.forward - before.received.forward,
        "reverse": now.received.reverse - before.received.reverse,
    }
    return {way: f"{frames / took_s:,.0f} fps" for way, frames in ways.items() if frames}


def _received_in(trial: TrialRecord) -> ByWay:
    """Returns the rates that arrived in a trial that has ended: the share of what was offered."""
    sent: dict[Direction, int] = {}
    for stream, _, counters in trial.result.counters():
        sent[stream.direction] = sent.get(stream.direction, 0) + counters.sent
    return {
        way: f"{trial.rate_fps * (1 - lost / sent[way]):,.0f} fps"
        for way, lost in lost_of(trial).items()
        if sent[way]
    }


def _delays(trial: TrialRecord) -> ByWay:
    """Returns the delays of the foreground frames of a trial that has ended."""
    found: dict[Direction, str] = {}
    for stream, _, counters in trial.result.counters():
        delay = counters.delay
        if delay.count and stream.direction not in found:
            median, rare = duration(delay.p50_ns), duration(delay.p999_ns)
            found[stream.direction] = f"{median} (P99.9 {rare})"
    return found


def lost_of(trial: TrialRecord) -> dict[Direction, int]:
    """Returns how many frames each direction lost in the measured phase."""
    lost: dict[Direction, int] = {}
    for stream, _, counters in trial.result.counters():
        lost[stream.direction] = lost.get(stream.direction, 0) + counters.lost
    return lost


def why_of(trial: TrialRecord) -> str:
    """Returns why a trial did not pass, and how many frames each direction lost."""
    losses = ", ".join(f"{ARROWS[way]} {lost:,}" for way, lost in lost_of(trial).items() if lost)
    reasons = (*trial.invalid_reasons, trial.lost_connections, trial.fail_reason)
    why = str(next(filter(None, reasons), ""))
    return "; ".join(filter(None, (why, f"lost {losses}" if losses else "")))


def asked_clause(trial: TrialRecord) -> str:
    """Returns the rate that was asked for, if the verdict is about another one."""
    return "" if trial.verdict_fps == trial.rate_fps else f" (asked for {rate(trial.rate_fps)})"


def found_by(figures: Sequence[Figure]) -> str:
    """Returns the main figures of a repetition in one line."""
    return ", ".join(
        in_words(figure, figure.shown_name, figure.values[-1])
        if figure.values
        else f"{ARROWS[figure.direction]} {figure.name}: {figure.missing}".strip()
        for figure in figures
        if figure.primary
    )


def in_words(figure: Figure, name: str, value: float) -> str:
    """Returns a value of a figure with its direction and this name."""
    unit = {"fps": " fps per direction", "cps": " cps"}.get(figure.unit, "")
    words = (ARROWS[figure.direction], name, marked(figure, value) + unit)
    return " ".join(word for word in words if word)
