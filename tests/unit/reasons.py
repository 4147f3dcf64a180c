"""Reasons for INVALID, with facts for their sentences, and a gateway that has one."""

import json
from dataclasses import dataclass
from string import Formatter

from natxy.dut.none import NoDut
from natxy.model.reason import Code, Reason
from tests.unit import fake_engine
from tests.unit.fake_engine import FakeEngine


def a_reason(code: Code, where: str = "forward", **facts: float) -> Reason:
    """Returns a reason whose facts are 1, but for those that are given."""
    names = {name for _, name, _, _ in Formatter().parse(code.value) if name} - {"where"}
    return Reason.of(code, where, **(dict.fromkeys(names, 1.0) | facts))


LATE = Reason.model_validate_json(json.dumps(fake_engine.LATE))


@dataclass(kw_only=True)
class Disturbed(NoDut):
    """Is not in order in nine trials of ten."""

    engine: FakeEngine

    def trial_fault(self) -> Reason | None:
        return a_reason(Code.GATEWAY_POLLED_LATE) if len(self.engine.specs) % 10 else None
