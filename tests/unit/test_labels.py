"""Labels that nobody can tell apart are refused before anything is measured."""

from pathlib import Path

import pytest

from natxy.cli import run_command
from natxy.cli.options import foregrounds_of, networks_in, sizes_of
from natxy.errors import ConfigurationError

Captured = pytest.CaptureFixture[str]
KEY = 'key = "traffic.frame_size_bytes"'
SERIES = {
    "a label without the value": f'[[vary]]\n{KEY}\nvalues = [84, 1280]\nlabel = "x"',
    "a value twice": f"[[vary]]\n{KEY}\nvalues = [84, 84]",
    "a number and its text": f'[[vary]]\n{KEY}\nvalues = [84, "84"]',
    "spaces": f'[[vary]]\n{KEY}\nvalues = ["84", " 84"]',
    "two ways to write a letter": f'[[vary]]\n{KEY}\nvalues = ["\\u00e9", "e\\u0301"]',
    "parts that are joined": f'[[vary]]\n{KEY}\nvalues = ["a", "a, b"]\n'
    '[[vary]]\nkey = "traffic.n"\nvalues = ["b, c", "c"]',
    "one of two series": f"[[vary]]\n{KEY}\nvalues = [84, 512]\n"
    '[[vary]]\nkey = "connections.count"\nvalues = [1, 2]\nlabel = "n"',
    "columns": '[[column]]\nlabel = "x"\n[[column]]\nlabel = "x"',
    "empty labels": '[[column]]\nlabel = ""\n[[column]]\nlabel = ""',
    "columns but for a space": '[[column]]\nlabel = "x y"\n[[column]]\nlabel = "x  y "',
}


def experiment(path: Path, series: str) -> Path:
    file = path / "experiment.toml"
    file.write_text(
        f'title = "t"\ntestbed = "testbed.toml"\n{series}\n[[measure]]\ncommand = "throughput"\n'
    )
    return file


@pytest.mark.usefixtures("testbed_file")
@pytest.mark.parametrize("verb", ["plan", "run"])
@pytest.mark.parametrize("series", SERIES)
def test_equal_labels_are_refused(
    verb: str, series: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """Both columns showed the second cell's figures, and the first result was nowhere."""
    monkeypatch.chdir(tmp_path)
    assert run_command([verb, str(experiment(tmp_path, SERIES[series]))]) == 2
    said = capsys.readouterr().err
    assert "has the label " in said
    assert "twice (expected different labels" in said
    assert not (tmp_path / "natxy-results").exists()


@pytest.mark.usefixtures("testbed_file")
def test_labels_that_differ_are_accepted(tmp_path: Path) -> None:
    """Also where they differ in a capital letter, or in what no name of a file has."""
    columns = "".join(f'[[column]]\nlabel = "{label}"\n' for label in ("a b", "a-b", "A B"))
    assert run_command(["plan", str(experiment(tmp_path, columns))]) == 0


@pytest.mark.parametrize(
    ("read", "text"),
    [(sizes_of, "84,512,84"), (foregrounds_of, "100,50,100.0"), (networks_in, "1,2,1")],
)
def test_a_place_of_a_series_is_given_once(read: object, text: str) -> None:
    with pytest.raises(ConfigurationError, match="is given twice"):
        read(text)  # type: ignore[operator]
