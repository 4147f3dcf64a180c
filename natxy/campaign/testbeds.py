"""Runs the cells of a campaign, on several testbeds at once if there are (docs/decisions/0027).

With several, the coordinator gives each free worker the next cell, and writes what comes back to
the journal, a whole cell at a time.
"""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from natxy.campaign.cell_worker import Order, measure
from natxy.campaign.dask_workers import DEATHS, RESOURCE, client_of
from natxy.campaign.journal import Journal
from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.records import CellEnd
from natxy.campaign.runner import Runner, now
from natxy.errors import MeasurementError
from natxy.model.measurement import Measurement

Numbered = tuple[int, Cell]


@dataclass(kw_only=True)
class TestbedsRunner(Runner):
    """Runs cells in workers; with one testbed, in this process."""

    journal: Journal
    further: Sequence[CampaignPlan] = ()  # the cells of `plan`, on each further testbed
    scheduler: str = ""  # the address of a scheduler; empty: one is started on this machine

    def _cells(self, left: Sequence[Numbered]) -> None:
        if not self.further:
            super()._cells(left)
            return
        with client_of(self.scheduler, self._testbeds) as client:
            self._with_workers(client, left)

    @property
    def _testbeds(self) -> int:
        return 1 + len(self.further)

    def _with_workers(self, client: Any, left: Sequence[Numbered]) -> None:
        from distributed import wait
        from distributed.client import CancelledError

        waiting = deque(left)
        running: dict[Any, Numbered] = {}
        while waiting or running:
            while waiting and len(running) < self._testbeds:
                number, cell = waiting[0]
                self.watcher.cell_started(cell, self._place(number, list(waiting)))
                running[self._submitted(client, number)] = waiting.popleft()
            try:
                ended = wait(list(running), return_when="FIRST_COMPLETED").done
            except CancelledError:
                raise MeasurementError("The connection to Dask's scheduler is lost.") from None
            for future in ended:
                self._ended(*running.pop(future), future)

    def _submitted(self, client: Any, number: int) -> Any:
        order = Order(
            number=number,
            on=tuple(
                replace(plan, cells=(plan.cells[number - 1],))
                for plan in (self.plan, *self.further)
            ),
            work_of=self.work_of,
            dut_of=self.dut_of,
        )
        return client.submit(measure, order, resources={RESOURCE: 1}, pure=False)

    def _ended(self, number: int, cell: Cell, future: Any) -> None:
        """Writes the records of a cell; raises what a worker raised."""
        from distributed.scheduler import KilledWorker

        try:
            records = future.result()
        except KilledWorker:
            self._begin(cell, number, None)
            error = f"The worker died {DEATHS + 1} times while it measured this cell."
            self.journal.append(CellEnd(key=cell.key, error=error, ended=now()))
            self.watcher.cell_ended(cell, [], error)
            return
        results = [
            Measurement.model_validate_json(json.dumps(record))
            for record in records
            if record["record"] == "measurement"
        ]
        error = next((one["error"] for one in records if one["record"] == "cell-end"), "")
        self.journal.append_written(records)
        self.watcher.cell_ended(cell, results, error)
