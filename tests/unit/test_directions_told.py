"""A line about a trial or a figure says which direction it is about."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from natxy.campaign.data import read_data
from natxy.campaign.folder import CampaignFolder
from natxy.campaign.report import table_of
from natxy.cli import run_command
from natxy.cli.now_and_then import Lines, NowAndThen
from natxy.cli.serve import live
from natxy.model.measurement import Figure
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Stream
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.found_words import found
from natxy.search.bisection import SearchError
from natxy.trial.timing import Timing
from tests.unit.campaigns import run
from tests.unit.fake_engine import FakeEngine, rate_of
from tests.unit.measurement_report import measurement

PLAN = ThroughputPlan(
    timing=Timing(duration_s=Fraction(1, 100), drain_s=Fraction(0)),
    seed=1,
    repetitions=1,
    error=SearchError(fraction=Fraction(1, 10)),
    max_rate_fps=100_000,
)


def loses(*directions: str) -> FakeEngine:
    """An engine whose gateway loses three frames of these directions above 40,000 fps."""

    def lost(stream: Stream) -> Sequence[int]:
        return (0, 1, 2) if stream.direction in directions and rate_of(stream) > 40_000 else ()

    return FakeEngine(lose=lost)


@pytest.mark.parametrize(
    ("directions", "said"),
    [
        (("forward",), "(lost → 3)"),
        (("reverse",), "(lost ← 3)"),
        (("forward", "reverse"), "(lost → 3, ← 3)"),
    ],
)
def test_a_trial_that_lost_frames_says_of_which_direction(
    directions: tuple[str, ...], said: str, nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("natxy.cli.now_and_then.EVERY_S", 0.0)
    lines: list[str] = []
    observer = NowAndThen(Lines(say=lines.append), unit="fps")
    throughput(PLAN, loses(*directions).session(nat64, observer=observer))
    failed = [line for line in lines if " FAIL" in line]
    assert failed
    assert all(said in line for line in failed)
    passed = [line for line in lines if " PASS" in line]
    assert passed
    assert not any("lost" in line for line in passed)


def test_the_figures_of_a_cell_have_their_directions() -> None:
    both = [
        Figure(name="PDV", direction=direction, unit="ns", values=(1000.0,))
        for direction in ("forward", "reverse")
    ]
    plain = Figure(name="throughput", unit="fps", values=(5.0,))
    (said,) = found([measurement(figures=(*both, plain))], summed=False)
    assert said == "→ PDV 1 µs, ← PDV 1 µs, throughput 5 fps per direction (0.00416 Mbit/s)"


def test_run_and_status_tell_directions_apart(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(experiment, tmp_path / "campaign")
    told = [capsys.readouterr().err]
    assert run_command(["status", str(tmp_path / "campaign")]) == 0
    told.append(capsys.readouterr().out)
    for text in told:
        lines = [line for line in text.splitlines() if "PDV" in line and "repetition" not in line]
        assert lines
        assert all("→ PDV" in line and "← PDV" in line for line in lines)


def test_run_status_serve_and_report_tell_one_figure(
    experiment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A gateway that forwards 50,000 frames a second per direction."""
    written = experiment.read_text()
    experiment.write_text(written.replace('"throughput"', '"throughput"\nboth_directions = true'))
    folder = tmp_path / "campaign"
    run(experiment, folder)
    said = capsys.readouterr().err
    assert run_command(["status", str(folder)]) == 0
    shown = capsys.readouterr().out
    cells = live(CampaignFolder(path=folder))["cells"]
    served = " ".join(str(cell) for cell in cells)
    for text in (said, shown, served):
        assert "throughput 100,000 fps sum of both directions" in text
        assert "throughput 50,000 fps" not in text
    row = table_of(read_data(folder)).rows[0]
    assert [value.text for value in row.values] == ["100,000", "100,000"]
    assert row.title == "throughput, fps sum of both directions"
