"""The man pages: one for each command, with all its options, which groff takes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from natxy.cli.declared import all_declared
from natxy.cli.verbs import VERBS
from tools.man import pages

PAGES = dict(pages())
CHECKS = {
    "groff": ("groff", "-man", "-Tutf8", "-ww", "-z"),
    "mandoc": ("mandoc", "-T", "lint", "-W", "error"),
    "man": ("man", "--warnings", "-l"),
}


def test_there_is_a_page_for_each_command() -> None:
    assert set(PAGES) == {"natxy.1", *(f"natxy-{verb}.1" for verb in VERBS)}
    listed = PAGES["natxy.1"].replace("\\-", "-")
    assert [verb for verb in VERBS if f"natxy-{verb}(1)" not in listed] == []


@pytest.mark.parametrize("verb", VERBS)
def test_each_option_is_in_the_page_of_its_command(verb: str) -> None:
    lines = PAGES[f"natxy-{verb}.1"].replace("\\-", "-").splitlines()
    heads = [line.split(" ")[-2:] for line in lines if line.startswith("\\fB")]
    named = {word.removeprefix("\\fB").removesuffix("\\fR") for head in heads for word in head}
    assert {each.flag for each in all_declared()[verb].parameters if not each.argument} <= named
    assert {"-h", "--help"} <= named
    for line in all_declared()[verb].examples:
        assert line.replace("~", "\\(ti") in lines


@pytest.mark.parametrize("program", CHECKS)
def test_the_pages_have_no_warning(program: str, tmp_path: Path) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    for name, text in PAGES.items():
        path = tmp_path / name
        path.write_text(text)
        done = subprocess.run([*CHECKS[program], path], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, ""), name
