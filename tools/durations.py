"""The page on durations: how long each measurement takes at its defaults, as `natxy plan` says."""

from collections.abc import Iterator

from natxy.cli.campaigns import MEASURING, collected
from natxy.cli.expected import (
    ASSUMED_BURST,
    ASSUMED_FPS,
    ASSUMED_TABLE,
    BELOW_MAXIMUM,
    DELETION_S,
    LOSSLESS,
    SET_UP_S,
    duration_s,
)
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.procedure.establishment import SAFE
from natxy.report.numbers import about
from natxy.trial.repeats import BETWEEN_S

PROFILES = ("rfc", "quick")
COUNT = 100_000  # connections of the stateful measurements
STATEFUL = ("establishment", "capacity", "tear-down", "degradation", "churn")
NEEDED = {"degradation": ("--counts", "10000,100000"), "churn": ("--load", "10000")}
REQUIRED = {
    "tester": {"cores": [0]},
    "traffic": {"left_ip_version": 4, "right_ip_version": 4},
}
ASSUMED = (
    f"The gateway forwards {ASSUMED_FPS:,} frames a second in each direction, and creates "
    f"{ASSUMED_FPS:,} connections a second. If that is more than {float(BELOW_MAXIMUM):.2g} of "
    "`--max-rate`, the gateway does this share of `--max-rate` instead.",
    "A search without `--max-rate` starts at a guess, as in a lab, whose links have no rate.",
    f"In `frame-loss`, the gateway loses frames above {float(LOSSLESS * 100):g} % of the first "
    "rate.",
    f"The longest burst has {ASSUMED_BURST:,} frames. The table holds {ASSUMED_TABLE} times C0.",
    f"Phase 1 without a given rate runs at {float(ASSUMED_FPS * SAFE):,.0f} connections a second, "
    "which is searched for first.",
    f"To start and stop a gateway takes {float(SET_UP_S):g} s. Between two trials, beside drain "
    f"and settle time, {float(BETWEEN_S):g} s pass. To delete a table takes "
    f"{float(DELETION_S):g} s.",
)


def durations_page(generated: str) -> str:
    lines = [
        "# How long measurements take",
        "",
        generated,
        "",
        "`natxy plan EXPERIMENT` shows about how long each cell of a campaign takes. The table has "
        "each measurement at its defaults, at one frame size, by the same rule: trials × (settle "
        "time + phase 1 + duration + drain). The number of trials of a search is unknown before "
        "it has run, so the search is run against an assumed gateway.",
        "",
        "| command | profile rfc | profile quick |",
        "|---|---|---|",
        *_rows(),
        "",
        f"The stateful measurements have {COUNT:,} connections here; `degradation` has 10,000 and "
        "100,000. Their durations grow with the number of connections.",
        "",
        "## What is assumed",
        "",
        *(f"- {sentence}" for sentence in ASSUMED),
        "",
        "## What is not included",
        "",
        "- Repeats of trials that noise made invalid, and of losses that an absence explains.",
        "- Commands of the experiment, and the time that a gateway takes to be reset.",
    ]
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[str]:
    for verb in MEASURING:
        yield _row(verb, verb, NEEDED.get(verb, ()))
        if verb == "throughput":
            yield _row("throughput --search mlr", verb, ("--search", "mlr"))


def _row(name: str, verb: str, words: tuple[str, ...]) -> str:
    written = {"connections": {"count": COUNT}} if verb in STATEFUL else {}
    testbed: Testbed = Source(name=verb).validated(Testbed, {**REQUIRED, **written})
    durations = (
        about(float(duration_s(collected(verb, [*words, "--profile", profile]), testbed)))
        for profile in PROFILES
    )
    return f"| `{name}` | {' | '.join(durations)} |"
