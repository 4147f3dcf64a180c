"""Latency: median and 99.9th percentile of tagged frames' delays (RFC 8219 section 7.2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from natxy.exact import check
from natxy.model.deviation import Deviation, Deviations, Differs
from natxy.model.distribution import P999, Delays, Distribution
from natxy.model.measurement import Figure, Measurement
from natxy.model.remark import Remark, Remarks, Topic
from natxy.model.stream_counters import TagCounters
from natxy.model.stream_result import StreamResult
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import MAX_TAGS, Recording, Tags
from natxy.procedure.at_rate import TAGS_AFTER, AtRate, RatePlan, figures_of, measure
from natxy.setting import Setting
from natxy.trial.profile import deviations, profiles
from natxy.trial.session import Session
from natxy.trial.tester_delay import delay_remarks
from natxy.verdict.clean_tags import too_few, waits
from natxy.verdict.delay_error import DelayError

TYPICAL = "typical latency"
WORST_CASE = "worst-case latency"
TAGGED = "tagged frames"
LOST_TAGS = "lost tagged frames"
MIN_TAGS = 500
RFC_TAGS_AFTER_S = Fraction(60)
PROFILES = profiles(
    durations_s=(Fraction(120), Fraction(2, 5)),
    repetitions=(20, 3),
    least_repetitions=20,
    duration_of="RFC 8219 section 7.2",
    repetitions_of="RFC 8219 section 7.2",
)
RFC = PROFILES["rfc"]


@dataclass(frozen=True, kw_only=True)
class LatencyPlan(RatePlan):
    """The options of a measurement, checked when the plan is created.

    `tags_after_s` is by default half of the duration, as RFC 2544's 60 s of 120 s.
    """

    tags: Annotated[
        int,
        Setting(
            "tags",
            "Tagged frames of a trial, per direction",
            "N",
            lowest=1,
            highest=MAX_TAGS,
            short="Tagged frames of a trial, per direction",
        ),
    ] = 50_000
    tags_after_s: Annotated[Fraction | None, TAGS_AFTER] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check(TAGS_AFTER, self.after_s, lowest=0, highest=self.timing.duration_s)

    @property
    def after_s(self) -> Fraction:
        return self.timing.duration_s / 2 if self.tags_after_s is None else self.tags_after_s

    @property
    def lost_ns(self) -> float:
        """The latency of a lost tagged frame: duration - delay + timeout (SP 3.3.3)."""
        return float((self.timing.duration_s - self.after_s + self.timing.drain_s) * 10**9)


def latency(plan: LatencyPlan, session: Session) -> Measurement:
    """Measures typical latency (the median) and worst-case latency (P99.9).

    Each has a value for each repetition.
    """
    what = AtRate(
        procedure="latency",
        title="Latency",
        reference="RFC 8219 section 7.2",
        figures=lambda stream: latency_figures(stream, plan.lost_ns),
        errors=lambda result, _: latency_errors(result, plan.lost_ns),
        refuses=too_few,
        recording=Recording(tags=Tags(after_ns=int(plan.after_s * 10**9), count=plan.tags)),
        deviations=_deviations(plan),
        remarks=_remarks,
    )
    return _with_tags_made(measure(what, plan, session))


def _with_tags_made(measured: Measurement) -> Measurement:
    """Adds a deviation if there were too few tags: a low rate may have fewer frames than tags."""
    made = [value for f in measured.figures if f.name == TAGGED for value in f.values]
    if min(made) >= MIN_TAGS:
        return measured
    said = (*measured.deviations, *_few_tags(int(min(made))))
    return measured.model_copy(update={"deviations": tuple(dict.fromkeys(said))})


def latency_errors(result: TrialResult, lost_ns: float) -> Sequence[DelayError]:
    errors = []
    for stream in result.streams:
        if stream.tags is None or not stream.tags.received:
            continue
        delays = _delays(stream.tags.delay, stream.tags, lost_ns)
        least = _delays(stream.tags.least_delay, stream.tags, lost_ns)
        # If all that a gateway held back are slower than the median, this is that of the others.
        of_others = Fraction(stream.tags.sent - stream.tags.held, 2 * stream.tags.sent)
        typical_ns = delays.percentile_ns(Fraction(1, 2))
        held_ns = typical_ns - delays.percentile_ns(of_others) if stream.tags.held else 0.0
        for name, share, other_ns in ((TYPICAL, Fraction(1, 2), held_ns), (WORST_CASE, P999, 0.0)):
            value_ns = delays.percentile_ns(share)
            own_ns = value_ns - least.percentile_ns(share)
            error = DelayError(
                name=name,
                direction=stream.direction,
                value_ns=value_ns,
                error_ns=max(own_ns, other_ns),
                judged=own_ns >= other_ns,
            )
            errors.append(error)
    return errors


def latency_figures(stream: StreamResult, lost_ns: float) -> Sequence[Figure]:
    """Returns the figures of a stream whose trial had tagged frames.

    A figure that is the latency of a lost frame is a lower bound.
    """
    tags = stream.tags
    assert tags is not None, "the trial was asked for tags"
    delays = _delays(tags.delay, tags, lost_ns)
    typical_ns, worst_ns = delays.median_ns, delays.percentile_ns(P999)
    longest_ns = tags.delay.max_ns
    delayed = [
        Figure(
            name=name,
            unit="ns",
            direction=stream.direction,
            values=(delay_ns,),
            lower_bound=(delay_ns > longest_ns,),
        )
        for name, delay_ns in ((TYPICAL, typical_ns), (WORST_CASE, worst_ns))
    ]
    counts = {TAGGED: tags.sent + tags.disturbed, LOST_TAGS: tags.lost}
    return (*delayed, *figures_of(stream, "frames", counts, primary=False))


def _delays(arrived: Distribution, tags: TagCounters, lost_ns: float) -> Delays:
    return Delays(distributions=(arrived,), lost=tags.lost, lost_ns=lost_ns)


def _remarks(session: Session, trials: Sequence[TrialRecord]) -> Remarks:
    return (*delay_remarks(session, trials), *_of_tags([trial.result for trial in trials]))


def _of_tags(results: Sequence[TrialResult]) -> Iterator[Remark]:
    """Yields remarks on lost tags, on those left out, and on those that may have waited."""
    all_tags = [stream.tags for each in results for stream in each.streams if stream.tags]
    worst = max(all_tags, key=lambda tags: tags.lost)
    if worst.lost:
        yield Remark.of(Topic.TAGS_LOST, lost=worst.lost, sent=worst.sent)
    left_out = max(tags.disturbed / max(1, tags.sent + tags.disturbed) for tags in all_tags)
    if left_out:
        yield Remark.of(Topic.TAGS_LEFT_OUT, left_out_percent=left_out * 100)
    yield from waits(results)


def _deviations(plan: LatencyPlan) -> Deviations:
    said = list(deviations(plan.timing, RFC, repetitions=plan.repetitions))
    if plan.after_s < RFC_TAGS_AFTER_S:
        facts = {"after_s": plan.after_s, "asked_s": RFC_TAGS_AFTER_S}
        said.append(Deviation.of(Differs.TAGS_AFTER, "RFC 2544 section 26.2", **facts))
    return (*said, *_few_tags(plan.tags))


def _few_tags(count: int) -> Deviations:
    if count >= MIN_TAGS:
        return ()
    return (Deviation.of(Differs.FEW_TAGS, "RFC 8219 section 7.2", tags=count, asked=MIN_TAGS),)
