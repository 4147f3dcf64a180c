"""The experiments of the documents that measured Jool, with Jool: the commands of a page."""

from itertools import chain, repeat
from pathlib import Path

import pytest

from natxy.campaign.records import read_campaign
from tests.command import natxy
from tests.documented_experiments import runs_of
from tests.valid import valid_run

SHORT = ("sp-table-04",)  # 10 s; the others take up to six minutes


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(
            words,
            id=Path(words[1]).stem,
            marks=() if Path(words[1]).stem in SHORT else pytest.mark.long,
        )
        for words in runs_of("jool.md")
    ],
)
def test_an_experiment_of_the_documents_runs_with_jool(words: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    commands = chain(
        [(*words, "--output", str(folder))],
        repeat(("resume", str(folder), "--retry")),  # what noise has spoilt
    )
    done = valid_run(lambda: natxy(*next(commands), timeout_s=1200))
    assert done.returncode == 0, done.stderr[-2000:]
    cells = read_campaign(folder / "journal.jsonl.gz").cells.values()
    assert cells
    for cell in cells:
        assert cell.begun.provenance["dut"]["software"].startswith("Jool")
        assert cell.results
        assert sum(result.counts.misdelivered for result in cell.results) == 0
