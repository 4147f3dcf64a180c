"""The options that all measurements share, and the repetitions of a measurement.

Sentences describe what frames have beside plain UDP and IP: a condition of every result.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, TypeVar, get_args

from natxy.errors import ConfigurationError, TesterLimit
from natxy.exact import check_settings
from natxy.model.address_checks import SIDES
from natxy.model.event import Hello
from natxy.model.measurement import Conditions, Figure, Media, SearchConditions
from natxy.model.subscribers import SUBSCRIBERS, SubscribersSection
from natxy.model.traffic import TrafficPlan
from natxy.model.trial_spec import Side
from natxy.setting import Setting, settings_of
from natxy.trial.connection_conditions import connection_conditions
from natxy.trial.judge import Doubts
from natxy.trial.maximum import media_fps
from natxy.trial.seeds import SEED
from natxy.trial.session import Session
from natxy.trial.tester_delay import tester_delay
from natxy.trial.timing import Timing
from natxy.trial.trials import After, Trials

REPETITIONS = Setting(
    "repetitions",
    "How often each figure is measured",
    "N",
    lowest=1,
    highest=10**6,
    panel="Trials",
    of_profile=True,
    short="How often each figure is measured",
)
Repetition = TypeVar("Repetition")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The options of a measurement, checked when the plan is created."""

    timing: Timing
    seed: Annotated[int, SEED]
    repetitions: Annotated[int, REPETITIONS]
    dut_name: str | None = None  # None: the name that the DUT reports

    def __post_init__(self) -> None:
        check_members(self, timing=Timing, seed=int, repetitions=int)
        check_settings(self)
        for field, setting in settings_of(self):
            if field.name.endswith("_fps") and setting.highest is None:
                value = getattr(self, field.name)
                for rate_fps in value if isinstance(value, tuple) else (value,):
                    if rate_fps is not None:
                        self.timing.check_rate(setting, rate_fps)

    @property
    def finds_rate(self) -> bool:
        """Whether the rate of the trials is measured first."""
        return False

    def trials(
        self,
        session: Session,
        *,
        doubts: Doubts = lambda _: (),
        measures_delays: bool = False,
        resets: bool = False,
        after: After = lambda _: {},
    ) -> Trials:
        """Returns what runs the trials of this measurement; see Trials."""
        return Trials(
            session=session,
            timing=self.timing,
            campaign_seed=self.seed,
            doubts=doubts,
            measures_delays=measures_delays,
            resets=resets,
            after=after,
        )

    def conditions(
        self,
        session: Session,
        *,
        rate_fps: int | None = None,
        search: SearchConditions | None = None,
    ) -> Conditions:
        """Returns the conditions, which a result must contain (RFC 2544 section 26, RFC 8219).

        `rate_fps` is None if there is no single rate, `search` if no rate was searched for.
        """
        timing, traffic = self.timing, session.testbed.traffic
        return Conditions(
            dut=self.dut_name or session.dut_name,
            left_ip_version=traffic.left_ip_version,
            right_ip_version=traffic.right_ip_version,
            direction=traffic.direction,
            frame_size_bytes=traffic.frame_size_bytes,
            formats=frame_formats(session.traffic),
            n=traffic.n,
            m=traffic.m,
            left_networks=traffic.left_networks,
            right_networks=traffic.right_networks,
            left_media=_media(session.hello, "left"),
            right_media=_media(session.hello, "right"),
            theoretical_fps=media_fps(session.hello, session.traffic),
            rate_fps=rate_fps,
            duration_s=float(timing.duration_s),
            drain_s=float(timing.drain_s),
            settle_s=float(timing.settle_s),
            variant=session.hello.variant,
            frame_timeout_s=float(timing.frame_timeout_s),
            search=search,
            seed=self.seed,
            connections=connection_conditions(session),
            tester_delay=tester_delay(session.hello, traffic),
        )


def _media(hello: Hello, side: Side) -> Media:
    """Returns the media of a port, as far as its driver reports it."""
    port = next(port for port in hello.ports if port.side == side)
    return Media(driver=port.driver, speed_mbps=port.link_speed_mbps or None)


def check_members(plan: object, **kinds: type | UnionType) -> None:
    """Raises ConfigurationError if a member of the plan is not of its kind, or of one of these."""
    for name, kind in kinds.items():
        value = getattr(plan, name)
        if not isinstance(value, kind):
            several = get_args(kind) or (kind,)
            words = " or ".join("integer" if one is int else one.__name__ for one in several)
            article = "an" if words[0] in "AEIOi" else "a"
            raise ConfigurationError(f"{name}: {value!r} (expected {article} {words})")


def repeat(
    count: int,
    trials: Trials,
    measure: Callable[[int], Repetition],
    figures: Callable[[Repetition], Sequence[Figure]],
    *,
    goes_on: Callable[[Sequence[Repetition]], bool] = lambda _: True,
    is_search: bool = False,
) -> list[Repetition]:
    """Calls `measure` with the numbers 1 to `count`, and tells the observer.

    Raises MeasurementError if nothing ever arrived in a direction: there is no figure then. A
    search has tried low rates; of other measurements, only all repetitions together show it.

    Before each number after the first, `goes_on` says whether another repetition is needed.

    No search starts when the time to repeat trials is over. The search in which this time ends is
    left out if its result is a bound, and one before it has an exact result or bounds that are as
    high: its bound says less.
    """

    def is_over() -> bool:
        return is_search and trials.retry_time.is_over

    done: list[Repetition] = []
    before: list[Sequence[Figure]] = []
    for number in range(1, count + 1):
        if done and (is_over() or not goes_on(done)):
            break
        trials.session.observer.repetition_started(number, count)
        try:
            found = measure(number)
        except TesterLimit:
            if not done or not is_over():
                raise
            break
        if is_search:
            trials.check_arrivals()
        shown = figures(found)
        if is_over() and any(_says_less(shown, other) for other in before):
            break
        before.append(shown)
        done.append(found)
        trials.session.observer.repetition_ended(shown)
    trials.check_arrivals()
    return done


def _says_less(found: Sequence[Figure], other: Sequence[Figure]) -> bool:
    """Returns whether a search found a bound where another one found more, or an exact result."""
    if not _is_bound(found):
        return False
    pairs = zip(found, other, strict=True)
    return not _is_bound(other) or all(each.values <= more.values for each, more in pairs)


def _is_bound(figures: Sequence[Figure]) -> bool:
    return any(any(each.lower_bound) for each in figures)


def frame_formats(plan: TrafficPlan, *, up_to: bool = False) -> tuple[str, ...]:
    """Returns a sentence for each part that plain frames do not have; none for plain frames.

    `up_to` says that the traffic has the most subscribers of a series.
    """
    return (*_of_sides(plan, up_to=up_to), *_of_headers(plan))


def _of_sides(plan: TrafficPlan, *, up_to: bool) -> Iterator[str]:
    for side in SIDES:
        port = plan.testbed.tester.port(side)
        if port.vlans:
            tags = ", ".join(f"{tag.tpid} {tag.id}" for tag in port.vlans)
            yield (
                f"Frames on the {side} have VLAN tags ({tags}): {plan.sizes.tags_on(side)} bytes "
                "that the frame size does not include."
            )
        tunnel_bytes = plan.testbed.tunnel_bytes_on(side)
        if subscribers := plan.testbed.subscribers_on(side):
            yield _of_subscribers(side, subscribers, tunnel_bytes, up_to=up_to)
        elif tunnel := port.tunnel:
            yield (
                f"Foreground frames on the {side} are in a tunnel (outer header IPv"
                f"{tunnel.ip_version}, encapsulation {tunnel.encapsulation}): {tunnel_bytes} bytes "
                "that the frame size does not include."
            )


def _of_subscribers(
    side: Side, subscribers: SubscribersSection, tunnel_bytes: int, *, up_to: bool
) -> str:
    who = (
        f"The tester is {'up to ' if up_to else ''}{subscribers.count:,} "
        f"{SUBSCRIBERS[subscribers.mechanism]}{'s' if subscribers.count > 1 else ''} on the {side}"
    )
    if not subscribers.tunnels:
        return f"{who}."
    return (
        f"{who}: its IPv4 packets there are in IPv6 packets (RFC 2473), {tunnel_bytes} bytes "
        "larger than plain ones."
    )


def _of_headers(plan: TrafficPlan) -> Iterator[str]:
    traffic = plan.testbed.traffic
    if traffic.extension_headers:
        names = ", ".join(traffic.extension_headers)
        yield (
            f"IPv6 frames are sent with extension headers ({names}), which the frame size includes."
        )
    if traffic.sent_dscp:
        yield f"Frames are sent with DSCP {traffic.sent_dscp}."
    if traffic.flow_label:
        yield f"IPv6 frames are sent with the flow label {traffic.flow_label}."
