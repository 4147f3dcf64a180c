"""`natxy overload`: measures how a test's figures degrade with the number of network flows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from natxy.cli.choices import listed, unknown_value
from natxy.cli.options import RateOption, error_option, max_rate_option, seconds, words_of
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import found_first, rate_plan, throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure import back_to_back, delay_variation, frame_loss, latency, recovery, reset
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.overload import OverloadPlan
from natxy.procedure.overload import overload as measure
from natxy.trial.profile import PROFILES, Profile

FLOWS = "10,100,1000,10000"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Options that only some tests have; None where an option is not given."""

    rate: int | None
    max_rate: int | None
    error: str | None


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A test that `--of` names, and which options of Asked it takes."""

    plan: Callable[[SeriesOptions, Asked], Benchmarked]
    takes: tuple[str, ...] = ("rate",)


def _at_rate(kind: type[Any], profiles: Mapping[str, Profile]) -> Choice:
    """Returns a test that is measured at one rate."""
    return Choice(plan=lambda options, asked: rate_plan(kind, profiles, options, rate=asked.rate))


def _throughput(options: SeriesOptions, asked: Asked) -> Benchmarked:
    return throughput_search(options, error=asked.error, max_rate=asked.max_rate)


def _frame_loss(options: SeriesOptions, asked: Asked) -> Benchmarked:
    return frame_loss.FrameLossPlan(
        **options.of_plan(frame_loss.PROFILES),
        max_rate_fps=asked.max_rate,
    )


def _back_to_back(options: SeriesOptions, asked: Asked) -> Benchmarked:
    return back_to_back.BackToBackPlan(
        **options.of_plan(back_to_back.PROFILES),
        burst_rate_fps=asked.max_rate,
        throughput_fps=asked.rate,
        search=found_first(replace(options, duration=None, drain=None)),
    )


CHOICES = {
    "throughput": Choice(plan=_throughput, takes=("max_rate", "error")),
    "latency": _at_rate(latency.LatencyPlan, latency.PROFILES),
    "pdv": _at_rate(delay_variation.PdvPlan, delay_variation.PROFILES),
    "ipdv": _at_rate(delay_variation.IpdvPlan, delay_variation.PROFILES),
    "frame-loss": Choice(plan=_frame_loss, takes=("max_rate",)),
    "back-to-back": Choice(plan=_back_to_back, takes=("rate", "max_rate")),
    "recovery": _at_rate(recovery.RecoveryPlan, recovery.PROFILES),
    "reset": _at_rate(reset.ResetPlan, reset.PROFILES),
}


@measuring(PROFILES, without=("connections", "networks"))
def overload(
    options: SeriesOptions,
    flows: Annotated[
        str | None,
        typer.Option(
            help="Numbers of network flows to measure; each is compared with one flow [default: "
            f"{FLOWS}].",
            metavar="N,...",
        ),
    ] = None,
    subscribers: Annotated[
        str | None,
        typer.Option(
            help="Numbers of subscribers to measure instead, for a testbed with [subscribers]; "
            "each is compared with one subscriber [default: flows are measured].",
            metavar="N,...",
        ),
    ] = None,
    of: Annotated[
        str, typer.Option("--of", help=f"Test to measure: {listed(CHOICES)}.", metavar="TEST")
    ] = "throughput",
    incremental: Annotated[
        bool,
        typer.Option("--incremental", help="Start the flows one after the other within a trial."),
    ] = False,
    step: Annotated[
        float | None,
        typer.Option(
            help="With --incremental: seconds between the starts of two flows. A drain follows "
            "each quarter of the flows [default: each quarter is sent for a trial's duration].",
            metavar="S",
        ),
    ] = None,
    rate: RateOption = None,
    max_rate: Annotated[
        int | None,
        max_rate_option("frames a second", what="Highest rate to try, and the rate within bursts"),
    ] = None,
    error: Annotated[
        str | None, error_option("frames a second", ends="End a search for the throughput")
    ] = None,
) -> Work:
    """Measure how a test's figures degrade with network flows (RFC 8219 section 10).

    With --of latency, pdv, ipdv or reset, --rate is the rate of the trials. With --of recovery or
    back-to-back, it is the throughput. If it is not given, the throughput of each number of flows
    is searched for first. The defaults of --duration, --drain,
    --settle and --repetitions are those of --of throughput.
    """
    plan = OverloadPlan(
        test=_test(options, of, Asked(rate=rate, max_rate=max_rate, error=error)),
        flows=_numbers("--flows", FLOWS if subscribers is None and flows is None else flows),
        subscribers=_numbers("--subscribers", subscribers),
        incremental=incremental,
        step_s=seconds("--step", step),
    )
    return Work(options=options, name="overload", measures=(planned(plan, measure),))


def _test(options: SeriesOptions, of: str, asked: Asked) -> Benchmarked:
    if of not in CHOICES:
        raise unknown_value("--of", of, CHOICES)
    chosen = CHOICES[of]
    for name, value in vars(asked).items():
        if value is not None and name not in chosen.takes:
            taking = (other for other, choice in CHOICES.items() if name in choice.takes)
            raise ConfigurationError(
                f"--{name.replace('_', '-')}: is not possible with --of {of} (expected --of "
                f"{listed(taking)})"
            )
    return chosen.plan(options, asked)


def _numbers(option: str, text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    if not re.fullmatch(r"[1-9]\d{0,9}(,[1-9]\d{0,9})*", text):
        raise ConfigurationError(
            f'{option}: "{text}" is not a list of numbers (expected for example 10,100)'
        )
    return tuple(dict.fromkeys(int(number) for number in words_of(option, text)))
