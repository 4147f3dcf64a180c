"""Memory per connection of a gateway that is arithmetic: each connection takes the same."""

from dataclasses import dataclass, field, replace

import pytest

from natxy.model.measurement import Measurement
from natxy.model.telemetry import Snapshot
from natxy.procedure.capacity import capacity
from natxy.procedure.memory import MEMORY
from tests.unit.stateful_engine import StatefulDut, StatefulEngine, StatefulGateway
from tests.unit.test_capacity_procedure import PLAN, WIDE
from tests.unit.test_connections import plan as traffic_plan

OCTETS = 384
ENTRIES = 5000


@dataclass(kw_only=True)
class Counted(StatefulDut):
    """Counts its memory; what it once needed it keeps if it is `greedy`."""

    own_bytes: int | None = 10**7
    greedy: bool = False
    most: int = field(default=0, init=False)

    def telemetry(self) -> Snapshot:
        if self.own_bytes is None:
            return Snapshot()
        stored = self.gateway.stored
        self.most = max(self.most, stored) if self.greedy else stored
        return Snapshot(memory_bytes=self.own_bytes + OCTETS * self.most, memory_of="the table")


def measured(*, repetitions: int = 1, entries: int = ENTRIES, **keys: object) -> Measurement:
    gateway = StatefulGateway(entries=entries)
    dut = Counted(gateway=gateway, **keys)  # type: ignore[arg-type]
    tester = StatefulEngine(gateway=gateway).tester(traffic_plan({}, forward=WIDE, reverse=WIDE))
    return capacity(replace(PLAN, repetitions=repetitions), tester, dut)


@pytest.mark.parametrize("greedy", [False, True])
def test_each_repetition_has_a_value(greedy: bool) -> None:
    """Also if the gateway keeps the memory of the first one."""
    result = measured(repetitions=3, greedy=greedy)
    figure = result.figure(MEMORY)
    assert figure.unit == "octets"
    assert not figure.primary
    if greedy:  # the search has tried more than the table holds, and less has used it since
        assert figure.values == pytest.approx([OCTETS] * 3, rel=0.01)
    else:
        assert figure.values == (OCTETS,) * 3
    assert "Memory is that of the table, with 5,000 connections and with none." in result.remarks


@pytest.mark.parametrize(
    ("own_bytes", "entries", "sentence"),
    [
        (None, ENTRIES, "the gateway's memory is not known (expected a gateway on this machine"),
        (0, 2000, "the gateway's memory grew by 768,000 octets only, which may be chance"),
    ],
)
def test_without_the_figure_a_remark_says_why(
    own_bytes: int | None, entries: int, sentence: str
) -> None:
    result = measured(own_bytes=own_bytes, entries=entries)
    assert MEMORY not in [figure.name for figure in result.figures]
    assert any(sentence in remark for remark in result.remarks)
