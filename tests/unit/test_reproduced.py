"""docs/reference/reproduced.md has a section for each published table and figure."""

import re
from pathlib import Path

from natxy.model.published import read_published

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/reproduced.md").read_text()
PUBLISHED = sorted((ROOT / "experiments/published").glob("*.toml"))


def test_each_published_table_and_figure_has_a_section() -> None:
    sources = [read_published(file).source for file in PUBLISHED]
    named = {f"{each.document} {each.kind.title()} {each.number}" for each in sources}
    assert len(named) == 36
    assert sorted(re.findall(r"^## (.*)$", PAGE, re.MULTILINE)) == sorted(named)


def test_each_section_has_figures_measured_here_or_says_that_it_has_none() -> None:
    _, *sections = re.split(r"^## .*$", PAGE, flags=re.MULTILINE)
    for section in sections:
        assert ", here" in section or "Not measured here" in section or "draws" in section
