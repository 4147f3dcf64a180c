"""Remarks about trials that have fewer frames than flows, so that not all flows are used."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from natxy.measure.flow_groups import Part
from natxy.model.coded import Fact
from natxy.model.remark import Remark, Topic
from natxy.model.testbed import TrafficSection
from natxy.model.traffic import frames_of
from natxy.model.trial_spec import Kind, Mix


@dataclass(frozen=True, kw_only=True)
class Sent:
    """The frames of a direction in a trial, or in its burst."""

    rate_fps: int
    frames: int
    is_burst: bool = False

    @classmethod
    def lasting(cls, rate_fps: int, duration_s: Fraction) -> Self:
        return cls(rate_fps=rate_fps, frames=frames_of(rate_fps, duration_s))


def unused_flows(
    sent: Sequence[Sent], flows: int, traffic: TrafficSection, units: str
) -> Iterator[Remark]:
    """Yields a remark for each kind of traffic that has fewer frames than flows in trials that
    count; `units` is what has this number, in the plural."""
    mix = Mix(n=traffic.n, m=traffic.m)
    for kind in _kinds(traffic):
        if few := [each for each in sent if mix.frames_of(kind, each.frames) < flows]:
            frames = [mix.frames_of(kind, each.frames) for each in few]
            said = _too_few(few, frames, {"number": float(flows), "units": units})
            yield said.at(kind) if traffic.has_background else said


def unused_in_parts(
    sent: Sequence[Sent], parts: Sequence[Part], step_s: Fraction | None, traffic: TrafficSection
) -> Iterator[Remark]:
    """Yields a remark for each kind that has fewer frames than flows while flows start."""
    mix = Mix(n=traffic.n, m=traffic.m)
    lowest = min(sent, key=lambda each: each.rate_fps, default=None)
    if lowest is None or not parts:
        return
    for kind in _kinds(traffic):
        frames = [mix.frames_of(kind, _frames_in(part, step_s, lowest)) for part in parts]
        few = [
            (float(has), float(part.flows))
            for has, part in zip(frames, parts, strict=True)
            if has < part.flows
        ]
        if few:
            yield Remark.of(
                Topic.FEW_IN_PARTS if step_s is None else Topic.FEW_IN_STEPS,
                kind if traffic.has_background else "",
                flows=parts[-1].flows + parts[-1].adds,
                rate_fps=lowest.rate_fps,
                frames=tuple(has for has, _ in few),
                part_flows=tuple(flows for _, flows in few),
            )


def _frames_in(part: Part, step_s: Fraction | None, trial: Sent) -> int:
    lasts_s = part.lasts_s(step_s)
    return trial.frames if lasts_s is None else frames_of(trial.rate_fps, lasts_s)


def _too_few(trials: Sequence[Sent], frames: Sequence[int], of: Mapping[str, Fact]) -> Remark:
    first, least = trials[0], min(frames)
    if first.is_burst:
        return Remark.of(Topic.FEW_IN_BURST, **of, burst=first.frames, frames=least)
    if len(trials) == 1:
        return Remark.of(Topic.FEW_IN_TRIAL, **of, rate_fps=first.rate_fps, frames=least)
    rates = [each.rate_fps for each in trials]
    return Remark.of(
        Topic.FEW_IN_TRIALS,
        **of,
        lowest_fps=min(rates),
        highest_fps=max(rates),
        least=least,
        most=max(frames),
    )


def _kinds(traffic: TrafficSection) -> tuple[Kind, ...]:
    return ("foreground", "background") if traffic.has_background else ("foreground",)
