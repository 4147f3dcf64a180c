"""The examples of the documentation, which tools/samples.py measures again."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert

from natxy.cli.help import GROUPS
from natxy.report.charts import trace_chart
from natxy.report.drawings import picture
from tools import samples
from tools.sample_plots import LOOK, PLOTS

PROCEDURES = sorted((samples.ROOT / "docs/reference").glob("procedures-*.md"))
LARGEST_OCTETS = 60_000  # of a picture
MEASURED = sorted({*GROUPS["Measure"], *GROUPS["Stateful"], "self-test"} - {"trial"})
PAGE = """\
# A page

```console
$ natxy latency a.toml --rate 1
old
```

![A plot](plots/delays.svg)

```console
$ natxy pdv a.toml
older
```
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def measured(arguments: str, picture: Path | None) -> str:
        if "pdv" in arguments:
            raise samples.Failed("natxy pdv a.toml: exit status 1")
        assert picture == tmp_path / "plots/delays.svg"
        return "new\nand newer\n"

    monkeypatch.setattr(samples, "measured", measured)
    path = tmp_path / "page.md"
    path.write_text(PAGE)
    return path


def test_an_example_gets_its_output_and_one_that_fails_stays_as_it_was(page: Path) -> None:
    assert samples.renewed(page, "") == ["natxy pdv a.toml: exit status 1"]
    assert page.read_text() == PAGE.replace("old\n", "new\nand newer\n", 1)


def test_only_the_examples_that_are_asked_for_are_measured(page: Path) -> None:
    assert samples.renewed(page, "establishment") == []
    assert page.read_text() == PAGE


@pytest.mark.parametrize("page", PROCEDURES, ids=lambda page: str(page.stem))
def test_each_page_of_procedures_has_an_example_and_a_plot_of_one(page: Path) -> None:
    text = page.read_text()
    examples = list(samples.EXAMPLE.finditer(text))
    assert examples
    drawn = [each["file"] for each in examples if each["file"]]
    assert drawn
    assert sorted(drawn) == sorted(re.findall(r"!\[[^\]]*\]\(([^)]*)\)", text)), (
        "each picture follows the example from which it is drawn"
    )
    for file in drawn:
        assert 0 < (page.parent / file).stat().st_size < LARGEST_OCTETS


def test_each_plot_is_known_and_shown_once() -> None:
    files = [
        each["file"]
        for page in PROCEDURES
        for each in samples.EXAMPLE.finditer(page.read_text())
        if each["file"]
    ]
    assert sorted(files) == sorted(f"plots/{name}" for name in PLOTS)
    folder = samples.ROOT / "docs/reference/plots"
    assert {path.name for path in folder.iterdir()} == set(PLOTS)


@pytest.mark.parametrize("procedure", MEASURED)
def test_each_procedure_has_an_example(procedure: str) -> None:
    commands = [
        each["arguments"].split()[0]
        for page in PROCEDURES
        for each in samples.EXAMPLE.finditer(page.read_text())
    ]
    assert procedure in commands


def test_a_plot_has_the_title_the_axes_and_the_legend_of_its_chart() -> None:
    """The HTML report writes title and legend around a chart; a file has nothing around it."""
    chart = trace_chart(
        [
            {
                "cell": "a",
                "number": number,
                "repetition": 1,
                "quantity": "frames",
                "tried": 1000,
                "result": 1000.0,
                "verdict": verdict,
            }
            for number, verdict in enumerate(("PASS", "FAIL"))
        ]
    )
    drawn = vl_convert.vegalite_to_svg(picture(chart, "Throughput of a router", look=LOOK))
    for text in ("Throughput of a router", chart.title, "trial", "PASS", "FAIL"):
        assert f">{text}<" in drawn
    one = chart.rows[:1]
    alone = vl_convert.vegalite_to_svg(picture(replace(chart, rows=one), "A router", look=LOOK))
    assert ">PASS<" not in alone, "one colour needs no legend"
