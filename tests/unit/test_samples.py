"""The examples of the documentation, which tools/samples.py measures again."""

from pathlib import Path

import pytest

from tools import samples

PAGE = """\
# A page

```console
$ natxy latency a.toml --rate 1
old
```

```console
$ natxy pdv a.toml
older
```
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def measured(arguments: str) -> str:
        if "pdv" in arguments:
            raise samples.Failed("natxy pdv a.toml: exit status 1")
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
