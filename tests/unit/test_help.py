"""`--help` of all commands: each option says what it does and what its default is."""

import re
import shlex
from collections.abc import Iterator

import pytest

from natxy.cli import run_command, trial
from natxy.cli.declared import Parameter, all_declared, declared
from natxy.cli.help import GROUPS, OF_COMMAND
from natxy.cli.verbs import VERBS, command_of, function_of
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.procedure import capacity, latency, reset
from natxy.procedure.establishment_search import DEFAULT_ALPHA
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.search.bisection import DEFAULT_ERROR
from natxy.trial.profile import PROFILES, Profile
from tests.unit.cli import complaint

# Options that do nothing unless they are given, and one that is required.
WITHOUT_DEFAULT = ("rate", "spec", "rates", "from_", "records")


COMMANDS = {verb: declared(verb, function_of(verb)) for verb in VERBS}


def options() -> Iterator[tuple[str, Parameter]]:
    for name, command in COMMANDS.items():
        yield from ((name, each) for each in command.parameters if not each.argument)


def test_no_name_is_broken_at_its_hyphens(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["-h"]) == 0
    said = capsys.readouterr().out
    assert "back-to-back" in said
    assert not re.search(r"\w-$", said, re.MULTILINE)


def help_of(command: str, option: str) -> str:
    (found,) = (o.help for name, o in options() if name == command and o.name == option)
    return found


def test_each_option_says_what_it_does_and_its_default() -> None:
    for command, option in options():
        where = f"natxy {command} {option.flag}"
        said = option.help
        assert said[:1].isupper(), where
        assert said.endswith("."), where
        has_default = option.required or option.kind == "flag" or "[default: " in said
        assert has_default or option.name in WITHOUT_DEFAULT, where


@pytest.mark.parametrize(
    ("command", "profiles"),
    [
        ("throughput", PROFILES),
        ("latency", latency.PROFILES),
        ("reset", reset.PROFILES),
        ("capacity", capacity.PROFILES),
    ],
)
def test_the_profiles_are_shown_in_numbers(command: str, profiles: dict[str, Profile]) -> None:
    rfc, quick = profiles["rfc"], profiles["quick"]
    pair = f"[default: {rfc.repetitions}; quick: {quick.repetitions}]"
    assert pair in help_of(command, "repetitions")
    drains = (float(profile.timing.drain_s) for profile in (rfc, quick))
    assert "[default: {:g}; quick: {:g}]".format(*drains) in help_of(command, "drain")
    if command != "capacity":
        durations = (float(profile.timing.duration_s) for profile in (rfc, quick))
        assert "[default: {:g}; quick: {:g}".format(*durations) in help_of(command, "duration")


def test_numbers_that_are_written_in_a_help_are_the_programs() -> None:
    rfc, quick = capacity.PROFILES["rfc"], capacity.PROFILES["quick"]
    errors = (float(profile.rate_error.fraction * 100) for profile in (rfc, quick))
    assert "[default: {:g}%; quick: {:g}%]".format(*errors) in help_of("capacity", "rate_error")
    share = float(DEFAULT_ALPHA)
    assert f"[default: {share:g}]" in help_of("capacity", "alpha")
    assert f"[default: {share:g}]" in help_of("establishment", "alpha")
    assert f"[default: {MAX_CONNECTIONS}]" in help_of("capacity", "most")
    assert f"[default: {float(FrameLossPlan.step * 100):g}]" in help_of("frame-loss", "step")
    assert f"[default: {float(trial.DURATION_S):g}]" in help_of("trial", "duration")
    assert f"[default: {float(trial.DRAIN_S):g}]" in help_of("trial", "drain")
    error = f"[default: {float(DEFAULT_ERROR.fraction * 100):g}%]"
    said = {name: one.help for name, one in options() if one.flag == "--error"}
    del said["capacity"]  # of connections, by default one of them
    assert {"throughput", "establishment", "churn", "overload", "tear-down"} <= set(said)
    assert [name for name, text in said.items() if error not in text] == []


def sections(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    """Returns the rows of each section of a `--help`, by the section's title."""
    assert run_command([*arguments, "--help"]) == 0
    drawn = capsys.readouterr().out
    _, *parts = re.split(r"^(\S.*):$", drawn, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_commands_are_listed_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    drawn = sections(capsys)
    for group, verbs in GROUPS.items():
        assert re.findall(r"^  ([a-z][a-z-]+) +[A-Z]", drawn[group], re.MULTILINE) == list(verbs)
    assert [title for title in drawn if title in GROUPS] == list(GROUPS)
    assert {"Set up", "Measure", "Stateful", "Look at results"} <= set(GROUPS)
    assert {"report", "compare", "status"} <= set(GROUPS["Look at results"])


@pytest.mark.parametrize("verb", ["throughput", "latency", "capacity"])
def test_the_options_that_commands_share_are_in_groups(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = sections(capsys, verb)
    groups = (("Trials", "--repetitions"), ("Traffic", "--frame-size"), ("Output", "-o, --output"))
    for group, option in groups:
        row = re.compile(rf"^  {option} ", re.MULTILINE)
        assert [title for title, rows in drawn.items() if row.search(rows)] == [group]


SHORT_LINES, SHORT_COLUMNS = 25, 80


@pytest.mark.parametrize("verb", ["", *VERBS])
def test_the_short_help_is_a_screen_with_examples(
    verb: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(SHORT_COLUMNS))
    assert run_command([*verb.split(), "-h"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= SHORT_LINES
    assert [line for line in lines if len(line) > SHORT_COLUMNS] == []
    assert lines[0].startswith(f"Usage: natxy {verb}".rstrip())
    assert f"natxy {verb}".rstrip() + " --help" in lines[-1]


@pytest.mark.parametrize("verb", VERBS)
def test_the_short_help_is_of_the_options_that_people_use(verb: str) -> None:
    used = [each.flag for each in COMMANDS[verb].parameters if each.short]
    assert len(used) <= 8
    if verb in (*GROUPS["Measure"], *GROUPS["Stateful"]) and verb != "trial":
        assert {"--profile", "--repetitions", "--output", "--report"} <= set(used)
        assert len(used) >= 5


ONE_EXAMPLE = ("status", "siitperf")  # they have no options of their own


@pytest.mark.parametrize("verb", VERBS)
def test_each_example_is_a_command_that_is_understood(verb: str) -> None:
    examples = COMMANDS[verb].examples
    assert len(examples) == (1 if verb in ONE_EXAMPLE else 3)
    for line in examples:
        natxy, named, *words = shlex.split(line.partition(" > ")[0])
        assert (natxy, named) == ("natxy", verb)
        with command_of(verb).make_context(verb, words):
            pass


def test_help_of_a_command_has_three_names(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["throughput", "--help"], ["help", "throughput"], ["throughput", "x", "--help"]):
        assert run_command(words) == 0
        shown.append(capsys.readouterr().out)
    assert len(set(shown)) == 1
    for each in COMMANDS["throughput"].parameters:
        assert each.flag in shown[0]
    assert all(option in shown[0] for option, _ in OF_COMMAND)
    assert run_command(["help"]) == run_command(["--help"]) == 0
    first, _, second = capsys.readouterr().out.partition("Usage: ")[2].partition("Usage: ")
    assert first == second
    said = complaint(capsys, "help", "through-put")
    assert said == 'unknown command "through-put" (expected throughput)'


def test_help_is_that_of_the_functions() -> None:
    """`commands.json` has what help and completion show; `make reference` writes it."""
    assert all_declared() == COMMANDS


def test_the_numbers_are_explained_in_one_place(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--help"]) == 0
    assert "10k, 1.5M, 2G or 10_000" in " ".join(capsys.readouterr().out.split())
