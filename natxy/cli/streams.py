"""The standard streams: what a terminal would obey is shown, and a lost stream ends nothing.

Titles, file names and outputs of gateways' commands come from others. Everything that is printed
passes here, so no caller escapes anything.
"""

import codecs
import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from natxy.visible import escaped, visible

LONG = (  # what is a value in an error, and how much of it is shown; paths and commands are whole
    (re.compile(r"\d{61,}"), 60),
    (re.compile(r"(?<=\")[^\"`]{121,}(?=\")"), 120),
    (re.compile(r"[^\s/`]{301,}"), 300),
)
UNENCODABLE = "natxy-visible"  # the name of the handler below


def one_line(text: str) -> str:
    """Returns the text without line breaks, which could imitate further lines."""
    return text.replace("\r", "\\u000d").replace("\n", "\\u000a")


def shortened(sentence: str) -> str:
    """Returns an error without the end of a value that nobody reads, such as 4,000 digits."""
    for pattern, most in LONG:
        for long in pattern.findall(sentence):
            sentence = sentence.replace(long, f"{long[: most - 3]}...")
    return sentence


def _unencodable(error: UnicodeError) -> tuple[str, int]:
    """Handles characters that a stream's encoding lacks, such as a terminal's in Latin-1."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return escaped(error.object[error.start : error.end]), error.end


class OutputLost(OSError):
    """Standard output could not be written."""


class _Through:
    """A stream that hands on what it does not do itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        self._stream.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)


class _Output(_Through):
    """Standard output: its errors are told from those of other files."""

    def write(self, text: str) -> int:
        with self._named():
            return super().write(text)

    def flush(self) -> None:
        with self._named():
            self._stream.flush()

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputLost(error.errno, error.strerror) from None


class _Errors(_Through):
    """Standard error: who cannot be told goes on, as a measurement whose progress nobody reads."""

    def write(self, text: str) -> int:
        with self._lost():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with self._lost():
            self._stream.flush()

    @contextlib.contextmanager
    def _lost(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            discard(self._stream)


class Shown(_Through):
    """A stream that shows what a terminal would obey.

    Rich escapes what it prints itself, and writes its own colours to `rich_proxied_file`.
    """

    def write(self, text: str) -> int:
        return super().write(visible(text))

    @property
    def rich_proxied_file(self) -> Any:
        under = getattr(self._stream, "rich_proxied_file", self._stream)  # a live panel's proxy
        return getattr(under, "rich_proxied_file", under)


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """Shows, until it ends, what a terminal would obey."""
    before = sys.stdout, sys.stderr
    sys.stdout = cast("TextIO", Shown(_Output(sys.stdout)))
    sys.stderr = cast("TextIO", Shown(_Errors(sys.stderr)))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def show_beside_panel() -> None:
    """Shows it in what is printed beside a live panel, too, which puts proxies here."""
    sys.stdout, sys.stderr = cast("TextIO", Shown(sys.stdout)), cast("TextIO", Shown(sys.stderr))


def prepare() -> None:
    """Opens the streams that are closed, as cron starts programs, and lets them print all text."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # otherwise the next file that is opened would get the stream's number
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    codecs.register_error(UNENCODABLE, _unencodable)
    for stream in (sys.stdout, sys.stderr):
        cast("Any", stream).reconfigure(errors=UNENCODABLE)


def discard(stream: Any) -> None:
    """Sends a stream nowhere, so that Python's last flush of it cannot fail again."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")
