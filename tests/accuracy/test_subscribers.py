"""The tester in the place of subscribers of IPv4-as-a-Service: every frame of a trial passes the
calibration gateway, which checks addresses and ports itself, and every fault is named."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from natxy.dut.calibration import CalibrationDut
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import Direction
from natxy.model.verdict import Verdict
from natxy.procedure.establishment import establishment
from natxy.procedure.establishment_search import EstablishmentPlan
from natxy.procedure.frame_loss import LOSS, FrameLossPlan, frame_loss
from natxy.procedure.latency import TYPICAL, LatencyPlan, latency
from natxy.procedure.throughput import ThroughputPlan, throughput
from natxy.search.bisection import SearchError
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from tests.accuracy.subscribers import (
    RATE_FPS,
    STATEFUL,
    STATELESS,
    TIMING,
    N,
    gateway_for,
    inline,
)
from tests.valid import ATTEMPTS, valid, valid_trial, with_and_without_noise

FRAMES = RATE_FPS // 10
LIMIT_FPS, DEPTH = 10_000, 100
EXCESS_FPS = DEPTH / TIMING.duration_s  # what a bucket lets through beyond its rate
ERROR = Fraction(1, 10)
# Searches begin with a rate at which more than half of the frames are lost, so that this trial is
# not repeated to verify the loss.
HIGHEST_FPS, HIGHEST_CPS = 24_000, 27_000
SEARCH = SearchError(fraction=ERROR)
DIRECTIONS: tuple[Direction, ...] = ("forward", "reverse")
DELAY_NS, SLACK_NS = 3_000_000, 1_000_000
# Faults of a direction, and the counter that names each. In the other words of docs/glossary.md: a
# frame is misdelivered, counted by the first check that failed.
OF_ALL = {
    "source_address": "address",
    "destination_address": "address",
    "source_port": "port",
    "destination_port": "port",
    "hop_limit": "hop_limit",
    "hop_limit_kept": "hop_limit",
    "fragment": "malformed",
    "length": "length",
    "number": "number",
}
OF_UDP = {"udp_checksum": "checksum", "udp_length": "malformed"}
OF_TCP = {"sequence": "sequence", "tcp_flags": "header"}
OF_SOFTWIRES = {
    "softwire": "tunnel",
    "outer_source": "tunnel",
    "outer_destination": "tunnel",
    "outer_hop_limit": "tunnel",
    "outer_fragment": "tunnel",
}
OF_PORT_SETS = {"port_set": "port"}
# The first is behind the frames of phase 1, which must be right.
EVERY, FEWER = 300, 100  # frames, connections
EVERY_IN = {"forward": EVERY, "reverse": 220}  # a number of their own tells the directions apart
SHORT = Timing(duration_s=Fraction(1, 40), drain_s=Fraction(1, 50))
Kind = tuple[str, str]  # mechanism and transport
KINDS: list[Kind] = [
    *((name, "udp") for name in (*STATELESS, *STATEFUL)),
    *((name, "tcp") for name in STATEFUL),
]


def faults(kind: Kind, direction: Direction) -> dict[str, str]:
    """The faults that frames of a direction can have: those to subscribers are in softwires."""
    name, transport = kind
    found = OF_ALL | (OF_UDP if transport == "udp" else OF_TCP)
    if direction == "reverse" and name in ("ds-lite", "lw4o6", "map-e"):
        found |= OF_SOFTWIRES
    if name in STATELESS:
        found |= OF_PORT_SETS
    elif direction == "forward":  # the gateway may choose these
        found = {field: found[field] for field in found if not field.startswith("source_")}
    return found


def trial_through(session: Session, dut: CalibrationDut) -> tuple[TrialRecord, Any]:
    plan = FrameLossPlan(timing=TIMING, seed=1)
    trial = valid_trial(plan.trials(session), RATE_FPS)
    return trial, dut.record()


EACH = pytest.mark.parametrize("name", [*STATELESS, *STATEFUL])
# One mechanism without a table and one with it; `make test-long` tests the others.
SHORT_KINDS = (("map-e", "udp"), ("464xlat", "tcp"))


def for_each_kind(names: str, values: list[Any], ids: list[str]) -> pytest.MarkDecorator:
    """Returns parameters that begin with a kind; most kinds are long."""
    return pytest.mark.parametrize(
        names,
        [
            pytest.param(*each, id=name, marks=() if each[0] in SHORT_KINDS else pytest.mark.long)
            for each, name in zip(values, ids, strict=True)
        ],
    )


@EACH
def test_all_frames_of_subscribers_pass(name: str, tmp_path: Path) -> None:
    with gateway_for(name, tmp_path) as (session, dut):
        trial, record = trial_through(session, dut)
    for stream in trial.result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        assert (seen.sent, seen.received) == (FRAMES, FRAMES)
        assert record["directions"][stream.direction]["forwarded"] >= FRAMES


@pytest.mark.parametrize("name", STATEFUL)
def test_tcp_connections_of_subscribers_are_made_and_used(name: str, tmp_path: Path) -> None:
    with gateway_for(name, tmp_path, transport="tcp") as (session, dut):
        trial, record = trial_through(session, dut)
    assert trial.verdict is Verdict.PASS
    assert (trial.misdelivered, trial.changed) == (0, 0)
    assert record["nat"]["created"] == record["nat"]["entries"] == N
    for stream in trial.result.streams:
        assert stream.kinds.foreground is not None
        assert stream.kinds.foreground.received == FRAMES


def test_they_pass_with_vlan_tags_on_their_side(tmp_path: Path) -> None:
    tags = 'vlans = [{tpid = "802.1ad", id = 7}, {id = 100}]'
    with gateway_for("map-e", tmp_path, tags=tags) as (session, dut):
        trial, _ = trial_through(session, dut)
    for stream in trial.result.streams:
        assert stream.kinds.foreground is not None
        assert stream.kinds.foreground.received == FRAMES


@contextmanager
def gateway_with(
    kind: Kind, folder: Path, *faults: dict[str, Any]
) -> Iterator[tuple[Session, CalibrationDut]]:
    name, transport = kind
    ordered = ", ".join(map(inline, faults))
    with gateway_for(name, folder, ordered, transport=transport, connections=FEWER) as lab:
        yield lab


def sent_before(kind: Kind, direction: Direction) -> int:
    """Returns how many frames a trial has in this direction before those that it measures."""
    name, transport = kind
    if name in STATELESS:
        return 0
    if transport == "tcp":  # SYN and ACK, or SYN/ACK
        return 2 * FEWER if direction == "forward" else FEWER
    return FEWER if direction == "forward" else 0


def wrong_of(kind: Kind, direction: Direction, every: int = EVERY) -> int:
    """Returns how many of the frames have a fault."""
    return (sent_before(kind, direction) + int(RATE_FPS * SHORT.duration_s)) // every


# A fault of each direction at once, and no fault in a direction whose faults have all been seen.
EACH_FAULT = [
    (kind, fields)
    for kind in KINDS
    for fields in zip_longest(*(faults(kind, direction) for direction in DIRECTIONS))
]
EACH_DIRECTION = [(kind, direction) for kind in KINDS for direction in DIRECTIONS]


@for_each_kind(
    "kind, fields",
    EACH_FAULT,
    ["-".join((*kind, *(field or "none" for field in fields))) for kind, fields in EACH_FAULT],
)
def test_a_wrong_header_is_named(
    kind: Kind, fields: tuple[str | None, str | None], tmp_path: Path
) -> None:
    ordered = {way: field for way, field in zip(DIRECTIONS, fields, strict=True) if field}
    wrong = (
        {"kind": "corrupt", "direction": way, "every": EVERY_IN[way], "field": field}
        for way, field in ordered.items()
    )
    with gateway_with(kind, tmp_path, *wrong) as (session, _):
        trials = FrameLossPlan(timing=SHORT, seed=1).trials(session)
        trial = valid_trial(trials, RATE_FPS)
    for stream in trial.result.streams:
        seen = stream.kinds.foreground
        assert seen is not None
        way = stream.direction
        expected = wrong_of(kind, way, EVERY_IN[way]) if way in ordered else 0
        assert (seen.misdelivered.total, seen.lost) == (expected, expected), way
        if way in ordered:
            counter = faults(kind, way)[ordered[way]]
            assert getattr(seen.misdelivered, counter) == expected


@for_each_kind(
    "kind, direction",
    EACH_DIRECTION,
    ["-".join((*kind, direction)) for kind, direction in EACH_DIRECTION],
)
def test_the_frame_loss_rate_is_that_of_the_direction(
    kind: Kind, direction: Direction, tmp_path: Path
) -> None:
    plan = FrameLossPlan(timing=SHORT, seed=1, rates_fps=(RATE_FPS,), invalid_repeats=ATTEMPTS)
    loss = {"kind": "loss", "direction": direction, "every": EVERY}
    frames = int(RATE_FPS * SHORT.duration_s)

    def measured() -> dict[Direction, float]:
        """Returns the error of each direction's figure, which is right within it."""
        found = frame_loss(plan, session)
        assert found.counts.misdelivered == 0
        errors: dict[Direction, float] = {}
        for way in DIRECTIONS:
            figure = found.figure(LOSS, way, f"{RATE_FPS:,} fps")
            lost = wrong_of(kind, direction) if way == direction else 0
            (value,), (errors[way],) = figure.values, figure.errors
            assert value == pytest.approx(lost / frames * 100, abs=errors[way] + 1e-9)
        return errors

    with gateway_with(kind, tmp_path, loss) as (session, _):
        valid(measured, lambda errors: [each for each in errors.values() if each >= 1])


@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize(
    "name",
    [
        name if name == "map-t" else pytest.param(name, marks=pytest.mark.long)
        for name in (*STATELESS, *STATEFUL)
    ],
)
def test_the_throughput_is_the_limit_of_one_direction(name: str, tmp_path: Path) -> None:
    """Phase 1 of stateful mechanisms goes in the other one."""
    limit = f'direction = "reverse", rate_fps = {LIMIT_FPS}, depth = {DEPTH}'
    plan = ThroughputPlan(
        timing=TIMING,
        seed=1,
        repetitions=1,
        error=SEARCH,
        max_rate_fps=HIGHEST_FPS,
        loss_verifications=3,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_for(name, tmp_path, f'{{kind = "rate_limit", {limit}}}') as (session, _):
        found = throughput(plan, session)
    (rate,) = found.figures
    assert rate.lower_bound == (False,)
    # A tester that was late gave the bucket time to fill: by the search's error at most.
    most_fps = LIMIT_FPS + EXCESS_FPS
    assert LIMIT_FPS * (1 - ERROR) <= rate.values[0] <= most_fps * (1 + ERROR)
    assert found.counts.misdelivered == 0


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("map-t", "464xlat") else pytest.param(name, marks=pytest.mark.long)
        for name in (*STATELESS, *STATEFUL)
    ],
)
def test_the_latency_is_the_delay_of_each_direction(name: str, tmp_path: Path) -> None:
    delays = ", ".join(
        f'{{kind = "delay", direction = "{direction}", ns = {times * DELAY_NS}}}'
        for times, direction in enumerate(DIRECTIONS, start=1)
    )
    plan = LatencyPlan(
        timing=TIMING,
        seed=1,
        repetitions=1,
        rate_fps=LIMIT_FPS,
        tags=500,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_for(name, tmp_path, delays) as (session, dut):
        found = latency(plan, session)
        ways = dut.record()["directions"]
    for times, direction in enumerate(DIRECTIONS, start=1):
        (median_ns,) = found.figure(TYPICAL, direction).values
        given_ns = ways[direction]["delay_ns"]["p50"]
        assert given_ns >= times * DELAY_NS
        assert median_ns == pytest.approx(given_ns, abs=SLACK_NS)


@pytest.mark.usefixtures("noise")
@with_and_without_noise
@pytest.mark.parametrize(
    ("name", "transport"),
    [
        ("464xlat", "tcp"),
        pytest.param("ds-lite", "udp", marks=pytest.mark.long),
        pytest.param("ds-lite", "tcp", marks=pytest.mark.long),
        pytest.param("464xlat", "udp", marks=pytest.mark.long),
    ],
)
def test_the_validated_establishment_rate_is_that_of_the_gateway(
    name: str, transport: str, tmp_path: Path
) -> None:
    limit = {"new_per_s": LIMIT_FPS, "depth": DEPTH}
    plan = EstablishmentPlan(
        timing=TIMING,
        seed=1,
        repetitions=1,
        error=SEARCH,
        max_rate_cps=HIGHEST_CPS,
        alpha=Fraction(1, 2),
        loss_verifications=3,
        invalid_repeats=ATTEMPTS,
    )
    with gateway_for(name, tmp_path, transport=transport, nat=limit) as (session, _):
        found = establishment(plan, session)
    rate = found.figures[0]
    assert rate.lower_bound == (False,)
    most_cps = LIMIT_FPS * Fraction(N, N - DEPTH)  # at which N frames find a token each
    assert LIMIT_FPS * (1 - ERROR) <= rate.values[0] <= most_cps * (1 + ERROR)
    assert found.counts.misdelivered == 0
