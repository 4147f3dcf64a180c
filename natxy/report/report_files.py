"""The list of a report's files: a report that is made anew leaves none of an earlier one."""

from collections.abc import Sequence
from pathlib import Path

from natxy.whole_file import is_stream, write_whole

LIST = "files.txt"


def keep_only(written: Sequence[Path], folder: Path) -> None:
    """Removes the files of the folder that an earlier report has listed and this one has not
    written, and lists those that it has. Other files stay."""
    names = sorted({path.relative_to(folder).as_posix() for path in written if path.exists()})
    for name in sorted(set(_listed(folder)) - set(names)):
        old = folder / name
        if old.is_file() and not is_stream(old):
            old.unlink()
    write_whole(folder / LIST, "".join(f"{name}\n" for name in names))


def _listed(folder: Path) -> list[str]:
    """Returns the names of the list that are of files in the folder; a list is only text."""
    try:
        lines = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    inside = folder.resolve()
    return [line for line in lines if (folder / line).resolve().is_relative_to(inside)]
