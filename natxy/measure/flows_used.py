"""Remarks about trials that have fewer frames than flows, so that not all flows are used."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from natxy.measure.flow_groups import Part
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
    sent: Sequence[Sent], flows: int, traffic: TrafficSection, name: str
) -> Iterator[str]:
    """Yields a remark for each kind of traffic that has fewer frames than flows in trials that
    count; `name` is what has this number, in the plural."""
    mix = Mix(n=traffic.n, m=traffic.m)
    for kind, of_kind in _kinds(traffic).items():
        if few := [each for each in sent if mix.frames_of(kind, each.frames) < flows]:
            frames = [mix.frames_of(kind, each.frames) for each in few]
            said = _too_few(few, frames, name)
            yield f"Not all of the {flows:,} {name}{of_kind} were used: {said}"


def unused_in_parts(
    sent: Sequence[Sent], parts: Sequence[Part], step_s: Fraction | None, traffic: TrafficSection
) -> Iterator[str]:
    """Yields a remark for each kind that has fewer frames than flows while flows start."""
    mix = Mix(n=traffic.n, m=traffic.m)
    lowest = min(sent, key=lambda each: each.rate_fps, default=None)
    if lowest is None or not parts:
        return
    all_flows = parts[-1].flows + parts[-1].adds
    for kind, of_kind in _kinds(traffic).items():
        frames_of_parts = [
            (part.flows, mix.frames_of(kind, _frames_in(part, step_s, lowest))) for part in parts
        ]
        if few := [
            f"{frames:,} frames for {flows:,} flows"
            for flows, frames in frames_of_parts
            if frames < flows
        ]:
            yield (
                f"Not all flows{of_kind} were used while {all_flows:,} flows started: at "
                f"{lowest.rate_fps:,} fps, parts have only {', '.join(few)}. Use "
                f"{'longer trials' if step_s is None else 'a longer --step'}."
            )


def _frames_in(part: Part, step_s: Fraction | None, trial: Sent) -> int:
    lasts_s = part.lasts_s(step_s)
    return trial.frames if lasts_s is None else frames_of(trial.rate_fps, lasts_s)


def _too_few(trials: Sequence[Sent], frames: Sequence[int], name: str) -> str:
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


def _kinds(traffic: TrafficSection) -> dict[Kind, str]:
    """Returns the kinds of traffic, with the words that name them if there are two."""
    if traffic.m == traffic.n:
        return {"foreground": ""}
    return {"foreground": " of the foreground", "background": " of the background"}
