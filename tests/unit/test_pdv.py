"""PDV's figures from the delays of a stream."""

from natxy.model.stream_counters import Kinds
from natxy.model.trial_result import StreamResult
from natxy.procedure.pdv import P999_DELAY, PDV, pdv_values
from tests.unit.results import stream_of
from tests.unit.test_delays import LOST_NS, distribution


def stream(*, lost: int) -> StreamResult:
    """1000 frames, with delays from 1 us up in steps of a nanosecond."""
    arrived = stream_of(sent=1000, missing=lost)
    (_, counters), *_ = arrived.counters()
    delays = distribution([1000.0 + number for number in range(1000 - lost)])
    kinds = Kinds(foreground=counters.model_copy(update={"delay": delays}))
    return arrived.model_copy(update={"kinds": kinds})


def test_more_than_one_lost_frame_in_a_thousand_is_the_percentile() -> None:
    for lost in (0, 1):
        values = {each.name: each.value for each in pdv_values(stream(lost=lost), LOST_NS)}
        assert values[P999_DELAY] < 2000.0
    values = {each.name: each.value for each in pdv_values(stream(lost=2), LOST_NS)}
    assert values[P999_DELAY] == LOST_NS
    assert values[PDV] == LOST_NS - 1000.0
