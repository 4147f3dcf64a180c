"""The list of a report's files: a report that is made anew leaves none of an earlier one."""

import contextlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from natxy.report.results_csv import FILE_NAME as RESULTS_CSV
from natxy.whole_file import is_stream, write_whole

LIST = ".natxy-report"
HEAD = "# The files of a report by Natxy; the next report in this folder removes them."
FOLDERS = ((), ("data",))  # that a report writes
ENDINGS = {  # of what it writes
    *(".txt", ".md", ".csv", ".tex", ".xml", ".html"),
    *(".parquet", ".svg", ".pdf", ".hgrm"),
}


def keep_only(written: Sequence[Path], folder: Path) -> None:
    """Removes the files of the folder that an earlier report has listed and this one has not
    written, and lists those that it has. Other files stay."""
    names = sorted({path.relative_to(folder).as_posix() for path in written if path.exists()})
    for name in sorted(set(_listed(folder)) - set(names)):
        with contextlib.suppress(OSError, ValueError):  # a name that no file can have
            _remove(folder / name, folder)
    write_whole(folder / LIST, "".join(f"{line}\n" for line in (HEAD, *names)))


def _remove(old: Path, folder: Path) -> None:
    inside = old.resolve().is_relative_to(folder.resolve())
    if inside and old.is_file() and not is_stream(old):
        old.unlink()


def _listed(folder: Path) -> list[str]:
    """Returns the names of the list that a report may have written; a list is only text."""
    path = folder / LIST
    try:
        head, *lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else ("",)
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if _is_of_a_report(line)] if head == HEAD else []


def _is_of_a_report(line: str) -> bool:
    name = PurePosixPath(line)
    is_listed_as_written = line == name.as_posix() and name.parent.parts in FOLDERS
    return is_listed_as_written and name.suffix in ENDINGS and name.name != RESULTS_CSV
