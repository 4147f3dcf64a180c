"""The commands of the measurements whose options are all fields of their plans."""

from natxy.cli.options import RecordsOption
from natxy.cli.series_options import Work, measuring


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


@measuring("churn", "load_fps", "new_cps", "max_rate_fps", "error", "loss_verifications")
def churn(work: Work) -> Work:
    """Find the highest rate of new connections while a given load runs, or the highest load at a
    given rate of new connections.

    Examples:
        natxy churn nat.toml --load 100k --profile quick
        natxy churn nat.toml --new 5k
        natxy churn nat.toml --load 100k --max-rate 50k
    """
    return work


@measuring(
    "capacity",
    *("c0", "error", "alpha", "beta", "gamma", "rate_error", "first_cps", "max_cps", "most"),
)
def capacity(work: Work) -> Work:
    """Find the connection tracking table capacity (RFC 9693).

    Examples:
        natxy capacity nat.toml --profile quick
        natxy capacity nat.toml --c0 10k --most 1M
        natxy capacity nat.toml --error 100
    """
    return work
