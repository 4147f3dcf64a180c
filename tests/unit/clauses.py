"""Clauses of the RFCs that no result follows, and a word of what each asks for."""

import pytest

NOT_FOLLOWED = [
    ("RFC 2544 section 11", "broadcast"),  # 11.1
    ("RFC 2544 section 11", "management"),  # 11.2
    ("RFC 2544 section 11", "routing frames"),  # 11.3
    ("RFC 2544 section 11", "filters"),  # 11.4
    ("RFC 2544 sections 13", "routing update"),
    ("RFC 2544 section 21", "bursts"),
    ("RFC 2544 section 23 b", "2 s"),
    ("RFC 5180 section 5.2.1", "128 bits"),
]

each_clause = pytest.mark.parametrize(("clause", "words"), NOT_FOLLOWED)


def names(text: str, clause: str, words: str) -> bool:
    """Whether one of the points between semicolons names the clause, and says what it is."""
    return any(clause in point and words in point for point in text.split(";"))
