"""ICMP errors from the engine's result to a sentence that names them."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from natxy.errors import MeasurementError, TrialRefused
from natxy.model.measurement import TrialCounts
from natxy.model.port_result import IcmpError, icmp_list, icmp_words, merged
from natxy.model.traffic import TrafficPlan
from natxy.procedure.frame_loss import FrameLossPlan, frame_loss
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.report.measurement_notes import icmp_notes, measurement_notes
from natxy.report.trial_text import trial_lines
from natxy.tester.tester import Tester
from natxy.trial.timing import Timing
from natxy.trial.trial_plan import TrialPlan
from tests.unit.campaign_notes import report_notes
from tests.unit.fake_engine import FakeEngine, first_above

ERRORS = TypeAdapter(tuple[IcmpError, ...])
FAST = Timing(duration_s=Fraction("0.01"), drain_s=Fraction(0))
NEEDED: dict[str, Any] = {
    "ip_version": 4,
    "type": 3,
    "code": 4,
    "mtu": 1280,
    "source": "198.18.0.1",
    "count": 500,
}
WORDS = "500 x ICMP fragmentation needed, MTU 1280, from 198.18.0.1"


def error(**changes: Any) -> IcmpError:
    return IcmpError.model_validate(NEEDED | changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, WORDS),
        ({"code": 0, "mtu": None}, "500 x ICMP no route (network unreachable), from 198.18.0.1"),
        ({"code": 3, "mtu": None}, "500 x ICMP port unreachable, from 198.18.0.1"),
        ({"code": 13, "mtu": None}, "500 x ICMP prohibited by a filter, from 198.18.0.1"),
        ({"type": 11, "code": 0, "mtu": None}, "500 x ICMP TTL exceeded, from 198.18.0.1"),
        ({"type": 12, "code": 9, "mtu": None}, "500 x ICMP type 12 code 9, from 198.18.0.1"),
        (
            {"ip_version": 6, "type": 2, "code": 0, "source": "2001:2::1", "count": 12345},
            "12,345 x ICMPv6 packet too big, MTU 1280, from 2001:2::1",
        ),
        (
            {"ip_version": 6, "type": 3, "code": 0, "mtu": None, "source": "2001:2::1"},
            "500 x ICMPv6 hop limit exceeded, from 2001:2::1",
        ),
    ],
)
def test_each_sort_has_its_words(changes: dict[str, Any], words: str) -> None:
    assert icmp_words(error(**changes)) == words


def test_what_the_engine_writes_is_read_and_written_unchanged() -> None:
    example = Path(__file__).parents[2] / "schemas" / "examples" / "result" / "icmp-errors.json"
    read = ERRORS.validate_json(example.read_text(encoding="utf-8"))
    assert [icmp_words(each) for each in read] == [
        WORDS,
        "2 x ICMPv6 prohibited by a filter, from 2001:2::1",
    ]
    assert ERRORS.dump_python(read, mode="json") == json.loads(example.read_text(encoding="utf-8"))


def test_those_that_are_alike_are_added_up() -> None:
    other = error(source="198.18.0.9", count=700)
    both = merged([error(example="aa"), other, error(example="bb", count=1)])
    assert both == (other, error(count=501))


def test_a_sentence_is_short_however_many_sorts_there_are() -> None:
    sorts = [error(mtu=mtu, count=1) for mtu in range(1, 21)]
    assert icmp_list(sorts).endswith("; 16 of other sorts")
    assert icmp_list([]) == ""
    assert not list(icmp_notes([]))


def test_counts_of_several_measurements_are_added_up() -> None:
    one = TrialCounts(trials=1, icmp_errors=(error(),))
    total = TrialCounts.total([one, TrialCounts(trials=2), one])
    assert total.trials == 4
    assert total.icmp_errors == (error(count=1000),)


def first_frame(stream: object) -> tuple[int, ...]:
    del stream
    return (0,)


def test_a_trial_shows_them_at_their_port(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=first_frame, icmp_errors=(NEEDED,))
    spec = TrialPlan(traffic=nat64, timing=FAST).spec(load=1000, seed=1, nonce=2)
    assert f"  {WORDS}" in trial_lines(engine.run(spec), ())


def test_a_note_under_a_table_names_them(nat64: TrafficPlan) -> None:
    engine = FakeEngine(lose=first_frame, icmp_errors=(NEEDED,))
    plan = FrameLossPlan(timing=FAST, seed=1, repetitions=1, rates_fps=(1000, 2000))
    measured = frame_loss(plan, engine.session(nat64))
    assert len(engine.specs) == 2
    said = "The gateway answered frames of the trials with ICMP errors: 1,000 x ICMP fragmentation"
    assert any(note.startswith(said) for note in measurement_notes([measured]))


def test_the_throughput_names_them(nat64: TrafficPlan) -> None:
    lossy = FakeEngine(
        lose=first_above(5000),
        icmp_errors=(NEEDED,),
    )
    plan = ThroughputPlan(timing=FAST, seed=1, repetitions=2)
    result = throughput(plan, lossy.session(nat64))
    count = 500 * len(lossy.specs)
    words = f"{count:,} x ICMP fragmentation needed, MTU 1280, from 198.18.0.1."
    assert any(note.endswith(words) for note in report_notes(result))
    assert any(note.endswith(words) for note in measurement_notes([result]))


def test_a_warm_up_in_vain_names_them(
    engine: list[str], nat64: TrafficPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_MODE", "deaf-with-icmp")
    spec = TrialPlan(traffic=nat64, timing=FAST).spec(load=1000, seed=1, nonce=2)
    sentence = r"no probe came back; 20 x ICMPv6 no route, from 2001:2::1$"
    with Tester(engine) as tester, pytest.raises(TrialRefused, match=sentence):
        tester.run(spec)


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ("malformed", 'check "malformed": they are not plain UDP or TCP packets'),
        ("address", 'check "address": they have another source'),
        ("hop_limit", 'check "hop limit": their hop limit'),
        ("tunnel", 'check "tunnel": the outer header has another source'),
        ("header", 'check "header": a VLAN tag or an extension header'),
    ],
)
def test_a_search_ends_where_every_frame_is_misdelivered(
    nat64: TrafficPlan, check: str, words: str
) -> None:
    engine = FakeEngine(all_wrong_by=check)
    plan = ThroughputPlan(timing=FAST, seed=1, repetitions=1)
    with pytest.raises(MeasurementError, match=words) as ended:
        throughput(plan, engine.session(nat64))
    assert "forward: all 10 frames were misdelivered" in str(ended.value)
    assert len(engine.specs) == 1


def test_a_search_goes_on_where_some_frames_are_right(nat64: TrafficPlan) -> None:
    engine = FakeEngine(misdelivers=1)  # at the lowest rates it is the only one
    throughput(ThroughputPlan(timing=FAST, seed=1, repetitions=1), engine.session(nat64))
    assert len(engine.specs) > 1
