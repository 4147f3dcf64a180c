"""The engine as a procedure uses it: runs a trial and returns its result."""

import json
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol, Self

from pydantic import ValidationError

from natxy.errors import (
    DeviceError,
    EngineNotFound,
    MeasurementError,
    ProtocolError,
    TesterDied,
    TrialCancelled,
    TrialRefused,
)
from natxy.installed import HOW
from natxy.line_process import LineProcess
from natxy.model.event import EVENT, PROTOCOL, ErrorEvent, Hello, Progress, ResultEvent
from natxy.model.port_result import icmp_list
from natxy.model.refusal import first_refusal, path_text
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.tester.command import in_keys

HELLO_TIMEOUT_S = 60.0  # huge pages are zeroed first
SILENCE_LIMIT_S = 20.0  # the engine promises an event a second while a trial runs
CANCEL_TIMEOUT_S = 2.0  # it promises 0.1 s

Event = Hello | Progress | ResultEvent | ErrorEvent
OnProgress = Callable[[Progress], None]


def ignore_progress(progress: Progress) -> None:
    del progress


class Engine(Protocol):
    """The interface of the engine that a procedure needs."""

    @property
    def hello(self) -> Hello: ...

    @property
    def trials(self) -> int: ...

    def settle(self, seconds: float) -> None: ...

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult: ...

    def cancel(self) -> None: ...


class Tester:
    """Runs one trial at a time: `with Tester(engine_command(...)) as tester: tester.run(spec)`."""

    hello: Hello

    def __init__(
        self,
        command: Sequence[str],
        *,
        silence_limit_s: float = SILENCE_LIMIT_S,
        records_fd: int | None = None,
        noted: Callable[[TrialResult], TrialResult] = lambda result: result,
    ) -> None:
        """`records_fd` is the descriptor in --records-fd, which the engine inherits. `noted` adds
        to a result what is known of this machine."""
        self._command = command
        self._inherited = () if records_fd is None else (records_fd,)
        self._silence_limit_s = silence_limit_s
        self._noted = noted
        self._next_id = 1

    def __enter__(self) -> Self:
        try:
            self._process = LineProcess(self._command, engine_died, self._inherited)
        except OSError as error:
            raise EngineNotFound(
                f"{self._command[0]}: cannot be started: {error.strerror}"
            ) from None
        try:
            self.hello = self._read_hello()
        except BaseException:
            self._process.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError, TesterDied):
            self._process.send('{"request": "quit"}')
        self._process.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def trials(self) -> int:
        """Number of trials that were begun, with or without a result."""
        return self._next_id - 1

    def settle(self, seconds: float) -> None:
        """Waits between two trials."""
        time.sleep(seconds)

    def run(self, spec: TrialSpec, on_progress: OnProgress = ignore_progress) -> TrialResult:
        """Runs a trial and returns its result; an exception such as Ctrl-C first cancels it."""
        number, self._next_id = self._next_id, self._next_id + 1
        request = {"request": "trial", "id": number, "spec": spec.model_dump(mode="json")}
        self._process.send(json.dumps(request))
        try:
            return self._noted(self._await_result(number, spec, on_progress))
        except MeasurementError:
            raise
        except BaseException:
            self._cancel(number)
            raise

    def cancel(self) -> None:
        """Ends the running trial as TrialCancelled; for other threads and `on_progress`."""
        self._process.send('{"request": "cancel"}')

    def _await_result(self, number: int, spec: TrialSpec, on_progress: OnProgress) -> TrialResult:
        while True:
            event = self._event(self._silence_limit_s)
            if isinstance(event, Hello):
                raise ProtocolError("natxy-engine sent hello during a trial (expected its result)")
            if event.id != number and event.id is not None:
                continue  # the end of a cancelled trial
            if isinstance(event, Progress):
                on_progress(event)
            elif isinstance(event, ResultEvent):
                return self._belongs(event.result, spec)
            else:
                raise self._refusal(event)

    @staticmethod
    def _belongs(result: TrialResult, spec: TrialSpec) -> TrialResult:
        if (result.nonce, result.seed) != (spec.nonce, spec.seed):
            raise ProtocolError("natxy-engine sent the result of another trial")
        return result

    @staticmethod
    def _refusal(event: ErrorEvent) -> TrialRefused:
        if event.kind == "cancelled":
            return TrialCancelled(event.kind, event.message)
        said = icmp_list(each.error for each in event.icmp_errors)
        message = in_keys(event.message)
        return TrialRefused(event.kind, f"{message}; {said}" if said else message)

    def _cancel(self, number: int) -> None:
        """Waits for the trial's end, so that no frame is sent after this returns."""
        deadline = time.monotonic() + CANCEL_TIMEOUT_S
        try:
            self.cancel()
            while (left_s := deadline - time.monotonic()) > 0:
                event = self._next(left_s)
                if isinstance(event, ErrorEvent | ResultEvent) and event.id == number:
                    return
        except MeasurementError:
            return
        self._process.kill()

    def _read_hello(self) -> Hello:
        event = self._event(HELLO_TIMEOUT_S)
        if isinstance(event, ErrorEvent):
            if event.kind == "device":
                raise DeviceError(in_keys(event.message))
            raise self._refused_by_dpdk(event) if event.kind == "driver" else self._refusal(event)
        if not isinstance(event, Hello):
            raise ProtocolError(f"natxy-engine sent {event.event} first (expected hello)")
        if event.protocol != PROTOCOL:
            raise ProtocolError(
                f"natxy-engine {event.engine_version} speaks protocol {event.protocol} (expected "
                f"{PROTOCOL}, that of the engine of this package; {HOW})"
            )
        return event

    def _refused_by_dpdk(self, event: ErrorEvent) -> DeviceError:
        """Returns the error for a port that DPDK refused, with what it logged about it."""
        lines = (each for each in self._process.last_lines() if event.message not in each)
        words = " | ".join(lines) or "none"
        return DeviceError(f"{in_keys(event.message)}; DPDK's last messages: {words}")

    def _event(self, timeout_s: float) -> Event:
        event = self._next(timeout_s)
        if event is None:
            self._process.kill()
            raise TesterDied(f"natxy-engine sent nothing for {timeout_s:g} s and was ended")
        return event

    def _next(self, timeout_s: float) -> Event | None:
        line = self._process.receive(timeout_s)
        if line is None:
            return None
        try:
            return EVENT.validate_json(line)
        except ValidationError as error:
            path, sentence = first_refusal(error, Event)
            raise ProtocolError(
                f"natxy-engine sent a malformed event: {path_text(path)} {sentence}"
            ) from None


def ended(status: int | None) -> str:
    """Returns how a program ended, for a sentence that begins with its name; None: it may run."""
    if status is None:
        return "closed its output"
    if status == -signal.SIGILL:
        return (
            "was ended by signal 4, an illegal instruction: it was built for another processor "
            f"(expected one that was built here or for all; {HOW})"
        )
    return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"


def engine_died(engine: LineProcess) -> TesterDied:
    """Returns the error for an engine that ended by itself: how, and its last lines."""
    words = " | ".join(engine.last_lines()) or "it printed nothing"
    return TesterDied(f"natxy-engine (process {engine.pid}) {ended(engine.status)}: {words}")
