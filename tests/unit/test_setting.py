"""Settings: each option is declared by a field, and spelled on the command line alone."""

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import natxy
from natxy.cli.help import GROUPS
from natxy.cli.verbs import command_of
from natxy.errors import ConfigurationError
from natxy.exact import check, check_settings
from natxy.setting import Setting, settings_of
from natxy.trial.bursts import Bursts

PACKAGE = Path(natxy.__file__).parent
PARTS = (natxy.Timing, natxy.SearchError, natxy.MlrGoal, natxy.CapacityGoal, natxy.Column, Bursts)
PLANS = (*(getattr(natxy, name) for name in natxy.__all__ if name.endswith("Plan")), *PARTS)
COMMAND = re.compile(r"`[^`]*`")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
OF_PROGRAMS = {"--width", "--final-duration", "--first"}  # only a program gives these fields


@pytest.mark.parametrize("plan", PLANS)
def test_a_setting_has_the_name_of_its_field(plan: type[Any]) -> None:
    for field, setting in settings_of(plan):
        assert setting.name == field.name


def test_each_setting_is_an_option_of_a_command() -> None:
    verbs = [*GROUPS["Measure"], *GROUPS["Stateful"]]
    offered = {option for verb in verbs for each in command_of(verb).params for option in each.opts}
    declared = {setting for plan in PLANS for _, setting in settings_of(plan)}
    assert {each.flag for each in declared} - OF_PROGRAMS <= offered


def test_an_error_below_the_command_line_spells_no_option() -> None:
    """Beside those of commands, which stand between backticks."""
    for file in PACKAGE.rglob("*.py"):
        if not file.is_relative_to(PACKAGE / "cli"):
            for raised in ast.walk(ast.parse(file.read_text())):
                if isinstance(raised, ast.Raise):
                    assert not OPTION.search(COMMAND.sub("", "".join(texts_of(raised)))), file


def texts_of(raised: ast.Raise) -> Iterator[str]:
    for each in ast.walk(raised):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


@pytest.mark.parametrize(
    ("name", "option", "flag"),
    [
        ("tags_after_s", "", "--tags-after"),
        ("rates_fps", "", "--rates"),
        ("new_cps", "", "--new"),
        ("step_frames", "", "--step"),
        ("hash_size", "hash-sizes", "--hash-sizes"),
        ("step", "", "--step"),
    ],
)
def test_an_option_has_the_name_of_the_field_without_its_unit(
    name: str, option: str, flag: str
) -> None:
    assert Setting(name, option=option).flag == flag


def test_an_error_has_two_readers() -> None:
    error = ConfigurationError(Setting("wait_s"), ": needs ", Setting("rates_fps"), " (expected 2)")
    assert str(error) == "wait_s: needs rates_fps (expected 2)"
    assert error.in_options == "--wait: needs --rates (expected 2)"


def test_ends_of_a_range_are_in_it() -> None:
    for number in (1, 2, 3):
        check(Setting("count"), number, lowest=1, highest=3)
    for number in (0, 4):
        with pytest.raises(ConfigurationError, match=rf"^count: {number} is .*\(expected 1 to 3\)"):
            check(Setting("count"), number, lowest=1, highest=3)


def test_a_field_without_a_setting_is_left_alone() -> None:
    @dataclasses.dataclass(frozen=True)
    class Part:
        count: int

    check_settings(part := Part(count=-1))
    assert part.count == -1
