"""What `import natxy` offers: every name is there, none is read before it is used."""

import inspect
import pkgutil
import subprocess
import sys
from fractions import Fraction
from importlib import import_module

import pytest

import natxy
import natxy.procedure


@pytest.mark.parametrize("name", natxy.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(natxy, name) is not None
    assert name in dir(natxy)


def test_a_name_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"natxy has no 'latencies'; it has .*latency.*"):
        _ = natxy.latencies


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


def procedures() -> list[str]:
    """Modules of natxy.procedure that hold a function of their own name for a plan."""
    names = [module.name for module in pkgutil.iter_modules(natxy.procedure.__path__)]
    found = {name: getattr(import_module(f"natxy.procedure.{name}"), name, None) for name in names}
    return [name for name, function in found.items() if "plan" in parameters_of(function)]


def parameters_of(function: object) -> list[str]:
    return list(inspect.signature(function).parameters) if inspect.isfunction(function) else []


@pytest.mark.parametrize("name", procedures())
def test_every_procedure_is_offered_and_called_alike(name: str) -> None:
    """procedure(plan, tester, dut, observer=None): a program can take one for another."""
    assert name in natxy.EXPORTS.get(f"natxy.procedure.{name}", ()), "natxy/__init__.py lists them"
    if name != "self_test":  # which has a loop in place of a device
        assert parameters_of(getattr(natxy, name)) == ["plan", "tester", "dut", "observer"]
    plan = "".join(word.title() for word in name.split("_")) + "Plan"
    assert plan in natxy.EXPORTS[f"natxy.procedure.{name}"]


def test_there_are_procedures() -> None:
    assert {"throughput", "latency", "pdv", "ipdv", "self_test"} <= set(procedures())
