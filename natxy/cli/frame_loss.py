"""`natxy frame-loss`: measures the frame loss rate at each offered rate."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import adding, numbers_of
from natxy.cli.series_options import Work, measuring
from natxy.errors import ConfigurationError
from natxy.exact import check, exact
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.procedure.frame_loss import RATES, STEP
from natxy.setting import whole_number

MOST_RATES = 10_000


@measuring("frame_loss", "max_rate_fps", "loss")
def frame_loss(
    work: Work,
    step: Annotated[
        float | None, replace(adding(STEP, ", in % of the maximum"), default="10")
    ] = None,
    rates: Annotated[
        str | None,
        adding(RATES, ": a list such as 1k,2k or FIRST:LAST:STEP such as 1k:10k:1k"),
    ] = None,
) -> Work:
    """Measure the frame loss rate at each offered rate (RFC 2544 section 26.3).

    Examples:
        natxy frame-loss lab.toml --max-rate 500k --profile quick
        natxy frame-loss lab.toml --max-rate 500k --step 5
        natxy frame-loss lab.toml --rates 10k:100k:10k
    """
    if rates is not None and ("max_rate_fps" in work.given or step is not None):
        raise ConfigurationError(
            "--rates: is not possible with --max-rate or --step (expected either the rates "
            "themselves or the series that these two options make)"
        )
    if step is not None:
        work = work.giving(step=exact(STEP, step) / 100)
    return work.giving(rates_fps=rates_of(rates))


def rates_of(text: str | None) -> tuple[int, ...]:
    """Reads `1000,2000` or `1000:10000:1000`, LAST included; returns none if there is no text."""
    if text is None:
        return ()
    if ":" not in text:
        return numbers_of("--rates", text)
    ends = [number for word in text.split(":") if (number := whole_number(word))]
    if len(ends) == len(text.split(":")) == 3 and min(ends) > 0:
        first, last, step = ends
        check(RATES, last, lowest=1, highest=MAX_RATE_FPS)
        rates = range(first, last + 1, step)
        if 0 < len(rates) <= MOST_RATES:
            return tuple(rates)
    raise ConfigurationError(
        f'--rates: "{text}" is not a series of rates (expected for example 1k,2k or 1k:10k:1k)'
    )
