"""`--help` of all commands: each option says what it does and what its default is."""

import re
from collections.abc import Iterator

import click
import pytest

from natxy.cli import run_command, trial
from natxy.cli.verbs import GROUPS, VERBS, command_of
from natxy.model.traffic_spec import MAX_CONNECTIONS
from natxy.procedure import capacity, latency, reset
from natxy.procedure.establishment_search import DEFAULT_ALPHA
from natxy.procedure.frame_loss import FrameLossPlan
from natxy.search.bisection import DEFAULT_ERROR
from natxy.trial.profile import PROFILES, Profile

# Options that do nothing unless they are given, and one that is required.
WITHOUT_DEFAULT = ("rate", "spec", "rates", "from_", "records")


def commands() -> dict[str, click.Command]:
    return {verb: command_of(verb) for verb in VERBS}


COMMANDS = commands()


def options() -> Iterator[tuple[str, click.Option]]:
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                yield name, parameter


def help_of(command: str, option: str) -> str:
    (found,) = (o.help for name, o in options() if name == command and o.name == option)
    assert found is not None
    return found


def test_each_option_says_what_it_does_and_its_default() -> None:
    for command, option in options():
        where = f"natxy {command} {option.opts[0]}"
        said = option.help or ""
        assert said[:1].isupper(), where
        assert said.endswith("."), where
        has_default = option.default is not None and option.show_default
        assert has_default or "[default: " in said or option.name in WITHOUT_DEFAULT, where


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
    said = {name: one.help or "" for name, one in options() if "--error" in one.opts}
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
    groups = (("Trials", "--repetitions"), ("Traffic", "--frame-size"), ("Output", "--output"))
    for group, option in groups:
        row = re.compile(rf"^  {option} ", re.MULTILINE)
        assert [title for title, rows in drawn.items() if row.search(rows)] == [group]
