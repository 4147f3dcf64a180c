"""The commands of measurements at one rate, or of the loss at each of several rates."""

from dataclasses import replace
from typing import Annotated

from natxy.cli.options import RecordsOption, adding, numbers_of
from natxy.cli.series_options import Work, measuring
from natxy.errors import ConfigurationError
from natxy.exact import check, exact
from natxy.model.trial_spec import MAX_RATE_FPS
from natxy.procedure.frame_loss import RATES, STEP
from natxy.setting import whole_number

MOST_RATES = 10_000


@measuring("latency", "rate_fps", "tags", "tags_after_s")
def latency(work: Work, records: RecordsOption = None) -> Work:
    """Measure typical and worst-case latency (RFC 8219 section 7.2).

    Examples:
        natxy latency lab.toml --profile quick
        natxy latency lab.toml --rate 10k
        natxy latency lab.toml --rate 10k --records frames.parquet
    """
    return work.recording(records)


@measuring("pdv", "rate_fps")
def pdv(work: Work, records: RecordsOption = None) -> Work:
    """Measure PDV: the delays' P99.9 minus their minimum (RFC 8219 section 7.3.1).

    Examples:
        natxy pdv lab.toml --profile quick
        natxy pdv lab.toml --rate 10k
        natxy pdv lab.toml --frame-size 84,512,1518
    """
    return work.recording(records)


@measuring("ipdv", "rate_fps")
def ipdv(work: Work, records: RecordsOption = None) -> Work:
    """Measure IPDV: minimum, median and maximum (RFC 8219 section 7.3.2).

    Examples:
        natxy ipdv lab.toml --profile quick
        natxy ipdv lab.toml --rate 10k
        natxy ipdv lab.toml --frame-size 84,512,1518
    """
    return work.recording(records)


@measuring("back_to_back", "burst_rate_fps", "throughput_fps", "step_frames")
def back_to_back(work: Work) -> Work:
    """Find the longest burst without loss, and the buffer time (RFC 9004).

    --duration is the duration of the longest burst that is tried. --drain is the shortest wait
    after a burst. The wait begins when the gateway, at its throughput, can have forwarded the
    burst.

    Examples:
        natxy back-to-back lab.toml --burst-rate 1M --profile quick
        natxy back-to-back nics.toml
        natxy back-to-back nics.toml --throughput 850k
    """
    return work


@measuring("recovery", "rate_fps", "after_s")
def recovery(work: Work) -> Work:
    """Measure the recovery from 110 % of the throughput (RFC 2544 section 26.5).

    --duration is that of the overload.

    Examples:
        natxy recovery lab.toml --profile quick
        natxy recovery lab.toml --throughput 200k
        natxy recovery lab.toml --after 10
    """
    return work


@measuring("reset", "rate_fps", "reset_after_s")
def reset(work: Work) -> Work:
    """Measure the time without forwarding after a reset (RFC 2544 section 26.6, RFC 6201).

    Examples:
        natxy reset lab.toml --profile quick
        natxy reset lab.toml --rate 10k
        natxy reset lab.toml --rate 10k --reset-after 5
    """
    return work


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
