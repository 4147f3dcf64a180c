"""`natxy overload`: measures how a test's figures degrade with the number of network flows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from natxy.cli.choices import listed, unknown_value
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import found_first, rate_plan, throughput_search
from natxy.errors import ConfigurationError
from natxy.measure.flows import FLOWS
from natxy.procedure import back_to_back, delay_variation, frame_loss, latency, recovery, reset
from natxy.procedure.at_rate import RatePlan
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.overload import OverloadPlan
from natxy.procedure.overload import overload as measure
from natxy.procedure.throughput import ThroughputPlan
from natxy.search.settings import error_of, max_rate_of
from natxy.setting import Setting
from natxy.trial.profile import PROFILES, Profile
from natxy.trial.timing import RATE

FIRST_FLOWS = (10, 100, 1000, 10000)
MAX_RATE = max_rate_of(
    "max_rate_fps", "frames a second", what="Highest rate to try, and the rate within bursts"
)
ERROR = error_of("frames a second", ends="End a search for the throughput")
OF_SOME = (RATE, replace(MAX_RATE, short=""), ERROR)  # options that only some tests have
Given = Mapping[str, Any]  # their values, by the field of their setting


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A test that `--of` names, and which options of OF_SOME it takes."""

    plan: Callable[[SeriesOptions, Given], Benchmarked]
    takes: tuple[Setting, ...] = (RATE,)


def _at_rate(kind: type[Any], profiles: Mapping[str, Profile]) -> Choice:
    """Returns a test that is measured at one rate."""
    return Choice(plan=lambda options, given: rate_plan(kind, profiles, options, **given))


def _throughput(options: SeriesOptions, given: Given) -> Benchmarked:
    return throughput_search(options, **given)


def _frame_loss(options: SeriesOptions, given: Given) -> Benchmarked:
    return options.plan(frame_loss.FrameLossPlan, frame_loss.PROFILES, **given)


def _back_to_back(options: SeriesOptions, given: Given) -> Benchmarked:
    return options.plan(
        back_to_back.BackToBackPlan,
        back_to_back.PROFILES,
        burst_rate_fps=given.get(MAX_RATE.name),
        throughput_fps=given.get(RATE.name),
        search=found_first(replace(options, duration=None, drain=None)),
    )


CHOICES = {
    "throughput": Choice(plan=_throughput, takes=(MAX_RATE, ERROR)),
    "latency": _at_rate(latency.LatencyPlan, latency.PROFILES),
    "pdv": _at_rate(delay_variation.PdvPlan, delay_variation.PROFILES),
    "ipdv": _at_rate(delay_variation.IpdvPlan, delay_variation.PROFILES),
    "frame-loss": Choice(plan=_frame_loss, takes=(MAX_RATE,)),
    "back-to-back": Choice(plan=_back_to_back, takes=(RATE, MAX_RATE)),
    "recovery": _at_rate(recovery.RecoveryPlan, recovery.PROFILES),
    "reset": _at_rate(reset.ResetPlan, reset.PROFILES),
}


@measuring(
    PROFILES,
    [OverloadPlan, ThroughputPlan, RatePlan],
    replace(FLOWS, default=",".join(map(str, FIRST_FLOWS))),
    *("subscribers", "incremental", "step_s"),
    *OF_SOME,
    without=("connections", "networks"),
)
def overload(
    options: SeriesOptions,
    of: Annotated[
        str,
        Setting(
            "of",
            f"Test to measure: {listed(CHOICES)}",
            "TEST",
            short="Test to measure, such as latency",
        ),
    ] = "throughput",
    **own: Any,
) -> Work:
    """Measure how a test's figures degrade with network flows (RFC 8219 section 10).

    With --of latency, pdv, ipdv or reset, --rate is the rate of the trials. With --of recovery or
    back-to-back, it is the throughput. If it is not given, the throughput of each number of flows
    is searched for first. The defaults of --duration, --drain,
    --settle and --repetitions are those of --of throughput.

    Examples:
        natxy overload lab.toml --profile quick
        natxy overload lab.toml --flows 10,1k,100k
        natxy overload lab.toml --of latency --rate 10k
    """
    given = {each.name: own.pop(each.name) for each in OF_SOME if each.name in own}
    if "subscribers" not in own:
        own.setdefault("flows", FIRST_FLOWS)
    for numbers in {"flows", "subscribers"} & own.keys():
        own[numbers] = tuple(dict.fromkeys(own[numbers]))
    plan = OverloadPlan(test=_test(options, of, given), **own)
    return Work(options=options, name="overload", measures=(planned(plan, measure),))


def _test(options: SeriesOptions, of: str, given: Given) -> Benchmarked:
    if of not in CHOICES:
        raise unknown_value("--of", of, CHOICES)
    chosen = CHOICES[of]
    for setting in OF_SOME:
        if setting.name in given and setting not in chosen.takes:
            taking = (other for other, choice in CHOICES.items() if setting in choice.takes)
            raise ConfigurationError(
                setting, f": is not possible with --of {of} (expected --of {listed(taking)})"
            )
    return chosen.plan(options, given)
