"""Tests of what the docs name: links, headings, commands, options, make targets, presets."""

import functools
import json
import re
import subprocess
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
import yaml

from natxy.cli.campaigns import MEASURING
from natxy.cli.declared import Declared, declared
from natxy.cli.trial import DRAIN_S
from natxy.cli.verbs import VERBS, function_of
from natxy.model.deviation import STANDING
from natxy.trial.timing import REALTIME_LIMIT_S
from tools.samples import EXAMPLE

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
    ]
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?\n(.*?)```|^ {4}(\S.*)$|`([^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:[$#] )?(?:sudo )?(?:\S*/)?natxy(?: ([a-z][a-z-]*))(.*)$")
DELAY_PAGES = ("reading-a-result.md", "decisions/0006-delay.md")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z0-9-]*")


def page_names(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in plain}


def code_lines(page: Path) -> list[str]:
    found = ("".join(groups) for groups in CODE.findall(page.read_text()))
    return [line.split(" #")[0].strip() for code in found for line in code.splitlines()]


@functools.cache
def commands() -> Mapping[str, Declared]:
    return {verb: declared(verb, function_of(verb)) for verb in VERBS}


def options_of(command: Declared) -> set[str]:
    return {name for parameter in command.parameters for name in parameter.flags}


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_links_resolve(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page_names(page)} links to {link}, which is not there"
        if anchor:
            assert anchor in anchors(target), f"{page_names(page)}: {link} has no such heading"


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_natxy_commands_exist(page: Path) -> None:
    for line in code_lines(page):
        named = COMMAND.match(line)
        if named is None or named[1] == "help":  # takes the name of another one
            continue
        verb, rest = named.groups()
        assert verb in commands(), f"{page_names(page)}: there is no `natxy {verb}`"
        unknown = set(OPTION.findall(rest)) - options_of(commands()[verb]) - {"--help"}
        assert not unknown, (
            f"{page_names(page)}: `natxy {verb}` has no {', '.join(sorted(unknown))}"
        )


def test_the_workflows_for_ci_give_the_inputs_that_the_action_has() -> None:
    page = (ROOT / "docs/how-to/ci.md").read_text()
    inputs = yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]
    needed = {name for name, each in inputs.items() if each.get("required")}
    workflows = re.findall(r"- uses: OWNER/natxy@REF\n +with:\n((?: {10}.*\n)+)", page)
    assert len(workflows) == 2
    for given in map(yaml.safe_load, workflows):
        assert needed <= given.keys() <= inputs.keys()
    assert {name for name in inputs if f"`{name}`" in page} == inputs.keys()


@pytest.mark.parametrize("page", PAGES, ids=page_names)
def test_make_targets_and_presets_exist(page: Path) -> None:
    makefile = (ROOT / "Makefile").read_text()
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    for line in code_lines(page):
        for target in re.findall(r"(?:^|&& )make ([a-z][a-z-]*)", line):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"there is no `make {target}`"
        for preset in re.findall(r"--preset ([a-z-]+)", line):
            assert preset in {p["name"] for p in presets}, f"there is no preset {preset}"


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        paths = (link.partition("#")[0] for link in LINK.findall(page.read_text()))
        linked = {(page.parent / path).resolve() for path in paths if path.endswith(".md")}
        waiting += [page for page in linked if page.exists() and page not in reached]
    unreached = {page_names(page) for page in set(PAGES) - reached}
    assert not unreached, f"no way leads from the README to {', '.join(sorted(unreached))}"


def test_the_site_leads_to_every_page_but_single_decisions() -> None:
    listed = re.findall(r"^ +- [^:]+: (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not re.match(r"decisions/(\d|template)", page)} == set(listed)
    assert len(listed) == len(set(listed))


def test_make_help_describes_each_target_that_people_use() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY:((?:.*\\\n)*.*)$", makefile, re.MULTILINE)
    targets = set(phony.replace("\\", "").split())
    *_, rungs = makefile.partition("# The rungs of tools/rungs.py")
    heads = re.findall(r"^([a-z][a-z -]*):(?!=)", rungs, re.MULTILINE)
    for_tools = {target for head in heads for target in head.split()}
    said = subprocess.check_output(["make", "help"], cwd=ROOT, text=True)
    described = dict(re.findall(r"^ +make ([a-z-]+) +([A-Z].*\.)$", said, re.MULTILINE))
    assert set(described) == targets - for_tools
    assert {"lint", "types", "packages-test"} <= for_tools


def test_nothing_is_said_to_bound_what_a_delay_holds() -> None:
    """A frame is not on the wire of a NIC when the send call returns."""
    engine = (ROOT / "engine" / "run" / "outcome.cpp").read_text()
    pages = [(ROOT / "docs" / name).read_text() for name in DELAY_PAGES]
    assert engine.count("Definition =\n") == 3
    for text in (engine, *pages):
        for part in ("send call", "transmit queue", "DMA", "serialisation"):
            assert part in text
        assert not re.search(r"send call(?: itself)?[^.\n]* at most", text)


@pytest.mark.parametrize("deviation", [str(each) for each in STANDING])
def test_each_standing_deviation_is_in_the_list_of_them(deviation: str) -> None:
    page = (ROOT / "docs/not-measured.md").read_text()
    _, _, listed = page.partition("## What the RFCs ask for and no result has")
    (named,) = re.findall(r"\((RFC \d+) sections? ([^)]*)\)", deviation)
    rfc, clauses = named
    rows = [line for line in listed.splitlines() if line.startswith(f"| {rfc} section")]
    for clause in clauses.split(" and "):
        words = re.escape(clause)
        assert [row for row in rows if re.search(rf"[ ,]{words}[ .,]", row.split("|")[1])], clause


def commands_of_the_lab() -> list[str]:
    """Returns the commands of the tutorial's first part."""
    lab, _, _ = (ROOT / "docs/tutorial.md").read_text().partition("\n## 2. ")
    return re.findall(r"^ {4}(natxy .*)$", lab, re.MULTILINE)


def test_the_tutorials_trials_are_so_short_that_they_have_a_realtime_priority() -> None:
    """A longer trial, such as the default's of a second, is INVALID on a busy machine."""
    trials = [line for line in commands_of_the_lab() if line.startswith("natxy trial ")]
    assert trials
    for line in trials:
        lasts = re.search(r" --duration (\S+)", line)
        assert lasts, line
        assert Fraction(lasts[1]) + DRAIN_S <= REALTIME_LIMIT_S, line


def test_the_tutorial_compares_its_lab_with_a_loop_of_the_same_ports() -> None:
    """Not with the ring, which is many times as fast as the veths of a lab."""
    loops = [line for line in commands_of_the_lab() if line.startswith("natxy self-test")]
    assert loops
    assert all(" --loop veth" in line for line in loops)


@pytest.mark.parametrize("page", ["docs/troubleshooting.md", "docs/reference/testbed.md"])
def test_gateways_that_answer_only_link_local_neighbours_are_documented(page: str) -> None:
    said = [line for line in (ROOT / page).read_text().splitlines() if "own_addresses" in line]
    assert any("Neighbour Solicitations only" in each and "fe80::2" in each for each in said)


README = (ROOT / "README.md").read_text()
README_WORDS = 600
README_SECTIONS = ["Try it", "What it measures", "Why trust it", "Beside other testers", "Limits"]


def sections_of_readme() -> dict[str, str]:
    """Returns the text of each section by its heading."""
    _, *parts = re.split(r"^## (.*)\n", README, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_the_readme_is_a_first_screen() -> None:
    """A word is what spaces separate, in tables and links too, but not in a code fence."""
    text = re.sub(r"^```.*?^```$", "", README, flags=re.MULTILINE | re.DOTALL)
    assert len(text.split()) <= README_WORDS
    sections = sections_of_readme()
    assert list(sections) == [*README_SECTIONS, "Read on"]
    title, *said = lines_of(README[: README.index("## ")])
    assert title == "# Natxy"
    assert len(said) == 3, "what it is, what it follows, and for whom"
    assert len(lines_of(sections["Why trust it"])) == 4
    assert len(lines_of(sections["Limits"])) == 3


def test_the_readme_shows_both_commands_an_output_and_a_report() -> None:
    shown = sections_of_readme()["Try it"]
    assert {"make demo", "make test"} <= set(code_lines(ROOT / "README.md"))
    (example,) = EXAMPLE.finditer(shown)
    assert example["arguments"].startswith("throughput ")
    assert "\nThroughput  " in example[0]
    assert "Journal, JSON and CSV: " in example[0], "the whole output"
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert 0 < (ROOT / picture).stat().st_size < 200_000


def test_the_readme_names_each_command_that_measures() -> None:
    listed = re.findall(r"`([a-z-]+)`", sections_of_readme()["What it measures"])
    assert set(MEASURING) <= set(listed)


def test_the_readme_is_beside_the_other_testers() -> None:
    rows = lines_of(sections_of_readme()["Beside other testers"])[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    names = [re.sub(r"\[([^\]]*)\].*", r"\1", cell) for cell, *_ in cells]
    assert names == ["siitperf", "TRex", "CSIT", "BNG Blaster"]
    assert all(better and adds for _, better, adds in cells), "each is better at something"
