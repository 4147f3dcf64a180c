"""Scale up with the cores of a gateway that is arithmetic."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from natxy.cli.now_and_then import Lines, watching
from natxy.cli.sentences import say
from natxy.cli.series_options import SeriesOptions
from natxy.dut.base import TesterPorts
from natxy.errors import ConfigurationError, DutError
from natxy.model.deviation import Differs
from natxy.model.measurement import Measurement
from natxy.model.remark import Remark, Topic
from natxy.model.testbed import Port
from natxy.procedure.defaults import MEASURES
from natxy.procedure.scale_up import RELATIVE, ScaleUpPlan, scale_up
from natxy.procedure.series import PREVIOUS, Searching
from natxy.search.settings import LossTolerance
from natxy.trial.observer import Observer, Observers
from natxy.trial.seeds import MAX_SEED
from tests.remarks import topics
from tests.unit.clauses import codes
from tests.unit.connections import plan as traffic_plan
from tests.unit.degradation import ESTABLISHMENT, THROUGHPUT
from tests.unit.fake_engine import FakeEngine
from tests.unit.kept import Kept
from tests.unit.stateful_gateway import StatefulDut, StatefulGateway


@dataclass(kw_only=True)
class Cores(StatefulDut):
    """Each core after the first adds three quarters of what one does."""

    most: int = 8
    one_cps: int = 20_000
    asked: list[int] = field(default_factory=list)

    def set_cores(self, cores: int) -> None:
        if cores > self.most:
            raise DutError(f"The gateway cannot have {cores} cores.")
        self.asked.append(cores)
        rate = self.one_cps * (1 + (cores - 1) * 3 // 4) if cores > 1 else self.one_cps
        self.gateway.new_cps = rate
        self.gateway.frames_fps = rate


def measure(
    search: Searching,
    cores: tuple[int, ...],
    limit_fps: int = 10**12,
    most: int = 8,
    observer: Observer | None = None,
    **connections: Any,
) -> tuple[Measurement, FakeEngine, Cores]:
    gateway = StatefulGateway()
    engine = FakeEngine(gateway=gateway, limit_fps=limit_fps)
    dut = Cores(gateway=gateway, most=most)
    plan = ScaleUpPlan(search=search, cores=cores)
    session = engine.session(traffic_plan(connections), dut, observer)
    return scale_up(plan, session), engine, dut


@pytest.mark.parametrize(
    ("search", "name"),
    [(ESTABLISHMENT, "establishment rate"), (THROUGHPUT, "throughput")],
    ids=["establishment", "throughput"],
)
def test_relative_scale_up_is_against_as_many_times_one_core(search: Searching, name: str) -> None:
    result, _, dut = measure(search, (1, 5))
    figures = [(f.name, f.at, f.values[0]) for f in result.figures]
    assert all(f.at.startswith(f"{f.at_value} {f.at_unit}"[:6]) for f in result.figures)
    assert [at for _, at, _ in figures] == ["1 core"] * 2 + ["5 cores"] * 3
    assert name in figures[0][0]
    assert figures[0][2] == pytest.approx(20_000, abs=20)
    assert figures[2][2] == pytest.approx(80_000, abs=80)
    assert result.figure(RELATIVE, at="1 core").values == (1.0,)
    assert result.figure(RELATIVE, at="5 cores").values[0] == pytest.approx(0.8, rel=0.002)
    assert result.figure(PREVIOUS, at="5 cores").values[0] == pytest.approx(4, rel=0.002)
    assert dut.asked == [5, 1]  # each number once: it may be a reboot


def test_the_ratio_to_the_number_before_stands_beside() -> None:
    """MP Tables 2 and 3: median / previous median."""
    result, _, dut = measure(ESTABLISHMENT, (1, 2, 5))
    ratios = {f.at: f.values[0] for f in result.figures if f.name == PREVIOUS}
    assert ratios == pytest.approx({"2 cores": 1.0, "5 cores": 4.0}, rel=0.002)
    assert dut.asked == [5, 2, 1]
    limited, _, _ = measure(ESTABLISHMENT, (1, 2, 5), limit_fps=50_000)
    assert [f.at for f in limited.figures if f.name == PREVIOUS] == ["2 cores"]


def test_a_loss_may_be_accepted_and_is_named() -> None:
    """One of two frames is lost at twice the rate of a core."""
    half = replace(ESTABLISHMENT, loss=LossTolerance(fraction=Fraction(1, 2)))
    result, _, _ = measure(half, (1, 5))
    assert result.figures[0].values[0] == pytest.approx(40_000, rel=0.01)
    assert "50 % loss accepted" in result.title
    assert Differs.LOSS_ACCEPTED in codes(result.deviations)


def test_the_deviation_of_one_number_of_cores_is_named() -> None:
    """With five cores the tester is too slow, with one it is not."""
    result, _, _ = measure(ESTABLISHMENT, (1, 5), limit_fps=50_000)
    assert codes(result.deviations).count(Differs.LOWER_BOUND) == 1
    exact, _, _ = measure(ESTABLISHMENT, (1, 5))
    assert Differs.LOWER_BOUND not in codes(exact.deviations)


def test_what_is_sent_follows_from_the_figure() -> None:
    established, _, _ = measure(ESTABLISHMENT, (1, 2))
    assert established.conditions.direction == "forward"
    assert established.conditions.connections
    assert established.conditions.connections.initiator_order == ""
    forwarded, _, _ = measure(THROUGHPUT, (1, 2))
    assert forwarded.conditions.direction == "both"


def test_trials_of_all_places_are_counted_and_no_nonce_comes_again() -> None:
    result, engine, _ = measure(ESTABLISHMENT, (1, 2, 4))
    assert result.counts.trials == len(engine.specs) - 3  # but a warm-up each
    nonces = [spec.nonce for spec in engine.specs if spec.seed]
    assert len(set(nonces)) == len(nonces)
    assert len({spec.seed for spec in engine.specs if spec.seed}) == 3  # each place has its own


def test_no_scale_up_of_the_testers_own_limit() -> None:
    result, _, _ = measure(ESTABLISHMENT, (1, 5), limit_fps=50_000)
    assert not any(figure.name == RELATIVE for figure in result.figures)
    assert result.figures[-1].lower_bound == (True,)
    assert Topic.NO_COMPARISON in topics(result.remarks)


def test_cores_that_it_cannot_have_are_said_before_anything_is_measured() -> None:
    dut = Cores(gateway=StatefulGateway(), most=2)
    engine = FakeEngine(gateway=dut.gateway)
    plan = ScaleUpPlan(search=ESTABLISHMENT, cores=(1, 2, 4))
    with pytest.raises(DutError, match="cannot have 4 cores"):
        scale_up(plan, engine.session(traffic_plan({}), dut))
    assert not engine.specs


def test_a_device_that_passes_nothing_has_no_scale_up() -> None:
    search = replace(THROUGHPUT, max_rate_fps=1000)
    gateway = StatefulGateway(collided=1)  # a reply goes wrong at every rate
    engine = FakeEngine(gateway=gateway)
    with pytest.raises(DutError, match="passes no trial with one core"):
        scale_up(
            ScaleUpPlan(search=search, cores=(1,)),
            engine.session(traffic_plan({}), Cores(gateway=gateway)),
        )


@pytest.mark.parametrize("cores", [(), (2, 4), (1, 1), (1, 4, 2)])
def test_cores_are_compared_with_one(cores: tuple[int, ...]) -> None:
    with pytest.raises(ConfigurationError, match=r"cores: .* such as 1,2,4\)"):
        ScaleUpPlan(search=ESTABLISHMENT, cores=cores)


def test_phase_1_is_at_a_rate_found_with_as_many_cores() -> None:
    """Half of what all cores take is twice what one takes."""
    result, engine, _ = measure(THROUGHPUT, (1, 5), rate_fps=None)
    made = [
        spec.phases[0].streams[0].segments[0].rate_fps
        for spec in engine.specs
        if spec.phases[-1].name == "test"
    ]
    assert {round(rate / 1000) for rate in made} == {10, 40}
    assert made == sorted(made, reverse=True)  # the most cores first
    assert {figure.at for figure in result.figures} == {"1 core", "5 cores"}
    for figure in result.figures:
        rate_cps = made[-1] if figure.at == "1 core" else made[0]
        assert figure.title == f"{figure.name} {figure.at}, phase 1 at {rate_cps:,} cps"
    given, _, _ = measure(THROUGHPUT, (1,))
    assert given.figures[0].title == "throughput 1 core"


def test_an_establishment_rate_needs_no_search_for_another() -> None:
    first, engine, _ = measure(ESTABLISHMENT, (1, 2), rate_fps=None)
    _, same, _ = measure(ESTABLISHMENT, (1, 2))
    assert first.counts.trials == len(engine.specs) - 2  # but a warm-up each
    assert len(engine.specs) == len(same.specs)


NOW_ONE = Remark.of(Topic.CORES_LEFT, cores=1)


def test_what_the_device_is_left_with_is_said_whatever_happens() -> None:
    done = Kept()
    measure(ESTABLISHMENT, (1, 5), observer=done)
    assert done.remarks == [NOW_ONE]
    refused = Kept()
    with pytest.raises(DutError, match="cannot have 4 cores"):
        measure(ESTABLISHMENT, (1, 4), most=2, observer=refused)
    assert refused.remarks[0] == NOW_ONE
    lost = Kept()
    with pytest.raises(DutError, match="cannot have 4 cores"):
        measure(ESTABLISHMENT, (1, 4), most=0, observer=lost)
    assert lost.remarks[0].code is Topic.CORES_UNKNOWN


def test_of_a_lab_nothing_is_said_since_it_is_taken_down() -> None:
    class OfALab(Cores):
        def tester_ports(self) -> TesterPorts | None:
            port = Port(device="net_af_xdp0,iface=t0")
            return TesterPorts(left=port, right=port, mtu_bytes=1500)

    heard = Kept()
    dut = OfALab(gateway=StatefulGateway())
    plan = ScaleUpPlan(search=ESTABLISHMENT, cores=(1, 2))
    scale_up(plan, FakeEngine(gateway=dut.gateway).session(traffic_plan({}), dut, heard))
    assert heard.remarks == []


def test_points_have_seeds_of_their_own_up_to_the_highest_one() -> None:
    dut = Cores(gateway=StatefulGateway())
    engine = FakeEngine(gateway=dut.gateway)
    plan = ScaleUpPlan(search=replace(ESTABLISHMENT, seed=MAX_SEED), cores=(1, 2))
    scale_up(plan, engine.session(traffic_plan({}), dut))
    assert len({spec.seed for spec in engine.specs if spec.seed}) == 2


def test_repetitions_that_a_point_lacks_are_named_and_main_figures_are_told_from_ratios() -> None:
    plain, _, _ = measure(replace(ESTABLISHMENT, repetitions=2), (1, 2))
    assert not {Topic.LACKING, Topic.NO_COMPARISON} & set(topics(plain.remarks))
    primary = {figure.name: figure.primary for figure in plain.figures}
    assert (primary[RELATIVE], primary[PREVIOUS]) == (True, False)
    assert plain.figure(RELATIVE, at="2 cores").unit == "times"
    impatient = replace(THROUGHPUT, repetitions=2, patience_s=Fraction(0))
    lacking, _, _ = measure(impatient, (1, 2))
    said = "1 of 2 repetitions were not run, or not to their end."
    assert [str(each) for each in lacking.remarks if each.code is Topic.LACKING] == [
        f"1 core: {said}",
        f"2 cores: {said}",
    ]


def test_a_person_is_told_on_the_progress_console() -> None:
    for is_terminal in (True, False):
        shown = StringIO()
        console = Console(file=shown, width=200, force_terminal=is_terminal, color_system=None)
        lines = Lines(say=partial(say, console))
        with watching(console, "scale-up", lines) as observer:
            measure(ESTABLISHMENT, (1, 2), observer=Observers([observer]))
        assert str(NOW_ONE) in shown.getvalue()


def test_the_command_leaves_phase_1s_rate_to_the_measurement() -> None:
    """Before it begins the gateway has all of its cores."""
    engine = FakeEngine(gateway=StatefulGateway())
    session = engine.session(traffic_plan({"rate_fps": None}))
    options = SeriesOptions(testbed=Path("testbed.toml"))
    ready = options.defaults.ready(MEASURES["scale_up"], session)
    assert ready.traffic is session.traffic
    assert not engine.specs
