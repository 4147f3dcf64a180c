"""Tests of `import natxy`: every name is there, none is read before it is used."""

import ast
import inspect
import pkgutil
import subprocess
import sys
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import mypy.api
import pytest

import natxy
import natxy.procedure
from natxy.model.traffic import TrafficPlan
from tests.unit.fake_engine import FakeEngine


@pytest.mark.parametrize("name", natxy.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(natxy, name) is not None
    assert name in dir(natxy)


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"natxy has no 'latencies'; it has .*latency.*"):
        _ = natxy.latencies  # type: ignore[attr-defined]  # what the test is about


def test_type_checkers_are_told_of_each_name() -> None:
    """Type checkers read __init__.pyi, since they do not see what is imported lazily."""
    stub = ast.parse(Path(natxy.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    told = [(each.name, each.asname, node.module) for node in imports for each in node.names]
    assert told == [(name, name, home) for name, home in natxy.HOMES.items()]
    assert len(told) > 50


def test_a_type_checker_sees_the_type_of_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check has the settings and the cache of `make types`, and so takes a second."""
    program = tmp_path / "program.py"
    program.write_text("import natxy\nreveal_type(natxy.latency)\nnatxy.latencies\n")
    monkeypatch.chdir(Path(__file__).parents[2])
    said, problems, _ = mypy.api.run([str(program), "--no-error-summary"])
    revealed, unknown = said.splitlines()
    assert not problems
    assert 'Revealed type is "def (plan: natxy.procedure.latency.LatencyPlan' in revealed
    assert revealed.endswith(' -> natxy.model.measurement.Measurement"')
    assert 'has no attribute "latencies"' in unknown


def test_importing_it_reads_nothing_else() -> None:
    program = "import natxy, sys; print(sum(name.startswith('natxy.') for name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "0"


def test_times_are_exact() -> None:
    times = natxy.timing(duration=0.2, drain=0.05, frame_timeout=0.01)
    assert times.duration_s == Fraction(1, 5)
    assert times.drain_s == Fraction(1, 20)
    assert times.settle_s == 0
    assert times.frame_timeout_s == Fraction(1, 100)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "soon"])
def test_what_is_no_time_is_refused_in_one_sentence(value: float) -> None:
    with pytest.raises(natxy.NatxyError, match=f"duration_s: {value} is not valid"):
        natxy.timing(duration=value)


TIMES = natxy.timing(duration=0.05, drain=0)
ANY: Any = natxy  # the types name a Fraction where a plan takes any number


def test_shares_and_times_are_taken_as_written() -> None:
    """0.1 is a tenth, although the binary number of that name is a little more."""
    assert ANY.FrameLossPlan(timing=TIMES, seed=1, step=0.1).step == Fraction(1, 10)
    goals = (ANY.rfc2544_goal(final_duration_s=0.05, width=0.01),)
    plan = natxy.MlrThroughputPlan(timing=TIMES, goals=goals, seed=1)
    assert plan.goals[0].final_duration_s == Fraction(1, 20)
    assert ANY.SearchError(fraction=0.001).fraction == Fraction(1, 1000)
    assert ANY.LossTolerance(fraction=0.005).accepts(sent=1000, lost=5)
    assert ANY.Timing(duration_s=0.2, drain_s=0).duration_s == Fraction(1, 5)


def test_a_plans_own_times_are_taken_as_written() -> None:
    asked = {"timing": natxy.timing(1), "seed": 1, "repetitions": 1, "rate_fps": 1000}
    assert ANY.RecoveryPlan(**asked, after_s=0.1).after_s == Fraction(1, 10)
    assert ANY.ResetPlan(**asked, reset_after_s=0.1).after_s == Fraction(1, 10)
    assert ANY.LatencyPlan(**asked, tags_after_s=0.1).tags_after_s == Fraction(1, 10)
    with pytest.raises(natxy.NatxyError, match="after_s: soon is not valid"):
        ANY.RecoveryPlan(**asked, after_s="soon")


@pytest.mark.parametrize("make", [natxy.ThroughputPlan, natxy.FrameLossPlan])
def test_a_bare_number_is_no_loss_tolerance(make: type) -> None:
    with pytest.raises(natxy.NatxyError, match=r"^loss: 0\.01 is not valid .* for 1 %"):
        make(timing=TIMES, seed=1, repetitions=1, loss=0.01)
    with pytest.raises(natxy.NatxyError, match=r"^tolerance: 0\.01 is not valid"):
        ANY.pdr_goal(0.01)


def test_every_result_has_figures_and_rows(nat64: TrafficPlan) -> None:
    session = FakeEngine().session(nat64)
    asked: dict[str, Any] = {"timing": TIMES, "seed": 1, "repetitions": 1}
    found = natxy.throughput(natxy.ThroughputPlan(**asked, max_rate_fps=1000), session)
    loss = natxy.frame_loss(natxy.FrameLossPlan(**asked, rates_fps=(1000,)), session)
    assert found.figure("throughput").values == (1000.0,)
    assert [row["figure"] for row in natxy.rows(found)] == [f.name for f in found.figures]
    assert found.conditions.frame_size_bytes == loss.conditions.frame_size_bytes
    loss_rates_and_forwarding_rate = 3
    assert [row["procedure"] for row in natxy.rows(loss)] == (
        ["frame-loss"] * loss_rates_and_forwarding_rate
    )


def test_the_self_test_needs_no_observer(testbed_file: Path, engine: list[str]) -> None:
    with natxy.connect(testbed_file, loop=True) as session:
        plan = natxy.SelfTestPlan(seed=1, sizes_bytes=(84,))
        (ceiling,) = natxy.self_test(plan, session)
    assert ceiling.frame_size_bytes == 84
    assert ceiling.rate_fps > 0


def procedures() -> dict[str, str]:
    """Functions of natxy.procedure with a plan of their name beside them, and their modules."""
    modules = [
        f"natxy.procedure.{module.name}"
        for module in pkgutil.iter_modules(natxy.procedure.__path__)
    ]
    return {
        name: module
        for module in modules
        for name, each in vars(import_module(module)).items()
        if inspect.isfunction(each) and each.__module__ == module and name[0] != "_"
        if hasattr(import_module(module), plan_of(name))
    }


def plan_of(procedure: str) -> str:
    return "".join(word.title() for word in procedure.split("_")) + "Plan"


@pytest.mark.parametrize(("name", "module"), procedures().items())
def test_every_procedure_is_offered_and_called_alike(name: str, module: str) -> None:
    """procedure(plan, session): a program can take one for another."""
    for each in (name, plan_of(name)):
        assert natxy.HOMES.get(each) == module, "natxy/__init__.pyi lists them"
    assert [*inspect.signature(getattr(natxy, name)).parameters] == ["plan", "session"]


def test_what_is_offered_beside_plans_is_a_procedure() -> None:
    offered = {
        name
        for name, module in natxy.HOMES.items()
        if module.startswith("natxy.procedure.") and inspect.isfunction(getattr(natxy, name))
    }
    assert offered == {*procedures(), "with_phase_1_rate"}
