"""The options of all measuring commands, and how a command gets them."""

import copy
import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from natxy.cli.choices import unknown_value
from natxy.cli.options import (
    ConnectionsOption,
    DirectionOption,
    DrainOption,
    DurationOption,
    EstablishmentRateOption,
    JsonOption,
    RetryTimeOption,
    SeedOption,
    SettleOption,
    TestbedArgument,
    output_option,
    seconds,
    seed_of,
    traffic_option,
    trials_option,
)
from natxy.trial.profile import Profile
from natxy.trial.timing import Timing

# Options without effect where phase 1 is measured: a trial lasts as long as its connections take,
# in the initiator's direction, and its rate is what the search looks for.
OF_PHASE_2 = ("duration", "direction", "establishment_rate")


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """The options of all measuring commands, by their names."""

    testbed: TestbedArgument
    profile: Annotated[str, trials_option(metavar="NAME")] = "rfc"
    duration: DurationOption = None
    drain: DrainOption = None
    settle: SettleOption = None
    retry_time: RetryTimeOption = None
    repetitions: Annotated[
        int | None,
        trials_option(help="Number of repetitions.", metavar="N"),
    ] = None
    frame_size: Annotated[
        str | None,
        traffic_option(
            help="Octets of the frame as IPv6, with FCS. As IPv4, the frame has 20 octets fewer. "
            "The list 84,512,1518 measures each size in turn. rfc8219 measures the sizes of RFC "
            "8219 that fit the MTU: 84 (in place of 64), 128, 256 and so on. If only IPv4 is sent, "
            "it measures 84, 148, 276 and so on, so that the IPv4 frames have 64, 128, 256 octets "
            "[default: the testbed's].",
            metavar="BYTES",
        ),
    ] = None
    foreground: Annotated[
        str | None,
        traffic_option(
            help="Share of the frames that are foreground, in %: those that a translator "
            "translates; the rest is native IPv6. The list 100,90,50,10 measures RFC 8219's mixes "
            "in turn [default: the testbed's].",
            metavar="PERCENT",
        ),
    ] = None
    networks: Annotated[
        str | None,
        traffic_option(
            help="Number of destination networks behind each side, 1 to 256. The list 1,256 "
            "measures with one network, then with 256, as RFC 2544 asks [default: the testbed's].",
            metavar="N,...",
        ),
    ] = None
    direction: DirectionOption = None
    connections: ConnectionsOption = None
    establishment_rate: EstablishmentRateOption = None
    seed: SeedOption = None
    output: Annotated[
        Path | None,
        output_option(
            help="New folder for the journal and the results (JSON, CSV) [default: "
            "natxy-results/TIME-COMMAND].",
            metavar="DIR",
        ),
    ] = None
    json_output: JsonOption = False
    report: Annotated[
        bool,
        output_option(
            "--report",
            help="Also write a report into the folder of --output: an HTML page, LaTeX tables, and "
            "data files (CSV, Parquet).",
        ),
    ] = False

    def timing(self, base: Timing, frame_timeout: float | None = None) -> Timing:
        return Timing(
            frame_timeout_s=seconds("--frame-timeout", frame_timeout, base.frame_timeout_s),
            duration_s=seconds("--duration", self.duration, base.duration_s),
            drain_s=seconds("--drain", self.drain, base.drain_s),
            settle_s=seconds("--settle", self.settle, base.settle_s),
            retry_s=self.retry_s,
        )

    @property
    def retry_s(self) -> Fraction | None:
        """The limit of the time for INVALID trials; None: there is none."""
        return seconds("--retry-time", self.retry_time)

    def of_plan(
        self, profiles: Mapping[str, Profile], frame_timeout: float | None = None
    ) -> dict[str, Any]:
        """Returns the fields that every plan has."""
        base = self.profile_of(profiles)
        return {
            "timing": self.timing(base.timing, frame_timeout),
            "seed": self.seed_value,
            "repetitions": base.repetitions if self.repetitions is None else self.repetitions,
        }

    def profile_of(self, profiles: Mapping[str, Profile]) -> Profile:
        if self.profile not in profiles:
            raise unknown_value("--profile", self.profile, profiles)
        return profiles[self.profile]

    @functools.cached_property
    def seed_value(self) -> int:
        return seed_of(self.seed)


Verb = Callable[..., Any]


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
    for name, text in _profile_help(profiles).items():
        shared[name] = _with_help(shared[name], text)
    offered = [field for field in fields(SeriesOptions) if field.name not in without]

    @functools.wraps(verb)
    def with_options(**given: Any) -> Any:
        options = SeriesOptions(**{field.name: given.pop(field.name) for field in offered})
        return verb(options, **given)

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


def _profile_help(profiles: Mapping[str, Profile]) -> dict[str, str]:
    """Returns the help of each option, by the option's name in SeriesOptions."""
    rfc, quick = profiles["rfc"], profiles["quick"]
    duration, drain, settle = (
        _default(getattr(rfc.timing, name), getattr(quick.timing, name))
        for name in ("duration_s", "drain_s", "settle_s")
    )
    if quick.buffer_frames is not None:
        duration = duration.replace("]", ", less at high rates]")
    repetitions = _default(rfc.repetitions, quick.repetitions)
    return {
        "profile": "Defaults of the options: rfc has the values that the RFCs ask for, quick has "
        "short trials for a first look; the help of each option shows both.",
        "duration": f"Seconds during which a trial sends frames {duration}.",
        "drain": f"Seconds during which a trial still receives after its last frame {drain}.",
        "settle": f"Seconds between two trials {settle}.",
        "repetitions": f"How often each figure is measured {repetitions}.",
        "establishment_rate": "Rate of phase 1, in connections a second [default: the testbed's; "
        "if it has none, Natxy first searches for the highest rate of new connections and uses "
        "half of it].",
    }


def _with_help(annotation: Any, text: str) -> Any:
    """Returns an option's annotation with this help."""
    option = copy.copy(annotation.__metadata__[0])
    option.help = text
    form: Any = Annotated
    return form[annotation.__origin__, option]


def _default(rfc: Any, quick: Any) -> str:
    return f"[default: {float(rfc):g}; quick: {float(quick):g}]"
