"""The whole procedure against the fake engine: what it finds, keeps and prints."""

import gzip
import json
import resource
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from natxy.campaign.journal import Journal, provenance, read_journal
from natxy.cli.series_options import SeriesOptions, Work
from natxy.cli.stateful import searching
from natxy.dut.base import TesterPorts
from natxy.dut.none import NoDut
from natxy.errors import ConfigurationError, StorageError, TesterLimit
from natxy.measure.search_remarks import bound_remarks
from natxy.model.deviation import Deviation, Differs
from natxy.model.measurement import Measurement
from natxy.model.reason import Code, Reason
from natxy.model.testbed import Port
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TrialSpec
from natxy.model.verdict import Limit, Verdict
from natxy.procedure.defaults import MEASURES
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.throughput import ThroughputPlan, searches, throughput
from natxy.report.gateway_table import throughput_table
from natxy.report.measurement_notes import measurement_notes
from natxy.report.result_text import brief_text
from natxy.report.results_json import result_entry, write_results
from natxy.search.bisection import RATE_FPS, SearchError
from natxy.search.settings import search_error
from natxy.tester.tester import OnProgress
from natxy.trial.observer import Observer
from natxy.trial.profile import QUICK, RFC, deviations
from natxy.trial.seeds import nonce, repetition_seed
from natxy.trial.session import Session
from natxy.trial.setup import set_up, with_ports
from natxy.trial.timing import Timing
from tests.unit.campaign_notes import report_deviations
from tests.unit.clauses import NOT_FOLLOWED, codes, names, sentences
from tests.unit.fake_engine import FakeEngine, Lose, beyond, first_above, rate_of
from tests.unit.kept import Kept
from tests.unit.reasons import LATE, a_reason

Measure = Callable[..., Measurement]
OVERLOADED = partial(beyond, 50_000)
FAST = Timing(duration_s=Fraction("0.01"), drain_s=Fraction(0))


def plan(**changes: object) -> ThroughputPlan:
    values: dict[str, object] = {"timing": FAST, "seed": 7, "repetitions": 2} | changes
    return ThroughputPlan(**values)  # type: ignore[arg-type]


@pytest.fixture
def measure(nat64: TrafficPlan) -> Measure:
    """A measurement of a gateway that loses these frames, by this tester."""

    def run(
        asked: ThroughputPlan,
        observer: Observer | None = None,
        *,
        lose: Lose = OVERLOADED,
        dut: NoDut | None = None,
        **tester: int,
    ) -> Measurement:
        engine = FakeEngine(lose=lose, watches=False, **tester)  # type: ignore[arg-type]
        return throughput(asked, engine.session(nat64, dut, observer))

    return run


def test_the_capacity_is_found(measure: Measure) -> None:
    kept = Kept()
    result = measure(plan(error=SearchError(rate_fps=1)), kept)
    (figure,) = result.figures
    assert figure.values == (50_000, 50_000)
    assert figure.bound(50_000) == "exact"
    assert not figure.is_lower_bound(50_000)
    assert len({trial.result.seed for trial in kept.trials}) == 2
    assert len({trial.result.nonce for trial in kept.trials}) == len(kept.trials)
    assert [trial.number for trial in kept.trials] == list(range(1, len(kept.trials) + 1))
    entry = result_entry(result)
    assert (entry["rate_fps_per_direction"], entry["bound"]) == (50_000, "exact")
    assert entry["worst_lateness_us"] == 0.001


def test_a_slow_tester_yields_a_lower_bound(measure: Measure) -> None:
    result = measure(plan(error=SearchError(rate_fps=100), repetitions=1), limit_fps=20_000)
    (rate_fps,) = result.figures[0].values
    assert 19_900 < rate_fps <= 20_000
    assert result.counts.invalid_trials >= 4
    assert result_entry(result)["bound"] == "lower"
    assert f"≥ {rate_fps:,.0f}" in shown(result)
    assert any("limited by the tester" in note for note in notes(result))


def test_noise_is_not_called_the_testers_limit(nat64: TrafficPlan) -> None:
    """Above 20,000 fps a core is away in each trial; nothing that grows with the rate is wrong."""

    def away(spec: TrialSpec) -> Reason | None:
        rate_fps = rate_of(spec.phases[0].streams[0])
        return a_reason(Code.GATEWAY_AWAY) if rate_fps > 20_000 else None

    engine = FakeEngine(invalid=away, too_slow=False)
    asked, session = plan(repetitions=1), engine.session(nat64)
    (found,) = searches(asked, asked.trials(session))
    assert (found.limit, found.lower_bound) == (Limit.TESTER, True)
    assert not found.too_slow
    result = throughput(asked, session)
    assert any("limited by noise" in note for note in notes(result))
    assert not any("limited by the tester" in note for note in notes(result))
    assert len(bound_remarks([(Limit.TESTER, False), (Limit.TESTER, True)])) == 2


def test_a_search_says_what_limited_it(nat64: TrafficPlan) -> None:
    asked = plan()
    lossy = FakeEngine(lose=partial(beyond, 50_000))
    slow = FakeEngine(
        invalid=lambda spec: LATE if rate_of(spec.phases[0].streams[0]) > 9999 else None
    )
    for engine, limit in ((lossy, Limit.DUT), (slow, Limit.TESTER)):
        trials = asked.trials(engine.session(nat64))
        found = searches(asked, trials)
        assert [each.limit for each in found] == [limit, limit]
        assert [each.lower_bound for each in found] == [limit is Limit.TESTER] * 2
        assert trials.counts.trials == len(engine.specs)


def test_the_medias_rate_is_no_lower_bound(measure: Measure) -> None:
    """10 Mbit/s, the larger frame of 84 + 20 octets: 12,019 frames a second."""
    result = measure(plan(repetitions=1), link_mbps=10)
    assert result.figures[0].values == (12_019,)
    assert result_entry(result)["bound"] == "exact"
    assert any("media" in note for note in notes(result))
    entry = result_entry(result)
    assert entry["theoretical_fps"] == entry["maximum_fps"] == 12_019
    assert entry["left_media"]["speed_mbps"] == 10
    given = result_entry(measure(plan(repetitions=1, max_rate_fps=5_000), link_mbps=10))
    assert (given["theoretical_fps"], given["maximum_fps"]) == (12_019, 5_000)
    assert result_entry(measure(plan(repetitions=1)))["theoretical_fps"] is None


def test_a_given_maximum_that_passes_is_a_lower_bound(measure: Measure) -> None:
    result = measure(plan(repetitions=1, max_rate_fps=5_000))
    assert result.figures[0].values == (5_000,)
    assert result_entry(result)["bound"] == "lower"


def test_a_gateway_that_loses_at_every_rate_has_none(measure: Measure) -> None:
    result = measure(plan(repetitions=1), lose=lambda _: (0,))
    assert result.figures[0].values == (0,)
    assert any("no rate passed" in note for note in notes(result))


def test_a_tester_that_can_do_nothing_is_an_error(measure: Measure) -> None:
    kept = Kept()
    with pytest.raises(TesterLimit, match="a frame left"):
        measure(plan(repetitions=1, max_rate_fps=100_000), kept, limit_fps=0)
    assert {trial.rate_fps for trial in kept.trials} == {100_000 >> n for n in range(8)}
    with pytest.raises(TesterLimit, match="at 4000 frames"):
        measure(plan(max_rate_fps=4000, error=SearchError(rate_fps=5000)), limit_fps=0)


DOZED = a_reason(Code.GATEWAY_POLLED_LATE)


def test_a_fault_of_the_dut_makes_the_trial_invalid(measure: Measure) -> None:
    class Dozing(NoDut):
        calls = 0

        def trial_fault(self) -> Reason | None:
            self.calls += 1
            return DOZED if self.calls == 1 else None

    kept = Kept()
    result = measure(plan(repetitions=1, error=SearchError(rate_fps=1)), kept, dut=Dozing())
    assert kept.trials[0].verdict is Verdict.INVALID
    assert kept.trials[0].invalid_reasons == (DOZED,)
    assert kept.trials[1].rate_fps == kept.trials[0].rate_fps
    assert (result.figures[0].values, result.counts.invalid_trials) == ((50_000,), 1)


def test_the_same_seed_sends_the_same_trials(measure: Measure) -> None:
    first, second, other = Kept(), Kept(), Kept()
    for kept, seed in ((first, 1), (second, 1), (other, 2)):
        measure(plan(seed=seed, repetitions=1), kept)

    def sent(kept: Kept) -> list[tuple[int, int, int]]:
        return [(t.rate_fps, t.result.seed, t.result.nonce) for t in kept.trials]

    assert sent(first) == sent(second) != sent(other)


def test_seeds_and_nonces_differ() -> None:
    assert len({nonce(5, trial) for trial in range(10_000)}) == 10_000
    assert len({repetition_seed(seed, r) for seed in range(50) for r in range(50)}) == 2500


def notes(result: Measurement) -> list[str]:
    return measurement_notes([result])


def shown(result: Measurement) -> str:
    console = Console(file=StringIO(), width=120, color_system=None)
    console.print(throughput_table("Throughput, frames a second per direction", [result]))
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert "per direction" in text
    return text


def test_deviations_that_all_devices_share_are_said_once(measure: Measure) -> None:
    one = measure(plan(repetitions=1))
    of = one.conditions.model_copy(update={"dut": "another"})
    other = one.model_copy(
        update={
            "conditions": of,
            "deviations": (*one.deviations, Deviation.of(Differs.RATES_LEFT_OUT, "")),
        }
    )
    said = report_deviations(one, other)
    assert [note for note in said if "column" in note] == [
        "throughput, column another: rates left out"
    ]
    assert len(said) == len({each.code for each in other.deviations})


def test_the_gaps_of_all_trials_are_counted(nat64: TrafficPlan) -> None:
    """Every second frame of the first trial is lost, in each direction."""
    engine = FakeEngine(lose=lambda stream: range(0, 10, 2) if rate_of(stream) > 5000 else ())
    found = throughput(plan(repetitions=1, max_rate_fps=6000), engine.session(nat64))
    failed = sum(rate_fps > 5000 for rate_fps in engine.rates_fps)
    assert found.counts.gaps == found.counts.lost == failed * 2 * 5


def test_deviations_from_the_rfc_are_named() -> None:
    assert deviations(RFC.timing) == ()
    assert str(deviations(QUICK.timing)[0]) == "trials of 0.2 s, not 60 s (RFC 2544 section 24)"
    assert len(deviations(QUICK.timing)) == 3


def test_clauses_that_no_result_follows_are_named(measure: Measure) -> None:
    """Under the table of a throughput that conforms otherwise, and in the file of each."""
    found = measure(plan(repetitions=1))
    assert found.deviations
    conforming = found.model_copy(update={"deviations": ()})
    (note,) = (note for note in notes(conforming) if "except for" in note)
    for clause, words in NOT_FOLLOWED:
        assert names(note, clause, words)
        for result in (found, conforming):
            assert names(sentences(result_entry(result)["standing_deviations"]), clause, words)


def test_the_journal_has_every_trial(measure: Measure, tmp_path: Path) -> None:
    path = tmp_path / "results" / "journal.jsonl.gz"
    kept = Kept()
    with Journal(path, {"seed": 7}) as journal:
        measure(plan(repetitions=1), kept, lose=first_above(50_000))
        for trial in kept.trials:
            journal.trial_ended(trial)
    records = list(read_journal(path))
    assert records[0] == {"record": "campaign", "version": 5, "seed": 7}
    assert [TrialRecord.model_validate_json(json.dumps(r)) for r in records[1:]] == kept.trials
    with pytest.raises(ConfigurationError, match="already"):
        Journal(path, {})


def test_a_full_disk_leaves_a_readable_journal(measure: Measure, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl.gz"
    kept = Kept()
    measure(plan(repetitions=1), kept)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path, {"seed": 7}) as journal:
        journal.trial_ended(kept.trials[0])
        full = path.stat().st_size + 100  # so that a part of the next line can be written
        resource.setrlimit(resource.RLIMIT_FSIZE, (full, limits[1]))
        try:
            with pytest.raises(StorageError, match="cannot be written"):
                journal.trial_ended(kept.trials[1])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert gzip.decompress(path.read_bytes()).endswith(b"\n")
    assert [record["record"] for record in read_journal(path)] == ["campaign", "trial"]


def test_results_are_written_whole_or_not_at_all(measure: Measure, tmp_path: Path) -> None:
    result = measure(plan(repetitions=1, dut_name="fake"))
    path = tmp_path / "results.json"
    write_results(path, [result])
    entry = json.loads(path.read_text())[0]
    search = {"error", "error_fps", "maximum_fps", "maximum_origin", "rate_fps_per_direction"}
    assert search | {"repetitions", "bound", "worst_lateness_us", "loss_accepted"} <= set(entry)
    assert (entry["repetitions"], entry["error"], entry["error_fps"]) == (1, "0.1 %", 50)
    assert {"reference", "standing_deviations", "remarks", "trials", "tester_delay"} <= set(entry)
    assert (entry["dut"], entry["procedure"], entry["seed"]) == ("fake", "throughput", 7)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        write_results(tmp_path / "file" / "results.json", [result])
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError):  # after all was written, in the last step
        write_results(tmp_path / "folder", [result])
    assert {path.name for path in tmp_path.iterdir()} >= {"results.json", "file", "folder"}
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith("tmp")]


def test_json_tells_one_mix_and_one_frame_timeout_from_another(measure: Measure) -> None:
    timed = plan(repetitions=3, timing=replace(FAST, frame_timeout_s=Fraction(1, 100)))
    plain, limited = measure(plan(repetitions=3)), measure(timed)
    conditions = plain.conditions.model_copy(update={"n": 10, "m": 9})
    mixed = plain.model_copy(update={"conditions": conditions})
    assert result_entry(plain)["foreground_percent"] == 100
    assert result_entry(mixed)["foreground_percent"] == 90
    assert (result_entry(mixed)["n"], result_entry(mixed)["m"]) == (10, 9)
    entry = result_entry(limited)
    assert (result_entry(plain)["frame_timeout_s"], entry["frame_timeout_s"]) == (0, 0.01)
    assert (entry["left_ip_version"], entry["right_ip_version"]) == (6, 4)
    assert entry["conforms"] is False
    (timeout,) = (each for each in entry["deviations"] if each["code"] == "frame_timeout")
    assert timeout["facts"] == {"timeout_ns": 10_000_000}
    said = "a frame timeout of 10 ms, beyond which a frame is lost (RFC 2544 section 26.1)"
    assert timeout["text"] == said
    (figure,) = entry["figures"]
    assert tuple(figure["values"]) == limited.figures[0].values
    statistics = {"minimum", "maximum", "mean", "standard_deviation", "p1", "p99"}
    assert statistics | {"dispersion_percent"} <= set(figure)


def test_a_throughput_of_before_is_still_read(measure: Measure) -> None:
    """A journal's line that says nothing of the media."""
    result = measure(plan(repetitions=1))
    old = result.model_dump(mode="json")
    for name in ("left_media", "right_media", "theoretical_fps"):
        del old["conditions"][name]
    read = Measurement.model_validate_json(json.dumps(old))
    assert read.figures == result.figures
    assert result_entry(read)["left_media"] is None


def test_rates_without_their_bounds_are_no_longer_offered(measure: Measure) -> None:
    result = measure(plan(repetitions=1))
    assert result.figure("throughput") == result.figures[0]


def test_a_median_above_all_lower_bounds_is_one_and_below_them_is_none(measure: Measure) -> None:
    result = measure(plan(repetitions=1))
    rates = {"values": (100.0, 100.0, 200.0), "lower_bound": (False, False, True)}
    mixed = result.figures[0].model_copy(update=rates)
    assert not mixed.is_lower_bound(100)
    assert mixed.is_lower_bound(200)
    assert [mixed.bound(value) for value in (100, 200)] == ["exact", "lower"]
    two = {"values": (100.0, 200.0), "lower_bound": (False, True)}
    of_two = result.figures[0].model_copy(update=two)
    assert [of_two.bound(value) for value in (100, 150, 200)] == ["exact", "lower", "lower"]
    below = {"values": (100.0, 200.0), "lower_bound": (), "upper_bound": (True, False)}
    of_below = result.figures[0].model_copy(update=below)
    assert [of_below.bound(value) for value in (100, 150, 200)] == ["upper", "upper", "exact"]


def test_what_a_lab_made_replaces_what_was_written(nat64: TrafficPlan) -> None:
    made = TesterPorts(
        left=Port(device="net_af_xdp0,iface=t0", ipv6_real="2001:2::9"),
        right=Port(device="net_af_xdp1,iface=t1"),
        mtu_bytes=2000,
    )
    tester = with_ports(nat64.testbed, made).tester
    assert (tester.left.device, tester.left.ipv6_real) == ("net_af_xdp0,iface=t0", "2001:2::9")
    assert tester.left.ipv4_virtual == "198.18.0.2"
    assert tester.mtu_bytes == 2000


def test_the_journals_first_line_says_what_produced_it(
    engine: list[str], nat64: TrafficPlan
) -> None:
    with set_up(nat64.testbed, nat64.source, NoDut()) as session:
        header = provenance(session, seed=3, command=["natxy"])
    assert header["seed"] == 3
    assert header["tester"]["dpdk_version"] == "none"
    assert header["dut"] == {"kind": "none"}
    assert header["testbed"]["tester"]["left"]["ipv6_real"] == "2001:2::2"
    json.dumps(header)


def test_an_early_end_is_by_the_frame_timeout_or_the_drain_and_is_named() -> None:
    timing = Timing(duration_s=Fraction(60), drain_s=Fraction(2), settle_s=Fraction(5))
    limited = replace(timing, frame_timeout_s=Fraction(1, 100))
    assert plan(timing=timing).load(1000).early_end_s == 0
    assert plan(timing=timing, early_end=True).load(1000).early_end_s == 2
    assert plan(timing=limited, early_end=True).load(1000).early_end_s == Fraction(1, 100)
    assert plan(timing=timing).deviations == ()
    assert Differs.EARLY_END in codes(plan(timing=timing, early_end=True).deviations)
    assert Differs.FRAME_TIMEOUT in codes(plan(timing=limited).deviations)
    with pytest.raises(ConfigurationError, match="early_end"):
        plan(early_end=True)


def test_the_engine_is_told_to_end_early(measure: Measure, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    run = Session.run

    def watched(self: Session, spec: TrialSpec, progressed: OnProgress) -> TrialResult:
        asked.append(spec.early_end_ns)
        return run(self, spec, progressed)

    monkeypatch.setattr(Session, "run", watched)
    timing = replace(FAST, frame_timeout_s=Fraction(1, 100))
    result = measure(plan(timing=timing, early_end=True, repetitions=1))
    assert set(asked) == {10_000_000}
    assert any("first certain loss" in note for note in notes(result))
    assert any("frame timeout of 10 ms" in note for note in notes(result))


@pytest.mark.parametrize(("patience_s", "made"), [(None, 3), (Fraction(3600), 3), (Fraction(0), 1)])
def test_no_repetition_begins_when_the_time_for_them_is_over(
    measure: Measure, patience_s: Fraction | None, made: int
) -> None:
    """The first is made whatever it takes, and what was left out is said."""
    result = measure(plan(repetitions=3, patience_s=patience_s))
    assert len(result.figures[0].values) == made
    said = [note for note in notes(result) if "repetitions were not run" in note]
    assert [note.split(" repetitions")[0] for note in said] == ["2 of 3"] * (made < 3)


def test_a_gateway_that_natxy_does_not_control_has_a_name(measure: Measure) -> None:
    result = measure(plan(repetitions=1), dut=NoDut())
    _, conditions, *_ = brief_text([result], 100)
    assert conditions.startswith("the gateway, 84 B, ")


OPTIONS = SeriesOptions(testbed=Path("testbed.toml"), profile="quick", seed=7)
SCALE_UP = Work(options=OPTIONS, name="scale-up", measure=MEASURES["scale_up"], given={})


def test_quick_searches_verify_a_loss_and_are_as_short_as_the_buffers_let_them_be() -> None:
    error = search_error(RATE_FPS, "1%")
    plan = OPTIONS.defaults.plan(ThroughputPlan, error=error, max_rate_fps=10**6)
    assert (plan.buffer_frames, plan.loss_verifications) == (QUICK.buffer_frames, 1)
    assert plan.repetitions == QUICK.repetitions
    assert plan.duration_s(10**6) == Fraction(1, 20)
    search = OPTIONS.defaults.plan(ThroughputPlan)
    assert OPTIONS.defaults.search_first() == replace(search, repetitions=1)
    given = {"error": error, "max_rate_fps": 10**6}
    assert searching(replace(SCALE_UP, given=given), "throughput") == plan


def test_a_duration_that_is_given_is_every_trials() -> None:
    plan = replace(OPTIONS, duration=0.5).defaults.search_first()
    assert plan.buffer_frames is None
    assert plan.duration_s(10**6) == Fraction(1, 2)
    longer = replace(OPTIONS, duration=120.0).defaults.search_first()
    assert longer.timing.duration_s == RFC.timing.duration_s


def test_the_rfcs_search_is_whole_and_believes_each_trial() -> None:
    plan = replace(OPTIONS, profile="rfc").defaults.search_first()
    assert (plan.buffer_frames, plan.loss_verifications, plan.repetitions) == (None, 0, 1)
    assert plan.timing == RFC.timing
    with pytest.raises(ConfigurationError, match="profile"):
        _ = replace(OPTIONS, profile="none").defaults


def test_an_establishment_rates_search_verifies_a_loss_as_well() -> None:
    plan = searching(SCALE_UP, "validated")
    assert isinstance(plan, EstablishmentPlan)
    assert plan.loss_verifications == 1
