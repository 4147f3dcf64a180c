"""The tape of a cell: what it plays, what it asks for, and what it refuses."""

import pytest

from natxy.campaign.tape import RUN, AnswerRecord, Tape
from natxy.errors import OtherAnswers

COUNT = "table.count"


def never() -> int:
    raise AssertionError("the answer is on the tape")


def test_answers_are_played_in_their_order_and_then_asked_for() -> None:
    tape = Tape([AnswerRecord(call=COUNT, answer=number) for number in (1, 2)])
    assert [tape.answer(COUNT, never) for _ in range(2)] == [1, 2]
    assert tape.answer(COUNT, lambda: 3) == 3
    assert [record.answer for record in tape.take_new()] == [3]


def test_an_answer_to_another_question_is_refused() -> None:
    tape = Tape([AnswerRecord(call=RUN, given={"rate_fps": 1000}, answer=1)])
    with pytest.raises(OtherAnswers, match=r"holds another engine\.run"):
        tape.answer(RUN, never, given={"rate_fps": 2000})


def test_an_answer_of_another_version_is_refused() -> None:
    tape = Tape([AnswerRecord(call=COUNT, answer="many")])
    with pytest.raises(OtherAnswers, match=r"holds another table\.count"):
        tape.answer(COUNT, never, read=int)


def test_the_last_trial_and_what_follows_it_can_be_left_out() -> None:
    calls = [RUN, COUNT, RUN, COUNT]
    tape = Tape([AnswerRecord(call=call, answer=at) for at, call in enumerate(calls)])
    assert [record.answer for record in tape.without_last_trial()] == [0, 1]
