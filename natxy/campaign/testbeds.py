"""Runs the cells of a campaign, on several testbeds at once if there are (docs/decisions/0027).

With several, the coordinator gives each free worker the next cell, and writes what comes back to
the journal, a whole cell at a time.

Testbeds on one machine share its CPUs, and the size of the kernel's connection tracking table,
which all labs share: cells at the same time disturb one another.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import natxy
from natxy.campaign.cell_worker import measure
from natxy.campaign.dask_workers import (
    DEATHS,
    RESOURCE,
    client_of,
    is_on_this_machine,
    workers_of,
)
from natxy.campaign.journal import Journal
from natxy.campaign.plan import CampaignPlan, Cell
from natxy.campaign.records import CellEnd
from natxy.campaign.runner import Event, Notice, Runner, now
from natxy.dut.config import LABS
from natxy.dut.cpus import gateway_cpu
from natxy.dut.recipe import drivers
from natxy.errors import MeasurementError
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed

TESTER, GATEWAY = "tester", "gateway"
Uses = dict[int, set[str]]  # of each CPU
Numbered = tuple[int, Cell]
LOOK_S = 3.0  # how often the workers are looked at while all of them measure


def _looked(client: Any, running: list[Any]) -> tuple[set[Any], dict[str, str]]:
    """Waits for a cell to end; returns those that have, and the workers.

    Returns after a few seconds without one, so that a worker that has left is named soon.
    """
    from distributed import wait
    from distributed.client import CancelledError
    from distributed.comm import CommClosedError

    try:
        try:
            ended = wait(running, timeout=LOOK_S, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            ended = set()
        return ended, workers_of(client)
    except (CancelledError, CommClosedError):
        raise MeasurementError("The connection to Dask's scheduler is lost.") from None


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
            here = self._here(workers_of(client))
            for notice in (*shared_cpus(here), *shared_tables(here)):
                self.watcher.remarked(notice)
            self._with_workers(client, left)

    @property
    def _testbeds(self) -> int:
        return 1 + len(self.further)

    def _here(self, workers: Mapping[str, str]) -> dict[int, CampaignPlan]:
        """Returns the plans of the testbeds whose workers run on this machine, by number."""
        return {
            number: plan
            for number, plan in enumerate((self.plan, *self.further), start=1)
            if is_on_this_machine(workers.get(str(number), ""))
        }

    def _with_workers(self, client: Any, left: Sequence[Numbered]) -> None:
        waiting = deque(left)
        running: dict[Any, Numbered] = {}
        workers = workers_of(client)
        while waiting or running:
            while waiting and len(running) < self._testbeds:
                number, cell = waiting[0]
                self._tell_of_start(list(waiting))
                running[self._submitted(client, number, cell)] = waiting.popleft()
            ended, now_there = _looked(client, list(running))
            for notice in worker_changes(workers, now_there):
                self.watcher.remarked(notice)
            workers = now_there
            for future in ended:
                self._ended(*running.pop(future), future)

    def _submitted(self, client: Any, number: int, cell: Cell) -> Any:
        """Shows the cell's commands, since a worker shows nothing, and gives the cell away."""
        hooks = self.plan.experiment.hooks
        for when, commands in (
            ("before_column", (*hooks.before_column, *cell.column.before)),
            ("after_column", hooks.after_column),
        ):
            for command in commands:
                self.watcher.hook_started(when, command)
        on = tuple(
            Runner(
                plan=replace(plan, cells=(plan.cells[number - 1],)),
                work_of=self.work_of,
                dut_of=self.dut_of,
                testbed=testbed,
            )
            for testbed, plan in enumerate((self.plan, *self.further), start=1)
        )
        version = natxy.__version__
        return client.submit(measure, number, on, version, resources={RESOURCE: 1}, pure=False)

    def _ended(self, number: int, cell: Cell, future: Any) -> None:
        """Writes the records of a cell; raises what a worker raised."""
        from distributed.scheduler import KilledWorker

        try:
            records = future.result()
        except KilledWorker as killed:
            self._begin(cell, number, None)
            name = getattr(killed.last_worker, "name", "")
            last = f", the last time that of testbed {name}" if name else ""
            error = f"Its testbed process died {DEATHS + 1} times in this cell{last}."
            self.journal.append(CellEnd(key=cell.key, error=error, ended=now()))
            self.watcher.cell_ended(cell, [], error)
            return
        results = [
            Measurement.model_validate_json(json.dumps(record))
            for record in records
            if record["record"] == "measurement"
        ]
        error = next((one["error"] for one in records if one["record"] == "cell-end"), "")
        try:
            self.journal.append_written(records)
        finally:  # what was measured is shown in spite of a full disk
            self.watcher.cell_ended(cell, results, error)


def worker_changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Notice]:
    """Yields each change; both have addresses by name: the number of the testbed.

    A process that was started again in place of a dead one has another address.
    """
    for name in sorted(before.keys() - now.keys()):
        yield Notice.of(Event.TESTBED_LEFT, name, address=before[name])
    for name in sorted(before.keys() & now.keys()):
        if before[name] != now[name]:
            yield Notice.of(Event.TESTBED_STARTED_AGAIN, name, address=before[name])
    for name in sorted(now.keys() - before.keys()):
        yield Notice.of(Event.TESTBED_CAME, name, address=now[name])
    if before and not now:
        yield Notice.of(Event.NO_TESTBED)


def shared_cpus(plans: Mapping[int, CampaignPlan]) -> Iterator[Notice]:
    """Yields a notice for each CPU that several testbeds use; `plans` are those of the testbeds
    on this machine, by number."""
    found: dict[int, list[str]] = {}
    for number, plan in plans.items():
        for cpu, uses in sorted(_uses(plan).items()):
            what = " and ".join(sorted(uses))
            found.setdefault(cpu, []).append(f"the {what} of testbed {number}")
    for cpu, who in sorted(found.items()):
        if len(who) > 1:
            yield Notice.of(Event.SHARED_CPU, cpu=cpu, who=tuple(who))


def _uses(plan: CampaignPlan) -> Uses:
    uses: Uses = {}
    for testbed in _testbeds(plan):
        for cpu in (*testbed.tester.cores, *(testbed.tester.main_cores or ())):
            uses.setdefault(cpu, set()).add(TESTER)
        gateway = _gateway_cpu(testbed.dut, testbed.tester.cores)
        if gateway is not None:
            uses.setdefault(gateway, set()).add(GATEWAY)
    return uses


def _testbeds(plan: CampaignPlan) -> Iterator[Testbed]:
    """Yields the testbeds of the cells; those of later rounds are the same."""
    for cell in plan.cells:
        if cell.round == 1:
            testbed: Testbed = Source(name=cell.title).validated(Testbed, cell.testbed)
            yield testbed


def _gateway_cpu(dut: Mapping[str, Any], tester_cpus: tuple[int, ...]) -> int | None:
    """Returns the CPU of a lab's gateway; None for another gateway, or without a free CPU."""
    if dut.get("kind") not in LABS:
        return None
    given: int | None = dut.get("gateway_cpu")
    return gateway_cpu(None, tester_cpus) if given is None else given


def shared_tables(plans: Mapping[int, CampaignPlan]) -> Iterator[Notice]:
    """Yields a notice if cells that may run at once need other sizes; `plans` are those of the
    testbeds on this machine, by number."""
    tracking = [
        {_sizes(cell.testbed["dut"]) for cell in plan.cells if _tracks(cell.testbed.get("dut", {}))}
        for plan in plans.values()
    ]
    sizes: set[tuple[Any, Any]] = set().union(*tracking)
    if sum(map(bool, tracking)) > 1 and len(sizes) > 1:
        yield Notice.of(Event.SHARED_TABLE, sizes=len(sizes))


def _sizes(device: Mapping[str, Any]) -> tuple[Any, Any]:
    entries = device.get("conntrack_entries")
    return entries, device.get("hash_size", entries)


def _tracks(device: Mapping[str, Any]) -> bool:
    driver = drivers("namespace").get(device.get("driver", ""))
    return device.get("kind") == "namespace" and driver is not None and driver.stateful
