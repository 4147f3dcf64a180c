"""The look-up of docs/reading-a-result.md names each remark and each reason that Natxy prints."""

import re
from pathlib import Path

import pytest

from natxy.model.reason import Code
from natxy.model.remark import Topic
from natxy.report.brief_notes import SHORT

PAGE = (Path(__file__).parents[2] / "docs/reading-a-result.md").read_text()
ROW = re.compile(r"^\| (.*?) \|", re.MULTILINE)
# A failed trial's reasons, and what no user sees.
NOT_INVALID = {Code.HELD_BACK, Code.PORT_SLOW, Code.UNKNOWN}
# Words that stand alone: settings and definitions, which the page need not explain.
PLAIN = {
    *(Topic.BURSTS, Topic.BURST_FILLS_RING, Topic.BUFFERS_COUNT, Topic.FRAME_TIMEOUT),
    *(Topic.BURSTS_SENT, Topic.BURST_WAITS, Topic.BURSTS_LONGER, Topic.CORRECTED_AS_GIVEN),
    *(Topic.CORRECTED_AS_FOUND, Topic.CORRECTED_UNKNOWN, Topic.CORRECTED_IS_BOUND, Topic.OVERLOAD),
    *(Topic.RESET, Topic.RESET_UNWATCHED, Topic.RESET_AT, Topic.RESET_SEEN, Topic.RESETS_SEEN),
    *(Topic.USED_AGAIN, Topic.TRIAL_CREATES, Topic.CAPACITY, Topic.TEAR_DOWN, Topic.PORTS),
    *(Topic.CLOSED_BY_FIN, Topic.CLOSED_BY_RST, Topic.CHURN, Topic.HALF_OPEN, Topic.MEMORY),
    *(Topic.DEGRADATION, Topic.DEGRADATION_ERROR, Topic.SUBSCRIBERS, Topic.FLOWS),
    *(Topic.FLOWS_OF_KINDS, Topic.PARTS_AS_TRIALS, Topic.PARTS_BY_STEP, Topic.PARTS_DIFFER),
    *(Topic.WITHOUT_REALTIME, Topic.CORES_LEFT, Topic.CORES_UNKNOWN, Topic.OTHER_GATEWAY),
    *(Topic.NOT_OF_GATEWAY, Topic.INVALID_IN_SEARCH, Topic.OWN_DELAY, Topic.OWN_DELAY_OF_SIZE),
    *(Topic.OWN_DELAY_OF_VERSION, Topic.SELF_TESTS_UNREADABLE, Topic.BOUND_DOES_NOT_DEGRADE),
    *(Topic.ZERO_DOES_NOT_DEGRADE, Topic.UPPER_BOUND, Topic.FEW_VALID),
    *(Topic.FEW_VALID_BY_RETRY_TIME, Topic.CONNECTIONS_LOST),
}


def phrases() -> list[re.Pattern[str]]:
    """Returns each phrase of the first columns; "…" stands for any words."""
    cells = (phrase for cell in ROW.findall(PAGE) for phrase in cell.split("; "))
    parts = (filter(None, (part.strip() for part in cell.split("…"))) for cell in cells)
    found = (".*".join(map(re.escape, each)) for each in parts)
    return [re.compile(each, re.IGNORECASE) for each in found if len(each) > 8]


@pytest.mark.parametrize(
    "sentence",
    [each.value for each in Topic if each not in PLAIN]
    + [each.value for each in Code if each not in NOT_INVALID],
)
def test_each_remark_and_each_reason_is_looked_up(sentence: str) -> None:
    assert any(phrase.search(sentence) for phrase in phrases()), sentence


@pytest.mark.parametrize("short", sorted({each for each in SHORT.values() if each}))
def test_each_short_note_is_looked_up(short: str) -> None:
    assert any(phrase.search(short) for phrase in phrases()), short
