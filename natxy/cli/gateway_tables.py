"""Shows a person the progress of the demo, and a table of each gateway when it is measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from natxy.campaign.plan import Cell
from natxy.campaign.runner import Place, now
from natxy.cli.narrator import Narrator
from natxy.cli.sentences import say
from natxy.model.measurement import Measurement
from natxy.report.gateway_table import conformance_notes, gateway_table
from natxy.report.results_json import Made, cell_entry, write_entries


@dataclass(kw_only=True)
class GatewayTables(Narrator):
    """Writes all results to a file as they come; each column of the campaign is a gateway."""

    tables: Console
    output: Path
    command: str  # that repeats the demo
    _entries: list[dict[str, Any]] = field(default_factory=list, init=False)  # of the file
    _started: str = field(default="", init=False)  # the cell that runs
    results: list[Measurement] = field(default_factory=list, init=False)  # of all gateways
    failed: dict[str, list[str]] = field(default_factory=dict, init=False)  # cells, by error
    _left: Sequence[Cell] = field(default=(), init=False)  # after the cell that runs
    _shown: set[str] = field(default_factory=set, init=False)  # gateways

    def cell_started(self, cell: Cell, place: Place) -> None:
        super().cell_started(cell, place)
        self._left = place.left[1:]
        self._started = now()

    def cell_ended(self, cell: Cell, results: Sequence[Measurement], error: str) -> None:
        super().cell_ended(cell, results, error)
        gateway = cell.column.label
        self.results += [_named(result, gateway) for result in results]
        made = Made(command=self.command, started=self._started)
        self._entries += [
            cell_entry(
                result,
                made,
                column=gateway,
                measure=cell.measure.name,
                number=cell.round,
                scaled_down=False,
            )
            for result in results
        ]
        if error:
            self.failed.setdefault(error, []).append(cell.title)
        if not any(other.column.label == gateway for other in self._left):
            self._show(gateway)
        write_entries(self.output, self._entries)

    def show_rest(self) -> None:
        """Shows the gateways whose measurements have not all ended."""
        for gateway in dict.fromkeys(result.conditions.dut for result in self.results):
            if gateway not in self._shown:
                self._show(gateway)

    def failures(self) -> Iterator[str]:
        """Yields a sentence for each error; a port in use, for example, fails all cells."""
        for error, cells in self.failed.items():
            which = cells[0] if len(cells) == 1 else f"{len(cells)} measurements"
            yield f"{which} failed: {error}"

    def _show(self, gateway: str) -> None:
        self._shown.add(gateway)
        results = [result for result in self.results if result.conditions.dut == gateway]
        if results:
            self.tables.print(gateway_table(gateway, results))
        for line in conformance_notes(results):
            say(self.tables, line)


def _named(result: Measurement, gateway: str) -> Measurement:
    conditions = result.conditions.model_copy(update={"dut": gateway})
    return result.model_copy(update={"conditions": conditions})
