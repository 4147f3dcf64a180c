"""The options of all measuring commands, and how a command gets them."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import MISSING, Field, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from natxy.cli.options import (
    JsonOption,
    Lists,
    QuietOption,
    SeedOption,
    TestbedArgument,
    VerboseOption,
    adding,
    check_lists,
    foregrounds_of,
    networks_in,
    numbers_of,
    seed_of,
    sizes_of,
)
from natxy.exact import exact
from natxy.measure.plan import REPETITIONS
from natxy.measure.traffic_deviations import networks_of
from natxy.measure.traffic_settings import (
    CONNECTIONS,
    DIRECTION,
    ESTABLISHMENT_RATE,
    FOREGROUND,
    FRAME_SIZE,
    NETWORKS,
    places,
    with_values,
)
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed
from natxy.model.traffic import TrafficPlan
from natxy.procedure.defaults import MEASURES, Defaults, Measure
from natxy.search.bisection import SearchError
from natxy.search.settings import LossTolerance, loss_tolerance, search_error
from natxy.setting import Setting, kind_of, settings_of
from natxy.trial.observer import Observer
from natxy.trial.profile import Profile
from natxy.trial.session import Session
from natxy.trial.timing import DRAIN, DURATION, RETRY_TIME, SETTLE

# How the command line takes the value of a field, and how it reads it, by the field's type.
READ: dict[Any, tuple[type, Callable[[Setting, Any], Any]]] = {
    int: (int, lambda _, number: number),
    bool: (bool, lambda _, given: given),
    Fraction: (float, exact),
    SearchError: (str, search_error),
    LossTolerance: (str, loss_tolerance),
    tuple[int, ...]: (str, numbers_of),
}


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """The options of all measuring commands, by their names."""

    testbed: TestbedArgument
    profile: Annotated[
        str,
        Setting(
            "profile",
            "Defaults of the options: rfc has the values that the RFCs ask for, quick has short "
            "trials for a first look; the help of each option shows both",
            "NAME",
            panel="Trials",
            short="rfc (the default), or quick: short trials, a first look",
        ),
    ] = "rfc"
    duration: Annotated[float | None, DURATION] = None
    drain: Annotated[float | None, DRAIN] = None
    settle: Annotated[float | None, SETTLE] = None
    retry_time: Annotated[float | None, RETRY_TIME] = None
    repetitions: Annotated[int | None, REPETITIONS] = None
    frame_size: Annotated[
        str | None,
        adding(
            FRAME_SIZE,
            ". The list 84,512,1518 measures each size in turn. rfc8219 measures the sizes of RFC "
            "8219 that fit the MTU: 84 (in place of 64), 128, 256 and so on. If only IPv4 is sent, "
            "it measures 84, 148, 276 and so on, so that the IPv4 frames have 64, 128, 256 octets",
        ),
    ] = None
    foreground: Annotated[
        str | None,
        adding(FOREGROUND, ". The list 100,90,50,10 measures RFC 8219's mixes in turn"),
    ] = None
    networks: Annotated[
        str | None,
        adding(
            NETWORKS,
            ". The list 1,256 measures with one network, then with 256, as RFC 2544 asks",
        ),
    ] = None
    direction: Annotated[str | None, DIRECTION] = None
    connections: Annotated[int | None, CONNECTIONS] = None
    establishment_rate: Annotated[int | None, ESTABLISHMENT_RATE] = None
    seed: SeedOption = None
    output: Annotated[
        Path | None,
        Setting(
            "output",
            "New folder for the journal and the results (JSON, CSV)",
            "DIR",
            default="natxy-results/TIME-COMMAND",
            panel="Output",
            short="New folder for the journal and the results",
            letter="o",
        ),
    ] = None
    quiet: QuietOption = False
    verbose: VerboseOption = False
    json_output: JsonOption = False
    report: Annotated[
        bool,
        Setting(
            "report",
            "Also write a report into the folder of --output: an HTML page, LaTeX tables, and data "
            "files (CSV, Parquet)",
            panel="Output",
            short="Also write an HTML report into this folder",
        ),
    ] = False

    @property
    def defaults(self) -> Defaults:
        """What holds in the plan for a field that is not given."""
        given: dict[str, Any] = {
            "duration_s": self.duration,
            "drain_s": self.drain,
            "settle_s": self.settle,
            "retry_s": self.retry_time,
            "repetitions": self.repetitions,
        }
        known = {name: value for name, value in given.items() if value is not None}
        return Defaults(profile=self.profile, seed=self.seed_value, given=known)

    @property
    def traffic(self) -> dict[Setting, Any]:
        """The values of the testbed's traffic, as they are given."""
        return {
            FRAME_SIZE: self.frame_size,
            FOREGROUND: self.foreground,
            NETWORKS: self.networks,
            DIRECTION: self.direction,
            CONNECTIONS: self.connections,
            ESTABLISHMENT_RATE: self.establishment_rate,
        }

    @functools.cached_property
    def seed_value(self) -> int:
        return seed_of(self.seed)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The measurements that a measuring command with its options asks for.

    The command returns it: `natxy` measures, and a campaign plans its cells.
    """

    options: SeriesOptions
    name: str  # of the command
    measure: Measure
    given: Mapping[str, Any]  # fields of the plan, and those of its parts and times
    # What each of the measurements has beside them, at each frame size, mix and number of networks.
    series: Sequence[Mapping[str, Any]] = ({},)
    records: Path | None = None

    def giving(self, **more: Any) -> "Work":
        return replace(self, given={**self.given, **more})

    def recording(self, records: Path | None) -> "Work":
        """Returns the work that writes its frames to a file, if there is one."""
        return replace(self.giving(records=records is not None), records=records)

    def plans(self, testbed: Testbed | None = None) -> list[Any]:
        """Returns the plan of each measurement, with the testbed's connections."""
        defaults = replace(
            self.options.defaults, connections=testbed.connections if testbed else None
        )
        return [defaults.plan(self.measure.plan, **self.given, **each) for each in self.series]

    def check(self) -> None:
        """Raises ConfigurationError if an option is wrong."""
        self.plans()
        check_lists(*self.lists())

    def lists(self) -> Lists:
        """Returns the frame sizes, shares of foreground and numbers of networks; None: as is."""
        options = self.options
        return (
            sizes_of(options.frame_size),
            foregrounds_of(options.foreground),
            networks_in(options.networks),
        )

    def check_traffic(self, asked: Testbed, source: Source) -> None:
        """Raises ConfigurationError if the command cannot measure such traffic."""
        traffic = TrafficPlan(testbed=asked, source=source)
        for plan in self.plans(asked):
            self.measure.check(plan, traffic)

    def asked(self, testbed: Testbed) -> Testbed:
        """Returns the testbed with the command's options, but for those of its series."""
        networks = networks_in(self.options.networks)
        most = max(networks) if networks else None  # a lab is made for the largest number
        values = self.options.traffic | {FRAME_SIZE: None, FOREGROUND: None, NETWORKS: most}
        sets_connections = bool(self.given.get("sizes") or self.given.get("columns"))
        return with_values(testbed, values, sets_connections=sets_connections)

    def results(
        self, session: Session, display: Callable[[str], AbstractContextManager[Observer]]
    ) -> Iterator[Measurement]:
        """Measures one after another; `display` gets the title of each, and observes it."""
        options = self.options
        sessions = places(session, *self.lists())
        plans = self.plans(session.testbed)
        series = [(place, plan) for place in sessions for plan in plans]
        for number, (place, plan) in enumerate(series, start=1):
            with display(_title(self.name, place, f"{number} of {len(series)}", options)) as shown:
                session = place.with_observer(shown)
                session.observer.part_started(number, len(series))
                result = self.measure.run(plan, options.defaults.ready(self.measure, session))
            yield result


def _title(name: str, session: Session, place: str, options: SeriesOptions) -> str:
    traffic = session.testbed.traffic
    share = f", {traffic.m / traffic.n:.0%} foreground" if traffic.has_background else ""
    several = networks_of(session.testbed)
    share += f", {several} networks" if several > 1 else ""
    return (
        f"{name} of {session.dut_name}, {traffic.frame_size_bytes} B{share} ({place}), "
        f"seed {options.seed_value}"
    )


Verb = Callable[..., Work]


def measuring(
    name: str, *own: str | Setting, plans: Sequence[type[Any]] = ()
) -> Callable[[Verb], Verb]:
    """Gives a command `command(work, ...)` options beside those that it declares.

    These are the options of SeriesOptions that have an effect on the measurement of this name, and
    those of the `own` fields of its plan and their parts, or of further `plans`. A setting stands
    for the field of its name, with another help. The work has the values that are given, as the
    plan takes them. The help shows the defaults of the measurement's profiles.
    """
    measure = MEASURES[name]
    known = {setting.name: (setting, field) for field, setting in measure.settings()}
    known |= {
        field.name: (setting, field) for plan in plans for field, setting in settings_of(plan)
    }
    offered = [
        known[each] if isinstance(each, str) else (each, known[each.name][1]) for each in own
    ]
    return functools.partial(_with_options, measure=measure, own=offered)


def _with_options(
    verb: Verb,
    *,
    measure: Measure,
    own: Sequence[tuple[Setting, Field[Any]]],
) -> Verb:
    shared = get_type_hints(SeriesOptions, include_extras=True)
    offered = [
        field
        for field in fields(SeriesOptions)
        if shared[field.name].__metadata__[0].name not in measure.without
    ]
    name = verb.__name__.replace("_", "-")

    @functools.wraps(verb)
    def with_options(**given: Any) -> Work:
        options = SeriesOptions(**{field.name: given.pop(field.name) for field in offered})
        values = ((setting, field, given.pop(setting.name)) for setting, field in own)
        read = {
            setting.name: READ[kind_of(field)][1](setting, value)
            for setting, field, value in values
            if value is not None and value is not False
        }
        return verb(Work(options=options, name=name, measure=measure, given=read), **given)

    hints = get_type_hints(verb, include_extras=True)
    declared = [
        *((f.name, f.default, shared[f.name]) for f in offered),
        *(
            (each.name, each.default, hints[each.name])
            for each in list(inspect.signature(verb).parameters.values())[1:]
        ),
        *((setting.name, *_taken(setting, field)) for setting, field in own),
    ]
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if default is MISSING else default,
            annotation=_as_option(annotation, measure.profiles),
        )
        for name, default, annotation in declared
    ]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_options


def _taken(setting: Setting, field: Field[Any]) -> tuple[Any, Any]:
    """Returns the default and the annotation of a field's option; a default that words describe is
    None."""
    taken: Any = READ[kind_of(field)][0]
    default = None if setting.default or setting.of_profile else field.default
    if isinstance(default, int | Fraction):
        return taken(default), Annotated[taken, setting]
    return None, Annotated[taken | None, setting]


def _as_option(annotation: Any, profiles: Mapping[str, Profile]) -> Any:
    """Returns the annotation, with a default that the profiles have in words."""
    (setting,) = annotation.__metadata__
    if not setting.of_profile:
        return annotation
    form: Any = Annotated
    return form[
        annotation.__origin__, replace(setting, default=_of_profiles(setting.name, profiles))
    ]


def _of_profiles(name: str, profiles: Mapping[str, Profile]) -> str:
    """Returns the words of a default that the profiles have."""
    words = []
    for profile in (profiles["rfc"], profiles["quick"]):
        value = getattr(profile if hasattr(profile, name) else profile.timing, name)
        is_error = isinstance(value, SearchError)
        words.append(f"{float(value.fraction * 100):g}%" if is_error else f"{float(value):g}")
    is_less = name == DURATION.name and profiles["quick"].buffer_frames is not None
    return f"{'; quick: '.join(words)}{', less at high rates' if is_less else ''}"
