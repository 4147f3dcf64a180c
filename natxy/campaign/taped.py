"""The tester and the device under test as a cell sees them: with the answers of a tape, then live.

Where the tape ends, the gateway has just been started. It gets what was set last: its cores, and
the size and timeout of its table.
"""

import json
from collections.abc import Callable
from dataclasses import asdict

from natxy.campaign.fewer_runs import shortened
from natxy.campaign.tape import RUN, TELEMETRY, Tape
from natxy.dut.base import ConnectionTable, Deletion, Dut, TableParameters, TesterPorts
from natxy.model.disturbance import Absence
from natxy.model.event import ByDirection, Hello, Progress
from natxy.model.reason import Reason
from natxy.model.telemetry import Snapshot
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec, WatchedCpu
from natxy.tester.tester import Engine, OnProgress, ignore_progress

# Identifiers of the gateway's threads, which differ after each start.
OF_THE_START = {"watched"}
NOTHING = ByDirection(forward=0, reverse=0)


class TapedEngine:
    """The engine of a cell. Its trials are those of the tape, then the engine's own."""

    def __init__(self, engine: Engine, tape: Tape) -> None:
        self._engine = engine
        self._tape = tape
        self.first: TrialSpec | None = None  # the first trial of the tape
        self.trials = 0  # of this cell, those of the tape included

    @property
    def hello(self) -> Hello:
        return self._engine.hello

    def settle(self, seconds: float) -> None:
        if not self._tape.plays(RUN):
            self._engine.settle(seconds)

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        self.trials += 1
        if self._tape.plays(RUN):
            self.first = self.first or spec
            on_progress(_sending(self.trials))
        return self._tape.answer(
            RUN,
            lambda: shortened(self._engine.run(spec, on_progress)),
            given=spec.model_dump(mode="json", exclude=OF_THE_START),
            write=lambda result: result.model_dump(mode="json"),
            read=lambda written: TrialResult.model_validate_json(json.dumps(written)),
        )

    def cancel(self) -> None:
        if not self._tape.plays(RUN):
            self._engine.cancel()


class TapedTable:
    """The connection tracking table of a cell's gateway."""

    def __init__(self, table: ConnectionTable, tape: Tape) -> None:
        self._table = table
        self._tape = tape
        self._sizes: dict[str, int] = {}  # that were set last
        self._timeout_s: float | None = None

    def parameters(self) -> TableParameters:
        return self._tape.answer(
            "table.parameters",
            self._table.parameters,
            write=asdict,
            read=lambda written: TableParameters(**written),
        )

    def resize(self, *, entries: int | None = None, hash_size: int | None = None) -> None:
        asked = {"entries": entries, "hash_size": hash_size}
        given = {name: value for name, value in asked.items() if value is not None}
        self._sizes |= given
        self._tape.answer("table.resize", lambda: self._table.resize(**given), given=given)

    def set_timeout(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._tape.answer(
            "table.set_timeout", lambda: self._table.set_timeout(timeout_s), given=timeout_s
        )

    def count(self) -> int:
        return self._tape.answer("table.count", self._table.count)

    def delete_all(self) -> Deletion:
        return self._tape.answer(
            "table.delete_all",
            self._table.delete_all,
            write=asdict,
            read=lambda written: Deletion(**written),
        )

    def restore(self) -> None:
        """Sets what was set last, by calls on the tape or after it."""
        if self._sizes:
            self._table.resize(**self._sizes)
        if self._timeout_s is not None:
            self._table.set_timeout(self._timeout_s)


class TapedDut:
    """The device under test of a cell."""

    def __init__(self, dut: Dut, tape: Tape, go_live: Callable[[], None]) -> None:
        """`go_live` is called before the first new trial after trials of the tape."""
        self._dut = dut
        self._tape = tape
        self._go_live = go_live
        self._resumes = tape.plays(RUN)
        # An older version of Natxy did not ask; then none of the cell's trials has telemetry.
        self._asks_telemetry = tape.plays(TELEMETRY) or not self._resumes
        self._table = None if dut.table is None else TapedTable(dut.table, tape)
        self._cores: int | None = None  # that were set last

    def start(self) -> None:
        self._dut.start()

    def stop(self) -> None:
        self._dut.stop()

    def reset(self) -> None:
        self._tape.answer("dut.reset", self._dut.reset)

    def restart(self) -> str:
        return self._tape.answer("dut.restart", self._dut.restart)

    def describe(self) -> dict[str, str]:
        return self._dut.describe()

    def before_trial(self) -> None:
        if self._tape.plays(RUN):
            return
        if self._resumes:
            self._resumes = False
            self._go_live()
        self._dut.before_trial()

    def trial_fault(self) -> Reason | None:
        return self._tape.answer(
            "dut.trial_fault",
            self._dut.trial_fault,
            write=lambda reason: None if reason is None else reason.model_dump(mode="json"),
            read=lambda written: (
                None if written is None else Reason.model_validate_json(json.dumps(written))
            ),
        )

    @property
    def watched(self) -> tuple[WatchedCpu, ...]:
        return self._dut.watched

    @property
    def cpus(self) -> tuple[int, ...]:
        return self._dut.cpus

    def absence(self) -> Absence | None:
        return self._tape.answer(
            "dut.absence",
            self._dut.absence,
            write=lambda absence: None if absence is None else absence.model_dump(mode="json"),
            read=lambda written: (
                None if written is None else Absence.model_validate_json(json.dumps(written))
            ),
        )

    def telemetry(self) -> Snapshot:
        if not self._asks_telemetry:
            return Snapshot()
        return self._tape.answer(
            TELEMETRY,
            self._dut.telemetry,
            write=lambda snapshot: snapshot.model_dump(mode="json"),
            read=lambda written: Snapshot.model_validate_json(json.dumps(written)),
        )

    def recover(self) -> None:
        self._tape.answer("dut.recover", self._dut.recover)

    def set_cores(self, cores: int) -> None:
        self._cores = cores
        self._tape.answer("dut.set_cores", lambda: self._dut.set_cores(cores), given=cores)

    @property
    def table(self) -> ConnectionTable | None:
        return self._table

    @property
    def tester_namespace(self) -> str | None:
        return self._dut.tester_namespace

    def tester_ports(self) -> TesterPorts | None:
        return self._dut.tester_ports()

    def restore(self) -> None:
        """Sets what was set last, by calls on the tape or after it."""
        if self._cores is not None:
            self._dut.set_cores(self._cores)
        if self._table is not None:
            self._table.restore()


def _sending(trial: int) -> Progress:
    """Returns a progress of a trial on the tape, for an observer that waits for its frames."""
    return Progress(
        event="progress",
        id=trial,
        stage="sending",
        elapsed_ns=0,
        duration_ns=0,
        sent=NOTHING,
        received=NOTHING,
    )
