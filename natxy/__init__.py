"""Benchmarks IPv4/IPv6 gateways.

    testbed = natxy.Testbed("lab.toml")
    results = testbed.throughput(profile="quick")

A notebook shows the results; `results.df` is a table of them, `results.plot()` a plot, and
`natxy.load` reads those of a folder. Below it, a plan and a session give a Measurement:

    with natxy.connect("lab.toml") as session:
        plan = natxy.LatencyPlan(timing=natxy.timing(duration=1), seed=1, repetitions=3)
        result = natxy.latency(plan, session)

`__init__.pyi` lists the names. Each is imported from its module when it is first used.
"""

from importlib import import_module
from typing import Any


def _homes() -> dict[str, str]:
    """Returns the module of each name, as __init__.pyi tells it to type checkers."""
    with open(__file__ + "i", encoding="utf-8") as stub:
        imports = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in imports}


HOMES = _homes()
__all__ = ["__version__", *HOMES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in HOMES:
        raise AttributeError(f"natxy has no {name!r}; it has {', '.join(sorted(HOMES))}")
    return getattr(import_module(HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("natxy")
    except PackageNotFoundError:  # used from a source tree that was never installed
        return "0+unknown"
