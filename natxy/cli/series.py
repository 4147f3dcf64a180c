"""The work of all measuring commands: series of frame sizes and mixes, and their results."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from natxy.campaign.folder import PAGE
from natxy.campaign.journal import FILE_NAME as JOURNAL
from natxy.campaign.journal import Journal, check_new, provenance
from natxy.cli.now_and_then import Lines, watching
from natxy.cli.options import (
    check_detail,
    progress_console,
    repeat_command,
    result_console,
)
from natxy.cli.sentences import quote, say
from natxy.cli.series_options import SeriesOptions, Work
from natxy.dut.choice import dut_of
from natxy.measure.traffic_settings import beside_values
from natxy.model.measurement import Measurement, Unit
from natxy.model.source import Source
from natxy.model.testbed import Testbed, read_testbed
from natxy.records.extra import records_to
from natxy.report.result_text import brief_text, headline, verbose_text
from natxy.report.results_csv import FILE_NAME as CSV
from natxy.report.results_csv import results_csv
from natxy.report.results_json import FILE_NAME as RESULTS
from natxy.report.results_json import Made, made_by, result_entry, write_results
from natxy.trial.setup import set_up
from natxy.whole_file import write_whole

LOOKS_FOR_CONNECTIONS = ("establishment", "capacity")  # they measure phase 1 and have no phase 2


def run_series(work: Work) -> None:
    """Measures at each frame size, mix and number of networks, and writes and shows the results.

    Each result is in the journal before the next measurement begins.
    """
    options = work.options
    work.check()
    check_detail(quiet=options.quiet, verbose=options.verbose)
    folder = options.output or Path("natxy-results") / f"{datetime.now():%Y%m%dT%H%M%S}-{work.name}"
    check_new(folder / JOURNAL)
    written, source = read_testbed(options.testbed)
    source = beside_values(source, options.traffic)
    asked = work.asked(written)
    work.check_traffic(asked, source)  # before a lab is made
    results: list[Measurement] = []
    header: dict[str, Any] = {}
    try:
        _measure(work, asked, source, folder, results, header)
        with naming(folder / JOURNAL):  # it holds the figures if the disk is full
            _write(work, folder, results, made_by(header))
    finally:  # a file that cannot be written takes no result away
        if results:
            show(results, options, made=made_by(header) if options.json_output else None)
    if not options.json_output:
        show_places(options, folder)


def _measure(
    work: Work,
    asked: Testbed,
    source: Source,
    folder: Path,
    results: list[Measurement],
    header: dict[str, Any],
) -> None:
    """Adds each result to `results` when it is there, and fills the header of the journal."""
    unit: Unit = "cps" if work.name in LOOKS_FOR_CONNECTIONS else "fps"
    said = partial(say, progress_console)
    lines = None if work.options.quiet else Lines(say=said, begun=False)
    with (
        records_to(work.records) as kept,
        set_up(asked, source, dut_of(asked, source), kept) as session,
    ):
        seed = work.options.seed_value
        header |= provenance(session, seed=seed, command=[repeat_command(seed)])
        with Journal(folder / JOURNAL, header) as journal, naming(journal.path):
            for result in work.results(
                session.with_observer(journal),
                lambda title: watching(progress_console, title, lines, unit=unit),
            ):
                results.append(result)
                journal.append(result)


@contextmanager
def naming(journal: Path) -> Iterator[None]:
    """Prints the journal's path if the block ends with an error or an interrupt."""
    try:
        yield
    except BaseException:
        quote(progress_console, f"The journal of the trials so far: {journal}")
        raise


def _write(work: Work, folder: Path, results: Sequence[Measurement], made: Made) -> None:
    write_results(folder / RESULTS, results, made)
    write_whole(folder / CSV, results_csv(results))
    if work.options.report:
        from natxy.campaign.data import read_data  # with these, a third of the modules
        from natxy.campaign.report import write_report

        write_report(read_data(folder), folder / "report", html=True, records=work.records)


def show(
    results: Sequence[Measurement], options: SeriesOptions, *, made: Made | None = None
) -> None:
    """Prints the results as the options ask for; with `made`, the entries of results.json."""
    if made is not None:
        print(json.dumps([result_entry(result, made) for result in results], indent=2))
        return
    width = result_console.width
    if options.quiet:
        lines = [headline(results, width)]
    else:
        lines = (verbose_text if options.verbose else brief_text)(results, width)
    first, *others = lines
    say(result_console, first, style="bold")
    for line in others:
        say(result_console, line)


def show_places(options: SeriesOptions, folder: Path) -> None:
    """Prints where the files of the measurement are, and how to repeat it."""
    if options.quiet:
        return
    if options.verbose:
        quote(result_console, f"Repeat it: {repeat_command(options.seed_value)}")
    page = f"; report: {folder / PAGE}" if options.report else ""
    quote(result_console, f"Journal, JSON and CSV: {folder}{page}")
