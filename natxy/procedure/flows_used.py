"""Remarks about trials that have fewer frames than flows, so that not all flows are used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from natxy.measure.flow_groups import Part
from natxy.model.measurement import Measurement
from natxy.model.testbed import TrafficSection
from natxy.model.traffic import frames_of
from natxy.model.trial_spec import Kind, Mix
from natxy.procedure.back_to_back import BURST, BackToBackPlan
from natxy.procedure.benchmarks import Benchmarked
from natxy.procedure.frame_loss import FrameLossPlan, rates_of
from natxy.procedure.throughput import ThroughputPlan
from natxy.trial.setup import ReadyTester


@dataclass(frozen=True, kw_only=True)
class _Trials:
    """Trials of one rate, or of one burst."""

    rate_fps: int
    frames: int  # in a direction
    is_burst: bool = False


def unused_flows(
    test: Benchmarked, flows: int, result: Measurement, tester: ReadyTester, name: str = "flows"
) -> Iterator[str]:
    """Yields a remark for each kind of traffic that has fewer frames than flows in trials that
    count; `name` is what has this number, in the plural."""
    traffic = tester.testbed.traffic
    mix = Mix(n=traffic.n, m=traffic.m)
    done = _trials(test, result, tester)
    for kind, of_kind in _kinds(traffic).items():
        if few := [each for each in done if mix.frames_of(kind, each.frames) < flows]:
            frames = [mix.frames_of(kind, each.frames) for each in few]
            said = _too_few(few, frames, name)
            yield f"Not all of the {flows:,} {name}{of_kind} were used: {said}"


def unused_in_parts(
    test: Benchmarked,
    parts: Sequence[Part],
    step_s: Fraction | None,
    result: Measurement,
    tester: ReadyTester,
) -> Iterator[str]:
    """Yields a remark for each kind that has fewer frames than flows while flows start."""
    traffic = tester.testbed.traffic
    mix = Mix(n=traffic.n, m=traffic.m)
    lowest = min(_trials(test, result, tester), key=lambda each: each.rate_fps, default=None)
    if lowest is None or not parts:
        return
    all_flows = parts[-1].flows + parts[-1].adds
    for kind, of_kind in _kinds(traffic).items():
        sent = [
            (part.flows, mix.frames_of(kind, _frames_in(part, step_s, lowest))) for part in parts
        ]
        if few := [
            f"{frames:,} frames for {flows:,} flows" for flows, frames in sent if frames < flows
        ]:
            yield (
                f"Not all flows{of_kind} were used while {all_flows:,} flows started: at "
                f"{lowest.rate_fps:,} fps, parts have only {', '.join(few)}. Use "
                f"{'longer trials' if step_s is None else 'a longer --step'}."
            )


def _frames_in(part: Part, step_s: Fraction | None, trials: _Trials) -> int:
    lasts_s = part.lasts_s(step_s)
    return trials.frames if lasts_s is None else frames_of(trials.rate_fps, lasts_s)


def _too_few(trials: Sequence[_Trials], frames: Sequence[int], name: str) -> str:
    first, least = trials[0], min(frames)
    if first.is_burst:
        return f"a burst of {first.frames:,} frames has only {least:,} for them. Use fewer {name}."
    if len(trials) == 1:
        return (
            f"a trial at {first.rate_fps:,} fps has only {least:,} frames for them. Use longer "
            "trials."
        )
    rates = [each.rate_fps for each in trials]
    return (
        f"trials at {min(rates):,} to {max(rates):,} fps have only {least:,} to {max(frames):,} "
        "frames for them. Use longer trials."
    )


def _trials(test: Benchmarked, result: Measurement, tester: ReadyTester) -> list[_Trials]:
    """Returns the trials that count: of a search those of its lowest result, of a series all."""
    if isinstance(test, ThroughputPlan):
        lowest_fps = int(min(result.figures[0].values))
        return [_lasting(lowest_fps, test.duration_s(lowest_fps))]
    if isinstance(test, FrameLossPlan):
        shown = {figure.at for figure in result.figures}
        rates = [rate_fps for rate_fps, name in rates_of(test, tester) if name in shown]
        return [_lasting(rate_fps, test.timing.duration_s) for rate_fps in rates]
    rate_fps = result.conditions.rate_fps
    if rate_fps is None:
        return []
    if isinstance(test, BackToBackPlan):
        bursts = [int(value) for f in result.figures if f.name == BURST for value in f.values]
        shortest = min((burst for burst in bursts if burst), default=None)
        return [] if shortest is None else [_burst(rate_fps, shortest)]
    return [_lasting(rate_fps, test.timing.duration_s)]


def _lasting(rate_fps: int, duration_s: Fraction) -> _Trials:
    return _Trials(rate_fps=rate_fps, frames=frames_of(rate_fps, duration_s))


def _burst(rate_fps: int, frames: int) -> _Trials:
    return _Trials(rate_fps=rate_fps, frames=frames, is_burst=True)


def _kinds(traffic: TrafficSection) -> dict[Kind, str]:
    """Returns the kinds of traffic, with the words that name them if there are two."""
    if traffic.m == traffic.n:
        return {"foreground": ""}
    return {"foreground": " of the foreground", "background": " of the background"}
