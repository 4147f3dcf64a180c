"""`natxy throughput`: finds the highest rate without loss.

With `--search mlr`, the options make the goals of MLRsearch.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

from natxy.cli.options import adding, numbers_of, only, words_of
from natxy.cli.series_options import Work, measuring
from natxy.errors import ConfigurationError, unknown_value
from natxy.measure.search_plan import EARLY_END, PATIENCE, VERIFY_LOSS
from natxy.procedure.defaults import MEASURES
from natxy.search.bisection import DEFAULT_ERROR, SearchError
from natxy.search.mlr_goal import (
    DURATION_SUM,
    EXCEED_RATIO,
    INITIAL_DURATION,
    MlrGoal,
    pdr_goal,
    rfc2544_goal,
)
from natxy.search.settings import LOSS, LossTolerance, error_of, loss_tolerance
from natxy.setting import Setting
from natxy.trial.bursts import BURST_RATE, BURSTS, Bursts

SEARCHES = ("bisection", "mlr")
EXPECTED = " (expected --search bisection)"
# The options that only a bisection has, with what else their refusal says.
BISECTION_ONLY = {
    VERIFY_LOSS: " (expected --exceed-ratio and --duration-sum in its place)",
    EARLY_END: f", which needs whole trials{EXPECTED}",
    PATIENCE: EXPECTED,
    BURSTS: EXPECTED,
}
OF_GOALS = (EXCEED_RATIO, DURATION_SUM, INITIAL_DURATION)


@measuring(
    "throughput",
    "max_rate_fps",
    replace(error_of("(bisection only) frames a second"), short="Error of the rate, such as 1%"),
    *("frame_timeout_s", "early_end", "loss_verifications", "patience_s"),
    *(only("With --search mlr", setting) for setting in OF_GOALS),
    plans=[MlrGoal],
)
def throughput(
    work: Work,
    search: Annotated[
        str,
        Setting(
            "search",
            "Search algorithm: bisection or mlr (MLRsearch, RFC 9971)",
            "HOW",
            panel="Search",
        ),
    ] = "bisection",
    loss: Annotated[
        str | None,
        replace(
            adding(
                LOSS,
                ". With --search mlr, give a list such as 0.5%,1%: Natxy then finds the non-drop "
                "rate (NDR), and a partial drop rate (PDR) for each share of the list",
            ),
            short="Share of the frames that a trial may lose",
        ),
    ] = None,
    bursts: Annotated[
        str | None,
        adding(
            BURSTS,
            " (bisection only); 1 is steady traffic. The list 1,16,64,256,1024 measures RFC 2544's "
            "lengths in turn",
        ),
    ] = None,
    burst_rate: Annotated[int | None, BURST_RATE] = None,
) -> Work:
    """Find the throughput (RFC 2544 section 26.1, RFC 8219).

    Examples:
        natxy throughput lab.toml --profile quick
        natxy throughput lab.toml --max-rate 1.5M --error 1% -o results
        natxy throughput lab.toml --search mlr --loss 0.5%
    """
    if search not in SEARCHES:
        raise unknown_value("--search", search, SEARCHES)
    each_burst = bursts_of(bursts, burst_rate)
    own = dict(work.given)
    given = {*own, *(() if bursts is None else (BURSTS.name,))}
    of_goals = {each.name: own.pop(each.name) for each in OF_GOALS if each.name in own}
    if search == "mlr":
        for setting, why in BISECTION_ONLY.items():
            if setting.name in given:
                raise ConfigurationError(setting, f": is not possible with --search mlr{why}")
        longest_s = work.options.defaults.timing.duration_s
        goals = goals_of(of_goals, loss, longest_s, own.pop("error", DEFAULT_ERROR))
        return replace(work, measure=MEASURES["mlr_throughput"], given={"goals": goals, **own})
    for setting in OF_GOALS:
        if setting.name in of_goals:
            raise ConfigurationError(setting, ": is an option of MLRsearch (expected --search mlr)")
    if loss is not None:
        own["loss"] = loss_tolerance(LOSS, loss)
    return replace(work, given=own, series=[{"bursts": each} for each in each_burst])


def bursts_of(lengths: str | None, rate_fps: int | None) -> tuple[Bursts | None, ...]:
    """Returns one or more bursts; None stands for steady traffic."""
    if lengths is None:
        if rate_fps is not None:
            raise ConfigurationError("--burst-rate: is used only with --bursts (expected both)")
        return (None,)
    return tuple(
        None if frames == 1 else Bursts(frames=frames, rate_fps=rate_fps)
        for frames in numbers_of(BURSTS, lengths)
    )


def goals_of(
    of_goals: Mapping[str, Any], loss: str | None, longest_s: Fraction, error: SearchError
) -> tuple[MlrGoal, ...]:
    """Returns a goal for the non-drop rate, and one for each partial drop rate in `loss`.

    `of_goals` has the fields of all goals that are given (RFC 9971).
    """
    if error.rate_fps is not None:
        raise ConfigurationError(
            f"--error: {error.rate_fps} is a number of frames a second, which MLRsearch does not "
            "take (expected a share of the rate, for example 0.1%)"
        )
    width = error.fraction
    goals = (
        rfc2544_goal(final_duration_s=longest_s, width=width),
        *(
            pdr_goal(tolerance, final_duration_s=longest_s, width=width)
            for tolerance in _tolerances(loss)
        ),
    )
    return tuple(replace(goal, **of_goals) for goal in goals)


def _tolerances(text: str | None) -> Iterable[LossTolerance]:
    shares = [] if text is None else words_of(LOSS, text)
    return dict.fromkeys(loss_tolerance(LOSS, share) for share in shares)
