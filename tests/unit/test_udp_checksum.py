"""Frames without a UDP checksum, from the testbed's rule to the sentence under a table."""

import csv
import io
from fractions import Fraction
from typing import Any

import pytest

from natxy.errors import ConfigurationError
from natxy.model.traffic import TrafficPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_csv import results_csv
from natxy.report.trial_text import trial_lines
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.campaign_notes import report_notes
from tests.unit.fake_engine import FakeEngine, first_above
from tests.unit.traffic import SEGMENTS, plan

FAST = Timing(duration_s=Fraction("0.01"), drain_s=Fraction(0))
NOTE = "frames arrived without a UDP checksum, as RFC 768 allows over IPv4"


@pytest.mark.parametrize(
    ("asked", "required"),
    [({}, False), ({"udp_checksum": "optional"}, False), ({"udp_checksum": "required"}, True)],
)
def test_the_testbed_says_whether_there_must_be_one(asked: dict[str, Any], required: bool) -> None:
    for stream in plan(n=2, m=1, **asked).streams(SEGMENTS):
        assert stream.foreground
        assert stream.background
        assert stream.foreground.udp_checksum_required is required
        assert stream.background.udp_checksum_required is required


def test_another_word_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"traffic\.udp_checksum"):
        plan(udp_checksum="none")


def test_a_trial_shows_how_many(nat64: TrafficPlan) -> None:
    engine = FakeEngine(counters=lambda _: {"without_udp_checksum": 7})
    spec = TrialPlan(traffic=nat64, timing=FAST).spec(load=1000, seed=1, nonce=2)
    assert any(", without UDP checksum 7, " in line for line in trial_lines(engine.run(spec), ()))


def test_a_note_under_a_table_and_a_column_say_how_many(nat64: TrafficPlan) -> None:
    engine = FakeEngine(counters=lambda _: {"without_udp_checksum": 7})
    asked = FrameLossPlan(timing=FAST, seed=1, repetitions=1, rates_fps=(1000, 2000))
    measured = frame_loss(asked, engine.session(nat64))
    count = 7 * sum(len(spec.phases[0].streams) for spec in engine.specs)
    assert count == 28
    said = [note for note in measurement_notes([measured]) if NOTE in note]
    assert [note.split()[0] for note in said] == ["28"]
    rows = list(csv.DictReader(io.StringIO(results_csv([measured]))))
    assert {row["without_udp_checksum"] for row in rows} == {"28"}


def test_the_throughput_says_how_many(nat64: TrafficPlan) -> None:
    engine = FakeEngine(
        lose=first_above(5000),
        counters=lambda _: {"without_udp_checksum": 1},
    )
    result = throughput(ThroughputPlan(timing=FAST, seed=1, repetitions=2), engine.session(nat64))
    assert result.counts.without_udp_checksum == 2 * len(engine.specs)
    for said in (report_notes(result), measurement_notes([result])):
        assert any(f"{2 * len(engine.specs)} {NOTE}" in note for note in said)


def test_nothing_is_said_where_all_had_one(nat64: TrafficPlan) -> None:
    asked = FrameLossPlan(timing=FAST, seed=1, repetitions=1, rates_fps=(1000,))
    measured = frame_loss(asked, FakeEngine().session(nat64))
    assert not any(NOTE in note for note in measurement_notes([measured]))
