"""Judges a trial: PASS, FAIL or INVALID (docs/decisions/0003)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from natxy.dut.base import Dut
from natxy.model.reason import LossOfConnections, Reason
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import HANDSHAKE, SAMPLE
from natxy.model.verdict import Verdict
from natxy.trial.connection_table import (
    lost_before_phase_2,
    lost_in_phase_2,
    needed_timeout_s,
    sample_is_right,
)
from natxy.trial.load import Load
from natxy.trial.phases import measures_phase_2, ramp_phases
from natxy.trial.trial import Trial
from natxy.verdict.losses import excuse, full_of
from natxy.verdict.pacing import late_throughout, long_pauses
from natxy.verdict.placement import bad_placement
from natxy.verdict.timeline import LEAST_CLEAN, Full

Doubts = Callable[[TrialResult], tuple[Reason, ...]]  # a procedure's own reasons for INVALID


@dataclass(frozen=True)
class Judged:
    verdict: Verdict
    invalid_reasons: tuple[Reason, ...] = ()
    fail_reason: Reason | None = None
    counted_fps: int | None = None
    lost_connections: LossOfConnections | None = None
    excused: bool = False  # by the gateway's absence, or the placement of the CPUs
    by_pauses: bool = False  # INVALID, and without the tester's pauses it would not be
    full: Full | None = None  # of a FAIL: the time that its losses fill


@dataclass(frozen=True, kw_only=True)
class Judge:
    load: Load
    dut: Dut
    doubts: Doubts
    resets: bool  # the gateway is reset in each trial, and may lose frames and connections

    def judge(self, trial: Trial) -> Judged:
        """Returns the verdict of a trial.

        A fault of the tester makes any trial INVALID. An absence of the gateway can make a FAIL
        INVALID. Long pauses of the tester, which help the gateway, can make a PASS INVALID.
        """
        judged = self._of_frames(trial)
        if judged.verdict is Verdict.INVALID:
            unpaused = self._of_frames(replace(trial, result=trial.result.without_pauses()))
            return replace(judged, by_pauses=unpaused.verdict is not Verdict.INVALID)
        if not measures_phase_2(trial.spec):
            return judged
        # A measurement continues when connections are lost, since a lower rate, or the next trial,
        # may be better.
        lost = self._lost_connections(trial, judged.verdict)
        return Judged(Verdict.FAIL, lost_connections=lost) if lost else judged

    def _of_frames(self, trial: Trial) -> Judged:
        reasons = (*trial.invalid_reasons, *self.doubts(trial.measured))
        if reasons:
            return Judged(Verdict.INVALID, reasons)
        if self._passes(trial) or self._is_repaired(trial):
            return self._of_rate(trial)
        if (
            not self.resets
            and (clean := self._undisturbed(trial)) is not None
            and self._passes(clean)
        ):
            return self._of_rate(clean)
        return self._of_loss(trial)

    def _of_loss(self, trial: Trial) -> Judged:
        """Returns INVALID if something else than the gateway may have caused the loss."""
        # In a reset, the loss is what the trial measures.
        if not self.resets and (excused := self._excuse(trial) or self._badly_placed(trial)):
            if late := late_throughout(trial.measured):
                return Judged(Verdict.INVALID, (late,))
            return Judged(Verdict.INVALID, (excused,), excused=True)
        if paused := self._paused_too_long(trial):
            return Judged(Verdict.INVALID, (paused,))
        return Judged(Verdict.FAIL, full=full_of([trial.losses], _phases(trial)))

    def _lost_connections(self, trial: Trial, verdict: Verdict) -> LossOfConnections | None:
        """Returns how the gateway lost connections, also if the initiator's frames created them
        again; None if it lost none."""
        whole, spec = trial.result, trial.spec
        lost = lost_before_phase_2(whole.stream_of(SAMPLE), self.dut, needed_timeout_s(spec))
        if not lost and verdict is Verdict.FAIL and not self.resets:
            return lost_in_phase_2(whole, spec, self.dut)
        return lost

    def _passes(self, trial: Trial) -> bool:
        load, whole = self.load, trial.result
        before = (whole.stream_of(phase) for phase in (*HANDSHAKE, SAMPLE))
        if not load.passes(trial.measured) or not all(map(sample_is_right, before)):
            return False
        return not ramp_phases(trial.spec) or load.passes(whole)

    def _is_repaired(self, trial: Trial) -> bool:
        """Returns whether absences of the gateway explain the whole loss, and each connection
        existed after the repairs."""
        load, whole = self.load, trial.result
        if not load.is_repaired(whole):
            return False
        return excuse(trial.spec, whole, trial.absence) is not None

    @property
    def _knows_clean(self) -> bool:
        """Whether a loss tells of the time in which its frame was due."""
        return not (self.load.makes_connections or self.load.fills_buffers)

    def _undisturbed(self, trial: Trial) -> Trial | None:
        """Returns the trial without the losses that do not count; None if what is left says too
        little.

        Connections that were not created are missed later. A load that fills buffers loses later
        what came in an absence.
        """
        phases = _phases(trial)
        if not self._knows_clean:
            return None
        losses = trial.losses
        if losses.clean_share(phases) < LEAST_CLEAN:
            return None
        return replace(trial, result=losses.without_excused(trial.result, phases))

    def _excuse(self, trial: Trial) -> Reason | None:
        load = self.load
        return excuse(
            trial.spec,
            trial.result,
            trial.absence,
            load.accepted,
            _phases(trial),
            fills_buffers=load.fills_buffers,
            least_clean=LEAST_CLEAN if self._knows_clean else 0.0,
        )

    def _badly_placed(self, trial: Trial, forwarded: float | None = None) -> Reason | None:
        measures_loss = self.load.measures_loss
        return bad_placement(
            trial.result, trial.absence, forwarded, trial.spec, measures_loss=measures_loss
        )

    def _paused_too_long(self, trial: Trial) -> Reason | None:
        """Returns a reason if pauses doubt a FAIL; in a search, a FAIL only means a lower rate."""
        load = self.load
        if load.makes_connections or load.counting is not None:
            return None
        streams = trial.measured.streams
        if load.measures_loss:
            streams = tuple(each for each in streams if not trial.losses.fills_pieces(each))
        result = trial.measured.model_copy(update={"streams": streams})
        return long_pauses(result, load.pause_share)

    def _of_rate(self, trial: Trial) -> Judged:
        """Judges the rate of a trial whose loss is accepted."""
        load, whole = self.load, trial.result
        if load.counting is not None:
            of = load.counted(whole, trial.absence, trial.losses)
            forwarded = of.gateway_fps / load.rate_fps
            if of.verdict is Verdict.FAIL and (placed := self._badly_placed(trial, forwarded)):
                return Judged(Verdict.INVALID, (placed,), excused=True)
            invalid = (of.reason,) if of.reason and of.verdict is Verdict.INVALID else ()
            failed = of.reason if of.verdict is Verdict.FAIL else None
            return Judged(of.verdict, invalid, failed, of.fps)
        # Connections that are created, or tested, again must only exist: the rate does not matter.
        paused = long_pauses(load.at_rate(whole), load.pause_share)
        return Judged(Verdict.INVALID, (paused,)) if paused else Judged(Verdict.PASS)


def _phases(trial: Trial) -> set[str]:
    """Returns the phases whose losses make the trial fail."""
    return {stream.phase for stream in trial.measured.streams} | set(ramp_phases(trial.spec))
