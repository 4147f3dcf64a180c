"""The page about pytest: its tests measure the calibration gateway, and a slower one fails them."""

import re
import subprocess
import sys
from pathlib import Path

from tests.valid import valid

PAGE = (Path(__file__).parents[2] / "docs/how-to/pytest.md").read_text()


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the page's command with the plugin that is installed."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    print(done.stdout, done.stderr)
    return done


def disturbed(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Returns why a comparison says nothing: what the host has spoilt is a bound."""
    return re.findall(r"value is a \w+\s+bound|trials? .*invalid", done.stdout)


def test_a_slower_gateway_fails_the_tests_of_the_page(tmp_path: Path) -> None:
    testbed = block("toml")
    slower = testbed.replace("10000", "8200")
    assert slower != testbed
    before, after = re.findall(r"^    pytest (.*?)(?: +#.*)?$", PAGE, re.MULTILINE)
    folders = iter(range(100))

    def compared() -> subprocess.CompletedProcess[str]:
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        (folder / "test_gateway.py").write_text(block("python"))
        (folder / "lab.toml").write_text(testbed)
        run(folder, *before.split())
        (folder / "lab.toml").write_text(slower)
        return run(folder, *after.split())

    done = valid(compared, disturbed)
    assert done.returncode == 1
    assert "2 passed" in done.stdout
    assert "Worse by more than 15 %: throughput" in " ".join(done.stdout.split())
