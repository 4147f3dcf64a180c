"""The self-test, which connects the tester to itself and measures its limits at each frame size.

It finds the tester's own limit, which is its highest rate without loss, and its own delay. A
gateway with a throughput near this limit is measured at the limit of the tester.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Literal

from natxy.dut.addresses import LEFT, RIGHT, looped_port
from natxy.errors import TesterLimit
from natxy.exact import check_settings
from natxy.measure.plan import check_members
from natxy.model.base import Model
from natxy.model.distribution import P999, Delays
from natxy.model.self_test_record import DelayAt, OwnDelay, looped_version
from natxy.model.testbed import Testbed
from natxy.model.trial_result import TrialResult
from natxy.model.verdict import Limit
from natxy.procedure.establishment import with_phase_1_rate
from natxy.procedure.throughput import ThroughputPlan, searches
from natxy.search.bisection import SearchError
from natxy.trial.profile import QUICK
from natxy.trial.repeats import INVALID_REPEATS
from natxy.trial.seeds import SEED
from natxy.trial.session import Session
from natxy.trial.timing import Timing
from natxy.trial.trials import Trials
from natxy.verdict.delay_error import DelayError, TimingErrors, doubts

SIZES_BYTES = (84, 128, 256, 512, 1024, 1280, 1518)  # RFC 2544 section 9.1, RFC 5180 section 5
ERROR = SearchError(fraction=Fraction(1, 100))
DELAY_SHARE = 2  # the loaded delay is measured at half of the limit, where no queue fills up
OFFSET_FPS = 1000  # so low that a frame has left the loop before the next one is due


class Ceiling(Model):
    """The tester's own limit and own delay at one frame size."""

    record: Literal["self-test"] = "self-test"
    frame_size_bytes: int
    rate_fps: int  # per direction
    limit: Limit
    lower_bound: bool
    # Trials above this rate stayed INVALID for reasons that do not grow with the rate, so that the
    # tester may reach more.
    noise: bool = False
    trials: int
    invalid_trials: int
    misdelivered: int
    delay: OwnDelay | None  # None: no trial that measures it was valid
    why_no_delay: str = ""  # the reason, if there is none


@dataclass(frozen=True, kw_only=True)
class SelfTestPlan:
    seed: Annotated[int, SEED]
    sizes_bytes: tuple[int, ...] = SIZES_BYTES
    timing: Timing = QUICK.timing
    error: SearchError = ERROR

    def __post_init__(self) -> None:
        check_members(self, timing=Timing, seed=int, error=SearchError)
        check_settings(self)


def looped(testbed: Testbed) -> Testbed:
    """Returns a testbed with a cable between the ports in place of the gateway.

    Ports, cores and traffic are those of the testbed; traffic that the gateway would translate is
    IPv6 on both sides. Frames have no VLAN tags and are in no tunnel, since both may differ between
    the sides. They have no extension headers, for which the smallest size has no room; there are no
    subscribers.
    """
    tester, traffic = testbed.tester, testbed.traffic
    version = looped_version(traffic)
    ports = {
        "left": looped_port(LEFT, RIGHT, tester.left.device),
        "right": looped_port(RIGHT, LEFT, tester.right.device),
    }
    versions = {"left_ip_version": version, "right_ip_version": version}
    return Testbed(
        tester=tester.model_copy(update=ports),
        traffic=traffic.model_copy(
            update={**versions, "hop_limit_drop": 0, "extension_headers": ()}
        ),
        connections=testbed.connections,
    )


def self_test(plan: SelfTestPlan, session: Session) -> list[Ceiling]:
    """Measures the tester's limit for each frame size; the ports are connected to each other."""
    cabled = _with_macs(session)
    ceilings = []
    for number, size in enumerate(plan.sizes_bytes, start=1):
        session.observer.part_started(number, len(plan.sizes_bytes))
        ceilings.append(_ceiling(plan, cabled.with_traffic(frame_size_bytes=size)))
    return ceilings


def _ceiling(plan: SelfTestPlan, session: Session) -> Ceiling:
    session = with_phase_1_rate(session, plan.timing, seed=plan.seed)
    search = ThroughputPlan(timing=plan.timing, seed=plan.seed, repetitions=1, error=plan.error)
    of_search = search.trials(session)
    (found,) = searches(search, of_search)
    counts = of_search.counts
    trials = Trials(
        session=session,
        timing=plan.timing,
        campaign_seed=plan.seed + 1,
        doubts=lambda result: doubts(own_delay_errors(result)),
        measures_delays=True,
    )
    size_bytes = session.testbed.traffic.frame_size_bytes
    delay, why_none = _own_delay(trials, size_bytes, found.rate_fps)
    is_tester = found.limit is Limit.TESTER
    noise = is_tester and not found.too_slow
    return Ceiling(
        frame_size_bytes=size_bytes,
        rate_fps=found.rate_fps,
        limit=found.limit,
        lower_bound=found.lower_bound and (noise or not is_tester),
        noise=noise,
        trials=counts.trials,
        invalid_trials=counts.invalid_trials,
        misdelivered=counts.misdelivered,
        delay=delay,
        why_no_delay=why_none,
    )


def own_delay_errors(result: TrialResult) -> Sequence[DelayError]:
    """Returns the errors of the percentiles that are stored; the smallest delay is exact."""
    errors = []
    for stream, _, counters in result.counters():
        if not counters.delay.count:
            continue
        delays = Delays(distributions=(counters.delay,))
        timing = TimingErrors.of(stream, result)
        errors += [
            DelayError(
                name=f"{name} of the tester's own delay",
                direction=stream.direction,
                value_ns=delays.percentile_ns(share),
                error_ns=timing.percentile_ns(delays, share),
            )
            for name, share in (("median", Fraction(1, 2)), ("P99.9", P999))
        ]
    return errors


def _own_delay(trials: Trials, size_bytes: int, ceiling_fps: int) -> tuple[OwnDelay | None, str]:
    """Returns the own delay, or None and the reason why it is unknown."""
    loaded_fps = max(1, ceiling_fps // DELAY_SHARE)
    try:
        offset = _delay(trials, min(OFFSET_FPS, loaded_fps))
        loaded = _delay(trials, loaded_fps)
    except TesterLimit as limit:
        return None, limit.in_options
    return OwnDelay(frame_size_bytes=size_bytes, offset=offset, loaded=loaded), ""


def _delay(trials: Trials, rate_fps: int) -> DelayAt:
    """Returns the delay of the worse direction in a separate trial.

    Raises TesterLimit if no trial was valid.
    """
    trial = trials.run_valid(rate_fps, 1, INVALID_REPEATS)
    delays = [counters.delay for _, _, counters in trial.result.counters()]
    return DelayAt(
        rate_fps=rate_fps,
        minimum_ns=max(d.min_ns for d in delays),
        median_ns=max(d.p50_ns for d in delays),
        p999_ns=max(d.p999_ns for d in delays),
    )


def _with_macs(session: Session) -> Session:
    """Returns the session with each port's MAC address as the other's next hop, so that nothing
    must be resolved."""
    section = session.testbed.tester
    macs = {port.side: port.mac for port in session.hello.ports}
    ports = {
        "left": section.left.model_copy(update={"next_hop_mac": macs["right"]}),
        "right": section.right.model_copy(update={"next_hop_mac": macs["left"]}),
    }
    changed = section.model_copy(update=ports)
    return session.with_testbed(session.testbed.model_copy(update={"tester": changed}))
