"""The experiments of the documents that measured Jool, with Jool: the commands of a page."""

from pathlib import Path

import pytest

from tests.documented_experiments import runs_of
from tests.guest.guests import campaign


@pytest.mark.long
@pytest.mark.parametrize("words", runs_of("jool.md"), ids=lambda words: Path(words[1]).stem)
def test_an_experiment_of_the_documents_runs_with_jool(words: list[str], tmp_path: Path) -> None:
    for cell in campaign(tmp_path / "campaign", *words).values():
        assert cell.begun.provenance["dut"]["software"].startswith("Jool")
