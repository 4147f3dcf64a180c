"""`natxy throughput`: the highest rate at which nothing is lost."""

import re
from fractions import Fraction
from typing import Annotated

import typer

from natxy.cli.options import loss_tolerance, search_error
from natxy.cli.series import SeriesOptions, measuring, run_series
from natxy.errors import ConfigurationError
from natxy.procedure.mlr_throughput import MlrThroughputPlan, mlr_throughput
from natxy.procedure.profile import PROFILES
from natxy.procedure.throughput import ThroughputPlan
from natxy.procedure.throughput import throughput as measure
from natxy.procedure.timing import Timing
from natxy.search.bisection import SearchError
from natxy.search.loss_tolerance import LossTolerance
from natxy.search.mlr_goal import MlrGoal, pdr_goal, rfc2544_goal

SEARCHES = ("bisection", "mlr")


@measuring
def throughput(
    options: SeriesOptions,
    max_rate: Annotated[
        int | None, typer.Option(help="Highest rate to try, if not the media's.", metavar="FPS")
    ] = None,
    error: Annotated[
        str | None, typer.Option(help="When to stop: 0.1% of the rate, or 100 fps.", metavar="E")
    ] = None,
    frame_timeout: Annotated[
        float | None,
        typer.Option(help="Seconds after which a frame is lost; 0.01 is usual.", metavar="S"),
    ] = None,
    early_end: Annotated[
        bool, typer.Option("--early-end", help="End a trial at its first certain loss.")
    ] = False,
    search: Annotated[
        str, typer.Option(help="bisection, or mlr: MLRsearch (RFC 9971).", metavar="HOW")
    ] = "bisection",
    loss: Annotated[
        str | None,
        typer.Option(
            help="Share of the frames that may be lost: 0.01%. With mlr a list, 0.5%,1%: each a "
            "partial drop rate beside the non-drop rate.",
            metavar="PERCENT",
        ),
    ] = None,
) -> None:
    """Find the throughput (RFC 2544 section 26.1, RFC 8219)."""
    if search not in SEARCHES:
        raise ConfigurationError(f'--search: "{search}" is not known, {" or ".join(SEARCHES)} is')
    base = options.profile_of(PROFILES)
    timing = options.timing(base.timing, frame_timeout)
    accepted = search_error(error)
    if search == "mlr":
        if early_end:
            raise ConfigurationError(
                "--early-end: MLRsearch needs whole trials; bisection is right"
            )
        mlr = MlrThroughputPlan(
            timing=timing,
            goals=_goals(loss, timing, accepted),
            seed=options.seed_value,
            repetitions=options.repetitions_of(base),
            max_rate_fps=max_rate,
        )
        run_series(
            options, "throughput", lambda tester, dut, seen: mlr_throughput(mlr, tester, dut, seen)
        )
        return
    plan = ThroughputPlan(
        timing=timing,
        repetitions=options.repetitions_of(base),
        error=accepted,
        max_rate_fps=max_rate,
        early_end=early_end,
        loss=loss_tolerance(loss),
        buffer_frames=base.buffer_frames if options.duration is None else None,
        seed=options.seed_value,
    )
    run_series(options, "throughput", lambda tester, dut, seen: measure(plan, tester, dut, seen))


def _goals(loss: str | None, timing: Timing, error: SearchError) -> tuple[MlrGoal, ...]:
    """The non-drop rate, and a partial drop rate for each tolerated loss."""
    if error.rate_fps is not None:
        raise ConfigurationError(
            "--error: MLRsearch knows shares of the rate only, such as 0.1%; frames a second are "
            "bisection's"
        )
    width, longest_s = error.fraction, timing.duration_s
    return (
        rfc2544_goal(final_duration_s=longest_s, width=width),
        *(
            pdr_goal(tolerance, final_duration_s=longest_s, width=width)
            for tolerance in _tolerances(loss)
        ),
    )


def _tolerances(text: str | None) -> tuple[LossTolerance, ...]:
    if text is None:
        return ()
    if not re.fullmatch(r"\d+(\.\d+)?%(,\d+(\.\d+)?%)*", text):
        raise ConfigurationError(f'--loss: "{text}" is no list of percentages, 0.5%,1% is right')
    fractions = [Fraction(percent) / 100 for percent in text.replace("%", "").split(",")]
    if not all(0 < fraction < 1 for fraction in fractions):
        raise ConfigurationError(f'--loss: "{text}" is out of range, more than 0% to 99% is right')
    return tuple(LossTolerance(fraction=fraction) for fraction in dict.fromkeys(fractions))
