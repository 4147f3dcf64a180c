"""What tests of tear down share with others."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.unit.stateful_gateway import StatefulDut

EMPTY_S = 0.5


@dataclass(kw_only=True)
class Deleting(StatefulDut):
    """Half a second, and 10 us for each connection; `more_s` is added to one deletion after
    another."""

    more_s: Sequence[float] = (0.0,)
    strangers: int = 0  # connections that somebody else has in its table
    keeps: int = 0  # connections that survive a deletion
    held: list[int] = field(default_factory=list)  # at each deletion

    def count(self) -> int:
        return self.gateway.stored + self.strangers

    def delete_all(self) -> float:
        stored = self.gateway.stored
        super().delete_all()
        self.held.append(stored)
        self.gateway.stored = min(stored, self.keeps)
        more_s = self.more_s[(len(self.held) - 1) % len(self.more_s)]
        return EMPTY_S + stored * 10e-6 + more_s
