"""The codes of why a trial is INVALID, of the engine and of the package, and their sentences."""

import re
from pathlib import Path

import pytest

from natxy.model.reason import Code, HowLost, LossOfConnections, Reason, WhyLost
from tests.unit.reasons import a_reason

NAMES = Path(__file__).parents[2] / "engine/spec/names.hpp"


@pytest.mark.parametrize("code", Code)
def test_each_has_a_sentence_and_comes_back_from_json(code: Code) -> None:
    reason = a_reason(code)
    assert not set("{}") & set(str(reason))
    assert not str(reason).endswith(".")
    assert Reason.model_validate_json(reason.model_dump_json()) == reason


@pytest.mark.parametrize("because", [*WhyLost, None])
@pytest.mark.parametrize("code", HowLost)
def test_a_loss_of_connections_comes_back_from_json(code: HowLost, because: WhyLost | None) -> None:
    names = ("tested", "silent", "created", "left", "frames", "sent", "lost")
    facts = dict.fromkeys((*names, "timeout_s", "needed_s"), 1.0)
    loss = LossOfConnections(code=code, where="forward", facts=facts, because=because)
    assert not set("{}") & set(str(loss))
    assert LossOfConnections.model_validate_json(loss.model_dump_json()) == loss


def test_the_engine_has_the_same_codes() -> None:
    (names,) = re.findall(r"kReasonCodes = \{(.*?)\};", NAMES.read_text(), re.DOTALL)
    of_engine = re.findall(r'\{"(\w+)",\s+ReasonCode::k(\w+)\}', names)
    assert [name.replace("_", "") for name, _ in of_engine] == [
        enumerator.lower() for _, enumerator in of_engine
    ]
    codes = [each.code for each in Code]
    assert [name for name, _ in of_engine] == codes[: codes.index("gateway_away")]


def test_the_page_of_the_protocol_has_the_codes_and_facts_of_the_engine() -> None:
    page = (NAMES.parents[2] / "docs/reference/engine-protocol.md").read_text()
    table = page.partition("| Code | Facts |")[2].partition("\n\n")[0]
    rows = [
        [re.findall(r"`(\w+)`", cell) for cell in line.split("|")[1:3]]
        for line in table.splitlines()
        if line.startswith("| `")
    ]
    codes = list(Code)
    of_engine = codes[: codes.index(Code.GATEWAY_AWAY)]
    assert {code for named, _ in rows for code in named} == {each.code for each in of_engine}
    for named, facts in rows:
        for code in (each for each in codes if each.code in named):
            assert set(re.findall(r"\{(\w+)\}", code.value)) - {"where"} <= set(facts), code


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        (
            Reason.of(Code.RX_MISSED, "left", frames=12_345),
            "left port: 12,345 frames missed for lack of descriptors",
        ),
        (
            Reason.of(Code.PAUSED, "reverse", paused_ns=2.5e6, sending_ns=1e8, limit_share=0.02),
            "reverse: the tester's core was away or too slow: the sender paused for 2.50 ms of "
            "100 ms (expected at most 2 %)",
        ),
        (Reason.of(Code.UNKNOWN), "the engine gave no reason"),
    ],
)
def test_facts_have_the_units_of_their_names(reason: Reason, sentence: str) -> None:
    assert str(reason) == sentence
