"""Remarks: their codes, their facts, and the sentences that are made of these."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from pydantic import ValidationError

from natxy.campaign.runner import Event
from natxy.model.coded import Sentences
from natxy.model.deviation import Differs
from natxy.model.reason import Advice, Code
from natxy.model.remark import BOUNDS, Remark, Topic
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_json import result_entry
from natxy.verdict.advice import explained
from tests.unit.measurement_report import measurement
from tests.unit.reasons import LATE

NATXY = Path(__file__).parents[2] / "natxy"
CODES = {kind.__name__: kind for kind in (Topic, Differs, Code, Event)}
SOME: list[Remark] = [
    Remark.of(Topic.RATE_GIVEN),
    Remark.of(Topic.LACKING, "1 core", lacking=1, asked=2),
    Remark.of(Topic.PORTS, ports=("10 x 1", "3,125 x 32")),
    Remark.of(Topic.MEMORY, memory_of="the table", connections=(4000.0, 5000.0)),
    Remark.of(Topic.FEW_VALID, valid=1, invalid=2, why=explained([LATE], 1, too_slow=True)),
    Remark.of(Topic.TOO_LONG, errors_ns={"PDV": 1200.0, "minimum delay": 850.0}),
]


def made() -> Iterator[tuple[Sentences, set[str], bool]]:
    """Yields each `of(code, ..., fact=...)` of the source: its code, its facts, and whether these
    are all."""
    for file in sorted(NATXY.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text())):
            if isinstance(call, ast.Call) and call.args and (code := code_of(call.args[0])):
                names = [keyword.arg for keyword in call.keywords]
                yield code, {name for name in names if name}, None not in names


def code_of(node: ast.AST) -> Sentences | None:
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    kind = CODES.get(node.value.id)
    return None if kind is None else kind[node.attr]


def facts_of(code: Sentences) -> set[str]:
    fields = (field for _, field, _, _ in Formatter().parse(code.value))
    return {field for field in fields if field} - {"where"}


def test_each_sentence_has_its_facts() -> None:
    lacking = {
        code: facts_of(code) - facts
        for code, facts, is_all in made()
        if is_all and facts_of(code) - facts
    }
    assert lacking == {}


def test_each_code_is_used() -> None:
    source = "".join(file.read_text() for file in NATXY.rglob("*.py"))
    assert set(re.findall(r"\bTopic\.([A-Z0-9_]+)", source)) == set(Topic.__members__)


@pytest.mark.parametrize("codes", Sentences.__subclasses__())
def test_no_two_codes_have_the_same_sentence(codes: type[Sentences]) -> None:
    assert len(codes) == len(codes.__members__), "the second would be another name of the first"


@pytest.mark.parametrize("remark", SOME, ids=lambda remark: remark.code.code)
def test_a_remark_is_written_as_its_code_and_facts(remark: Remark) -> None:
    assert Remark.model_validate_json(remark.model_dump_json()) == remark


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(ValidationError, match="is unknown"):
        Remark.model_validate_json('{"code": "other"}')


@pytest.mark.parametrize(
    ("remark", "sentence"),
    [
        (SOME[1], "1 core: 1 of 2 repetitions were not run, or not to their end."),
        (SOME[2], "Numbers of source x destination ports: 10 x 1; 3,125 x 32."),
        (SOME[4], f"1 trial valid, 2 were not: {LATE}; {Advice.DOCTOR.value}."),
        (SOME[3], "Memory is that of the table, with 4,000; 5,000 connections and with none."),
        (
            Remark.of(Topic.RATE_FOUND, searches=2, duration_s=60, error="0.1 %"),
            "The rate is the throughput, found first: 2 searches, trials of 60 s, error 0.1 %.",
        ),
        (
            Remark.of(Topic.COLLAPSED, dut="tayga", times=1, why="it has ended"),
            "tayga collapsed 1 time and was started again (it has ended).",
        ),
        (
            Remark.of(Topic.LOSS_ERROR, "90 %", error_percent=1.23456).at("10 flows"),
            "10 flows: 90 %: Because senders paused or sent bursts, the gateway paused, its core "
            "was away or badly placed, or the loss varied within a trial, a frame loss rate may be "
            "wrong by at most 1.23 % of the frames sent.",
        ),
        (
            Remark.of(Topic.INVALID_IN_SEARCH, invalid=1999, trials=2000, invalid_percent=99.95),
            "In the search for the throughput, 1,999 of 2,000 trials (99.95 %) were invalid.",
        ),
    ],
)
def test_a_sentence_is_made_of_the_facts(remark: Remark, sentence: str) -> None:
    assert str(remark) == sentence


def test_results_json_has_the_sentence_beside_the_facts() -> None:
    (written,) = result_entry(measurement(remarks=(SOME[1],)))["remarks"]
    assert written == {
        "code": "lacking",
        "where": "1 core",
        "facts": {"lacking": 1, "asked": 2},
        "text": str(SOME[1]),
    }


@pytest.mark.parametrize("code", sorted(BOUNDS, key=str))
def test_a_remark_on_a_lower_bound_explains_the_mark(code: Topic) -> None:
    (figure,) = measurement().figures[:1]
    bound = figure.model_copy(update={"lower_bound": (True,) * len(figure.values)})
    facts: dict[str, Any] = dict.fromkeys(facts_of(code), "it")
    for remarks in ((), (Remark.of(code, **facts),)):
        notes = measurement_notes([measurement(figures=(bound,), remarks=remarks)])
        assert sum(note.startswith("≥ marks a lower bound") for note in notes) == 1
