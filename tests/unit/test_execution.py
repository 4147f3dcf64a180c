"""A program that fails is quoted with the line that says why."""

import pytest

from natxy.dut.execution import execute, last_words
from natxy.errors import DutError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("warning\nreason\n", "reason"),
        ("RTNETLINK answers: File exists\nCommand failed -:3\n", "RTNETLINK answers: File exists"),
        ("Command failed -:1\n", "it printed nothing"),
        ("", "it printed nothing"),
    ],
)
def test_the_last_line_that_gives_a_reason(text: str, words: str) -> None:
    assert last_words(text) == words


def test_a_batch_of_ip_is_quoted_with_its_reason() -> None:
    with pytest.raises(DutError, match=r'status 1: .*"natxy-none"'):
        execute(["ip", "-batch", "-"], feed="link show natxy-none\n")
