"""Benchmarks IPv4/IPv6 gateways.

    with natxy.connect("testbed.toml") as (tester, dut):
        plan = natxy.LatencyPlan(timing=natxy.timing(duration=1), seed=1, repetitions=3)
        result = natxy.latency(plan, tester, dut)

Every procedure is called as `procedure(plan, tester, dut, observer=None)` and returns a
Measurement, whose figures hold one value for each repetition, in the unit that they name;
`self_test` returns a list of Ceilings. The names below are imported from their modules when they
are first used.
"""

from importlib import import_module
from typing import Any

EXPORTS = {
    "natxy.api": ("connect", "timing"),
    "natxy.campaign.journal": ("read_journal",),
    "natxy.errors": ("NatxyError",),
    "natxy.model.measurement": ("Figure", "Measurement"),
    "natxy.procedure.back_to_back": ("BackToBackPlan", "back_to_back"),
    "natxy.procedure.capacity": ("CapacityPlan", "capacity"),
    "natxy.procedure.churn": ("ChurnPlan", "churn"),
    "natxy.procedure.closing": ("ClosingPlan", "closing"),
    "natxy.procedure.degradation": ("Column", "DegradationPlan", "degradation"),
    "natxy.procedure.delay_variation": ("IpdvPlan", "PdvPlan", "ipdv", "pdv"),
    "natxy.procedure.establishment": ("EstablishmentPlan", "establishment", "with_phase_1_rate"),
    "natxy.procedure.frame_loss": ("FrameLossPlan", "frame_loss"),
    "natxy.procedure.mlr_throughput": ("MlrThroughputPlan", "mlr_throughput"),
    "natxy.procedure.latency": ("LatencyPlan", "latency"),
    "natxy.trial.observer": ("Observer",),
    "natxy.procedure.overload": ("OverloadPlan", "overload"),
    "natxy.procedure.recovery": ("RecoveryPlan", "recovery"),
    "natxy.procedure.reset": ("ResetPlan", "reset"),
    "natxy.procedure.scale_up": ("ScaleUpPlan", "scale_up"),
    "natxy.procedure.self_test": ("Ceiling", "SelfTestPlan", "self_test"),
    "natxy.measure.table_size": ("PortRange", "Size"),
    "natxy.procedure.tear_down": ("TearDownPlan", "tear_down"),
    "natxy.procedure.throughput": ("ThroughputPlan", "throughput"),
    "natxy.trial.timing": ("Timing",),
    "natxy.report.results_csv": ("results_csv", "rows"),
    "natxy.search.bisection": ("SearchError",),
    "natxy.search.capacity_goal": ("CapacityGoal",),
    "natxy.search.loss_tolerance": ("LossTolerance",),
    "natxy.search.mlr_goal": ("MlrGoal", "pdr_goal", "rfc2544_goal"),
    "natxy.statistics": ("median", "percentile", "summary"),
}
_HOMES = {name: module for module, names in EXPORTS.items() for name in names}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name == "ThroughputResult":
        raise AttributeError("natxy has no 'ThroughputResult'; throughput returns a Measurement")
    if name not in _HOMES:
        raise AttributeError(f"natxy has no {name!r}; it has {', '.join(sorted(_HOMES))}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("natxy")
    except PackageNotFoundError:  # used from a source tree that was never installed
        return "0+unknown"
