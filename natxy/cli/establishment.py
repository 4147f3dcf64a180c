"""`natxy establishment`: measures how many connections a second a stateful gateway creates."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import adding
from natxy.cli.series_options import Work, measuring
from natxy.procedure.establishment_search import ALPHA, DEFAULT_ALPHA
from natxy.setting import Setting


@measuring(
    "establishment",
    "max_rate_cps",
    "error",
    replace(adding(ALPHA, "; turns --validated on"), default="0.5"),
    "loss",
    "early_end",
    "loss_verifications",
)
def establishment(
    work: Work,
    validated: Annotated[
        bool,
        Setting(
            "validated",
            "Validate the connections: after phase 1 the responder sends one frame to each",
            short="Send one frame back through each connection",
        ),
    ] = False,
) -> Work:
    """Measure the maximum connection establishment rate (RFC 9693).

    Examples:
        natxy establishment nat.toml --profile quick
        natxy establishment nat.toml --max-rate 1M
        natxy establishment nat.toml --validated
    """
    return work.giving(**{"alpha": DEFAULT_ALPHA, **work.given}) if validated else work
