"""One trial (RFC 2544 section 23), from the reset gateway to the engine's result."""

from dataclasses import dataclass
from functools import cached_property

from natxy.dut.base import Dut
from natxy.errors import DutError, MeasurementError, TrialCancelled
from natxy.model.disturbance import Absence
from natxy.model.reason import Code, Reason
from natxy.model.telemetry import Telemetry
from natxy.model.trial_result import TrialResult
from natxy.model.trial_spec import TEST, TrialSpec
from natxy.trial.connection_table import hold
from natxy.trial.phases import measures_phase_2, ramp_phases
from natxy.trial.session import Session
from natxy.verdict.clean_tags import with_clean_tags
from natxy.verdict.losses import Losses, with_last_counted


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A trial that has ended, before its verdict."""

    spec: TrialSpec
    result: TrialResult  # of all phases; its tagged frames are those that nothing disturbed
    invalid_reasons: tuple[Reason, ...] = ()  # the engine's, and the DUT's own
    absence: Absence | None = None  # of the DUT, from its own record
    telemetry: Telemetry | None = None

    @property
    def is_in_parts(self) -> bool:
        """True if only phase 2 has the trial's figures."""
        return bool(ramp_phases(self.spec)) or measures_phase_2(self.spec)

    @cached_property
    def measured(self) -> TrialResult:
        """The result of the phases whose figures are the trial's."""
        return self.result.of_phase(TEST) if self.is_in_parts else self.result

    @cached_property
    def losses(self) -> Losses:
        """The time lines of the losses, of all phases."""
        return Losses.of(self.spec, self.result, self.absence)


def run_trial(spec: TrialSpec, session: Session) -> Trial:
    """Runs a trial after the DUT was reset and has settled.

    Raises DutError if the DUT died in the trial: its losses then are no property of a gateway.
    """
    dut = session.dut
    if spec.establishing is not None:
        hold(spec, session)
    dut.before_trial()
    try:
        before = dut.telemetry()
        result = session.run(spec, session.observer.trial_progressed)
        after = dut.telemetry()
    except BaseException as error:
        _end_trial(dut, error)
        raise
    absence = dut.absence()
    reasons = invalid_reasons(result, dut.trial_fault())
    losses = Losses.of(spec, result, absence)
    return Trial(
        spec=spec,
        invalid_reasons=reasons,
        result=with_last_counted(with_clean_tags(result, losses, absence), losses),
        absence=absence,
        telemetry=Telemetry.between(before, after, _kept_awake_s(result)),
    )


def _kept_awake_s(result: TrialResult) -> dict[int, float]:
    """Returns for how long the engine's own threads kept each watched CPU busy."""
    own_s: dict[int, float] = {}
    for watch in result.watched:
        own_s[watch.cpu] = own_s.get(watch.cpu, 0.0) + watch.kept_awake_ns / 1e9
    return own_s


def _end_trial(dut: Dut, error: BaseException) -> None:
    """Ends what before_trial began, such as a real-time policy.

    If the gateway has died, this is why the tester failed, and DutError is raised instead. If the
    trial was cancelled, the caller knows the reason.
    """
    try:
        dut.trial_fault()
    except DutError as gone:
        if isinstance(error, MeasurementError) and not isinstance(error, TrialCancelled):
            raise gone from error


def invalid_reasons(result: TrialResult, dut_fault: Reason | None) -> tuple[Reason, ...]:
    own = result.invalid_reasons
    if not result.valid and not own:
        own = (Reason.of(Code.UNKNOWN),)
    return (*own, dut_fault) if dut_fault else own
