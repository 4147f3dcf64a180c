"""`natxy trial`: runs one trial and shows all of its counters."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import click

from natxy.campaign.journal import provenance
from natxy.cli.options import (
    JsonOption,
    QuietOption,
    RecordsOption,
    SeedOption,
    TestbedArgument,
    VerboseOption,
    check_detail,
    progress_console,
    repeat_command,
    result_console,
    seed_of,
)
from natxy.cli.progress import missing_of, shown
from natxy.cli.sentences import say
from natxy.dut.choice import dut_of
from natxy.errors import ConfigurationError, MeasurementError, StorageError, TrialRefused
from natxy.exact import exact
from natxy.measure.traffic_settings import (
    CONNECTIONS,
    DIRECTION,
    ESTABLISHMENT_RATE,
    FRAME_SIZE,
    beside_values,
    with_values,
)
from natxy.model.event import Progress
from natxy.model.remark import Remark
from natxy.model.source import Source
from natxy.model.testbed import read_testbed
from natxy.model.trial_record import TrialRecord
from natxy.model.trial_spec import VERSION, Recording, TrialSpec
from natxy.model.verdict import Verdict
from natxy.records.extra import records_to
from natxy.report.numbers import seconds_left
from natxy.report.trial_text import brief_trial, trial_headline, trial_lines
from natxy.setting import Setting
from natxy.trial.load import steady
from natxy.trial.observer import Observer
from natxy.trial.setup import set_up
from natxy.trial.timing import DRAIN, DURATION, FRAME_TIMEOUT, RATE, Timing
from natxy.trial.trials import Trials

DURATION_S = Fraction(1)
DRAIN_S = Fraction(1, 5)
INVALID_STATUS = 1


class StageDisplay(Observer):
    """Shows the trial's stage in one line on a terminal, and nothing elsewhere; keeps the trial."""

    def __init__(self, *, quiet: bool) -> None:
        self.ended: TrialRecord | None = None
        self._shows = progress_console.is_terminal and not quiet

    def trial_progressed(self, progress: Progress) -> None:
        if not self._shows:
            return
        left_s = max(0, progress.duration_ns - progress.elapsed_ns) / 1e9
        missing = shown(missing_of(progress))
        words = f"{progress.stage}, {seconds_left(left_s)} left, missing {missing or 0}"
        progress_console.print(f"{words:<60}", end="\r")

    def trial_ended(self, trial: TrialRecord) -> None:
        self.ended = trial

    def remarked(self, remark: Remark) -> None:
        say(progress_console, str(remark))


def by_default(setting: Setting, seconds: Fraction) -> Setting:
    """Returns the setting with the default of a single trial, which has no profile."""
    return replace(setting, default=f"{float(seconds):g}", of_profile=False)


def trial(
    testbed: TestbedArgument,
    rate: Annotated[
        int | None,
        Setting(
            "rate",
            "Rate in frames a second per direction; required without --spec",
            "FPS",
            short="Rate in frames a second per direction",
        ),
    ] = None,
    duration: Annotated[
        float | None, replace(by_default(DURATION, DURATION_S), short="Seconds of sending")
    ] = None,
    drain: Annotated[float | None, by_default(DRAIN, DRAIN_S)] = None,
    frame_timeout: Annotated[
        float | None,
        replace(
            FRAME_TIMEOUT,
            help="Delay in seconds after which a frame counts as late",
            panel="Trials",
        ),
    ] = None,
    frame_size: Annotated[int | None, FRAME_SIZE] = None,
    direction: Annotated[str | None, DIRECTION] = None,
    connections: Annotated[int | None, CONNECTIONS] = None,
    establishment_rate: Annotated[int | None, ESTABLISHMENT_RATE] = None,
    seed: SeedOption = None,
    spec: Annotated[
        Path | None,
        Setting(
            "spec",
            "JSON file with the trial's spec, instead of --rate and the options of trials and "
            "traffic",
            "FILE",
        ),
    ] = None,
    records: RecordsOption = None,
    mappings: Annotated[
        bool,
        Setting(
            "mappings",
            "Show how a stateful gateway has given out its external addresses and ports",
            short="Show the addresses and ports that a NAT has given out",
        ),
    ] = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
    json_output: JsonOption = False,
) -> None:
    """Run one trial at a rate. The exit status is 1 if the trial was invalid.

    Examples:
        natxy trial lab.toml --rate 10k
        natxy trial lab.toml --rate 10k --connections 1000 --mappings
        natxy trial lab.toml --spec spec.json --json
    """
    if (rate is None) == (spec is None):
        found = "neither is" if rate is None else "both are"
        raise ConfigurationError(
            f"--rate, --spec: {found} given (expected one of them, for example --rate 10000)"
        )
    if spec is not None:
        _refuse_beside_spec(
            duration=duration,
            drain=drain,
            frame_timeout=frame_timeout,
            frame_size=frame_size,
            direction=direction,
            establishment_rate=establishment_rate,
            seed=seed,
        )
    check_detail(quiet=quiet, verbose=verbose)
    chosen_seed = seed_of(seed)
    timing = Timing(
        duration_s=DURATION_S if duration is None else exact(DURATION, duration),
        drain_s=DRAIN_S if drain is None else exact(DRAIN, drain),
        frame_timeout_s=exact(FRAME_TIMEOUT, frame_timeout or 0),
    )
    if rate is not None:
        timing.check_rate(RATE, rate)
    given = None if spec is None else read_spec(spec)
    written, source = read_testbed(testbed)
    values = {
        FRAME_SIZE: frame_size,
        DIRECTION: direction,
        CONNECTIONS: connections,
        ESTABLISHMENT_RATE: establishment_rate,
    }
    source = beside_values(source, values)
    if mappings and spec is None and written.connections is None:
        source.refuse(
            ("connections",),
            "is missing, and --mappings needs it (expected for example count = 10000)",
        )
    asked = with_values(written, values)
    failed: MeasurementError | None = None  # raised after the trial was shown
    trials: Trials | None = None
    display = StageDisplay(quiet=quiet)
    try:
        with (
            records_to(records) as recorded,
            set_up(asked, source, dut_of(asked, source), recorded) as session,
        ):
            trials = Trials(
                session=replace(session, observer=display, keeps_invalid_records=True),
                timing=timing,
                campaign_seed=chosen_seed,
            )
            recording = Recording(frames=recorded is not None, mappings=mappings)
            kept = provenance(session, seed=chosen_seed, command=[repeat_command(chosen_seed)])
            try:
                if spec is None or given is None:
                    load = steady(rate or 0, timing.duration_s, recording)
                    trials.run(load=load, repetition=1, seed=chosen_seed)
                else:
                    run_spec(trials, spec, recorded_as_well(given, recording))
            except MeasurementError as error:
                failed = error
            if trials.last is None:
                raise failed or AssertionError("a trial has ended, or said why not")
            kept["seed"] = trials.last.result.seed
    except StorageError as error:  # the records cannot be written
        if trials is None or trials.last is None:
            raise
        failed = failed or error
    whole, record = trials.last.result, display.ended
    assert record is not None
    verdict, reasons = record.verdict, record.invalid_reasons
    used, lost = record.telemetry, record.lost_connections
    # A trial whose records cannot be written is a trial nevertheless.
    refused = "" if failed is None or isinstance(failed, StorageError) else failed.in_options
    if json_output:
        fields: dict[str, object] = {
            "verdict": verdict,
            "invalid_reasons": [reason.model_dump(mode="json") for reason in reasons],
            "lost_connections": lost and lost.model_dump(mode="json"),
            "telemetry": used and used.model_dump(mode="json"),
        }
        if refused:
            fields |= {"verdict": None, "refused": refused}
        result = whole.model_dump(mode="json")
        print(json.dumps({**fields, "result": result, "provenance": kept}, indent=2))
    else:
        first = trial_headline(
            whole, verdict, record.result, refused=refused, lost_connections=lost
        )
        say(result_console, first, style="bold")
        if verbose:
            lines = trial_lines(whole, reasons, used)
        else:
            lines = [] if quiet else brief_trial(whole, record.result, reasons)
        for line in lines:
            say(result_console, line)
    if failed is not None:
        raise failed
    if verdict is Verdict.INVALID:
        raise click.exceptions.Exit(INVALID_STATUS)


def _refuse_beside_spec(**given: float | str | None) -> None:
    """ConfigurationError if an option is given whose value the spec holds."""
    for name, value in given.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise ConfigurationError(
                f"{option}: is not possible with --spec (expected the value in the spec's file)"
            )


def run_spec(trials: Trials, path: Path, spec: TrialSpec) -> None:
    """Runs the trial of the user's file; ConfigurationError if the engine refuses its spec."""
    try:
        trials.run_spec(spec)
    except TrialRefused as refused:
        if refused.kind != "spec":
            raise
        raise ConfigurationError(f"{path}: {refused.in_options}") from None


def recorded_as_well(spec: TrialSpec, also: Recording) -> TrialSpec:
    """Returns the spec with what is recorded beside what it records itself."""
    asked = {name: True for name, value in also if value is True}
    return spec.model_copy(update={"recording": spec.recording.model_copy(update=asked)})


def read_spec(path: Path) -> TrialSpec:
    """Returns the spec in a file; ConfigurationError if the file or its version is wrong."""
    source = Source.read(path)
    written = source.json()
    version = written.get("version") if isinstance(written, dict) else None
    if type(version) is int and version != VERSION:  # before the members that it does not know
        source.refuse(
            ("version",),
            f"{version} is another version of the trial spec (expected {VERSION}, which "
            "docs/reference/engine-protocol.md describes)",
        )
    spec: TrialSpec = source.validated(TrialSpec, written)
    return spec
