"""What `import natxy` offers: every name is there, none is read before it is used."""

import subprocess
import sys
from fractions import Fraction

import pytest

import natxy


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


def test_procedures_are_called_alike() -> None:
    """procedure(plan, tester, dut, observer=None): a program can take one for another."""
    for name in ("throughput", "latency", "pdv", "ipdv"):
        code = getattr(natxy, name).__code__
        assert code.co_varnames[: code.co_argcount] == ("plan", "tester", "dut", "observer")
