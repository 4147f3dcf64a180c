"""The experiments of the documents that measured Jool, with Jool: the commands of a page."""

from pathlib import Path

import pytest

from tests.documented_experiments import runs_of
from tests.guest.guests import campaign

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
    for cell in campaign(tmp_path / "campaign", *words).values():
        assert cell.begun.provenance["dut"]["software"].startswith("Jool")
