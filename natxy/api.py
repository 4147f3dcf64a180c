"""What a program measures with: a testbed, its measurements, and the session below them."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import chain, count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from natxy.campaign.journal import FILE_NAME as JOURNAL
from natxy.campaign.journal import Journal, check_new, provenance
from natxy.campaign.loaded import Results, load
from natxy.dut.choice import dut_of
from natxy.dut.none import Cable
from natxy.errors import ConfigurationError, NatxyError
from natxy.exact import exact
from natxy.measure.plan import REPETITIONS
from natxy.measure.traffic_settings import (
    CONNECTIONS,
    FOREGROUND,
    FRAME_SIZE,
    NETWORKS,
    OF_SERIES,
    OF_TESTBED,
    beside_values,
    check_series,
    places,
    with_values,
)
from natxy.model.frame_sizes import RFC8219_SIZES_BYTES
from natxy.model.measurement import Measurement
from natxy.model.source import Source
from natxy.model.testbed import Testbed as WrittenTestbed
from natxy.model.testbed import read_testbed
from natxy.model.traffic import TrafficPlan
from natxy.procedure.defaults import MEASURES, PROFILE, TIMES, Defaults
from natxy.procedure.keywords import OUTPUT, Keyword, help_of, keywords
from natxy.procedure.self_test import looped
from natxy.records.extra import records_to
from natxy.report.results_csv import FILE_NAME as CSV
from natxy.report.results_csv import results_csv
from natxy.report.results_json import FILE_NAME as RESULTS
from natxy.report.results_json import made_by, write_results
from natxy.search.settings import loss_tolerance, search_error
from natxy.trial.observer import Observer
from natxy.trial.seeds import SEED, new_seed
from natxy.trial.session import Session
from natxy.trial.setup import set_up
from natxy.trial.timing import DRAIN, DURATION, FRAME_TIMEOUT, SETTLE, Timing
from natxy.whole_file import write_whole

if TYPE_CHECKING:
    from natxy.measurements import Measurements  # written by tools/reference.py
else:
    Measurements = object
# How a text is read where a plan takes a value of such a type.
READ = {"SearchError | str": search_error, "LossTolerance | str": loss_tolerance}
OF_DEFAULTS = (*TIMES, REPETITIONS.name)
OF_CALL = {each.name for each in (PROFILE, SEED, OUTPUT, *OF_SERIES, *OF_TESTBED)}


class Testbed(Measurements):
    """A tester and a gateway, as a testbed's file describes them.

    Each measurement is a method, which returns Results. It starts the tester and the gateway and
    stops them at its end, also after an error or Ctrl-C. In a block, `with natxy.Testbed(path) as
    testbed:`, they run until the block ends, for several measurements.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        observer: Observer | None = None,
        output: str | Path | None = None,
    ) -> None:
        """Reads the file; ConfigurationError if it is wrong. The observer is told of each trial.

        `output` is a folder in which each measurement without an `output` of its own keeps its
        results, in a new folder with the measurement's name: throughput, throughput-2.
        """
        self.path = Path(path)
        self._output = None if output is None else Path(output)
        self._written, self._source = read_testbed(self.path)
        self._observer = observer
        self._ends = ExitStack()
        self._session: Session | None = None

    def __repr__(self) -> str:
        return f"natxy.Testbed({str(self.path)!r})"

    def __enter__(self) -> Self:
        self._session = self._ends.enter_context(_started(self._written, self._source))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session = None
        self._ends.__exit__(kind, error, trace)

    @contextmanager
    def _ready(self, asked: WrittenTestbed, source: Source) -> Iterator[Session]:
        """Yields the block's session with this traffic, or one of its own."""
        if self._session is None:
            with _started(asked, source) as session:
                yield session
            return
        if asked.connections is not None and self._written.connections is None:
            raise ConfigurationError(
                CONNECTIONS,
                ": is not possible in this block, whose testbed has none (expected [connections] "
                "in its file, or a measurement without a block)",
            )
        made = self._written.traffic
        for side in ("left", "right"):
            if asked.traffic.networks(side) > made.networks(side):
                raise ConfigurationError(
                    NETWORKS,
                    f": {asked.traffic.networks(side)} is more than the lab of this block has "
                    f"(expected at most {made.networks(side)}, or the testbed's {side}_networks)",
                )
        changes = {"traffic": asked.traffic, "connections": asked.connections}
        yield self._session.with_testbed(self._session.testbed.model_copy(update=changes))

    def _measure(self, name: str, given: Mapping[str, Any]) -> Results:
        measure, known = MEASURES[name], keywords(MEASURES[name])
        read = {each: _read(known[each], v) for each, v in given.items() if v is not None}
        if self._output is not None:
            read.setdefault(OUTPUT.name, _new(self._output / name))
        seed = read.setdefault(SEED.name, new_seed())
        said = ", ".join(f"{each}={value!r}" for each, value in {**given, SEED.name: seed}.items())
        series = _series(read)
        values = {each: read.get(each.name) for each in OF_TESTBED}
        values[NETWORKS] = series[-1] and max(series[-1])  # a lab is made for the largest number
        sets_connections = bool(read.get("sizes") or read.get("columns"))
        asked = with_values(self._written, values, sets_connections=sets_connections)
        check_series(asked, *series[:2])
        of_series = {FRAME_SIZE: series[0], FOREGROUND: series[1]}
        source = beside_values(self._source, values | of_series)
        defaults = Defaults(
            profile=read.get(PROFILE.name, "rfc"),
            seed=seed,
            given={each: read[each] for each in OF_DEFAULTS if each in read},
            connections=asked.connections,
        )
        own = {each: v for each, v in read.items() if each not in (*OF_CALL, *OF_DEFAULTS)}
        plan = defaults.plan(measure.plan, **own)  # checked before anything is started
        measure.check(plan, TrafficPlan(testbed=asked, source=source))
        results: list[Measurement] = []
        with (
            _folder(read.get(OUTPUT.name), results) as folder,
            self._ready(asked, source) as session,
        ):
            header = provenance(session, seed=seed, command=[f"{self!r}.{name}({said})"])
            with Journal(folder / JOURNAL, header) as journal:
                observed = session.with_observer(journal)
                if self._observer is not None:
                    observed = observed.with_observer(self._observer)
                results += _measured(
                    places(observed, *series),
                    journal,
                    lambda place: measure.run(plan, defaults.ready(measure, place)),
                )
            write_results(folder / RESULTS, results, made_by(header))
            write_whole(folder / CSV, results_csv(results))
            return load(folder)


def _new(path: Path) -> Path:
    """Returns the path, with a number if there is such a file or folder."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(each for each in chain([path], numbered) if not each.exists())


def _measured(
    parts: Sequence[Session], journal: Journal, measure: Callable[[Session], Measurement]
) -> Iterator[Measurement]:
    """Yields the results; each is in the journal before the next measurement begins."""
    for number, place in enumerate(parts, start=1):
        place.observer.part_started(number, len(parts))
        result = measure(place)
        journal.append(result)
        yield result


@contextmanager
def _folder(output: str | Path | None, results: Sequence[Measurement]) -> Iterator[Path]:
    """Yields the folder of a measurement, by default one that is removed at the end.

    After an error, that one stays if there are results, which are lost otherwise.
    """
    if output is not None:
        check_new(Path(output) / JOURNAL)
        yield Path(output)
        return
    folder = Path(mkdtemp(prefix="natxy-"))
    try:
        yield folder
    except BaseException as error:
        if not results:
            rmtree(folder, ignore_errors=True)
        elif isinstance(error, NatxyError):
            error.args = (*error.args, f"; the results until then are in {folder}")
        else:
            error.add_note(f"The results until then are in {folder}")
        raise
    rmtree(folder, ignore_errors=True)


def _started(asked: WrittenTestbed, source: Source) -> AbstractContextManager[Session]:
    return set_up(asked, source, dut_of(asked, source))


def _series(given: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Returns the frame sizes, shares of foreground traffic and numbers of networks."""
    sizes, percents, networks = (_several(given.get(each.name)) for each in OF_SERIES)
    if given.get(FRAME_SIZE.name) == "rfc8219":
        sizes = RFC8219_SIZES_BYTES
    shares = percents and tuple(exact(FOREGROUND, each) / 100 for each in percents)
    return sizes, shares, networks


def _several(value: Any) -> tuple[Any, ...] | None:
    """Returns one value or several, each once; None stands for the testbed's."""
    if value is None:
        return None
    listed = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    return tuple(dict.fromkeys(listed))


def _method(name: str) -> Callable[..., Results]:
    """Returns the method of a measurement, whose signature and help are those of its keywords."""
    known = keywords(MEASURES[name])
    only = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(each.name, only, default=None, annotation=f"{each.type} | None")
        for each in known.values()
    ]
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([itself, *parameters], return_annotation="Results")

    def method(self: Testbed, **given: Any) -> Results:
        signature.bind(self, **given)  # TypeError if a name is unknown
        return self._measure(name, given)

    method.__name__, method.__doc__ = name, help_of(name)
    method.__qualname__, method.__signature__ = f"Testbed.{name}", signature  # type: ignore[attr-defined]
    return method


def _read(keyword: Keyword, value: Any) -> Any:
    """Returns a value as a plan takes it: a text is read, a list becomes a tuple."""
    if isinstance(value, str) and keyword.type in READ:
        return READ[keyword.type](keyword.setting, value)
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


for _name in MEASURES:
    setattr(Testbed, _name, _method(_name))


@contextmanager
def connect(
    testbed: str | Path, *, records: str | Path | None = None, loop: bool = False
) -> Iterator[Session]:
    """Starts the tester and the device under test of a testbed file, and stops them at the end.

    A lab is removed at the end of the block, also after an exception. `records` is a new Parquet
    file for the frames of plans with `records=True`; it is written if the block ends without an
    exception. With `loop`, a cable connects the two ports in place of the gateway, for `self_test`.
    Raises ConfigurationError if the file is wrong, DutError if the gateway cannot be started and
    DeviceError if a port cannot be used.
    """
    written, source = read_testbed(Path(testbed))
    dut = Cable() if loop else dut_of(written, source)
    if loop:
        written = looped(written)
    with (
        records_to(None if records is None else Path(records)) as kept,
        set_up(written, source, dut, kept) as session,
    ):
        yield session


def timing(
    duration: float, drain: float = 2.0, settle: float = 0.0, frame_timeout: float = 0.0
) -> Timing:
    """Returns the times of each trial, in seconds; 0.2 is exactly a fifth (RFC 2544 section 23).

    `duration` is the time of sending, `drain` the time of receiving after it, `settle` the pause
    between two trials, and `frame_timeout` the delay above which a frame counts as late (0: no
    limit).
    """
    return Timing(
        duration_s=exact(DURATION, duration),
        drain_s=exact(DRAIN, drain),
        settle_s=exact(SETTLE, settle),
        frame_timeout_s=exact(FRAME_TIMEOUT, frame_timeout),
    )
