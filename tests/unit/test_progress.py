"""The live panel: what is offered, received and missing, and a search that narrows."""

from io import StringIO

import pytest
from rich.console import Console

from natxy.cli.now_and_then import Lines, NowAndThen, watching
from natxy.cli.progress import BAR_CHARACTERS, Narrowing, SearchDisplay, found_by
from natxy.model.distribution import Distribution
from natxy.model.event import ByDirection, Progress
from natxy.model.measurement import Figure
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.trial.observer import Observer
from tests.unit.results import result_of, stream_of

NO_LIMIT_FPS = 8_589_934_592  # where a search without a limit ends


def test_a_range_without_a_known_end_has_no_number_there() -> None:
    search = Narrowing()
    search.narrow(0, NO_LIMIT_FPS)
    search.narrow(64_000, NO_LIMIT_FPS)
    assert str(search) == "64,000 … ?"


def test_a_search_is_a_line_that_narrows() -> None:
    search = Narrowing()
    search.narrow(64_000, NO_LIMIT_FPS)
    lengths = []
    for lower, upper in ((64_000, 128_000), (96_000, 128_000), (96_000, 112_000)):
        search.narrow(lower, upper)
        words = str(search)
        assert words.startswith(f"{lower:,} … {upper:,}  ")
        bar = words.rpartition("  ")[2]
        assert len(bar) == BAR_CHARACTERS
        lengths.append(bar.count("█"))
    assert lengths == [
        BAR_CHARACTERS,
        BAR_CHARACTERS // 2,
        pytest.approx(BAR_CHARACTERS / 4, abs=1),
    ]
    search.narrow(96_000, 96_001)
    assert str(search).count("█") == 1, "the end is seen as well"


def test_a_measurement_at_one_rate_searches_nothing() -> None:
    search = Narrowing()
    search.narrow(20_000, 20_000)
    assert str(search) == ""


def progress(elapsed_s: int, sent: int, received: int, stage: str = "sending") -> Progress:
    return Progress.model_validate(
        {
            "event": "progress",
            "id": 1,
            "stage": stage,
            "elapsed_ns": elapsed_s * 10**9,
            "duration_ns": 10 * 10**9,
            "sent": ByDirection(forward=sent, reverse=0),
            "received": ByDirection(forward=received, reverse=0),
        }
    )


def ended(*, sent: int, lost: int) -> TrialRecord:
    stream = stream_of(sent=sent, missing=lost)
    kinds = stream.kinds
    assert kinds.foreground is not None
    delay = Distribution.of([2000.0] * 9 + [8000.0])
    counters = kinds.foreground.model_copy(update={"delay": delay})
    changed = stream.model_copy(update={"kinds": kinds.model_copy(update={"foreground": counters})})
    return TrialRecord.model_construct(  # type: ignore[call-arg]
        number=1,
        repetition=1,
        rate_fps=100_000,
        counted_fps=None,
        verdict=Verdict.FAIL,
        invalid_reasons=(),
        lost_connections=None,
        fail_reason=None,
        result=result_of(changed),
    )


class Screen:
    """What a terminal shows, a row of the panel each."""

    def __init__(self) -> None:
        self._file = StringIO()
        self.console = Console(
            file=self._file, width=80, force_terminal=True, color_system=None, legacy_windows=False
        )

    def rows(self) -> dict[str, str]:
        newest = self._file.getvalue().split("title")[-1]
        rows = [line.rstrip().partition(" ") for line in newest.splitlines() if line.strip()]
        return {name: words.strip() for name, _, words in rows}


def test_the_panel_shows_what_is_offered_received_and_missing() -> None:
    screen = Screen()
    with SearchDisplay(screen.console, "title") as display:
        display.repetition_started(1, 3)
        display.trial_started(100_000, (64_000, NO_LIMIT_FPS))
        display.trial_progressed(progress(1, 100_000, 99_000))
        display.trial_progressed(progress(2, 200_000, 189_000))
        rows = screen.rows()
        assert rows["offered"].startswith("100,000 frames a second per direction  (sending 20%)")
        assert rows["received"] == "→ 90,000 fps"
        assert rows["missing"] == "→ 11,000"
        assert rows["search"] == "64,000 … ?"
        assert "8,589,934,592" not in "".join(rows.values())


def test_a_trial_that_has_ended_shows_its_loss_and_its_delay() -> None:
    screen = Screen()
    with SearchDisplay(screen.console, "title") as display:
        display.repetition_started(1, 3)
        display.trial_started(100_000, (64_000, 100_000))
        display.trial_ended(ended(sent=1000, lost=250))
        rows = screen.rows()
    assert rows["received"] == "→ 75,000 fps"
    assert rows["missing"] == "→ 250"
    assert rows["delay"] == "→ 2 µs (P99.9 8 µs)"


def observer_of(*, is_terminal: bool, quiet: bool = False) -> tuple[Observer, str]:
    file = StringIO()
    console = Console(file=file, width=80, force_terminal=is_terminal)
    lines = None if quiet else Lines(say=lambda line: console.print(line), begun=False)
    with watching(console, "a title", lines) as observer:
        if not is_terminal:
            observer.trial_started(1000, (0, 2000))
            observer.trial_progressed(progress(1, 10, 10))
    return observer, file.getvalue()


@pytest.mark.parametrize("is_terminal", [True, False])
def test_nobody_watches_a_quiet_measurement(is_terminal: bool) -> None:
    observer, text = observer_of(is_terminal=is_terminal, quiet=True)
    assert type(observer) is Observer
    assert not text


def test_a_file_has_a_title_and_then_a_line_now_and_then() -> None:
    observer, text = observer_of(is_terminal=False)
    assert isinstance(observer, NowAndThen)
    assert text.splitlines() == ["a title"]
    watched, _ = observer_of(is_terminal=True)
    assert isinstance(watched, SearchDisplay)


def test_a_repetition_without_a_figure_says_why() -> None:
    figures = [
        Figure(name="system recovery time", unit="s", direction="forward", values=(0.5,)),
        Figure(
            name="system recovery time",
            unit="s",
            direction="reverse",
            values=(),
            missing="no overload",
        ),
    ]
    assert found_by(figures) == (
        "→ system recovery time 500 ms, ← system recovery time: no overload"
    )
