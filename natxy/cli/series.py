"""Shared by all measuring commands: options, series of frame sizes and mixes, and results."""

import functools
import inspect
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from natxy.campaign.journal import FILE_NAME as JOURNAL
from natxy.campaign.journal import Journal
from natxy.campaign.provenance import provenance
from natxy.cli.choices import unknown_value
from natxy.cli.journal_named import naming
from natxy.cli.options import (
    OUTPUT,
    TRAFFIC,
    TRIALS,
    ConnectionsOption,
    DirectionOption,
    DrainOption,
    DurationOption,
    EstablishmentRateOption,
    JsonOption,
    SeedOption,
    SettleOption,
    TestbedArgument,
    progress_console,
    repeat_command,
    result_console,
    seconds,
    seed_of,
    with_connection_options,
    with_traffic_options,
)
from natxy.cli.places import foregrounds_of, networks_in, places, sizes_of
from natxy.cli.profile_help import profile_help, with_help
from natxy.cli.progress import SearchDisplay
from natxy.dut.base import Dut
from natxy.dut.choice import dut_of
from natxy.model.measurement import Measurement, Unit
from natxy.model.testbed import read_testbed
from natxy.procedure.networks import networks_deviation, networks_of
from natxy.procedure.phase_1_rate import with_phase_1_rate
from natxy.records.extra import records_to
from natxy.report.loss_chart import loss_chart
from natxy.report.measurement_table import measurement_notes, measurement_tables
from natxy.report.results_csv import FILE_NAME as CSV
from natxy.report.results_csv import results_csv
from natxy.report.results_json import FILE_NAME as RESULTS
from natxy.report.results_json import result_entry, write_results
from natxy.report.whole_file import write_whole
from natxy.trial.observer import Observer, Observers
from natxy.trial.profile import PROFILES, Profile
from natxy.trial.setup import ReadyTester, Setup, set_up
from natxy.trial.timing import Timing

LOOKS_FOR_CONNECTIONS = ("establishment", "capacity")  # they measure phase 1 and have no phase 2
# These set up phase 1 themselves, for each number of connections or cores.
HAS_ITS_OWN_PHASE_1 = (*LOOKS_FOR_CONNECTIONS, "tear-down", "degradation", "scale-up")
# Options without effect where phase 1 is measured: a trial lasts as long as its connections take,
# in the initiator's direction, and its rate is what the search looks for.
OF_PHASE_2 = ("duration", "direction", "establishment_rate")
OF_ONE_NETWORK = ("overload",)  # all its flows have the same pair of addresses
Measure = Callable[[ReadyTester, Dut, Observer], Measurement]


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """The options of all measuring commands, by their names."""

    testbed: TestbedArgument
    profile: Annotated[str, typer.Option(metavar="NAME", rich_help_panel=TRIALS)] = "rfc"
    duration: DurationOption = None
    drain: DrainOption = None
    settle: SettleOption = None
    repetitions: Annotated[
        int | None,
        typer.Option(help="Number of repetitions.", metavar="N", rich_help_panel=TRIALS),
    ] = None
    frame_size: Annotated[
        str | None,
        typer.Option(
            help="Octets of the IPv6 frame, FCS included; the same frame is 20 smaller as IPv4. "
            "84,512,1518 measures each size in turn; rfc8219 measures the sizes of RFC 8219 that "
            "fit the MTU, for IPv4 alone 20 larger, so that the wire has the RFC's sizes "
            "[default: the testbed's].",
            metavar="BYTES",
            rich_help_panel=TRAFFIC,
        ),
    ] = None
    foreground: Annotated[
        str | None,
        typer.Option(
            help="Share of foreground traffic, which the gateway translates, in %; the rest is "
            "native IPv6. 100,90,50,10 measures RFC 8219's mixes in turn [default: the testbed's].",
            metavar="PERCENT",
            rich_help_panel=TRAFFIC,
        ),
    ] = None
    networks: Annotated[
        str | None,
        typer.Option(
            help="Number of destination networks behind each side, 1 to 256; 1,256 measures "
            "RFC 2544's numbers in turn [default: the testbed's].",
            metavar="N,...",
            rich_help_panel=TRAFFIC,
        ),
    ] = None
    direction: DirectionOption = None
    connections: ConnectionsOption = None
    establishment_rate: EstablishmentRateOption = None
    seed: SeedOption = None
    output: Annotated[
        Path | None,
        typer.Option(
            help="New folder for the journal and the results (JSON, CSV) [default: "
            "natxy-results/TIME-COMMAND].",
            metavar="DIR",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    json_output: JsonOption = False

    def timing(self, base: Timing, frame_timeout: float | None = None) -> Timing:
        return Timing(
            frame_timeout_s=seconds("--frame-timeout", frame_timeout, base.frame_timeout_s),
            duration_s=seconds("--duration", self.duration, base.duration_s),
            drain_s=seconds("--drain", self.drain, base.drain_s),
            settle_s=seconds("--settle", self.settle, base.settle_s),
        )

    def repetitions_of(self, base: Profile) -> int:
        return base.repetitions if self.repetitions is None else self.repetitions

    def profile_of(self, profiles: Mapping[str, Profile]) -> Profile:
        if self.profile not in profiles:
            raise unknown_value("--profile", self.profile, profiles)
        return profiles[self.profile]

    @functools.cached_property
    def seed_value(self) -> int:
        return seed_of(self.seed)


Verb = Callable[..., None]


def measuring(
    profiles: Mapping[str, Profile], *, without: Collection[str] = ()
) -> Callable[[Verb], Verb]:
    """Gives a command `command(options, ...)` the options of SeriesOptions beside its own.

    The help of these options shows the defaults of `profiles`. Options `without` effect on what
    the command measures are left out.
    """
    return functools.partial(_with_options, profiles=profiles, without=without)


def _with_options(verb: Verb, *, profiles: Mapping[str, Profile], without: Collection[str]) -> Verb:
    own = list(inspect.signature(verb).parameters.values())[1:]
    hints = get_type_hints(verb, include_extras=True)
    shared = get_type_hints(SeriesOptions, include_extras=True)
    for name, text in profile_help(profiles).items():
        shared[name] = with_help(shared[name], text)
    offered = [field for field in fields(SeriesOptions) if field.name not in without]

    @functools.wraps(verb)
    def with_options(**given: Any) -> None:
        options = SeriesOptions(**{field.name: given.pop(field.name) for field in offered})
        verb(options, **given)

    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.name == "testbed" else field.default,
            annotation=shared[field.name],
        )
        for field in offered
    ]
    parameters += [
        each.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[each.name])
        for each in own
    ]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def run_series(
    options: SeriesOptions,
    name: str,
    measure: Measure,
    records: Path | None = None,
    *,
    own_connections: bool = False,
    also: Sequence[Measure] = (),
) -> list[Measurement]:
    """Measures at each frame size, mix and number of networks, and writes and shows the results.

    Each result is in the journal before the next measurement begins. `also` are further
    measurements at each of these places. With `own_connections`, `measure` itself sets the number
    of connections, and a testbed without [connections] gets a section.
    """
    sizes = sizes_of(options.frame_size)
    foregrounds = foregrounds_of(options.foreground)
    networks = networks_in(options.networks)
    written, source = read_testbed(options.testbed)
    asked = with_connection_options(
        with_traffic_options(
            written,
            frame_size=None,
            direction=options.direction,
            networks=max(networks) if networks else None,  # a lab is made for the largest number
        ),
        connections=1 if own_connections and not written.connections else options.connections,
        establishment_rate=options.establishment_rate,
    )
    folder = options.output or Path("natxy-results") / f"{datetime.now():%Y%m%dT%H%M%S}-{name}"
    results: list[Measurement] = []
    unit: Unit = "cps" if name in LOOKS_FOR_CONNECTIONS else "fps"
    with (
        records_to(records) as kept,
        set_up(asked, source, dut_of(asked, source), kept) as setup,
    ):
        testers = places(setup.tester, sizes, foregrounds, networks)
        departs = _networks_deviation(name, testers)
        with _journal(setup, folder, options.seed_value) as journal, naming(journal):
            series = [(tester, one) for tester in testers for one in (measure, *also)]
            for number, (tester, one) in enumerate(series, start=1):
                title = _title(name, setup, tester, f"{number} of {len(series)}", options)
                with SearchDisplay(progress_console, title, unit=unit) as display:
                    seen = Observers([journal, display])
                    ready = _with_phase_1(options, name, tester, setup.dut, seen)
                    result = _departing(one(ready, setup.dut, seen), departs)
                journal.append(result)
                results.append(result)
    _write(folder, results)
    show(results, options.seed_value, folder, as_json=options.json_output)
    return results


def _networks_deviation(name: str, testers: Sequence[ReadyTester]) -> tuple[str, ...]:
    """Returns the deviations of a whole series from RFC 2544's numbers of networks."""
    if name in OF_ONE_NETWORK:
        return ()
    measured = [networks_of(tester.testbed) for tester in testers]
    return networks_deviation(testers[0].testbed, measured) if testers else ()


def _departing(result: Measurement, more: tuple[str, ...]) -> Measurement:
    return result.model_copy(update={"deviations": (*result.deviations, *more)})


def _with_phase_1(
    options: SeriesOptions, name: str, tester: ReadyTester, dut: Dut, observer: Observer
) -> ReadyTester:
    """Searches for the rate of phase 1 where the measurement needs one and none is given."""
    if name in HAS_ITS_OWN_PHASE_1:
        return tester
    timing = options.timing(options.profile_of(PROFILES).timing)
    return with_phase_1_rate(tester, dut, timing, seed=options.seed_value, observer=observer)


def _journal(setup: Setup, folder: Path, seed: int) -> Journal:
    header = provenance(setup, seed=seed, command=[repeat_command(seed)])
    return Journal(folder / JOURNAL, header)


def _title(name: str, setup: Setup, tester: ReadyTester, place: str, options: SeriesOptions) -> str:
    traffic = tester.testbed.traffic
    share = f", {traffic.m / traffic.n:.0%} foreground" if traffic.has_background else ""
    several = networks_of(tester.testbed)
    share += f", {several} networks" if several > 1 else ""
    return (
        f"{name} of {setup.dut_name}, {traffic.frame_size_bytes} B{share} ({place}), "
        f"seed {options.seed_value}"
    )


def _write(folder: Path, results: Sequence[Measurement]) -> None:
    write_results(folder / RESULTS, results)
    write_whole(folder / CSV, results_csv(results))


def show(results: Sequence[Measurement], seed: int, folder: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps([result_entry(result) for result in results], indent=2))
        return
    for line in _shown(results, result_console.width):
        lines = isinstance(line, str)
        result_console.print(line, highlight=False, markup=False, soft_wrap=lines, crop=False)
    for line in (f"Repeat it: {repeat_command(seed)}", f"Journal, JSON and CSV: {folder}"):
        result_console.print(line, highlight=False, markup=False, soft_wrap=True)


def _shown(measurements: Sequence[Measurement], width: int) -> Iterator[Any]:
    if not measurements:
        return
    yield from measurement_tables(measurements, width)
    for measurement in measurements:
        yield from loss_chart(measurement)
    yield from measurement_notes(measurements)
