"""`natxy establishment`: measures how many connections a second a stateful gateway creates."""

from fractions import Fraction
from typing import Annotated

import typer

from natxy.cli.options import (
    EarlyEndOption,
    LossOption,
    VerifyLossOption,
    error_option,
    loss_tolerance,
    max_rate_option,
    search_error,
)
from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions, measuring
from natxy.exact import exact
from natxy.procedure.establishment import establishment as measure
from natxy.procedure.establishment_search import DEFAULT_ALPHA, PROFILES, EstablishmentPlan


@measuring(PROFILES, without=(*OF_PHASE_2, "networks"))
def establishment(
    options: SeriesOptions,
    max_rate: Annotated[int | None, max_rate_option("connections a second")] = None,
    error: Annotated[str | None, error_option("connections a second")] = None,
    validated: Annotated[
        bool,
        typer.Option(
            "--validated",
            help="Validate the connections: after phase 1 the responder sends one frame to each.",
        ),
    ] = False,
    alpha: Annotated[
        float | None,
        typer.Option(
            help="Rate of validation, as a share of phase 1's rate; turns --validated on [default: "
            "0.5].",
            metavar="SHARE",
        ),
    ] = None,
    loss: LossOption = None,
    early_end: EarlyEndOption = False,
    verify_loss: VerifyLossOption = None,
) -> Work:
    """Measure the maximum connection establishment rate (RFC 9693)."""
    base = options.profile_of(PROFILES)
    plan = EstablishmentPlan(
        **options.of_plan(PROFILES),
        max_rate_cps=max_rate,
        error=search_error(error),
        alpha=_alpha(alpha, validated=validated),
        loss=loss_tolerance(loss),
        early_end=early_end,
        loss_verifications=base.loss_verifications if verify_loss is None else verify_loss,
    )
    return Work(
        options=options,
        name="establishment",
        measures=(planned(plan, measure),),
        check_traffic=needs_connections,
    )


def _alpha(given: float | None, *, validated: bool) -> Fraction | None:
    """Returns the share, None without validation; `--alpha` alone asks for validation as well."""
    if given is None:
        return DEFAULT_ALPHA if validated else None
    return exact("--alpha", given)
