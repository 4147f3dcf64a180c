"""`natxy throughput`: finds the highest rate without loss."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from natxy.cli.choices import unknown_value
from natxy.cli.mlr_goals import GoalOptions, goals_of
from natxy.cli.options import (
    EarlyEndOption,
    MaxRateOption,
    VerifyLossOption,
    error_option,
    loss_tolerance,
    numbers_of,
    search_error,
    seconds,
)
from natxy.cli.series import Work, planned
from natxy.cli.series_options import SeriesOptions, measuring
from natxy.cli.throughput_search import throughput_search
from natxy.errors import ConfigurationError
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.throughput import throughput as measure
from natxy.trial.bursts import Bursts
from natxy.trial.profile import PROFILES

SEARCHES = ("bisection", "mlr")
EXPECTED = " (expected --search bisection)"
# The options that only a bisection has, with what else their refusal says.
BISECTION_ONLY = {
    "--verify-loss": " (expected --exceed-ratio and --duration-sum in its place)",
    "--early-end": f", which needs whole trials{EXPECTED}",
    "--patience": EXPECTED,
    "--bursts": EXPECTED,
}
# Options under a heading of --help.
search_option = partial(typer.Option, rich_help_panel="Search")
bursts_option = partial(typer.Option, rich_help_panel="Bursts")


@measuring(PROFILES)
def throughput(
    options: SeriesOptions,
    max_rate: MaxRateOption = None,
    error: Annotated[str | None, error_option("(bisection only) frames a second")] = None,
    frame_timeout: Annotated[
        float | None,
        typer.Option(
            help="Delay in seconds after which a frame is late and counts as lost, for example "
            "0.01 [default: no limit].",
            metavar="S",
        ),
    ] = None,
    early_end: EarlyEndOption = False,
    search: Annotated[
        str,
        search_option(
            help="Search algorithm: bisection or mlr (MLRsearch, RFC 9971).", metavar="HOW"
        ),
    ] = "bisection",
    loss: Annotated[
        str | None,
        typer.Option(
            help="Let a trial pass if each direction lost at most this share of its frames, for "
            "example 0.01%. With --search mlr, give a list such as 0.5%,1%: Natxy then finds the "
            "non-drop rate (NDR), and a partial drop rate (PDR) for each share of the list "
            "[default: no loss].",
            metavar="PERCENT",
        ),
    ] = None,
    verify_loss: VerifyLossOption = None,
    patience: Annotated[
        float | None,
        typer.Option(
            help="Time limit in seconds for each combination of frame size, mix, number of "
            "networks and burst length. When the planned times (see --retry-time) of all "
            "its trials, invalid ones included, add up to this limit, no further repetition starts "
            "(bisection only) [default: no limit].",
            metavar="S",
        ),
    ] = None,
    exceed_ratio: Annotated[
        float | None,
        search_option(
            help="With --search mlr: a rate passes if trials with too much loss took at most this "
            "share of the time of all its trials. For the NDR, one lost frame is too much; for a "
            "PDR, more than its --loss [default: 0].",
            metavar="RATIO",
        ),
    ] = None,
    duration_sum: Annotated[
        float | None,
        search_option(
            help="With --search mlr: total seconds of the full-length trials that decide "
            "about a rate [default: the duration].",
            metavar="S",
        ),
    ] = None,
    initial_duration: Annotated[
        float | None,
        search_option(
            help="With --search mlr: seconds of the first, shortest trials [default: 1, or the "
            "duration if that is shorter].",
            metavar="S",
        ),
    ] = None,
    bursts: Annotated[
        str | None,
        bursts_option(
            help="Send repeated bursts of N frames, search for the highest mean rate without "
            "loss, and report the interval between bursts at that rate (bisection only); 1 is "
            "steady traffic. The list 1,16,64,256,1024 measures RFC 2544's lengths in turn "
            "[default: steady traffic].",
            metavar="N,...",
        ),
    ] = None,
    burst_rate: Annotated[
        int | None,
        bursts_option(
            help="With --bursts: rate within a burst, in frames a second; on veth and memif, whose "
            "media have no rate, it is required [default: the media's rate].",
            metavar="FPS",
        ),
    ] = None,
) -> Work:
    """Find the throughput (RFC 2544 section 26.1, RFC 8219)."""
    if search not in SEARCHES:
        raise unknown_value("--search", search, SEARCHES)
    each_burst = bursts_of(bursts, burst_rate)
    of_goals = GoalOptions(
        exceed_ratio=exceed_ratio, duration_sum=duration_sum, initial_duration=initial_duration
    )
    if search == "mlr":
        _refuse_beside_mlr(
            {
                "--verify-loss": verify_loss is not None,
                "--early-end": early_end,
                "--patience": patience is not None,
                "--bursts": bursts is not None,
            }
        )
        of_plan = options.of_plan(PROFILES, frame_timeout)
        goals = goals_of(of_goals, loss, of_plan["timing"], search_error(error))
        mlr = MlrThroughputPlan(goals=goals, max_rate_fps=max_rate, **of_plan)
        return Work(options=options, name="throughput", measures=(planned(mlr, mlr_throughput),))
    of_goals.refuse()
    of_profile = throughput_search(
        options, error=error, max_rate=max_rate, frame_timeout=frame_timeout
    )
    plan = replace(
        of_profile,
        early_end=early_end,
        loss=loss_tolerance(loss),
        loss_verifications=of_profile.loss_verifications if verify_loss is None else verify_loss,
        patience_s=seconds("--patience", patience),
    )
    measures = tuple(planned(replace(plan, bursts=each), measure) for each in each_burst)
    return Work(options=options, name="throughput", measures=measures)


def _refuse_beside_mlr(given: Mapping[str, bool]) -> None:
    """Raises ConfigurationError for the first option that only a bisection has."""
    for option, is_given in given.items():
        if is_given:
            raise ConfigurationError(
                f"{option}: is not possible with --search mlr{BISECTION_ONLY[option]}"
            )


def bursts_of(lengths: str | None, rate_fps: int | None) -> tuple[Bursts | None, ...]:
    """Returns one or more bursts; None stands for steady traffic."""
    if lengths is None:
        if rate_fps is not None:
            raise ConfigurationError("--burst-rate: is used only with --bursts (expected both)")
        return (None,)
    return tuple(
        None if frames == 1 else Bursts(frames=frames, rate_fps=rate_fps)
        for frames in numbers_of("--bursts", lengths)
    )
