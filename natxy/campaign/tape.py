"""Answers of the outside world in a cell, so that an interrupted cell can go on.

A measurement is a function of its plan, its seed and the answers that it gets from the tester and
the gateway: results of trials, counts of connections, times of deletions. The tape keeps these
answers. To resume, the measurement is run again from its start, and gets the answers of the tape in
place of new ones; where the tape ends, it goes on with the tester and the gateway themselves
(docs/decisions/0025).
"""

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, NoReturn, TypeVar

import natxy.errors
from natxy.errors import NatxyError, OtherAnswers, TrialRefused
from natxy.model.base import Model

Answer = TypeVar("Answer")
RUN = "engine.run"
TELEMETRY = "dut.telemetry"
OF_A_USED_DEVICE = {"table.delete_all"}


class AnswerRecord(Model):
    """A line of the journal: one answer of the tester or the gateway."""

    record: Literal["answer"] = "answer"
    call: str  # "engine.run", "table.count"
    given: Any = None  # what the answer depends on; on resuming, it must be the same
    answer: Any = None
    of_trial: bool = False  # the answer is the rest of a result that the next trial's line has
    error: list[str] | None = None  # class and arguments of an exception


class TapeEnds(Exception):
    """The tape ends between a trial and what was to be asked about the gateway after it."""


class Tape:
    """The answers of one cell, by call: those that are played first, and those that are new."""

    def __init__(
        self,
        recorded: Sequence[AnswerRecord] = (),
        keep: Callable[[list[AnswerRecord]], None] = lambda _: None,
    ) -> None:
        """`keep` writes answers that cannot be asked for again to the journal, at once."""
        self.recorded = recorded
        self._keep = keep
        self._left: dict[str, deque[AnswerRecord]] = {}
        for record in recorded:
            self._left.setdefault(record.call, deque()).append(record)
        self._new: list[AnswerRecord] = []
        self._resumes = self.plays(RUN)  # and no new trial has run yet

    def without_last_trial(self) -> list[AnswerRecord]:
        """Returns the answers before the last trial, which must be repeated."""
        last = max(at for at, record in enumerate(self.recorded) if record.call == RUN)
        if self.recorded[:last] and self.recorded[last - 1].call == TELEMETRY:
            last -= 1  # taken just before the trial, and again before it is repeated
        return list(self.recorded[:last])

    def plays(self, call: str) -> bool:
        """Returns whether the next answer to this call is on the tape."""
        return bool(self._left.get(call))

    def answer(
        self,
        call: str,
        ask: Callable[[], Answer],
        *,
        given: Any = None,
        write: Callable[[Answer], Any] = lambda answer: answer,
        read: Callable[[Any], Answer] = lambda written: written,
    ) -> Answer:
        """Returns the tape's next answer to this call; without one, asks and keeps the answer.

        `write` makes JSON of an answer, and `read` an answer of this JSON. `given` is JSON. Raises
        TapeEnds if only a gateway that has been through the tape's last trial knows the answer.
        """
        if self.plays(call):
            return self._played(self._left[call].popleft(), given, read)
        if self._resumes and call in OF_A_USED_DEVICE:
            raise TapeEnds
        self._resumes = self._resumes and call != RUN
        try:
            answer = ask()
        except NatxyError as error:
            self._new.append(AnswerRecord(call=call, given=given, error=_written(error)))
            raise
        self._new.append(AnswerRecord(call=call, given=given, answer=write(answer)))
        if call in OF_A_USED_DEVICE:
            self._keep(self.take_new())
        return answer

    def take_new(self) -> list[AnswerRecord]:
        """Returns the answers since the last call, for the journal."""
        new, self._new = self._new, []
        return new

    @staticmethod
    def _played(record: AnswerRecord, given: Any, read: Callable[[Any], Answer]) -> Answer:
        if record.given == given:
            if record.error is not None:
                _raise(record.error)
            with suppress(ValueError):  # of another version
                return read(record.answer)
        raise OtherAnswers(
            f"The journal holds another {record.call} than the one that this measurement asks "
            "for, so the cell cannot be resumed (expected the version of Natxy, the testbed "
            "and the options with which the campaign was started)."
        )


def _written(error: NatxyError) -> list[str]:
    kind = [error.kind] if isinstance(error, TrialRefused) else []
    return [type(error).__name__, *kind, error.in_options]


def _raise(written: list[str]) -> NoReturn:
    name, *arguments = written
    error: NatxyError = getattr(natxy.errors, name)(*arguments)
    raise error
