"""The establishment rate that is found of a gateway that is arithmetic, and what is said of it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

from natxy.dut.base import TableParameters
from natxy.dut.command import CommandDut
from natxy.dut.config import CommandConfig
from natxy.errors import ConfigurationError, MeasurementError, TesterLimit
from natxy.model.deviation import Differs
from natxy.model.disturbance import Absence
from natxy.model.measurement import Measurement
from natxy.model.remark import Topic
from natxy.model.trial_record import TrialRecord
from natxy.model.verdict import Verdict
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan, first_guess
from natxy.report.measurement_notes import measurement_notes
from natxy.report.results_json import result_entry
from natxy.search.bisection import SearchError
from natxy.search.settings import LossTolerance
from natxy.trial.establishing import Establishing
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.verdict.counted import Counting
from natxy.verdict.losses import Losses
from tests.remarks import about, topics
from tests.unit.clauses import codes, text
from tests.unit.connections import plan as traffic_plan
from tests.unit.establishment import HALF, PLAN, measure
from tests.unit.fake_engine import FakeEngine, frames_in
from tests.unit.fake_engine import rate_of as rate_of_stream
from tests.unit.kept import Kept
from tests.unit.reasons import LATE
from tests.unit.results import result_of, stream_of
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway

COARSE = SearchError(fraction=Fraction(1, 50))
COUNTING = Counting(above_fps=0, short=True)
UNPLACED = Losses(lines={})  # nothing is known of when frames were lost


def rate_of(result: Measurement) -> float:
    (figure,) = result.figures
    assert figure.unit == "cps"
    assert not any(figure.lower_bound)
    return figure.values[0]


def way_of(result: Measurement) -> str:
    return measurement_notes([result])[0].split(".")[0]


def test_the_initiator_alone_sends_and_validation_follows() -> None:
    """Whatever direction the testbed has for a phase 2."""
    plain = measure(StatefulGateway())
    assert way_of(plain) == "→ left (IPv4) to right (IPv4) only"
    assert (plain.conditions.direction, plain.conditions.duration_s) == ("forward", None)
    validated = measure(StatefulGateway(), replace(PLAN, alpha=HALF))
    assert way_of(validated) == (
        "→ left (IPv4) to right (IPv4), then ← right to left in validation"
    )
    turned = measure(StatefulGateway(), initiator="right")
    assert way_of(turned) == "← right (IPv4) to left (IPv4) only"


@pytest.mark.parametrize("new_cps", [700, 4321, 123_456])
def test_the_rate_at_which_all_connections_are_made(new_cps: int) -> None:
    result = measure(StatefulGateway(new_cps=new_cps))
    assert rate_of(result) == new_cps
    assert result.reference == "RFC 9693"
    assert about(Topic.TRIAL_CREATES, result.remarks).facts["connections"] == 1000


@pytest.mark.parametrize(("alpha", "rate_cps"), [(HALF, 8000), (Fraction(1), 4000)])
def test_validation_asks_at_alpha_times_the_rate(alpha: Fraction, rate_cps: int) -> None:
    """The gateway makes 9000 connections a second, but forwards only 4000 replies."""
    gateway = StatefulGateway(new_cps=9000, frames_fps=4000)
    assert rate_of(measure(gateway)) == 9000
    validated = measure(gateway, replace(PLAN, alpha=alpha))
    assert rate_of(validated) == pytest.approx(rate_cps, abs=1)
    assert f"alpha {float(alpha):g}" in validated.figures[0].name
    assert Topic.VALIDATION in topics(validated.remarks)


@pytest.mark.parametrize(("alpha", "handshakes"), [(None, 1 / 3), (Fraction(1, 2), 1 / 4)])
def test_a_handshake_of_tcp_takes_the_time_of_its_three_phases(
    alpha: Fraction | None, handshakes: float
) -> None:
    gateway = StatefulGateway(new_cps=9000)
    engine = FakeEngine(gateway=gateway)
    traffic = traffic_plan({"transport": "tcp"}, frame_size_bytes=98)
    dut = StatefulDut(gateway=gateway, known=TableParameters())
    measured = establishment(replace(PLAN, alpha=alpha), engine.session(traffic, dut))
    rate, figure = measured.figures
    assert (figure.name, rate.values) == ("TCP handshakes", (9000.0,))
    assert figure.values[0] == pytest.approx(9000 * handshakes)
    assert any("each by SYN, SYN/ACK and ACK" in note for note in measurement_notes([measured]))
    assert measured.conditions.connections
    assert measured.conditions.connections.transport == "tcp"


def test_accepted_loss_is_shown_beside_the_rate() -> None:
    """10 of 1000 connections may be missing: 9000 a second pass as 9090."""
    accepts = replace(PLAN, loss=LossTolerance(fraction=Fraction(1, 100)))
    result = measure(StatefulGateway(new_cps=9000), accepts)
    assert rate_of(result) == pytest.approx(9000 / 0.99, rel=0.001)
    assert "1 % loss accepted" in result.figures[0].name
    assert Differs.LOSS_ACCEPTED in codes(result.deviations)


def test_of_connections_drawn_with_repetition_those_that_were_new_are_counted() -> None:
    """A combination that is drawn again is no new connection (MP Table 23)."""
    gateway = StatefulGateway(new_cps=5000, drawn_again=200)
    result = measure(gateway, replace(PLAN, repetitions=2), order="repeating")
    rate, new, ending = result.figures
    assert rate.values == (5000, 5000)
    assert (new.name, new.unit, new.values) == ("connections", "connections", (800, 800))
    assert (ending.name, ending.unit) == ("ending new connection ratio", "%")
    assert ending.values == (100, 100)
    assert [each.primary for each in result.figures] == [True, False, False]


def test_a_weak_tester_yields_a_lower_bound() -> None:
    result = measure(StatefulGateway(), engine={"limit_fps": 5000})
    (figure,) = result.figures
    assert figure.values[0] == pytest.approx(5000, abs=1)
    assert figure.lower_bound == (True,)
    (said,) = (note for note in measurement_notes([result]) if note.startswith("≥"))
    assert "limited by the tester" in said


def test_what_the_search_was_asked_for_is_in_the_file() -> None:
    result = measure(StatefulGateway(new_cps=3000), replace(PLAN, max_rate_cps=5000))
    entry = result_entry(result)
    assert (entry["error"], entry["loss_accepted"]) == ("1 cps", "")
    assert (entry["maximum_fps"], entry["maximum_origin"]) == (5000, "given")
    assert "rate_fps_per_direction" not in entry  # its rate is in connections a second


def test_a_tester_that_can_do_nothing_is_an_error() -> None:
    with pytest.raises(TesterLimit, match=r"at 1000 connections a second .* a frame left"):
        measure(StatefulGateway(), engine={"limit_fps": 0})


def test_a_tester_that_is_away_now_and_then_changes_nothing_but_the_number_of_trials() -> None:
    """Nine of ten trials are disturbed: three repeats would not be enough."""
    numbers = iter(range(10**6))
    away = {"invalid": lambda _: LATE if next(numbers) % 10 else None, "too_slow": False}
    result = measure(StatefulGateway(new_cps=5000), engine=away)
    assert rate_of(result) == 5000
    assert result.counts.invalid_trials > 0.8 * result.counts.trials


@pytest.mark.parametrize("share", [0.001, 0.05])
@pytest.mark.parametrize("alpha", [None, Fraction(1, 2)], ids=["plain", "validated"])
def test_a_rate_that_pauses_made_a_lower_one_counts_as_that(
    share: float, alpha: Fraction | None
) -> None:
    """Each trial's time to send is longer by this share of it: the gateway's limit is 5,000 cps,
    and no more than 5,000 / (1 + share) is known. Halfway between what counts and what failed a
    trial says nothing new once that is 5,000 / (1 + 2 share)."""
    pausing = {"paused_ns": lambda stream: frames_in(stream) * 1e9 / rate_of_stream(stream) * share}
    plan = replace(PLAN, error=SearchError(fraction=Fraction(1, 100)), alpha=alpha)
    (figure,) = measure(StatefulGateway(new_cps=5000), plan, engine=pausing).figures
    assert 0.98 * 5000 / (1 + 2 * share) <= figure.values[0] <= 5000 / (1 + share)


def test_pauses_of_the_phase_that_paused_longest_count() -> None:
    """Validation at half the rate takes twice as long: 0.1 s of it are 5 % of 2 s."""
    load = Establishing(rate_cps=1000, alpha=Fraction(1, 2), counting=COUNTING)
    result = result_of(
        stream_of(sent=1000, phase="establish", paused_s=0.02),
        stream_of(sent=1000, phase="validate", paused_s=0.1),
        stream_of(sent=10, phase="ask again", paused_s=5.0),
    )
    assert load.counted(result, None, UNPLACED).fps == int(1000 / 1.05)


def test_connections_that_the_gateway_still_held_took_longer() -> None:
    """1,000 frames in 1 s; they took 0.25 s longer to leave the gateway than to enter it."""
    load = Establishing(rate_cps=1000, counting=COUNTING)
    result = result_of(stream_of(sent=1000, phase="establish", held_s=0.25))
    assert load.counted(result, None, UNPLACED).fps == 800


def test_an_absence_at_the_end_of_validation_is_no_rate_of_connections() -> None:
    """Validation takes 2 s, and the gateway was away for the last 0.1 s more."""
    load = Establishing(rate_cps=1000, alpha=Fraction(1, 2), counting=COUNTING)
    result = result_of(
        stream_of(sent=1000, phase="establish"),
        stream_of(sent=1000, phase="validate", ended_late_s=0.1),
    )
    absence = Absence(where="the calibration gateway", total_s=0.2, longest_s=0.15)
    assert load.counted(result, absence, UNPLACED).fps == int(1000 / 1.05)
    assert load.counted(result, None, UNPLACED).fps == 1000


def test_each_repetition_starts_at_the_same_rate() -> None:
    kept = Kept()
    result = measure(StatefulGateway(new_cps=64_000), replace(PLAN, repetitions=3), observer=kept)
    assert result.figures[0].values == (64_000.0,) * 3
    by_number = [[t.rate_fps for t in kept.trials if t.repetition == n] for n in (1, 2, 3)]
    assert by_number[0] == by_number[1] == by_number[2]
    assert by_number[0][:3] == [4000, 16_000, 64_000]
    assert len({trial.result.nonce for trial in kept.trials}) == len(kept.trials)


@dataclass(kw_only=True)
class Straying(StatefulGateway):
    """Loses one connection of the first trial at 4000 a second."""

    strayed: bool = False

    def makes(self, asked: int, rate_cps: int) -> int:
        stray = rate_cps == 4000 and not self.strayed
        self.strayed |= stray
        return super().makes(asked, rate_cps) - stray


def test_a_stray_loss_is_overturned_by_loss_verification() -> None:
    assert rate_of(measure(Straying(new_cps=64_000))) < 4000
    (doubted,) = measure(Straying(new_cps=64_000), replace(PLAN, error=COARSE)).figures
    assert doubted.values[0] < 4000
    assert doubted.lower_bound == (True,)  # an overload near the result would have been seen
    kept = Kept()
    verifies = replace(PLAN, loss_verifications=1)
    result = measure(Straying(new_cps=64_000), verifies, observer=kept)
    assert rate_of(result) == 64_000
    assert result.counts.overturned == 1
    assert result.conditions.search is not None
    assert result.conditions.search.loss_verifications == 1
    assert {"trials": 2} in [each.facts for each in result.deviations]


def test_gross_losses_are_not_verified() -> None:
    """312 of 1000 connections are made at 64,000 a second; 998 at 20,040."""
    kept = Kept()
    verifies = replace(PLAN, loss_verifications=1, error=SearchError(rate_fps=100))
    result = measure(StatefulGateway(new_cps=20_000), verifies, observer=kept)
    assert 19_900 <= rate_of(result) <= 20_000
    rates = [trial.rate_fps for trial in kept.trials]
    assert (rates.count(64_000), rates.count(20_250)) == (1, 2)  # 13 of 1000 are lost, twice


def test_a_table_known_to_be_too_small_is_refused_before_anything_is_sent() -> None:
    kept = Kept()
    with pytest.raises(ConfigurationError, match=r"takes 999 entries.* 1,000 connections"):
        measure(StatefulGateway(), known=TableParameters(entries=999), observer=kept)
    assert not kept.trials


def test_a_table_that_is_full_is_not_taken_for_a_rate() -> None:
    """Nobody knows its size; no lower rate makes more connections."""
    kept = Kept()
    with pytest.raises(MeasurementError, match=r"created 900 of 1,000 .* only 900 in its table"):
        measure(StatefulGateway(entries=900), observer=kept)
    assert min(trial.rate_fps for trial in kept.trials) >= 500
    assert {trial.verdict for trial in kept.trials} == {Verdict.FAIL}


@pytest.mark.parametrize(
    ("gateway", "absent", "counted"),
    [
        (StatefulGateway(absent=3), True, {}),
        (StatefulGateway(collided=5), False, {"collided": 5, "wrong": 5}),
    ],
)
def test_connections_that_never_answer_have_no_rate(
    gateway: StatefulGateway, absent: bool, counted: dict[str, int]
) -> None:
    """Plainly, they were made; validated, no rate passes, and it does not take for ever."""
    kept = Kept()
    result = measure(gateway, replace(PLAN, alpha=HALF), observer=kept)
    assert rate_of(result) == 0
    assert about(Topic.LOST_AT_EVERY_RATE, result.remarks).facts == {"what": "connections"}
    assert len(kept.trials) < 10
    facts = about(Topic.VALIDATION, result.remarks).facts
    assert (bool(facts["absent"]), bool(facts["wrong"])) == (absent, not absent)
    for name, each in counted.items():
        assert getattr(result.counts, name) >= each * len(kept.trials)


def test_absent_ones_are_told_from_those_that_were_asked_too_fast() -> None:
    """3 were forgotten; 500 a second is what the gateway forwards, 5000 at a tenth is slow."""
    gateway = StatefulGateway(frames_fps=4500, absent=3)
    trial = _trial(gateway, Establishing(rate_cps=10_000, alpha=HALF))
    assert trial.verdict is Verdict.FAIL
    validated, again = (trial.result.stream_of(name) for name in ("validate", "ask again"))
    assert validated
    assert again
    assert validated.lost == 103
    assert (again.sent, again.lost) == (100, 3)


def _trial(gateway: StatefulGateway, load: Establishing) -> TrialRecord:
    trials = Trials(
        session=FakeEngine(gateway=gateway).session(traffic_plan({})),
        timing=PLAN.timing,
        campaign_seed=1,
    )
    return trials.run(load=load, repetition=1, seed=1)


def test_the_first_guess_is_a_short_trial() -> None:
    assert first_guess(5000) == 20_000
    assert first_guess(10) == 1000
    assert first_guess(10**7) == 100_000


@pytest.mark.parametrize(
    ("changes", "option"),
    [
        ({"repetitions": 0}, "repetitions"),
        ({"max_rate_cps": 0}, "max_rate_cps"),
        ({"alpha": Fraction(0)}, "alpha"),
        ({"loss": 0.01}, "loss"),
        ({"early_end": True, "loss": LossTolerance(fraction=HALF)}, "early_end"),
    ],
)
def test_what_is_out_of_range_names_the_option(changes: dict[str, Any], option: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{option}: .*"):
        replace(PLAN, **changes)


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, [4000, 16_000]),
        ({"first_cps": 3000}, [3000, 12_000]),
        ({"max_rate_cps": 50_000}, [50_000, 25_000]),
        ({"first_cps": 3000, "max_rate_cps": 50_000}, [3000, 12_000]),
    ],
    ids=str,
)
def test_the_first_rate_is_given_or_the_maximum_or_a_guess(
    changes: dict[str, Any], first: list[int]
) -> None:
    kept = Kept()
    measure(StatefulGateway(new_cps=20_000), replace(PLAN, **changes), observer=kept)
    assert kept.rates[:2] == first


def test_a_given_maximum_that_passes_is_a_lower_bound() -> None:
    kept = Kept()
    result = measure(StatefulGateway(), replace(PLAN, max_rate_cps=5000), observer=kept)
    (figure,) = result.figures
    assert (figure.values, figure.lower_bound) == ((5000,), (True,))
    assert kept.rates == [5000]
    assert Topic.BOUND_BY_MAXIMUM in topics(result.remarks)
    assert [each.values for each in kept.figures] == [(5000,)]


def test_the_medias_rate_that_passes_is_no_lower_bound() -> None:
    """10 Mbit/s carry 14,880 frames of 64 octets a second."""
    gateway = StatefulGateway()
    session = FakeEngine(gateway=gateway, link_mbps=10).session(traffic_plan({}))
    result = establishment(PLAN, session)
    (figure,) = result.figures
    assert (figure.values, figure.lower_bound) == ((14_880,), (False,))
    assert result.conditions.search
    assert result.conditions.search.maximum_origin == "media"


def test_the_width_at_which_the_search_ended_is_that_of_the_highest_rate() -> None:
    """1 % of 5,000 is 50."""
    plan = replace(PLAN, error=SearchError(fraction=Fraction(1, 100)))
    result = measure(StatefulGateway(new_cps=5000), plan)
    assert result.conditions.search
    assert result.conditions.search.error == "1 %"
    assert result.conditions.search.error_fps == int(result.figures[0].values[0]) // 100
    assert str(result.remarks[0]) == "A trial creates 1,000 connections. Search error 1 %."


@pytest.mark.parametrize("above_fps", [500, 1000, 1001])
def test_a_tester_whose_trials_are_invalid_at_1000_a_second_has_another_problem(
    above_fps: int,
) -> None:
    """Only lower rates than that would tell more."""
    plan = replace(PLAN, max_rate_cps=4000, invalid_repeats=0)
    kept = Kept()
    if above_fps < 1000:
        with pytest.raises(TesterLimit, match=r"at 1000 connections a second trials are invalid"):
            measure(StatefulGateway(), plan, observer=kept, engine={"limit_fps": above_fps})
        assert min(kept.rates) == 1000
        return
    result = measure(StatefulGateway(), plan, engine={"limit_fps": above_fps})
    assert result.figures[0].values[0] == pytest.approx(above_fps, abs=1)


def test_a_tester_whose_trials_are_invalid_just_above_1000_a_second_may_have_a_lower_limit() -> (
    None
):
    """4004, 2002, 1001: what is invalid there may be so for its rate."""
    plan = replace(PLAN, max_rate_cps=4004, invalid_repeats=0)
    result = measure(StatefulGateway(), plan, engine={"limit_fps": 600})
    assert result.figures[0].values[0] == pytest.approx(600, abs=1)


def test_a_tester_that_spoils_trials_of_a_minute_has_no_rate() -> None:
    """240,000 connections at 4,000 a second; at lower rates it takes longer still."""
    wide = {
        "source_port": {"mode": "pseudorandom", "min": 1000, "max": 4999},
        "destination_port": {"mode": "pseudorandom", "min": 1, "max": 100},
    }
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway, limit_fps=3000)
    session = engine.session(traffic_plan({"count": 240_000}, forward=wide, reverse=wide))
    plan = replace(PLAN, max_rate_cps=16_000, invalid_repeats=0)
    with pytest.raises(TesterLimit, match=r"at 4000 connections a second trials are invalid"):
        establishment(plan, session)


def test_a_gateway_that_is_slower_than_a_minutes_phase_1_has_a_rate_of_0() -> None:
    """1,000 connections in more than a minute: fewer than 17 a second."""
    kept = Kept()
    engine = FakeEngine(gateway=StatefulGateway(new_cps=5))
    dut = CommandDut(CommandConfig(kind="command"))  # whose table nobody can look at
    result = establishment(PLAN, engine.session(traffic_plan({}), dut, kept))
    assert result.figures[0].values == (0,)
    assert 15 / 2 < min(kept.rates) <= 17
    assert Topic.LOST_AT_EVERY_RATE in topics(result.remarks)


def test_the_early_end_is_by_the_drain_and_departs() -> None:
    assert PLAN.load(1000, above_cps=0).early_end_s == 0
    early = replace(PLAN, early_end=True)
    assert early.load(1000, above_cps=0).early_end_s == Fraction(1, 20)
    said = "trials that end at their first certain loss"
    assert said in text(measure(StatefulGateway(new_cps=5000), early).deviations)
    assert said not in text(measure(StatefulGateway(new_cps=5000)).deviations)


def test_what_may_be_lost_is_told_to_the_trial() -> None:
    assert PLAN.load(1000, above_cps=7).accepted.fraction == 0
    counting = PLAN.load(1000, above_cps=7).counting
    assert counting is not None
    assert counting.above_fps == 7
    half = replace(PLAN, loss=LossTolerance(fraction=HALF))
    assert half.load(1000, above_cps=0).accepted.fraction == HALF


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"max_rate_cps": 2**33 + 1},
            r"^max_rate_cps: 8589934593 is out of range \(expected 1 to 8",
        ),
        ({"first_cps": 0}, r"^first_cps: 0 is out of range \(expected 1 to 8589934592\)"),
        ({"alpha": Fraction(1, 1001)}, r"^alpha: 0\.000999001 .* \(expected 0\.001 to 1000\)"),
        ({"alpha": Fraction(1001)}, r"^alpha: 1001 is out of range"),
        ({"loss_verifications": -1}, r"^loss_verifications: -1 is out of range"),
        (
            {"early_end": True, "timing": Timing(duration_s=Fraction(1), drain_s=Fraction(0))},
            r"^early_end: is not possible with loss or a drain_s of 0",
        ),
    ],
    ids=str,
)
def test_what_is_just_out_of_range_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        replace(PLAN, **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_rate_cps": 2**33, "first_cps": 1},
        {"max_rate_cps": 1, "first_cps": 2**33},
        {"alpha": Fraction(1, 1000)},
        {"alpha": Fraction(1000)},
        {"timing": Timing(duration_s=Fraction(1), drain_s=Fraction(0))},
    ],
    ids=str,
)
def test_what_is_just_in_range_is_taken(changes: dict[str, Any]) -> None:
    assert isinstance(replace(PLAN, **changes), EstablishmentPlan)


def test_connections_asked_again_are_counted_by_what_became_of_them() -> None:
    """At 10,000 a second, half of the rate, 100 of 1,000 replies are lost for the rate alone; 3
    connections are absent, and 5 replies come to another one."""
    plan = replace(PLAN, alpha=HALF, max_rate_cps=20_000, error=SearchError(rate_fps=19_999))
    absent = StatefulGateway(frames_fps=9000, absent=3)
    kept = Kept()
    said = about(Topic.VALIDATION, measure(absent, plan, observer=kept).remarks)
    again = [trial.result.stream_of("ask again") for trial in kept.trials]
    asked = [(stream.sent, stream.lost) for stream in again if stream is not None]
    gone = sum(lost for _, lost in asked)
    fast = sum(sent for sent, _ in asked) - gone
    assert min(gone, fast) > 0
    assert said.facts == {"fast": fast, "wrong": 0, "absent": gone}
    wrong = StatefulGateway(frames_fps=9000, collided=5)
    facts = about(Topic.VALIDATION, measure(wrong, plan).remarks).facts
    assert facts["wrong"]
    assert not facts["absent"]
    good = measure(StatefulGateway(), plan)
    assert Topic.VALIDATION not in topics(good.remarks)
