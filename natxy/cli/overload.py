"""`natxy overload`: measures how a test's figures degrade with the number of network flows."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from natxy.cli.series_options import Work, measuring
from natxy.errors import ConfigurationError, listed, unknown_value
from natxy.measure.flows import FLOWS
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.defaults import FIRST_FLOWS, MEASURES, Defaults
from natxy.search.settings import error_of, max_rate_of
from natxy.setting import Setting
from natxy.trial.timing import RATE

MAX_RATE = replace(
    max_rate_of(
        "max_rate_fps", "frames a second", what="Highest rate to try, and the rate within bursts"
    ),
    short="",
)
ERROR = error_of("frames a second", ends="End a search for the throughput")
OF_SOME = (RATE, MAX_RATE, ERROR)  # options that only some tests have
Given = Mapping[str, Any]  # their values, by the field of their setting


# Which options of OF_SOME a test takes, and the fields of its plan that they give.
OTHERS = {
    "throughput": {MAX_RATE: "max_rate_fps", ERROR: "error"},
    "frame-loss": {MAX_RATE: "max_rate_fps"},
    "back-to-back": {RATE: "throughput_fps", MAX_RATE: "burst_rate_fps"},
}
CHOICES = {
    test.replace("_", "-"): OTHERS.get(test.replace("_", "-"), {RATE: "rate_fps"})
    for test in MEASURES["overload"].tests
}


@measuring(
    "overload",
    replace(FLOWS, default=",".join(map(str, FIRST_FLOWS))),
    *("subscribers", "incremental", "step_s"),
    *OF_SOME,
)
def overload(
    work: Work,
    of: Annotated[
        str,
        Setting(
            "of",
            f"Test to measure: {listed(CHOICES)}",
            "TEST",
            short="Test to measure, such as latency",
        ),
    ] = "throughput",
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
    own = dict(work.given)
    given = {each.name: own.pop(each.name) for each in OF_SOME if each.name in own}
    for numbers in {"flows", "subscribers"} & own.keys():
        own[numbers] = tuple(dict.fromkeys(own[numbers]))
    return replace(work, given={"test": _test(work.options.defaults, of, given), **own})


def _test(defaults: Defaults, of: str, given: Given) -> Benchmarked:
    if of not in CHOICES:
        raise unknown_value("--of", of, CHOICES)
    takes = CHOICES[of]
    for setting in OF_SOME:
        if setting.name in given and setting not in takes:
            taking = (other for other, choice in CHOICES.items() if setting in choice)
            raise ConfigurationError(
                setting, f": is not possible with --of {of} (expected --of {listed(taking)})"
            )
    fields = {takes[setting]: given[setting.name] for setting in takes if setting.name in given}
    plan: Benchmarked = defaults.plan(MEASURES[of.replace("-", "_")].plan, **fields)
    return plan
