"""The page that a researcher copies from does what it says."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"
FIRST = """\
import natxy

t = natxy.Testbed("lab.toml")
r = t.throughput(profile="quick")
r
"""
SEARCH = 'throughput(profile="quick")'
SHORTER = 'throughput(profile="quick", repetitions=1, max_rate_fps=20_000, error="10%")'


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_examples_run_and_find_what_the_page_says(tmp_path: Path) -> None:
    assert blocks("python")[0] == FIRST
    (testbed,) = blocks("toml")
    (tmp_path / "lab.toml").write_text(testbed)
    program = "\n".join(blocks("python"))
    program = program.replace(SEARCH, SHORTER)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=300,
    )
    print(done.stdout)  # pytest shows it where the test failed
    assert done.returncode == 0, done.stderr
    assert re.search(r"^0 +throughput +\d+\.0 +fps +(exact|lower)$", done.stdout, re.MULTILINE)
    assert re.search(r"^\[('over-time')?\]$", done.stdout, re.MULTILINE), "one trial has no plot"
    assert re.search(r"^3 sizes; \d+ rows$", done.stdout, re.MULTILINE)
    found = dict(re.findall(r"^ *(\d+) fps  ([\d.]+) ms$", done.stdout, re.MULTILINE))
    assert [*found] == ["1000", "5000", "20000"]
    # The delays are 1 to 6 ms; noise makes some longer.
    assert all(4.5 < float(pdv_ms) < 15 for pdv_ms in found.values())
    line = r"^(.+): ([\d.]+) ms, error ([\d.]+) ms$"
    delays = re.findall(line, done.stdout, re.MULTILINE)
    assert [name for name, *_ in delays] == ["typical latency", "worst-case latency"] * 2
    for name, value_ms, error_ms in delays:
        # Three standard errors of the median, 5 ms / (2 sqrt n), of at least half of 100 tags.
        truth_ms, slack_ms = (3.5, 1.1) if name == "typical latency" else (6.0, 0.5)
        assert truth_ms - slack_ms < float(value_ms) < truth_ms + slack_ms + float(error_ms)
    assert "trials of 0.2 s, not 120 s" in done.stdout
