"""Clauses of the RFCs that no result follows, and a word of what each asks for."""

from collections.abc import Iterable
from typing import Any

import pytest

from natxy.measure.traffic_deviations import MIXES
from natxy.model.deviation import Deviation, Differs
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES
from natxy.trial.session import Session

NOT_FOLLOWED = [
    ("RFC 2544 section 8", "appendix C"),
    ("RFC 2544 section 11", "broadcast"),  # 11.1
    ("RFC 2544 section 11", "management"),  # 11.2
    ("RFC 2544 section 11", "routing frames"),  # 11.3
    ("RFC 2544 section 11", "filters"),  # 11.4
    ("RFC 2544 sections 13", "routing update"),
    ("RFC 2544 section 16", "port"),
    ("RFC 2544 section 18", "one size"),
    ("RFC 2544 section 21", "bursts"),
    ("RFC 2544 section 23 b", "2 s"),
    ("RFC 4814 section 4.2", "MAC"),
    ("RFC 5180 section 5.2.1", "128 bits"),
    ("RFC 5180 section 5.3", "fragment"),
    ("RFC 5180 section 5.3", "routing headers"),
]

SHORT_TRIALS = Deviation.of(Differs.DURATION, "RFC 2544 section 24", has_s=0.2, asked_s=60)

each_clause = pytest.mark.parametrize(("clause", "words"), NOT_FOLLOWED)


def names(text: str, clause: str, words: str) -> bool:
    """Whether one of the points between semicolons names the clause, and says what it is."""
    return any(clause in point and words in point for point in text.split(";"))


def sentences(written: Iterable[dict[str, Any]]) -> str:
    """Returns the sentences of a member of results.json, between semicolons."""
    return ";".join(each["text"] for each in written)


def in_full_series(session: Session) -> Session:
    """Returns the session as a part of a series that measures all that the RFCs ask for."""
    (place, _) = session.with_networks(1, 256)
    return place.in_series(frame_sizes=RFC8219_SIZES_BYTES, foregrounds=MIXES)


def texts(deviations: Iterable[Deviation]) -> list[str]:
    return [str(each) for each in deviations]


def codes(deviations: Iterable[Deviation]) -> list[Differs]:
    return [each.code for each in deviations]


def text(deviations: Iterable[Deviation]) -> str:
    return "; ".join(texts(deviations))
