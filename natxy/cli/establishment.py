"""`natxy establishment`: measures how many connections a second a stateful gateway creates."""

from dataclasses import replace
from typing import Annotated, Any

from natxy.cli.options import adding
from natxy.cli.series import Work, needs_connections, planned
from natxy.cli.series_options import OF_PHASE_2, SeriesOptions, measuring
from natxy.procedure.establishment import establishment as measure
from natxy.procedure.establishment_search import (
    ALPHA,
    DEFAULT_ALPHA,
    PROFILES,
    EstablishmentPlan,
)
from natxy.setting import Setting


@measuring(
    PROFILES,
    [EstablishmentPlan],
    "max_rate_cps",
    "error",
    replace(adding(ALPHA, "; turns --validated on"), default="0.5"),
    "loss",
    "early_end",
    "loss_verifications",
    without=(*OF_PHASE_2, "networks"),
)
def establishment(
    options: SeriesOptions,
    validated: Annotated[
        bool,
        Setting(
            "validated",
            "Validate the connections: after phase 1 the responder sends one frame to each",
            short="Send one frame back through each connection",
        ),
    ] = False,
    **own: Any,
) -> Work:
    """Measure the maximum connection establishment rate (RFC 9693).

    Examples:
        natxy establishment nat.toml --profile quick
        natxy establishment nat.toml --max-rate 1M
        natxy establishment nat.toml --validated
    """
    if validated:
        own.setdefault("alpha", DEFAULT_ALPHA)
    plan = options.defaults.plan(EstablishmentPlan, **own)
    return Work(
        options=options,
        name="establishment",
        measures=(planned(plan, measure),),
        check_traffic=needs_connections,
    )
