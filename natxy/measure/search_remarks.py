"""Remarks without which the rates that searches found could be misread."""

from collections.abc import Iterable, Iterator, Sequence

from natxy.model.duration import duration
from natxy.model.measurement import Figure, Unit
from natxy.model.verdict import Limit, Pattern
from natxy.trial.bound import Bounded
from natxy.trial.bursts import Bursts
from natxy.trial.setup import ReadyTester
from natxy.trial.trials import Trials

AT_LEAST = "the gateway can do at least this rate"
TOO_SLOW = f"limited by the tester: trials above this rate were invalid, so {AT_LEAST}"
NOISE = (
    "limited by noise: trials above this rate stayed invalid, or turned out to tell nothing, for "
    "reasons that do not grow with the rate, such as a core that was away or was placed badly; "
    f"{AT_LEAST}"
)
STEADY = (
    "give it cores of its own and name them, or use --loss, or --search mlr with --exceed-ratio"
)
UNEXPLAINED = (
    "since the losses above this rate came in holes, or now and then, which the rate does not "
    f"explain: the gateway pauses, or loses frames by chance ({STEADY}); {AT_LEAST}"
)
VARIES = (
    "since the gateway forwarded more than this in a trial that failed: its speed varies, it "
    f"pauses, or it loses frames by chance ({STEADY}); {AT_LEAST}"
)
HIGHEST = "since the highest rate that the search may try passed"


def bound_remarks(limits: Iterable[tuple[Limit, bool]]) -> tuple[str, ...]:
    """Returns why rates are lower bounds.

    Each search that found a lower bound has its limit and, for Limit.TESTER, whether the reason for
    the INVALID trials grows with the rate; otherwise noise lasted through all repeats.
    """
    ended = set(limits)
    reasons = (
        (TOO_SLOW, (Limit.TESTER, True) in ended),
        (NOISE, (Limit.TESTER, False) in ended),
        (UNEXPLAINED, any(limit is Limit.UNEXPLAINED for limit, _ in ended)),
        (VARIES, any(limit is Limit.VARIES for limit, _ in ended)),
        (HIGHEST, any(limit is Limit.MAXIMUM for limit, _ in ended)),
    )
    return tuple(f"≥ marks a lower bound, {reason}." for reason, applies in reasons if applies)


def rate_remarks(found: Sequence[Bounded], unit: Unit) -> tuple[str, ...]:
    """Returns why rates are lower bounds, and what the failures say that bound the others."""
    said = list(bound_remarks((each.limit, each.too_slow) for each in found if each.lower_bound))
    said += _pattern_remarks([each.pattern for each in found if each.pattern])
    exact = [each for each in found if each.limit is Limit.DUT]
    wide = [each.error_fps / each.rate_fps for each in exact if each.is_wide]
    slower = [each.overloaded_fps for each in exact if each.overloaded_fps is not None]
    if wide:
        said.append(
            f"The result may be up to {max(wide) * 100:.2g} % too low: no failure nearer to it has "
            "the rate as its reason."
        )
    if any(each.by_port for each in exact):
        said.append(
            "Above this rate, the tester's port refused frames each time: what is behind it (the "
            "gateway's ring, a shaper, the link) takes no more, or the port itself sends no more "
            "(`natxy self-test` tells)."
        )
    if slower:
        said.append(
            f"In trials a little above the result, the gateway forwarded only {min(slower):,} "
            f"{unit}: overload makes it slower, or it holds more than the longest trial shows."
        )
    return tuple(said)


def _pattern_remarks(patterns: Sequence[Pattern]) -> Iterator[str]:
    """Yields what the losses look like that the rate does not explain."""
    pauses = [each for each in patterns if each.name == "pauses"]
    chance = [each.frames for each in patterns if each.name == "chance"]
    if pauses:
        typical, longest = (
            duration(max(times))
            for times in zip(*((p.typical_ns, p.longest_ns) for p in pauses), strict=True)
        )
        yield (
            f"The losses above this rate are holes of {typical}, at most {longest}, "
            f"{max(each.per_s for each in pauses):.2g} in a second: the gateway pauses."
        )
    if chance:
        yield (
            f"The losses above this rate are single frames, one in {min(chance):,.0f}: the gateway "
            "loses frames by chance."
        )


def cut_remarks(asked: int, done: int, trials: Trials) -> tuple[str, ...]:
    """Returns how many repetitions are lacking, and which limit ended the measurement."""
    limit = "retry time" if trials.retry_time.is_over else "patience"
    why = f": the {limit} was used up."
    return (f"{_lacking(asked, done)}{why}",) if done < asked else ()


def lacking_remarks(asked: int, points: Iterable[Figure]) -> tuple[str, ...]:
    """Returns how many repetitions are lacking at each point of a series."""
    return tuple(
        f"{point.at}: {_lacking(asked, len(point.values))}."
        for point in points
        if len(point.values) < asked
    )


def _lacking(asked: int, done: int) -> str:
    return f"{asked - done} of {asked} repetitions were not run, or not to their end"


def zero_remarks(rates: Iterable[float], why: str) -> tuple[str, ...]:
    """Returns what a rate of 0 means, if there is one."""
    return () if all(rates) else (f"0 means that no rate passed: {why}.",)


def burst_remarks(bursts: Bursts | None, tester: ReadyTester) -> tuple[str, ...]:
    """Returns how bursts were sent; empty for steady traffic."""
    if bursts is None:
        return ()
    frames = bursts.frames
    said = [
        f"Bursts of {frames:,} frames at {bursts.rate_of(tester):,} fps; throughput is the "
        "mean rate over bursts and silence, and the least interval is burst / throughput (RFC 2544 "
        "section 21)."
    ]
    ring_frames = min((port.rx_ring_frames for port in tester.hello.ports), default=0)
    if frames > ring_frames > 0:
        said.append(
            f"A burst of {frames:,} frames is longer than the tester's ring ({ring_frames:,} "
            "frames): a trial in which the ring may have been full is invalid, not failed."
        )
    return tuple(said)


def why_nothing_passed(bursts: Bursts | None, least_fps: int) -> str:
    if bursts is None:
        return "frames were lost at every rate tried"
    every_s = bursts.frames / least_fps
    return f"the lowest rate tried is {least_fps:,} fps, one burst every {every_s:.3g} s"
