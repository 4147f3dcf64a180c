"""The page that a researcher copies from does what it says."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "python.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_example_runs_and_finds_what_the_page_says(tmp_path: Path) -> None:
    (testbed,) = blocks("toml")
    (tmp_path / "testbed.toml").write_text(testbed)
    program = "\n".join(blocks("python"))
    assert program.count("repetitions=3") == 1
    program = program.replace("repetitions=3", "repetitions=1")  # to save time
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
    line = r"^ *(\d+) fps  (.+): ([\d.]+) ms, error ([\d.]+) ms$"
    found = re.findall(line, done.stdout, re.MULTILINE)
    assert [rate for rate, *_ in found] == [r for r in ("1000", "5000", "20000") for _ in "abc"]
    values = {(int(rate), name): (float(value), float(error)) for rate, name, value, error in found}
    for rate in (1000, 5000, 20000):
        # Three standard errors of the median, 5 ms / (2 sqrt n), of at least half of 100 tags.
        median_ms = 1.1 if rate == 1000 else 0.7
        for name, truth_ms, slack_ms in (("typical latency", 3.5, median_ms), ("PDV", 5.0, 0.5)):
            value_ms, error_ms = values[rate, name]
            assert truth_ms - slack_ms < value_ms < truth_ms + slack_ms + error_ms
    assert "trials of 0.2 s, not 120 s" in done.stdout
    assert re.search(r"^24 rows; procedure, dut, ", done.stdout, re.MULTILINE)
