"""Tests of the error of a frame loss rate: what pauses of a gateway that nobody watches may do."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import pytest

from natxy.campaign.fewer_runs import shortened
from natxy.model.disturbance import Absence
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.verdict.loss_error import LossRate, loss_rates, silent_share
from natxy.verdict.silences import lost_in_silences, with_silences_counted
from tests.simulation.gateways import Gateway, by_chance, poller, queue
from tests.unit.results import result_of, stream_of

RATE_FPS = 80_000
FRAMES = RATE_FPS // 5
STRETCHES = 320
DUE = np.arange(FRAMES) / RATE_FPS
RECORD = Absence(where="the gateway", total_s=0, longest_s=0)


def stream_through(gateway: Gateway, away: np.ndarray) -> StreamResult:
    kept, left = gateway(DUE, np.zeros(FRAMES, dtype=np.int8), away, np.random.default_rng(7))
    delays_ns = np.where(kept, (left - DUE) * 1e9 + 20_000, np.inf)
    stretches = enumerate(np.split(delays_ns, STRETCHES))
    lows = [(i * FRAMES // STRETCHES, int(d.min())) for i, d in stretches if np.isfinite(d.min())]
    return stream_with_lost(np.flatnonzero(~kept).tolist(), lows)


def stream_with_lost(lost: list[int], lows: Sequence[tuple[int, int]] = ()) -> StreamResult:
    numbers = [
        [number for _, number in run]
        for _, run in groupby(enumerate(lost), lambda at: at[1] - at[0])
    ]
    runs = tuple((run[0], len(run), len(run)) for run in numbers)
    stream = stream_of(sent=FRAMES, missing=len(lost), sending_s=(FRAMES - 1) / RATE_FPS)
    return stream.model_copy(update={"lost_runs": runs, "low_delays": tuple(lows)})


def record_of(stream: StreamResult, absence: Absence | None = None) -> TrialRecord:
    return TrialRecord(
        number=1,
        repetition=1,
        rate_fps=RATE_FPS,
        started="2026-11-28T12:00:00Z",
        verdict=Verdict.FAIL,
        invalid_reasons=(),
        absence=absence,
        result=with_silences_counted(result_of(stream).model_copy(update={"watched": ()})),
    )


def loss_of(record: TrialRecord) -> LossRate:
    return loss_rates(record)["forward", ""]


def pauses(share: float, for_s: float = 0.01) -> np.ndarray:
    begins = np.arange(0.003, 0.18, for_s / share) if share else np.empty(0)
    return np.stack([begins, begins + for_s], axis=1)


@pytest.mark.parametrize("share", [0.05, 0.25])
def test_pauses_of_a_gateway_that_nobody_watches_widen_the_error(share: float) -> None:
    stream = stream_through(queue(50_000, 64), pauses(share))
    loss = loss_of(record_of(stream))
    assert loss.percent == pytest.approx(100 * stream.lost / FRAMES)
    assert loss.percent > 37.5 + 40 * share, "the pauses cost frames"
    assert loss.percent - loss.error == pytest.approx(37.5, abs=3)
    assert loss.percent - loss.error <= 37.5
    watched = record_of(stream, RECORD)
    (counted,) = watched.result.streams
    assert (silent_share(watched, counted), loss_of(watched).error) == (0, 0)


@pytest.mark.parametrize("share", [0.005, 0.05, 0.25, 0.4])
@pytest.mark.parametrize("for_s", [0.002, 0.01])
def test_a_gateway_that_only_pauses_may_have_lost_nothing_by_itself(
    share: float, for_s: float
) -> None:
    loss = loss_of(record_of(stream_through(queue(200_000, 64), pauses(share, for_s))))
    assert loss.percent > 0
    assert loss.error == pytest.approx(loss.percent)


def test_a_journal_keeps_what_was_lost_in_silences() -> None:
    """Its list of losses is shorter, and some of its runs are joined."""
    record = record_of(stream_through(queue(50_000, 64), pauses(0.25)))
    written = record.model_copy(update={"result": shortened(record.result)})
    assert len(written.result.streams[0].lost_runs) < len(record.result.streams[0].lost_runs)
    assert loss_of(written) == loss_of(record)


@pytest.mark.parametrize(
    "gateway",
    [
        queue(50_000, 4),
        queue(50_000, 1000),
        queue(5_000, 64),
        poller(50_000, 256),
        poller(50_000, 256, 8),
    ],
)
def test_a_gateway_that_never_pauses_has_no_silences(gateway: Gateway) -> None:
    stream = stream_through(gateway, pauses(0))
    assert stream.lost > 0.3 * FRAMES
    assert lost_in_silences(stream) == 0
    assert loss_of(record_of(stream)).error == 0, "no rounding is printed as an error"


@pytest.mark.parametrize("share", [0.01, 0.3, 0.7])
def test_few_of_the_frames_lost_by_chance_are_in_silences(share: float) -> None:
    stream = stream_through(by_chance(queue(200_000, 64), share), pauses(0))
    assert lost_in_silences(stream) < 0.01 * FRAMES


def test_a_gateway_that_forwards_nothing_has_no_silence() -> None:
    stream = stream_with_lost(list(range(FRAMES)))
    assert lost_in_silences(stream) == 0
    assert loss_of(record_of(stream)) == LossRate(percent=100.0, error=0.0, highest=100.0)


def test_the_losses_of_joined_runs_are_in_no_silence() -> None:
    """Where the engine joined runs, which numbers of a span are lost is not known."""
    joined = tuple((first, 100, 37) for first in range(0, FRAMES, 100))
    stream = stream_of(sent=FRAMES, missing=37 * len(joined))
    assert lost_in_silences(stream.model_copy(update={"lost_runs": joined})) == 0
